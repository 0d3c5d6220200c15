"""Thresholds of the traversal kernels: one row each, with the source of the number.

A row is *measured* (on what) or *reasoned* (from what).  Kernels receive the numbers through their prologue, so a
change here is sufficient.

The source of a measured row names the time of the *kernel* (its launch alone) or of the *call* (the wall clock around a
synchronized public call, which adds allocation, other launches and read-backs).  The two must not be compared; the
figures of the documentation are calls.
"""

from __future__ import annotations

from typing import Final

from ..shared.direction import Costs
from ..shared.thresholds import Table

__all__ = ["DEVICE", "HOST", "TABLE", "cost_constants"]

TABLE: Final = Table()
_row = TABLE.row

# Push or pull.
EDGE_COST: Final = _row(
    "EDGE_COST", 64, "measured",
    "an edge pushed, in sixteenths of a probe as all costs in device memory; on a Kronecker graph 64 is Beamer's "
    "rule with alpha near 14 (SC 2012; Hiragushi and Takahashi found 48 for pushes in two kernels, 2013); H200, kernel "
    "of bfs_levels on kron22: 32 0.34 ms, 64 0.33, 128 0.33, 256 0.35",
)  # fmt: skip
PROBE_COST: Final = _row("PROBE_COST", 16, "reasoned", "the unit, in which all costs are integers")
WORD_COST: Final = _row(
    "WORD_COST", 32, "reasoned",
    "a word of presence bits, 32 rows: 4 bytes, twice, at 4.5 TB/s, against 150 G probes/s, and the rest of the pass; "
    "its barriers, 1 us each, are not counted",
)  # fmt: skip
DERIVE_COST: Final = _row(
    "DERIVE_COST", 2, "reasoned",
    "an entry of a transpose, if only the columns are stored: with one vector entry in 32 or more, it is computed",
)  # fmt: skip
CROWDED_SHARE: Final = _row(
    "CROWDED_SHARE", 16, "reasoned",
    "with one entry in so many or more, a pull with a terminal value is chosen without counting edges: counting and "
    "pushing take three launches and a read-back; H200, levels of a search on kron22 with 0.35 to 2 M of 4.2 M rows, "
    "call: pull 0.13 to 0.17 ms, count and push 0.25 ms",
)  # fmt: skip
PUSHED_ROW: Final = _row(
    "PUSHED_ROW", 512, "reasoned",
    "bytes of the interconnect that a pushed row takes beside its entries, for the tiles and lines around them",
)  # fmt: skip
PUSHED_ENTRY: Final = _row(
    "PUSHED_ENTRY", 3, "reasoned", "bytes of an entry over the interconnect: between both codecs"
)
TESTED_ROW: Final = _row(
    "TESTED_ROW", 1, "reasoned",
    "testing the hubs of a row takes as long as a byte of the interconnect, 20 ps: 24 bytes of device memory and two "
    "probes",
)  # fmt: skip
# The costs of a step over entries in device memory, and over entries in host memory before its bytes are counted.
DEVICE: Final = Costs(EDGE_COST, PROBE_COST, word=WORD_COST, derive=DERIVE_COST)
HOST: Final = Costs(PUSHED_ENTRY, 0, PUSHED_ROW, TESTED_ROW)


def cost_constants(costs: Costs) -> dict[str, int]:
    """Return the constants that ``direction.cuh`` reads."""
    return {f"{name.upper()}_COST": cost for name, cost in costs._asdict().items()}


