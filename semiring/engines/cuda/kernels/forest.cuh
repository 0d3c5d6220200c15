// A forest over the rows of a matrix: finding roots and uniting two trees, by any number of threads at once.
//
// parent[v] <= v always, with equality at roots; so every chain of parents descends and ends.  Two rows are united by
// hooking the larger root to the smaller with compare-and-swap, again and again until the roots agree: no second pass
// over the entries is ever needed.
//
// All threads read and write `parent` at once, by `load_weak`, by relaxed stores and by compare-and-swap; why a
// parent that is out of date does no harm:
// - A row leaves its state of being a root by one compare-and-swap, for ever: every other store writes a smaller number
//   than the row's own, into a row that was seen not to be a root.
// - A parent that is out of date is an ancestor still: trees only grow together, and a chain is halved by putting an
//   ancestor where an ancestor stood.  So a walk over such parents goes up its own tree, and ends, for numbers descend.
// - A store of a halving may undo that of another thread, and put a lower ancestor back: the chain is longer, not wrong.
// - A row that only seems to be a root any longer is found out by the compare-and-swap, which gives its parent instead.
// - Where both walks end in one row, i and j are in one tree, whether or not that row is still its root.
//
// The prologue defines the type F (labels).

#pragma once

#include "atomics.cuh"
#include "warp.cuh"

typedef unsigned_of<sizeof(F)> Bits;

DEVICE F find_root(F* parent, F v) {
    F above = load_weak(parent + v);
    if (above == v) return v;
    for (F below = v, next; above > (next = load_weak(parent + above)); below = above, above = next)
        store_relaxed(parent + below, next);
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

// `before` is the forest before the pass, which nobody writes: a row is skipped for what its root was then, not for what
// it becomes.
DEVICE F old_root(const F* before, F v) {
    for (F above; (above = before[v]) != v;) v = above;
    return v;
}

// Every row points to its root; the whole grid calls.  Roots stay as they are meanwhile, so whichever parents a walk
// meets, it ends in the one root.  Chains are walked without halving: a late store of another thread's halving could put
// an ancestor that is not the root where the root already stood.
DEVICE void flatten(F* parent, i64 n) {
    for (i64 v = thread_id(); v < n; v += thread_count()) {
        const F above = load_weak(parent + v);
        F root = above;
        for (F next; (next = load_weak(parent + root)) != root;) root = next;
        if (root != above) store_relaxed(parent + v, root);
    }
}
