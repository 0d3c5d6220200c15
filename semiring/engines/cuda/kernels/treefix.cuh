// Sums along the paths of a forest (engines/requests/graphs.py).
//
// Towards the roots a thread climbs from each leaf.  It adds its total to that of the parent, and continues if it is the
// last child to arrive: then all others have added theirs (Karras, "Maximizing Parallelism in the Construction of BVHs,
// Octrees, and k-d Trees", HPG 2012).  Towards the leaves totals double their reach in each launch (Wyllie, "The
// Complexity of Parallel Computations", 1979).
//
// The prologue defines the monoid `add`, the types F (parents), Z, and the constant NATIVE (atomics.cuh).

#include "atomics.cuh"
#include "warp.cuh"

// Words of the state, 0 before the first launch: errors (1: a parent out of range), complete vertices, then for each
// round whether an ancestor is left.
enum { FAILED, COMPLETE, OPEN };

// children[v] = the number of children of v, 0 before the launch.
extern "C" __global__ void treefix_children(i64 n, const F* parent, u32* children, u64* state) {
    for (i64 v = thread_id(); v < n; v += thread_count()) {
        const i64 above = i64(parent[v]);
        if (u64(above) >= u64(n)) atomicOr(state + FAILED, 1ull);
        else if (above != v && children != nullptr) atomicAdd(children + above, 1u);
    }
}

// arrived: 0 before the launch.
extern "C" __global__ void treefix_up(i64 n, const F* parent, const u32* children, u32* arrived, Z* totals,
                                      u64* state) {
    if (state[FAILED] != 0) return;
    u64 complete = 0;
    for (i64 leaf = thread_id(); leaf < n; leaf += thread_count()) {
        if (children[leaf] != 0) continue;
        for (i64 v = leaf;;) {
            complete++;
            const i64 above = i64(parent[v]);
            if (above == v) break;
            // Complete: the fence below is behind the counts of all children, whose totals are before their fences.
            const Z mine = load_relaxed(totals + v);
            atomic_combine<NATIVE>(totals + above, mine, [](Z x, Z y) { return cast<Z>(add(x, y)); });
            __threadfence();
            if (atomicAdd(arrived + above, 1u) + 1 != children[above]) break;
            __threadfence();
            v = above;
        }
    }
    complete = warp_sum(complete);
    if (lane_id() == 0 && complete != 0) atomicAdd(state + COMPLETE, complete);
}

// One round: t'(v) = t(jump(v)) (+) t(v), and jump' = jump(jump(v)), -1 where no ancestor is left.  In round 0 the jumps
// are the parents.
extern "C" __global__ void treefix_down(i64 n, i64 round, const F* jump, F* next, const Z* totals, Z* made, u64* state) {
    if (state[FAILED] != 0 || (round > 0 && state[OPEN + round - 1] == 0)) return;
    bool open = false;
    for (i64 v = thread_id(); v < n; v += thread_count()) {
        const F above = round == 0 && jump[v] == F(v) ? F(-1) : jump[v];
        F beyond = -1;
        Z total = totals[v];
        if (above >= 0) {
            beyond = jump[above];
            if (round == 0 && beyond == above) beyond = -1;
            total = cast<Z>(add(totals[above], total));
        }
        next[v] = beyond;
        made[v] = total;
        open |= beyond >= 0;
    }
    if (__any_sync(FULL_WARP, open) && lane_id() == 0) atomicOr(state + OPEN + round, 1ull);
}