# Closure.
PROBES: Final = _row(
    "PROBES", 16, "measured",
    "entries that one thread probes before warps share the rest of the row; H200, kernel of bfs_levels on kron22: "
    "2 0.42 ms, 4 0.35, 8 0.34, 16 0.32; since lanes probe the rest, call of bfs_levels on kron24: 4 0.94 ms, 8 0.75, "
    "16 0.72",
)  # fmt: skip
LEVEL_EDGE_COST: Final = _row(
    "LEVEL_EDGE_COST", 32, "measured",
    "EDGE_COST of a level of a closure; H200, kernel, a push and a pull of a level: on kron22 of 10.0 M edges 0.18, "
    "0.27 ms, of 24.5 M 0.39, 0.16; on kron24 of 36.6 M 0.69, 0.98, of 156 M 2.5, 0.39; on a uniform graph of 2 M rows "
    "and 128 M entries of 10.3 M 0.22, 0.35, of 14.9 M 0.29, 0.24: 18 to 39 chooses the faster one in all six",
)  # fmt: skip
PULL_ROWS: Final = _row(
    "PULL_ROWS", 2, "measured",
    "rows whose first probes a thread of a pull makes at once; H200, call of bfs_levels: on kron20 1 0.17 ms, 2 0.155; "
    "on kron24 1 0.78, 2 0.72",
)  # fmt: skip
PULL_LISTS: Final = _row(
    "PULL_LISTS", 0, "measured",
    "1: a pull lists the rows that it finds; 0: the first push after it does; H200, call of bfs_levels: on kron22 1 "
    "0.37 ms, 0 0.34; on kron24 1 0.81, 0 0.72; on a uniform graph of 2 M rows and 128 M entries 1 0.40, 0 0.37",
)  # fmt: skip
CLUSTER_EDGES: Final = _row(
    "CLUSTER_EDGES", 8192, "measured",
    "edges of a frontier up to which one cluster of 8 x 1024 threads continues; H200, kernel of bfs_levels on a grid "
    "of 5000 x 5000: 0 44.5 ms, 8192 44.2, 16384 45.2, 32768 60.5",
)  # fmt: skip
EAGER_EDGES: Final = _row(
    "EAGER_EDGES", 131072, "measured",
    "edges of a frontier that do not fill the threads of an H200 (132 x 1024), so that a further atomic is free; "
    "kernel of bfs_levels on a grid of 5000 x 5000: 0 42.5 ms, 131072 40.7",
)  # fmt: skip
GRID_RESIDENT: Final = _row(
    "GRID_RESIDENT", 2, "measured",
    "blocks a multiprocessor; H200, kernel of bfs_levels on kron22: 2 0.34 ms, 3 0.33, 4 0.32; on a grid of "
    "5000 x 5000: 2 40.7, 3 49.9",
)  # fmt: skip
CLUSTER_BLOCK: Final = _row("CLUSTER_BLOCK", 1024, "reasoned", "the maximum number of threads of a cluster of 8")
GRID_BLOCK: Final = _row(
    "GRID_BLOCK", 512, "reasoned", "few arrivals at a barrier; two or more blocks a multiprocessor hide latency"
)
ORDER_FEW: Final = _row(
    "ORDER_FEW", 4096, "measured",
    "edges of a step of a relaxation in order, on average: with fewer the latency of a step dominates, and the width "
    "of the range of values that is expanded together doubles; H200, call of sssp on a grid of 5000 x 5000: 2048 and "
    "4096 80 ms, 8192 85, 16384 92",
)  # fmt: skip
ORDER_SHARE: Final = _row(
    "ORDER_SHARE", 1, "measured",
    "the first width: the span of the first values, divided by the entries of an average row (Meyer, Sanders 2003), "
    "times this; H200, call of sssp on kron22: 1 7.8 ms, 2 8.4, 4 9.9, 8 10.5, without an order 11.2",
)  # fmt: skip
SKEWED_ROW: Final = _row(
    "SKEWED_ROW", 256, "reasoned",
    "longest row up to which blocks divide the rows of a frontier; for longer rows they divide its edges, which takes "
    "a search of about 1 us",
)  # fmt: skip
HUBS_LONG: Final = _row(
    "HUBS_LONG", 2048, "reasoned",
    "entries of a row whose hubs one warp computes (64 rounds, about 50 us); the entries of longer rows are divided "
    "among all blocks",
)  # fmt: skip
SEGMENTS: Final = _row(
    "SEGMENTS", 1 << 20, "reasoned", "8 MB for the longest list of row segments (which has one element more)"
)
TRACED_STEPS: Final = _row("TRACED_STEPS", 1 << 20, "reasoned", "24 MB for the longest recorded trace")

