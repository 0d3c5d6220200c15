// Union-find over entries in host memory: marks the rows to process, then unites them in a pass over their entries
// (forest.cuh).
//
// The prologue defines the types P (offsets) and F (labels), and the parameters of columns.cuh.

#include "forest.cuh"
#include "outofcore_pass.cuh"

// Marks in `rows` the rows whose root is not `skip` (all rows without `skips`), and in `tiles` the tiles of their
// entries at positions [first, last) of the row; a negative `last` is the end of the row.  The forest is constant.
extern "C" __global__ void outofcore_list(const P* indptr, i64 n, const F* forest, i64 first, i64 last, bool skips,
                                          F skip, u32* rows, u32* tiles) {
    for (i64 w = warp_id(); 32 * w < n; w += warp_count()) {
        const i64 i = 32 * w + lane_id();
        i64 begin = 0, end = 0;
        if (i < n && !(skips && old_root(forest, F(i)) == skip)) {
            begin = i64(indptr[i]);
            end = i64(indptr[i + 1]);
            if (last >= 0 && end - begin > last) end = begin + last;
            begin = end - begin > first ? begin + first : end;
        }
        const u32 listed = __ballot_sync(FULL_WARP, begin < end);
        if (lane_id() == 0) rows[w] = listed;
        if (listed != 0) mark_tiles(tiles, begin, end, NONE);
    }
}

struct Linker {
    F* parent;
    i64 first, last;

    DEVICE bool needs(i64) const { return true; }
    DEVICE Part part(i64 begin, i64 end) const {
        if (last >= 0 && end - begin > last) end = begin + last;
        return clamped(begin + first, end);
    }
    DEVICE void visit(bool mine, i64 i, i64 j, int) const {
        if (mine) unite(parent, F(i), F(j));
    }
};

extern "C" __global__ void __launch_bounds__(PASS_BLOCK, 4)
    outofcore_link(const PassArguments work, F* parent, i64 first, i64 last) {
    visit_tiles(work, Linker{parent, first, last});
}

extern "C" __global__ void outofcore_flatten(F* parent, i64 n) { flatten(parent, n); }
