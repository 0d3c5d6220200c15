// A spanning forest in the order of values: Boruvka's algorithm.  In a round every tree takes the first entry that leaves
// it, in the order of (value, position), and these entries join trees.  The order is total, so they form no cycle.
//
// Source: J. Nesetril, E. Milkova, H. Nesetrilova, "Otakar Boruvka on Minimum Spanning Tree Problem", Discrete
// Mathematics 233, 2001.
//
// The prologue defines: P and I, the types of row offsets and columns; V, of values; F, of labels; KEY and DESCENDING
// (order_keys.cuh); VALUED: whether there are values.  In a round label[v] is the root of the tree of row v.

#include "entries.cuh"
#include "forest.cuh"
#include "order_keys.cuh"

// *address = min(*address, value).  If the load is outdated, it is larger, and the atomic decides.
template <class T>
DEVICE void lower(T* address, T value) {
    if (value < load_relaxed(address)) atomicMin(address, value);
}

// Calls use(p, tree of the row, tree of the column) for the entries that leave a tree.
template <class Use>
DEVICE void for_each_leaving(i64 n, const P* indptr, i64 nrows, const I* indices, const F* label, Use use) {
    for_each_entry(indptr, nrows, 0, n, [=](i64 p, i64 i) {
        const F a = label[i], b = label[i64(indices[p])];
        if (a != b) use(p, a, b);
    });
}

// key[t] = the smallest key of the entries that leave tree t; all bits are set before.
extern "C" __global__ void span_keys(i64 n, const P* indptr, i64 nrows, const I* indices, const V* values,
                                     const F* label, KEY* key) {
    for_each_leaving(n, indptr, nrows, indices, label, [=](i64 p, F a, F b) {
        const KEY mine = value_key(values[p]);
        lower(key + a, mine);
        lower(key + b, mine);
    });
}

// place[t] = the first position of these entries that has the key; all bits are set before.
extern "C" __global__ void span_places(i64 n, const P* indptr, i64 nrows, const I* indices, const V* values,
                                       const F* label, const KEY* key, u64* place) {
    for_each_leaving(n, indptr, nrows, indices, label, [=](i64 p, F a, F b) {
        if constexpr (VALUED) {
            const KEY mine = value_key(values[p]);
            if (mine == key[a]) lower(place + a, u64(p));
            if (mine == key[b]) lower(place + b, u64(p));
        } else {
            lower(place + a, u64(p));
            lower(place + b, u64(p));
        }
    });
}

// Marks the entries at the places, and joins the trees of their rows and columns; *joined becomes 1 if there is one.
extern "C" __global__ void span_join(const P* indptr, i64 nrows, const I* indices, const u64* place, F* label,
                                     u32* marks, u32* joined) {
    for (i64 t = thread_id(); t < nrows; t += thread_count()) {
        if (place[t] == ~u64(0)) continue;
        const i64 p = i64(place[t]);
        const i64 i = upper_bound(indptr, 0, nrows + 1, p) - 1;
        atomicOr(marks + (p >> 5), 1u << (p & 31));
        unite(label, F(i), F(indices[p]));
        store_relaxed(joined, 1u);
    }
}

// Labels become roots; keys and places are set for the next round.
extern "C" __global__ void span_next(i64 nrows, F* label, KEY* key, u64* place, u32* joined) {
    flatten(label, nrows);
    for (i64 t = thread_id(); t < nrows; t += thread_count()) {
        if constexpr (VALUED) key[t] = LAST_KEY;
        place[t] = ~u64(0);
    }
    if (thread_id() == 0) *joined = 0;
}
