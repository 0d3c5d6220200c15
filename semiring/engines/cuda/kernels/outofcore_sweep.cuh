// A sweep over the entries of some rows, in the order of their addresses, tile by tile.
//
// Which rows and which tiles hold entries of theirs are two bitmaps; so work is ordered and merged without sorting or
// lists, a row of any length is divided among many warps, and a tile that several rows share is read once.  Warps
// take words of the tile bitmap from a common cursor: what is being read at any moment lies close together, which is
// what the translation of host addresses needs.

#pragma once

#include "tile.cuh"

constexpr int SWEEP_BLOCK = 256;

// sweep.py packs it by the names of its fields (arguments.py): a line of this struct is a type and a name.
struct SweepArguments {
    const P* indptr;
    const J* base;
    const AT* at;
    u64 entries;  // as in `Entries`, and so are indptr, base, at, mask, n and nvals
    u64 mask;
    i64 n;
    i64 nvals;
    const u32* rows;  // the bitmaps: of rows,
    const u32* tiles;  // and of tiles, of which the words [first, last) are swept, `grab` at a time (at most 32)
    i64 first;
    i64 last;
    i64 grab;
    u64* cursor;  // starts at 0
    u64* traffic;  // gets the bytes of entries that were asked for, unless it is null
};

DEVICE Entries entries_of(const SweepArguments& s) {
    return {s.indptr, s.base, s.at, reinterpret_cast<const u8*>(s.entries), s.mask, s.n, s.nvals};
}

// The row, not before `from`, that holds entry p.  Every lane of the warp calls.
DEVICE i64 row_of(const Entries& of, i64 p, i64 from) {
    const i64 i = from + lane_id();
    const int passed = __popc(__ballot_sync(FULL_WARP, i < of.n && i64(of.indptr[i + 1]) <= p));
    return passed < 32 ? from + passed : warp_upper_bound(of.indptr + 1, from + 32, of.n, p);
}

// The part of a row that a visitor wants, as entries of the tile.
struct Part {
    int from, to;
};

// A place counted from the tile's first entry, clamped to the tile: comparisons with entries of the tile stay true.
DEVICE int clamped(i64 place) { return place <= 0 ? 0 : place < TILE_SIZE ? int(place) : TILE_SIZE; }
// What of entries [begin, end) lies in the tile.
DEVICE Part clamped(i64 begin, i64 end) { return {clamped(begin), clamped(end)}; }

// Where what lanes want of a half of the tile, beginning at entry `half`, ends; 0 if they want nothing.  Parts ascend
// with the lanes.  Every lane of the warp calls.
DEVICE int wanted_half(Part part, int half) {
    if constexpr (CODEC != PACKED) return 0;  // other tiles are read whole, or entry by entry
    const int from = part.from > half ? part.from : half;
    const int to = part.to < half + TILE_SIZE / 2 ? part.to : half + TILE_SIZE / 2;
    const u32 lanes = __ballot_sync(FULL_WARP, from < to);
    const int last = __shfl_sync(FULL_WARP, to, 31 - __clz(int(lanes | 1u)));
    return lanes == 0 ? 0 : last;
}

// The entries of tile t that belong to the rows; gives a row that begins before or in it, from where the next tile may
// seek.  A lane first stands for a row, of 32 at a time, then for an entry.
template <class Visitor>
DEVICE i64 sweep_tile(TileReader& tile, const u32* rows, i64 t, i64 from, const Visitor& visitor) {
    const Entries& of = tile.of;
    const i64 start = TILE_SIZE * t;
    const int count = int(of.nvals - start < TILE_SIZE ? of.nvals - start : TILE_SIZE);
    tile.select(t, count);
    for (i64 row = row_of(of, start, from);;) {
        const i64 i = row + lane_id();
        const i64 begin = i < of.n ? i64(of.indptr[i]) : of.nvals;
        const i64 end = i < of.n ? i64(of.indptr[i + 1]) : of.nvals;
        const int row_begin = clamped(begin - start), row_end = clamped(end - start);
        Part part = {0, 0};
        if (row_begin < row_end && row_begin < count && bit_test(rows, i) && visitor.wants(i)) {
            part = visitor.part(begin - start, end - start);
        }
        const u32 wanted = __ballot_sync(FULL_WARP, part.from < part.to);
        if (wanted != 0) {
            tile.decode_until(wanted_half(part, 0), wanted_half(part, TILE_SIZE / 2));
#pragma unroll
            for (int c = 0; c < CHUNKS; ++c) {
                const int s = 32 * c + lane_id();
                int slot = 0;  // the first row that ends behind entry s, or the last of the 32
#pragma unroll
                for (int half = 16; half > 0; half /= 2) {
                    if (__shfl_sync(FULL_WARP, row_end, slot + half - 1) <= s) slot += half;
                }
                const int own_begin = __shfl_sync(FULL_WARP, row_begin, slot);
                const int own_from = __shfl_sync(FULL_WARP, part.from, slot);
                const int own_to = __shfl_sync(FULL_WARP, part.to, slot);
                const bool mine = s < count && (wanted >> slot & 1u) && s >= own_from && s < own_to;
                if (__ballot_sync(FULL_WARP, mine) == 0) continue;
                const i64 column = tile.column(c, own_begin, mine);
                const int first_lane = own_begin <= 32 * c ? 0 : own_begin - 32 * c;
                visitor.visit(mine, row + slot, column, first_lane);
            }
        }
        const int covered = __shfl_sync(FULL_WARP, row_end, 31);
        if (covered >= count) return row;
        row = row_of(of, start + covered, row + 32);
    }
}

