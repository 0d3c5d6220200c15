// Parents of the entries of a closed vector: a row u with c(u) (x) A(u, v) = c(v), where c(u) is strictly better.
//
// The prologue defines the semiring, whose monoid is min or max; P and I, the types of row offsets and columns; Y, of
// the values of the matrix; L, of parents.  `present` is null for a full vector, `values` for one value.

#include "entries.cuh"

// parent[v] = v where entry v has the value that it had at first: a root; else -1.
extern "C" __global__ void parents_roots(i64 n, const u32* present, const add_z* values, add_z iso,
                                         const u32* first_present, const add_z* first_values, add_z first_iso,
                                         L* parent) {
    for (i64 v = thread_id(); v < n; v += thread_count()) {
        const bool root = is_present(present, v) && is_present(first_present, v) &&
                          value_at(values, iso, v) == value_at(first_values, first_iso, v);
        parent[v] = root ? L(v) : L(-1);
    }
}

// Any such row becomes the parent.  A thread that reads an outdated -1 replaces a parent by another.
extern "C" __global__ void parents_entries(i64 n, const P* indptr, i64 nrows, const I* indices, const Y* weights,
                                           Y weight, const u32* present, const add_z* values, add_z iso, L* parent) {
    for_each_entry(indptr, nrows, 0, n, [=](i64 p, i64 u) {
        if (!is_present(present, u)) return;
        const i64 v = i64(indices[p]);
        const add_z near = value_at(values, iso, u), far = value_at(values, iso, v);
        if (near == far || add(near, far) != near) return;
        if (multiply(near, value_at(weights, weight, p)) == far && load_relaxed(parent + v) < 0)
            store_relaxed(parent + v, L(u));
    });
}

// *missing becomes 1 if an entry has no parent.  All threads store the same value.
extern "C" __global__ void parents_missing(i64 n, const u32* present, const L* parent, u32* missing) {
    for (i64 v = thread_id(); v < n; v += thread_count())
        if (is_present(present, v) && parent[v] < 0) store_relaxed(missing, 1u);
}
