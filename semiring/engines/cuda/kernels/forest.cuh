// Union-find over the rows of a matrix, concurrent: find a root, hook two trees, flatten the forest.
//
// Invariant: parent[v] <= v, with equality at roots, so every chain of parents descends and ends.  `unite` hooks the
// larger root to the smaller one by compare-and-swap and repeats until the roots agree.  One pass over the entries is
// therefore sufficient.
//
// All threads access `parent` concurrently, by `load_weak`, relaxed stores and compare-and-swap.  An outdated parent is
// harmless:
// - A row stops being a root by one compare-and-swap and never becomes a root again.  Every other store changes a row
//   that was not a root, to a smaller number than the row.
// - An outdated parent is still an ancestor: trees only merge, and path halving replaces an ancestor by an ancestor.  A
//   walk over outdated parents therefore stays in its tree, and ends because numbers descend.
// - A halving store may overwrite that of another thread with a lower ancestor: the chain is longer, but correct.
// - If a row is no longer a root, the compare-and-swap on it fails and returns its parent.
// - If both walks end in one row, i and j are in one tree, whether or not that row is still a root.
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

// The root of row v in `before`, the forest before the pass, which is constant during the pass.
DEVICE F old_root(const F* before, F v) {
    for (F above; (above = before[v]) != v;) v = above;
    return v;
}

// Sets the parent of every row to its root.  The whole grid calls.  Roots do not change meanwhile, so every walk ends
// in the root of its tree.  Walks do not halve chains: a late halving store could overwrite a stored root with another
// ancestor.
DEVICE void flatten(F* parent, i64 n) {
    for (i64 v = thread_id(); v < n; v += thread_count()) {
        const F above = load_weak(parent + v);
        F root = above;
        for (F next; (next = load_weak(parent + root)) != root;) root = next;
        if (root != above) store_relaxed(parent + v, root);
    }
}