# Matrix-vector product.
TILE: Final = _row("TILE", 2048, "measured", "see TILE_BLOCK")
TILE_BLOCK: Final = _row(
    "TILE_BLOCK", 512, "measured",
    "H200, kernel of mxv float32 on kron22, TILE x TILE_BLOCK: 2048 x 512 0.945 ms, 1536 x 384 0.947, 4096 x "
    "1024 0.951, 1024 x 256 0.952, 3072 x 512 0.956, 4096 x 512 0.957, 512 x 128 0.962, 2048 x 256 0.963 (call: "
    "1.000, cuSPARSE 0.950); loads that do not allocate in L1, or in L2, 0.965; columns of high degree in shared "
    "memory 0.925 to 1.54",
)  # fmt: skip
RANKED_ENTRIES: Final = _row(
    "RANKED_ENTRIES", 1 << 23, "reasoned",
    "entries from which on columns are ranked; with fewer, the copy of the most frequent values to every "
    "multiprocessor is a part of the product's time",
)  # fmt: skip
RANKED_PRODUCTS: Final = _row(
    "RANKED_PRODUCTS", 5, "measured",
    "the product for which columns are ranked; H200, call of mxv float32: on kron22 ranking takes about 1.8 ms and "
    "each later product saves 0.35, on kron24 5.5 and 1.7",
)  # fmt: skip
RANKED_SAMPLE: Final = _row(
    "RANKED_SAMPLE", 1 << 25, "reasoned",
    "entries of which columns are counted, at least; H200, kernel on kron22: all entries 1.46 ms, every 16th 0.24 and "
    "the same columns but for 0.2% of the entries",
)  # fmt: skip
RANKED_SHARED: Final = _row(
    "RANKED_SHARED", 163 << 10, "measured",
    "bytes of shared memory of a block, with RANKED_TILE steps a tile; more leave the first-level cache too small for "
    "loads in flight; H200, call of mxv float32 on kron22, KB x tile: 67 x 128 0.857 ms, 99 x 128 0.828, 131 x 128 "
    "0.816, 163 x 128 0.735, 195 x 128 0.865, 226 x 128 1.138; 163 x 256 0.843, 195 x 256 0.787; on kron24 163 x 128 "
    "3.61, 163 x 256 3.46, 195 x 256 3.58",
)  # fmt: skip
SCALE_SHARED: Final = _row(
    "SCALE_SHARED", 163 << 10, "reasoned", "as RANKED_SHARED, for a matrix scaled by a vector"
)  # fmt: skip
RANKED_TILE: Final = _row("RANKED_TILE", 128, "measured", "see RANKED_SHARED")
RANKED_SHARE: Final = _row(
    "RANKED_SHARE", 30, "reasoned", "percent of the entries that the first ranks must have, or no columns are ranked"
)
RANKED_PART: Final = _row(
    "RANKED_PART", 4, "reasoned", "the ranks may occupy 1/4 of the free memory, because the caller needs memory as well"
)
PUSH_BLOCK: Final = _row("PUSH_BLOCK", 512, "reasoned", "as GRID_BLOCK")
BALANCED_SKEW: Final = _row(
    "BALANCED_SKEW", 8, "reasoned",
    "with a longest row this many times the average (and above SKEWED_ROW), idle lanes cost more time than tiles",
)  # fmt: skip
DECODED_ROW: Final = _row(
    "DECODED_ROW", 8, "reasoned",
    "average entries of a compressed row above which a warp decodes it instead of a lane: a step of a warp, up to 32 "
    "entries, costs about as much as eight steps of a lane",
)  # fmt: skip
EARLY_ROW: Final = _row(
    "EARLY_ROW", 32768, "reasoned",
    "longest row that a single warp may scan to its end (about 0.1 ms) if the sum does not become terminal; with "
    "longer rows this kernel is chosen only if a hit is likely",
)  # fmt: skip
DENSE_SHARE: Final = _row(
    "DENSE_SHARE", 32, "reasoned", "one entry in so many, or one edge in so many: a warp expects a hit in one round"
)

