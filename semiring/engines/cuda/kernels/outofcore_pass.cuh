// A pass over the entries of some rows, tile by tile, in the order of their addresses.
//
// One bitmap marks the rows, another the tiles with entries of these rows.  Work is ordered without sorting or lists, a
// row of any length is divided among many warps, and a tile shared by several rows is read once.  Warps take words of
// the tile bitmap from a common cursor, so concurrent reads are at nearby addresses, which the translation of host
// addresses needs.

#pragma once

#include "CODEC_outofcore.cuh"
#include "tile.cuh"

constexpr int PASS_BLOCK = 256;

// The host packs this struct by the names of its fields (arguments.py); each line declares one field.
struct PassArguments {
    const P* indptr;
    const J* base;
    const AT* at;
    u64 entries;  // this field and indptr, base, at, mask, n and nvals are those of `Entries`
    u64 mask;
    i64 n;
    i64 nvals;
    const u32* rows;  // bitmap
    const u32* tiles;  // bitmap; the pass covers its words [first, last)
    i64 first;
    i64 last;
    i64 grab;  // words that a warp takes at a time, at most 32
    u64* cursor;  // initially 0
    u64* traffic;  // += the bytes of entries that are read, unless it is null
};

DEVICE Entries entries_of(const PassArguments& s) {
    return {s.indptr, s.base, s.at, reinterpret_cast<const u8*>(s.entries), s.mask, s.n, s.nvals};
}

// The row of entry p, which is not below `from`.  Every lane of the warp calls.
DEVICE i64 row_of(const Entries& of, i64 p, i64 from) {
    const i64 i = from + lane_id();
    const int passed = __popc(__ballot_sync(FULL_WARP, i < of.n && i64(of.indptr[i + 1]) <= p));
    return passed < 32 ? from + passed : warp_upper_bound(of.indptr + 1, from + 32, of.n, p);
}

// The part of a row that a visitor needs, as entries of the tile.
struct Part {
    int from, to;
};

// A position relative to the first entry of the tile, clamped to the tile.
DEVICE int clamped(i64 s) { return s <= 0 ? 0 : s < TILE_SIZE ? int(s) : TILE_SIZE; }
// The part of entries [begin, end) in the tile.
DEVICE Part clamped(i64 begin, i64 end) { return {clamped(begin), clamped(end)}; }

// The end of the entries that lanes need in the half of the tile that begins at entry `half`; 0 if none.  Parts ascend
// with the lanes.  Every lane of the warp calls.
DEVICE int needed_half(Part part, int half) {
    if constexpr (!TileReader::BY_HALVES) return 0;
    const int from = part.from > half ? part.from : half;
    const int to = part.to < half + TILE_SIZE / 2 ? part.to : half + TILE_SIZE / 2;
    const u32 lanes = __ballot_sync(FULL_WARP, from < to);
    const int last = __shfl_sync(FULL_WARP, to, 31 - __clz(int(lanes | 1u)));
    return lanes == 0 ? 0 : last;
}

// Visits the entries of tile t that belong to marked rows; returns a row from which the search for the rows of the next
// tile may start.  Lanes first process 32 rows at a time, one each, then 32 entries of these rows.
template <class Visitor>
DEVICE i64 visit_tile(TileReader& tile, const u32* rows, i64 t, i64 from, const Visitor& visitor) {
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
        if (row_begin < row_end && row_begin < count && bit_test(rows, i) && visitor.needs(i)) {
            part = visitor.part(begin - start, end - start);
        }
        const u32 needed = __ballot_sync(FULL_WARP, part.from < part.to);
        if (needed != 0) {
            tile.decode_until(needed_half(part, 0), needed_half(part, TILE_SIZE / 2));
#pragma unroll
            for (int c = 0; c < CHUNKS; ++c) {
                const int s = 32 * c + lane_id();
                int slot = 0;  // the first of the 32 rows that ends after entry s, or the last
#pragma unroll
                for (int half = 16; half > 0; half /= 2) {
                    if (__shfl_sync(FULL_WARP, row_end, slot + half - 1) <= s) slot += half;
                }
                const int own_begin = __shfl_sync(FULL_WARP, row_begin, slot);
                const int own_from = __shfl_sync(FULL_WARP, part.from, slot);
                const int own_to = __shfl_sync(FULL_WARP, part.to, slot);
                const bool mine = s < count && (needed >> slot & 1u) && s >= own_from && s < own_to;
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

// Visits every entry of the marked rows in the marked tiles, once.  `visitor` has
//   bool needs(i64 i)                                       whether row i must be read (any thread);
//   Part part(i64 begin, i64 end)                           the needed entries of a row [begin, end), relative to the
//                                                           first entry of the tile; the row may extend outside;
//   void visit(bool mine, i64 i, i64 j, int first_lane)     processes entry (i, j) if `mine`.  Every lane calls; rows
//                                                           ascend with the lanes, and if `mine`, the lanes from
//                                                           first_lane to this one have entries of row i.
// The whole grid calls, with PASS_BLOCK threads a block.
template <class Visitor>
DEVICE void visit_tiles(const PassArguments& work, const Visitor& visitor) {
    const Entries of = entries_of(work);
    __shared__ TileStage stages[PASS_BLOCK / 32];
    TileReader tile(of, stages[warp_in_block()]);
    i64 row = 0;  // the cursor ascends, and with it the rows of a warp
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
                row = visit_tile(tile, work.rows, 32 * (base + lane) + __ffs(int(left)) - 1, row, visitor);
            }
        }
    }
    if (lane_id() == 0 && tile.traffic != 0 && work.traffic != nullptr) atomicAdd(work.traffic, u64(tile.traffic));
}

// --- marks of tiles ---------------------------------------------------------------------------------------

constexpr i64 NONE = highest<i64>();

// Marks the tiles with entries [begin, end) of each lane's row; returns in lane 0 how many were not marked before.  Of
// the words that a row covers completely, at most `word_limit` are counted.  Every lane calls.
DEVICE i64 mark_tiles(u32* tiles, i64 begin, i64 end, i64 word_limit) {
    const bool some = begin < end;
    const i64 first = some ? begin / TILE_SIZE : 0, last = some ? (end - 1) / TILE_SIZE : 0;
    i64 counted = 0;
    // Words that a row covers completely: no other row marks them, so they need no atomics.
    for (u32 longer = __ballot_sync(FULL_WARP, some && last / 32 - first / 32 > 1); longer; longer &= longer - 1) {
        const int lane = __ffs(int(longer)) - 1;
        const i64 from = shuffle(first, lane) / 32 + 1, to = shuffle(last, lane) / 32;
        for (i64 w = from + lane_id(); w < to; w += 32) tiles[w] = FULL_WARP;
        if (lane_id() == 0) counted += 32 * (to - from < word_limit ? to - from : word_limit);
    }
    // The first and the last word of each row; adjacent rows share them, so their bits are combined before the atomic.
    i64 word = some ? first / 32 : NONE;
    for (;;) {
        const i64 lowest_word = -warp_max(-word);
        if (lowest_word == NONE) return counted;
        u32 bits = 0;
        if (word == lowest_word) {
            bits = FULL_WARP;
            if (word == first / 32) bits &= FULL_WARP << (first % 32);
            if (word == last / 32) bits &= FULL_WARP >> (31 - last % 32);
            word = word == last / 32 ? NONE : last / 32;
        }
        bits = warp_or(bits);
        if (lane_id() == 0) counted += __popc(bits & ~atomicOr(tiles + lowest_word, bits));
    }
}
