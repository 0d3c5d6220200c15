// The rows that each source has reached, as the rows of a matrix: bits of vertices by sources become entries.
//
// Rows of bits are divided into chunks of CHUNK rows.  `many_count` counts the entries of each source in each chunk; a
// prefix sum over them gives every chunk its position in the row of a source; `many_write` writes columns and levels
// there.  A block transposes the bits of a chunk in shared memory.  A warp then lists the rows of one source and writes
// its entries in whole lines, so that few partial sectors remain.
//
// The prologue defines the types J (columns), L (levels) and P (offsets of the result), and WORDS, the words of a row.

#include "source_bits.cuh"

constexpr int TILES = 16;  // of 32 rows each
constexpr int CHUNK = 32 * TILES;
constexpr int SOURCES = 32 * PART;  // of a part of a row

// Threads of a block of `many_write`.
constexpr int WRITE_BLOCK = 256;
// Planes that one launch reads: four bits a level.
constexpr int PLANES = 4;

// The number of chunks of n rows.
DEVICE i64 chunk_count(i64 n) { return (n + CHUNK - 1) / CHUNK; }

// counts[s * chunks + c] = the rows of chunk c that source s has reached.  A warp counts one part of a chunk.
extern "C" __global__ void many_count(const u32* visited, i64 n, i64 sources, u32* counts) {
    const i64 chunks = chunk_count(n);
    for (i64 item = warp_id(); item < chunks * LANES; item += warp_count()) {
        const i64 chunk = item / LANES, part = item % LANES;
        u32 count[PART] = {};
#pragma unroll 4
        for (int tile = 0; tile < TILES; tile++) {
            const i64 v = chunk * CHUNK + 32 * tile + lane_id();
            const Part bits = v < n ? load_part(visited + v * WORDS + part * PART) : Part();
#pragma unroll
            for (int i = 0; i < PART; i++) count[i] += u32(__popc(warp_transpose(bits.word[i])));
        }
#pragma unroll
        for (int i = 0; i < PART; i++) {
            const i64 source = 32 * (part * PART + i) + lane_id();
            if (source < sources) counts[source * chunks + chunk] = count[i];
        }
    }
}

// The bits of a chunk by sources.  `reached`: a word for each tile.  `level`: 32 numbers of four bits; row r of the
// tile has the bits from r & ~3 on of word r % 4.  Tiles are permuted within a source, which avoids bank conflicts.
struct ChunkBits {
    u32 reached[SOURCES * TILES];
    uint4 level[SOURCES * TILES];

    static DEVICE int slot(int source, int tile) { return source * TILES + (tile ^ (source % TILES)); }
    DEVICE u32 level_of(int slot, int row) const {
        return reinterpret_cast<const u32*>(level)[4 * slot + row % 4] >> (row & ~3) & 15u;
    }
};

// Bits `j`, `j` + 4, ... of the planes as numbers of four bits.
DEVICE u32 numbers(const u32 (&plane)[PLANES], int j) {
    u32 made = 0;
#pragma unroll
    for (int b = 0; b < PLANES; b++) made |= (plane[b] >> j & 0x11111111u) << b;
    return made;
}

// Transposes part `part` of the rows of a chunk.  The whole block calls; it synchronises after it.
DEVICE void transpose_chunk(const u32* visited, const u64* planes, i64 plane_count, i64 n, i64 chunk, i64 part,
                            ChunkBits& to) {
    for (int tile = warp_in_block(); tile < TILES; tile += WRITE_BLOCK / 32) {
        const i64 v = chunk * CHUNK + 32 * tile + lane_id(), at = v * WORDS + part * PART;
        const Part bits = v < n ? load_part(visited + at) : Part();
        Part bit[PLANES];
#pragma unroll
        for (int b = 0; b < PLANES; b++)
            bit[b] = b < plane_count && bits.any() ? load_part(reinterpret_cast<const u32*>(planes[b]) + at) : Part();
#pragma unroll
        for (int i = 0; i < PART; i++) {
            const int slot = ChunkBits::slot(32 * i + lane_id(), tile);
            to.reached[slot] = warp_transpose(bits.word[i]);
            u32 plane[PLANES] = {};
#pragma unroll
            for (int b = 0; b < PLANES; b++) {
                if (b < plane_count) plane[b] = warp_transpose(bit[b].word[i]);
            }
            to.level[slot] = make_uint4(numbers(plane, 0), numbers(plane, 1), numbers(plane, 2), numbers(plane, 3));
        }
    }
}

