// Union-find over rows of a matrix: unite every row with its neighbours at positions [first, last) of the row.
//
// parent[v] <= v always, with equality at roots; so every chain of parents descends and ends.  Two rows are united by
// hooking the larger root to the smaller with compare-and-swap, again and again until the roots agree: no second pass
// over the entries is ever needed.  A chain is halved while it is walked: a store to a row that is not a root
// may lose a race without harm, since whatever stands there is an ancestor.
// Sutton, Ben-Nun, Barak, "Optimizing Parallel Graph Connectivity Computation via Subgraph Sampling" (IPDPS 2018);
// Jaiganesh, Burtscher, "A High-Performance Connected Components Implementation for GPUs" (HPDC 2018).
//
// The prologue defines the types P (offsets), J (columns), F (labels), and the constants BLOCK and SHORT_ROW.

#include "expand.cuh"

typedef unsigned_of<sizeof(F)> Bits;

DEVICE F find_root(F* parent, F v) {
    F above = parent[v];
    if (above == v) return v;
    for (F below = v, next; above > (next = parent[above]); below = above, above = next) parent[below] = next;
    return above;
}

DEVICE void unite(F* parent, F i, F j) {
    F a = find_root(parent, i), b = find_root(parent, j);
    while (a != b) {
        const F high = a > b ? a : b;
        const F low = a > b ? b : a;
        const F found = F(atomicCAS(reinterpret_cast<Bits*>(parent + high), Bits(high), Bits(low)));
        if (found == high) return;
        a = find_root(parent, found);
        b = low;
    }
}

// `before` is the forest before the pass: a row is skipped for what its root was then, not for what it becomes.
DEVICE F old_root(const F* before, F v) {
    for (F above; (above = before[v]) != v;) v = above;
    return v;
}

// Rows with few entries are done here, by a thread each; the others are listed for `link_listed`.
extern "C" __global__ void __launch_bounds__(BLOCK)
    link_rows(const P* indptr, const J* indices, const F* old, F* parent, i64 n, i64 first, i64 last, bool skips,
              F skip, J* row, P* start, P* before, u64* count, i64 shift) {
    const Packing packing = {int(shift)};
    const Append to = {row, start, before, count, 0};
    for (i64 base = i64(blockIdx.x) * BLOCK; base < n; base += i64(gridDim.x) * BLOCK) {
        const i64 i = base + threadIdx.x;
        i64 p = 0, end = 0;
        if (i < n && !(skips && old_root(old, F(i)) == skip)) {
            p = i64(indptr[i]);
            end = i64(indptr[i + 1]);
            if (last >= 0 && p + last < end) end = p + last;
            p += first;
        }
        const bool longer = end - p > SHORT_ROW;
        if (!longer) {
            for (; p < end; p++) unite(parent, F(i), F(indices[p]));
        }
        if (row != nullptr && __syncthreads_or(longer)) append(packing, to, longer, i, p, end - p);
    }
}

struct Unite {
    static constexpr bool APPENDS = false;
    static constexpr bool NEEDS_ROW = true;
    typedef char Payload;
    F* parent;
    DEVICE Payload payload(i64, i64) const { return 0; }
    DEVICE bool open(Payload, i64, i64, i64) const { return true; }
    DEVICE bool visit(Payload, i64 k, i64 j, i64) const {
        unite(parent, F(k), F(j));
        return false;
    }
};

// The listed rows, their entries divided among all blocks.
extern "C" __global__ void __launch_bounds__(BLOCK)
    link_listed(const P* indptr, const J* indices, F* parent, J* row, P* start, P* before, u64* count, i64 shift) {
    const Packing packing = {int(shift)};
    const RowList list = {row, start, before, 0, *count};
    const Append nowhere = {};
    expand<BLOCK, GridTeam>(packing, indptr, indices, list, true, false, nowhere, Unite{parent});
}

// Every row points to its root.  Chains are walked without halving: a late store of another thread's halving could
// put an ancestor that is not the root where the root already stood.
extern "C" __global__ void __launch_bounds__(BLOCK) link_flatten(F* parent, i64 n) {
    for (i64 v = thread_id(); v < n; v += thread_count()) {
        const F above = parent[v];
        const F root = old_root(parent, above);
        if (root != above) parent[v] = root;
    }
}