# Sorts of keys by a radix sort: H200, benchmarks/results/nvidia-h200-around-sorts.txt.
RADIX_ENTRIES: Final = _row(
    "RADIX_ENTRIES", 1 << 20, "measured",
    "entries from which on the sort takes less time than CuPy's: keys of 40 bits with values, call, 2^19 202 and 200 "
    "us, 2^20 216 and 255 us; keys alone, 2^20 187 and 169 us, 2^21 203 and 239 us",
)  # fmt: skip
RADIX_DIGIT: Final = _row(
    "RADIX_DIGIT", 9, "measured",
    "bits of a digit at most; transpose and build of kron22, blocks of 512: 8 bits 4.5 and 10.3 ms, 11 bits 5.0 and "
    "12.4 ms (blocks of 1024 4.8 and 10.3 ms); with a faster histogram 9 bits 9.7 ms for the build",
)  # fmt: skip
RADIX_THREADS: Final = _row(
    "RADIX_THREADS", 384, "measured",
    "threads of a block; sort for a transpose of kron22 with RADIX_ITEMS keys a thread 3.96 ms; 512 with 16 keys, and "
    "lanes of a digit found by ballots, 4.30 ms",
)  # fmt: skip
RADIX_ITEMS: Final = _row("RADIX_ITEMS", 18, "measured", "keys of a thread at most: see RADIX_THREADS")
RADIX_RESIDENT: Final = _row(
    "RADIX_RESIDENT", 2, "measured",
    "blocks of a multiprocessor for which registers and shared memory are limited; transpose of kron22, blocks of 256: "
    "four with 16 keys a thread 4.4 ms",
)  # fmt: skip
RADIX_WINDOW: Final = _row(
    "RADIX_WINDOW", 1, "measured",
    "tiles that a thread looks back to at once; transpose of kron22 by digits of 11 bits: 1 4.90, 2 5.03, 4 5.13 ms",
)  # fmt: skip

# Results whose size is known only after they are computed.
ONE_PASS_BYTES: Final = _row(
    "ONE_PASS_BYTES", 1 << 24, "measured",
    "bytes of the largest possible result up to which all are allocated, and one pass writes it; H200, calls of "
    "ewise_add of two graphs in one pass and in two: 21 k entries each 156 and 184 us, 204 k 181 and 208, 884 k 190 "
    "and 186, 3.7 M 259 and 259",
)  # fmt: skip
REDUCE_TILE: Final = _row(
    "REDUCE_TILE",
    512,
    "reasoned",
    "steps of a tile that one warp reduces: 16 values of each lane, in 3 KB of shared memory",
)
WARP_TILE: Final = _row(
    "WARP_TILE", 480, "reasoned",
    "steps of a tile that one warp processes with a value for each row: with 32 slots for alignment 16 slots a lane",
)  # fmt: skip
LEFT_OVER: Final = _row(
    "LEFT_OVER", 8, "reasoned", "the share of an array that may stay unused at its end, before the rest is copied"
)

# Matrix product.
DENSE_SLOTS: Final = _row(
    "DENSE_SLOTS", 1 << 22, "reasoned",
    "positions of a small result: 32 MB of slots for values of 8 bytes, of which only those with products are written, "
    "and 1 MB of bits to clear",
)  # fmt: skip
DENSE_STEPS: Final = _row(
    "DENSE_STEPS", 256, "reasoned",
    "steps of one warp, about 1 us each, of a product of small matrices: as long as the launches of a sort",
)  # fmt: skip

