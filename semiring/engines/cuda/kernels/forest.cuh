// A forest over the rows of a matrix: finding roots and uniting two trees, by any number of threads at once.
//
// parent[v] <= v always, with equality at roots; so every chain of parents descends and ends.  Two rows are united by
// hooking the larger root to the smaller with compare-and-swap, again and again until the roots agree: no second pass
// over the entries is ever needed.  A chain is halved while it is walked: a store to a row that is not a root
// may lose a race without harm, since whatever stands there is an ancestor.
//
// The prologue defines the type F (labels).

#pragma once

#include "warp.cuh"

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

// Every row points to its root; the whole grid calls.  Chains are walked without halving: a late store of another
// thread's halving could put an ancestor that is not the root where the root already stood.
DEVICE void flatten(F* parent, i64 n) {
    for (i64 v = thread_id(); v < n; v += thread_count()) {
        const F above = parent[v];
        const F root = old_root(parent, above);
        if (root != above) parent[v] = root;
    }
}