// The rows of a chunk that a source has reached, in ascending order.
struct ReachedRows {
    u32 word = 0;  // of the tile of this lane
    int total = 0;
    u16* list;  // in shared memory, of the warp

    DEVICE explicit ReachedRows(u16* memory) : list(memory) {}

    // The rows of `reached`, a word for each tile in the lane of its number.  Sources of one component have most lists
    // in common: the list of the source before is kept where it is the same.  The whole warp calls.
    DEVICE void become(u32 reached) {
        if (__all_sync(FULL_WARP, reached == word)) return;
        word = reached;
        const int count = __popc(word), inclusive = warp_scan_inclusive(count);
        total = shuffle(inclusive, 31);
        __syncwarp();
#pragma unroll
        for (int tile = 0; tile < TILES; tile++) {
            const u32 bits = shuffle(word, tile);
            const int before = shuffle(inclusive - count, tile);
            if (bits >> lane_id() & 1u) list[before + __popc(bits & lanes_below())] = u16(32 * tile + lane_id());
        }
        __syncwarp();
    }
};

// Writes the entries of a source in a chunk from position `first` of the result on.  `shift`: 0 writes the columns and
// the low four bits of the levels; otherwise the levels get the four bits from `shift` on.  The whole warp calls.
DEVICE void write_entries(const ChunkBits& bits, int source, const ReachedRows& rows, i64 chunk_row, i64 first,
                          int shift, J* columns, L* levels) {
    // The stores of a warp begin at multiples of 32 entries.
    for (int i = lane_id() - int(first % 32); i < rows.total; i += 32) {
        if (i < 0) continue;
        const u32 row = rows.list[i];
        const L level = L(bits.level_of(ChunkBits::slot(source, int(row / 32)), int(row % 32))) << shift;
        if (shift == 0) {
            columns[first + i] = J(chunk_row) + J(row);
            levels[first + i] = level;
        } else {
            levels[first + i] |= level;
        }
    }
}

// planes: the addresses of up to PLANES bit planes, the first of which holds bit `shift` of the levels; a part of a row
// without bits is undefined in them.  offsets: the prefix sums of the counts.  base: the position of the first entry of
// the first source.
extern "C" __global__ void __launch_bounds__(WRITE_BLOCK, 4)
    many_write(const u32* visited, const u64* planes, i64 plane_count, i64 shift, i64 n, i64 sources,
               const i64* offsets, i64 base, J* columns, L* levels) {
    constexpr int WARPS = WRITE_BLOCK / 32;
    __shared__ ChunkBits bits;
    __shared__ u16 lists[WARPS][CHUNK];
    const i64 chunks = chunk_count(n);
    for (i64 item = blockIdx.x; item < chunks * LANES; item += gridDim.x) {
        const i64 chunk = item / LANES, part = item % LANES;
        // Lane l has the position of the l-th source of this warp.
        const i64 mine = SOURCES * part + warp_in_block() + WARPS * lane_id();
        const i64 position = lane_id() < SOURCES / WARPS && mine < sources ? base + offsets[mine * chunks + chunk] : 0;
        transpose_chunk(visited, planes, plane_count, n, chunk, part, bits);
        __syncthreads();
        ReachedRows rows(lists[warp_in_block()]);
        for (int l = 0; l < SOURCES / WARPS; l++) {
            const int source = warp_in_block() + WARPS * l;
            if (SOURCES * part + source >= sources) break;
            rows.become(lane_id() < TILES ? bits.reached[ChunkBits::slot(source, lane_id() % TILES)] : 0);
            write_entries(bits, source, rows, chunk * CHUNK, shuffle(position, l), int(shift), columns, levels);
        }
        __syncthreads();
    }
}

// indptr[s] = base + the position of the first entry of source s, for s up to and including `sources`.
extern "C" __global__ void many_offsets(const i64* offsets, i64 n, i64 sources, i64 base, P* indptr) {
    const i64 chunks = chunk_count(n);
    for (i64 s = thread_id(); s <= sources; s += thread_count()) indptr[s] = P(base + offsets[s * chunks]);
}