PRODUCT_LAUNCH: Final = _row(
    "PRODUCT_LAUNCH", 2_000_000, "reasoned", "a launch of a method of products, about 9 us with its share of the host's"
)
SORT_LAUNCHES: Final = _row("SORT_LAUNCHES", 40, "reasoned", "launches of a sort, read-backs included")
SORTED_PRODUCT: Final = _row(
    "SORTED_PRODUCT", 34, "measured",
    "a product that is expanded and sorted, in probes of a hash table, as all costs of products: 4.6 ps; H200, call, "
    "A A of kron14 (156 M products): 23.6 ms, by rows 2.9; of a uniform graph of 1 M rows (1.02 G products): 177 ms",
)  # fmt: skip
ROWS_PRODUCT: Final = _row("ROWS_PRODUCT", 4, "measured", "a product of a row in shared memory: see SORTED_PRODUCT")
ROWS_SLOTS: Final = _row(
    "ROWS_SLOTS", 4, "reasoned",
    "slots of a row in shared memory, cleared and passed over twice, for the cost of a probe",
)  # fmt: skip
ORDERED_PRODUCT: Final = _row(
    "ORDERED_PRODUCT", 8, "reasoned",
    "products of a row in shared memory, for one of a sum without an exact start value: a block passes over one row of "
    "B at a time, and waits for all its threads after it",
)  # fmt: skip
MERGE_LISTS: Final = _row(
    "MERGE_LISTS",
    8,
    "reasoned",
    "entries of a row of A whose rows of B one thread merges: their heads are in registers",
)
MERGE_PRODUCTS: Final = _row(
    "MERGE_PRODUCTS", 64, "reasoned", "products of a row that one thread merges, while its warp waits for the longest"
)
MERGED_PRODUCT: Final = _row(
    "MERGED_PRODUCT", 2, "measured",
    "a product of a merged row; H200, call, A A of a grid of 5000 x 5000: 400 M in 2.8 ms",
)  # fmt: skip
HASH_SMALL: Final = _row(
    "HASH_SMALL", 340, "reasoned", "products of a row in the table of a warp: two thirds of 512 slots, as of all tables"
)
HASH_MEDIUM: Final = _row(
    "HASH_MEDIUM", 1365, "reasoned", "the same for a block, with 2048 slots: 16 KB of keys and values of 4 bytes"
)
HASH_LARGE: Final = _row("HASH_LARGE", 2730, "reasoned", "the same with 4096 slots: 32 KB")
HASH_LARGEST: Final = _row("HASH_LARGEST", 5461, "reasoned", "the same with 8192 slots: 64 KB, 128 of 8 bytes")
HASHED_PRODUCT: Final = _row(
    "HASHED_PRODUCT", 20, "measured",
    "a product of a row in a hash table: two insertions, and its share of the sort; H200, kernels, A A of uniform "
    "graphs: 1 M rows of 8 entries 85 ps a product, 50,000 rows of 20 entries 100",
)  # fmt: skip
ROWS_ENTRY: Final = _row(
    "ROWS_ENTRY", 48, "measured",
    "a search of a row of B in a panel, of which a warp adds few products: H200, call, A A of a uniform graph of "
    "200,000 rows and 80 entries a row: 128 ms in 13 panels, of which the products take 24",
)  # fmt: skip
SEARCHED_PROBE: Final = _row(
    "SEARCHED_PROBE", 12, "reasoned", "a search in a row that exceeds the table: the steps among 4 K entries"
)
DERIVE_PRODUCTS: Final = _row(
    "DERIVE_PRODUCTS", 4, "reasoned",
    "products that take as long as an entry of a transpose, which is sorted once and not combined",
)  # fmt: skip
DOT_SMALL: Final = _row("DOT_SMALL", 128, "reasoned", "entries of a row in the table of a warp: 2 KB, or 4 with places")
DOT_LARGE: Final = _row(
    "DOT_LARGE", 2048, "measured",
    "entries of a row in the table of a block: 16 KB, or 32 with places, 64 for 64 bits; H200, call, triangles of "
    "kron20 and kron22, the mask by columns: 2048 7.4 and 44 ms, 4096 8.3 and 58, 8192 11.9 and 81",
)  # fmt: skip
DOT_PROBES: Final = _row(
    "DOT_PROBES", 8, "measured",
    "probes of a lane for one entry of the mask; H200, kernel, triangles of kron20 and kron22, ordered by degree, "
    "lanes for an entry: 4 3.4 and 20.6 ms, 8 3.5 and 20.9, 16 3.6 and 20.9, 32 4.1 and 22.0",
)  # fmt: skip
DOT_SEGMENT: Final = _row(
    "DOT_SEGMENT", 2048, "measured",
    "entries of the mask that a block processes with one table of a row of A; H200, kernel, triangles of kron22, "
    "summed: 512 16.1 ms, 2048 15.0; stored by groups of 8 lanes: 29.4, 26.3; 4096 is no faster than 2048",
)  # fmt: skip
DOT_BATCH: Final = _row(
    "DOT_BATCH", 8, "measured",
    "columns of B' that a lane loads before it probes them, where products are summed; H200, kernel, triangles of "
    "kron22 and kron24: 4 16.5 and 100 ms, 8 15.0 and 91.8; call, kron22: 8 15.7, 16 19.9",
)  # fmt: skip
DOT_RESIDENT: Final = _row(
    "DOT_RESIDENT", 6, "measured",
    "blocks of a multiprocessor; H200, kernel, triangles of kron22, summed in batches of 4: unbounded 23.3 ms, "
    "5 17.8, 6 17.8, 8 16.7; of 8: 4 20.2, 6 16.1; call: 4 19.1, 6 15.6, 8 15.7",
)  # fmt: skip
DOT_ENTRY: Final = _row(
    "DOT_ENTRY", 24, "measured",
    "an entry of the mask, beside its probes; H200, call, A A under the mask A: grid of 5000 x 5000 (100 M entries, "
    "400 M probes) 14.2 ms, of 300 x 300 x 300 (161 M, 972 M) 20.6",
)  # fmt: skip
DOT_SERIAL: Final = _row(
    "DOT_SERIAL", 17_000, "measured",
    "a probe of the longest row of one warp, for which the device waits while the warp processes that and a few more; "
    "H200, call, A A under the mask A: kron12 (11 M probes) 3.5 ms, kron14 (87 M) 5.7, kron16 (776 M) 9.9",
)  # fmt: skip
DOT_SWAP: Final = _row(
    "DOT_SWAP", 4, "measured",
    "entries of a row of B' for each of the row of A, from which on the latter are searched in the former; H200, call, "
    "triangles of kron20 and kron22: 1 42 and 179 ms, 2 18 and 91, 4 15 and 74, 8 15 and 78, none 18 and 102",
)  # fmt: skip

