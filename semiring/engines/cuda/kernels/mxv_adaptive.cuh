// Push or pull, chosen by the device: the number of edges of the vector, and often the number of rows that the mask
// admits, are known there alone, and a host that chooses waits for them.
//
// One cooperative launch lists the entries of the vector, then follows their edges or probes the admitted rows.
// See mxv_scatter.cuh and direction.cuh for the prologue; here also PROBES and RESIDENT.

#include "mxv_gather.cuh"
#include "mxv_scatter.cuh"
#include "direction.cuh"

struct EitherArguments : RowArrays {
    // M by rows, and by columns (`t_`).
    const P* indptr;
    ColumnsArgument indices;
    const A* a_values;
    const P* t_indptr;
    ColumnsArgument t_indices;
    const A* t_values;
    A a_iso;
    i64 nvals;
    // u, and the mask.
    const u32* u_words;
    const U* u_values;
    U u_iso;
    i64 ninner;
    const u32* mask_words;
    const M* mask_values;
    const u64* mask_count;  // the number of entries of a structural mask; null: `open_rows` is known
    i64 open_rows;          // the rows that the mask admits
    // The product.
    u32* out_words;
    Z* out_values;
    u64* out_count;
    i64 nout;
    // The list of the entries of u.
    Carried* carried;
    i64 capacity;  // its length; a vector with more entries is pulled
    i64 shift;
    u64* state;    // the entries and edges counted (packed), the arrivals at the barrier
};

// Whether the product is pulled; every thread returns the same.
DEVICE bool pulls(const EitherArguments& s, const Packing& packing, u64 listed) {
    if (packing.rows(listed) > s.capacity) return true;
    i64 open_rows = s.open_rows;
    if (s.mask_count != nullptr) open_rows = COMPLEMENT ? s.nout - i64(*s.mask_count) : i64(*s.mask_count);
    const f32 open = f32(open_rows), entries = f32(s.nvals), words = f32((s.nout + 31) / 32);
    const Work work = {entries, open, entries * open / f32(s.nout), 0.0f, 0.0f, words};
    return prefers_pull(work, f32(packing.rows(listed)), f32(packing.edges(listed)));
}

extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT) mxv_adaptive(const EitherArguments s) {
    const Packing packing = {int(s.shift)};
    const Mask mask = {s.mask_words, s.mask_values};
    CooperativeGrid group(s.state + 1);
    const Append to = {s, s.state, 0};
    list_entries(packing, s.t_indptr, nullptr, s.u_words, s.u_values, s.u_iso, s.ninner, to, s.carried, s.capacity,
                 s.out_words, s.nout);
    group.barrier();
    const u64 listed = load_relaxed(s.state);
    i64 counted;
    if (pulls(s, packing, listed)) {
        const Matrix a = {s.a_values, s.a_iso};
        const Vector u = {s.u_words, s.u_values, s.u_iso};
        counted = pull_early(s.indptr, open_columns(s.indices), a, u, mask, s.out_words, s.out_values, s.nout);
    } else {
        const Matrix a = {s.t_values, s.a_iso};
        const RowList list = {s, 0, listed};
        counted = push_entries(packing, s.t_indptr, open_columns(s.t_indices), a, mask, list, s.carried, s.out_words,
                               s.out_values);
    }
    add_count(s.out_count, counted);
}
