// Sorted keys to rows in CSR format.  A key is (major index, minor index) in one word, the minor index in the low
// `bits` bits; equal keys are adjacent and in input order.

#include "entries.cuh"

// keys[p] = (major[p], minor[p]); if `major` is null, all major indices are 0.
extern "C" __global__ void build_keys(i64 n, const MAJOR* major, const MINOR* minor, int bits, KEY* keys) {
    for (i64 p = thread_id(); p < n; p += thread_count())
        keys[p] = major == nullptr ? KEY(minor[p]) : KEY(u64(major[p]) << bits | u64(minor[p]));
}

// The same from rows in CSR format.  With SWAPPED the column is the major index, which transposes.
extern "C" __global__ void build_row_keys(i64 n, const MAJOR* indptr, i64 nrows, const MINOR* indices, int bits,
                                          KEY* keys) {
    for_each_entry(indptr, nrows, 0, n, [=](i64 p, i64 row) {
        const u64 column = u64(indices[p]);
        keys[p] = KEY(SWAPPED ? column << bits | u64(row) : u64(row) << bits | column);
    });
}

// marks = the first element of each run of equal keys; minor[p] = the minor index of key p.
extern "C" __global__ void build_heads(i64 n, const KEY* keys, int bits, u32* marks, MINOR* minor) {
    const u64 mask = bits == 64 ? ~u64(0) : (u64(1) << bits) - 1;
    write_bits(n, marks, [=](i64 p) {
        minor[p] = MINOR(u64(keys[p]) & mask);
        return p == 0 || keys[p] != keys[p - 1];
    });
}

// *repeated = the smallest key that occurs twice; all bits are set before.
extern "C" __global__ void build_repeated(i64 n, const KEY* keys, u64* repeated) {
    for (i64 p = 1 + thread_id(); p < n; p += thread_count())
        if (keys[p] == keys[p - 1]) atomicMin(repeated, u64(keys[p]));
}

// minor[rank] = the minor index of each run; starts[rank] = the first position of the run, starts[runs] = n.
// If `marks` is null, every element is a run.
extern "C" __global__ void build_minor(i64 n, const KEY* keys, int bits, const u32* marks, const R* ranks,
                                       MINOR* minor, R* starts) {
    const u64 mask = bits == 64 ? ~u64(0) : (u64(1) << bits) - 1;
    for (i64 p = thread_id(); p < n; p += thread_count()) {
        if (marks != nullptr && !bit_test(marks, p)) continue;
        const i64 to = marks == nullptr ? p : rank_of(marks, ranks, p);
        minor[to] = MINOR(u64(keys[p]) & mask);
        if (starts != nullptr) starts[to] = R(p);
    }
    if (starts != nullptr && thread_id() == 0) starts[ranks[(n + 31) / 32]] = R(n);
}

// Row offsets: row r begins at the first key >= (r, 0).
extern "C" __global__ void build_indptr(i64 nrows, i64 n, const KEY* keys, int bits, const u32* marks,
                                        const R* ranks, O* indptr) {
    for (i64 r = thread_id(); r <= nrows; r += thread_count()) {
        const auto before = [=](i64 p) { return u64(keys[p]) >> bits < u64(r); };
        const i64 first = r == nrows ? n : partition_point(i64(0), n, before);
        indptr[r] = O(marks == nullptr ? first : rank_of(marks, ranks, first));
    }
}

// out[r] = the last element of run r.  V is an unsigned integer of the size of the values.
extern "C" __global__ void build_last(i64 runs, const R* starts, const V* values, V* out) {
    for (i64 r = thread_id(); r < runs; r += thread_count()) out[r] = values[i64(starts[r + 1]) - 1];
}