# Union-find.
LINK_BLOCK: Final = _row("LINK_BLOCK", 512, "reasoned", "as GRID_BLOCK")
CHAINED_DEGREE: Final = _row(
    "CHAINED_DEGREE", 8, "measured",
    "entries of an average row up to which the hooks to first neighbors are flattened before others: few neighbors "
    "leave long chains; H200, call of connected_components, without and with: grid of 2000 x 2000 1.22 ms, 0.53; "
    "kron22 0.59, 0.64; uniform with 16 entries a row 0.44, 0.52",
)  # fmt: skip
SHORT_ROW: Final = _row(
    "SHORT_ROW", 8, "reasoned", "entries of a row that one thread unites; the entries of longer rows are divided evenly"
)

# Entries in host memory.
CHUNK_BYTES: Final = _row(
    "CHUNK_BYTES", 1 << 25, "reasoned",
    "a chunk of a stream, which is copied in 0.6 ms: twenty times what queueing a copy and a kernel takes; two chunks "
    "are device-resident",
)  # fmt: skip
COPY_CALL: Final = _row(
    "COPY_CALL", 1 << 18, "reasoned",
    "bytes that the interconnect transfers while the host starts a copy of page-locked memory, about 5 us; shorter "
    "gaps between two copies are copied too",
)  # fmt: skip
STAGED_CALL: Final = _row(
    "STAGED_CALL", 1 << 21, "reasoned",
    "the same for pageable memory: one thread stages a short copy at 10 GB/s, all threads a long copy",
)  # fmt: skip
READ_PERCENT: Final = _row(
    "READ_PERCENT", 92, "reasoned",
    "bytes that kernels read from host memory, in order, while a copy transfers 100; copies use PCIe better",
)  # fmt: skip
READ_EDGES: Final = _row(
    "READ_EDGES", 128, "reasoned",
    "bytes that reading a compressed tile from host memory costs beside its own, for its first and last line; derived "
    "from the time and the bytes of a whole search on 3.6 G packed entries",
)  # fmt: skip