// Every entry of the rows in the swept tiles, once.  `visitor` has
//   bool wants(i64 i)                                       whether row i is still worth reading (any thread);
//   Part part(i64 begin, i64 end)                           which entries of a row that lies there are wanted; both
//                                                           count from the tile's first entry, and may lie outside;
//   void visit(bool mine, i64 i, i64 j, int first_lane)     takes the entry from row i to column j where `mine`.
//                                                           Every lane calls; rows ascend with the lanes, and where
//                                                           `mine`, row i has all lanes from first_lane to this one.
// Whole grid; SWEEP_BLOCK threads a block.
template <class Visitor>
DEVICE void sweep(const SweepArguments& work, const Visitor& visitor) {
    const Entries of = entries_of(work);
    __shared__ TileStage stages[SWEEP_BLOCK / 32];
    TileReader tile(of, stages[warp_in_block()]);
    i64 row = 0;  // the cursor ascends, and so do the rows that a warp meets
    for (;;) {
        u64 taken = 0;
        if (lane_id() == 0) taken = atomicAdd(work.cursor, u64(work.grab));
        const i64 base = work.first + i64(shuffle(taken, 0));
        if (base >= work.last) break;
        const i64 w = base + lane_id();
        const u32 bits = lane_id() < work.grab && w < work.last ? work.tiles[w] : 0u;
        for (u32 some = __ballot_sync(FULL_WARP, bits != 0); some != 0; some &= some - 1) {
            const int lane = __ffs(int(some)) - 1;
            for (u32 left = __shfl_sync(FULL_WARP, bits, lane); left != 0; left &= left - 1) {
                row = sweep_tile(tile, work.rows, 32 * (base + lane) + __ffs(int(left)) - 1, row, visitor);
            }
        }
    }
    if (lane_id() == 0 && tile.traffic != 0 && work.traffic != nullptr) atomicAdd(work.traffic, u64(tile.traffic));
}

// --- which tiles ------------------------------------------------------------------------------------------

constexpr i64 NOWHERE = highest<i64>();

// Marks the tiles that hold entries [begin, end) of each lane's row (none if they are empty), and gives in lane 0 how
// many were not marked before; of the words that a row has for itself, only `decode_until` count.  Every lane calls.
DEVICE i64 mark_tiles(u32* tiles, i64 begin, i64 end, i64 decode_until) {
    const bool some = begin < end;
    const i64 first = some ? begin / TILE_SIZE : 0, last = some ? (end - 1) / TILE_SIZE : 0;
    i64 counted = 0;
    // Words that a row has for itself: nobody else writes them, so they are stored, beside the atomics on others.
    for (u32 longer = __ballot_sync(FULL_WARP, some && last / 32 - first / 32 > 1); longer; longer &= longer - 1) {
        const int lane = __ffs(int(longer)) - 1;
        const i64 from = shuffle(first, lane) / 32 + 1, to = shuffle(last, lane) / 32;
        for (i64 w = from + lane_id(); w < to; w += 32) tiles[w] = FULL_WARP;
        if (lane_id() == 0) counted += 32 * (to - from < decode_until ? to - from : decode_until);
    }
    // The first and the last word of each row; neighbours share them, so they are put together before the atomic.
    i64 word = some ? first / 32 : NOWHERE;
    for (;;) {
        i64 lowest_word = word;
#pragma unroll
        for (int mask = 16; mask > 0; mask /= 2) {
            const i64 other = shuffle_xor(lowest_word, mask);
            if (other < lowest_word) lowest_word = other;
        }
        if (lowest_word == NOWHERE) return counted;
        u32 bits = 0;
        if (word == lowest_word) {
            bits = FULL_WARP;
            if (word == first / 32) bits &= FULL_WARP << (first % 32);
            if (word == last / 32) bits &= FULL_WARP >> (31 - last % 32);
            word = word == last / 32 ? NOWHERE : last / 32;
        }
#pragma unroll
        for (int mask = 16; mask > 0; mask /= 2) bits |= __shfl_xor_sync(FULL_WARP, bits, mask);
        if (lane_id() == 0) counted += __popc(bits & ~atomicOr(tiles + lowest_word, bits));
    }
}
