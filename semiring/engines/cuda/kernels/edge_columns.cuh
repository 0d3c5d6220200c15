// A block decodes the compressed columns of the edges of a list of rows into shared memory together: a warp decodes a
// long row segment much faster than its lanes decode one entry each.
//
// The prologue defines the parameters of columns.cuh.

#pragma once

#include "columns.cuh"

// A lane decodes a segment of a compressed row of up to SHORT_PIECE entries, a warp a longer one.  A warp with at most
// FEW_SEGMENTS segments decodes all of them: a lane needs a chain of dependent loads to reach its first entry.
constexpr i64 SHORT_PIECE = 8;
constexpr int FEW_SEGMENTS = 2;

// Decodes the columns of the edges [group, end), at most AT_ONCE * BLOCK of them, to `stage.column`.  The stage has BLOCK
// rows: `start`, the first entry of each, of which `passed` are skipped, `before`, the number of edges of all rows before
// it, or `known` past the last row, which ends at that edge, and `row_of(edge)`.  Warps have equal shares of the edges and
// process the rows of their share 32 at a time.  The whole block calls.
template <int BLOCK, int AT_ONCE, class Stage>
DEVICE void decode_edges(const Columns& columns, Stage& stage, i64 passed, i64 group, i64 end, i64 known) {
    constexpr i64 WARPS = BLOCK / 32, MOST = AT_ONCE * 32;
    const i64 even = (end - group + WARPS - 1) / WARPS, share = even < MOST ? even : MOST;
    const i64 from = group + share * warp_in_block(), to = from + share < end ? from + share : end;
    if (from >= to) return;
    for (int first = stage.row_of(from); first < BLOCK && i64(stage.before[first]) < to; first += 32) {
        const int r = first + lane_id();
        i64 begin = to, stop = to, row_start = 0, p = 0;
        if (r < BLOCK) {
            const i64 before = i64(stage.before[r]), next = r + 1 < BLOCK ? i64(stage.before[r + 1]) : known;
            begin = before > from ? before : from;
            stop = next < to ? next : to;
            row_start = i64(stage.start[r]);
            p = row_start + passed + (begin - before);
        }
        const bool few = __popc(__ballot_sync(FULL_WARP, begin < stop)) <= FEW_SEGMENTS;
        const bool longer = stop - begin > (few ? 0 : SHORT_PIECE);
        if (!longer && begin < stop) {
            ColumnCursor cursor(columns, row_start, p);
            for (i64 edge = begin; edge < stop; edge++, cursor.next()) stage.column[edge - group] = J(cursor.column());
        }
        for_long_rows(longer, begin, stop, [&](int lane, i64 piece, i64 piece_end) {
            const i64 entry = shuffle(p, lane);
            WarpColumns walk(columns, shuffle(row_start, lane), entry, entry + (piece_end - piece));
            while (walk.next()) {
                if (walk.inside) stage.column[walk.p - entry + piece - group] = J(walk.column);
            }
        });
    }
}