# Searches from many sources.
LONG_ROW: Final = _row(
    "LONG_ROW", 512, "reasoned",
    "longest row that one group of lanes pulls, about 20 us: the segments of longer rows are shared by all warps",
)  # fmt: skip
CLAIM_WORDS: Final = _row(
    "CLAIM_WORDS", 2, "reasoned", "bitmap words of 32 rows that a warp claims: about 1 us of reads for each atomic"
)

# Products with full rows.
FULL_SEGMENT: Final = _row(
    "FULL_SEGMENT", 512, "measured",
    "entries of a row that one group of lanes processes; H200, call, kron20 x 64 columns of float32, 256 threads and "
    "4 loads: 256 1.37 ms, 512 1.31, 1024 1.31, 2048 1.32",
)  # fmt: skip
FULL_BLOCK: Final = _row(
    "FULL_BLOCK", 128, "measured",
    "threads of a block; H200, call, as FULL_SEGMENT: 128 1.24 ms, 256 1.31, 512 1.53; with 2 loads: 64 1.18, 128 1.09",
)  # fmt: skip
FULL_UNROLL: Final = _row(
    "FULL_UNROLL", 3, "measured",
    "loads of 16 bytes that a lane has under way; H200, call, kron20 x 64 and 128 columns of float32: 1 1.19 and "
    "2.10 ms, 2 1.09 and 1.99, 3 1.06 and 1.86, 4 1.24 and 2.12",
)  # fmt: skip
FULL_SAMPLED: Final = _row(
    "FULL_SAMPLED", 40, "measured",
    "values of each operand that dot products for a mask read, per position of the result, beyond which cuBLAS "
    "computes all positions at less cost; H200, call, 4000 x 4000, float32: 512 features, 1/16 of the positions 0.43 "
    "ms and 0.51, 1/8 0.77 and 0.51; 64 features, 1/2 0.27 and 0.32",
)  # fmt: skip
FULL_REPEATS: Final = _row(
    "FULL_REPEATS", 2, "measured",
    "loads of 16 bytes that a lane makes of one row in a dot product; H200, call, kron20 as the mask, 64 features of "
    "float32: 1 1.40 ms, 2 1.12, 4 1.37",
)  # fmt: skip

# Sorted rows.
SORT_BIG: Final = _row(
    "SORT_BIG", 8192, "reasoned",
    "longest row that a block sorts, 256 times a power of two: 83 KB of shared memory for keys of 64 bits; every "
    "device from sm_80 has more",
)  # fmt: skip
SORT_BLOCKS: Final = _row(
    "SORT_BLOCKS", 32, "reasoned", "blocks for each multiprocessor: as many as it holds, four times over"
)

# Votes.
VOTE_WARP: Final = _row(
    "VOTE_WARP", 256, "reasoned", "longest row of a warp, a power of two: its table of 512 slots takes 4 to 8 KB"
)
VOTE_SMALL: Final = _row("VOTE_SMALL", 1024, "reasoned", "longest row of a block of 256 threads: 2,048 slots, 24 KB")
VOTE_LARGE: Final = _row(
    "VOTE_LARGE", 4096, "reasoned",
    "longest row of one block of 512 threads: 8,192 slots, 64 to 128 KB of shared memory; every device from sm_80 has "
    "more",
)  # fmt: skip
VOTE_TILES: Final = _row("VOTE_TILES", 4096, "reasoned", "tiles of VOTE_LARGE entries at a time, of 256 to 512 MB")
VOTE_BLOCKS: Final = _row("VOTE_BLOCKS", 16, "reasoned", "blocks for each multiprocessor, as SORT_BLOCKS")
PAIR_MOST: Final = _row(
    "PAIR_MOST", 1 << 28, "reasoned", "entries of a mask that are sorted as pairs, if 24 bytes each are free; 0: none"
)
PAIR_COLUMN: Final = _row(
    "PAIR_COLUMN", 2, "reasoned",
    "a column of the shorter row of a pair: a probe of a table, with its share of the table, or a cheaper search",
)  # fmt: skip
PAIR_ENTRY: Final = _row(
    "PAIR_ENTRY", 40, "reasoned",
    "an entry of the mask that is sorted as a pair: two searches for its row and three atomics, 0.2 ms for 1 M",
)  # fmt: skip
PAIR_LAUNCHES: Final = _row("PAIR_LAUNCHES", 8, "reasoned", "launches of a product by pairs beside those without")
PAIR_THREADS: Final = _row(
    "PAIR_THREADS", 256, "measured",
    "threads of a block that probes a table with up to so many pairs; H200, call of mxm for 1 M edges of kron22 with "
    "as many threads a multiprocessor: 1024 18.0 ms, 512 8.6, 256 6.6; of kron24: 41.0, 19.4, 14.8",
)  # fmt: skip
PAIR_RESIDENT: Final = _row(
    "PAIR_RESIDENT", 6, "reasoned", "blocks of a multiprocessor: as many threads as DOT_RESIDENT, and 192 KB of tables"
)
PAIR_TABLE: Final = _row(
    "PAIR_TABLE", 1 << 15, "reasoned",
    "bytes of a table: 8192 slots, or bits of 262,144 columns; half of the slots with positions",
)  # fmt: skip
PAIR_SPARSE: Final = _row(
    "PAIR_SPARSE", 4, "reasoned",
    "slots of a table for each entry: a column that is not there meets 1.4 slots on average, 2.5 with two slots an "
    "entry, and a warp waits for the longest of 32 searches",
)  # fmt: skip
PAIR_BATCH: Final = _row("PAIR_BATCH", 4, "reasoned", "columns that a lane loads before it searches them together")
PAIR_WIDE: Final = _row(
    "PAIR_WIDE", 64, "reasoned", "columns of a pair for a warp: two batches of the eight lanes that shorter pairs have"
)
PAIR_PART: Final = _row(
    "PAIR_PART", 1 << 16, "reasoned",
    "columns, on average, that a block searches in a row with one table, or four times the entries of the row, which "
    "fill its tables again for each part: 0.1 ms, and the kernel ends with a part",
)  # fmt: skip
PAIR_SEARCHED: Final = _row(
    "PAIR_SEARCHED", 4, "reasoned",
    "a search in a row where it is, in probes of a table: nine steps, four of which read lines of their own",
)  # fmt: skip
PAIR_ITEM: Final = _row(
    "PAIR_ITEM",
    3000,
    "reasoned",
    "probes of the device in the time that a part costs beside its probes: 4 us of a block",
)
