// Push: the entries of u are multiplied by their columns, and atomics combine the products.
//
// `mxv_list` lists the entries of u with their values and the number of edges before each; `mxv_push` divides the
// edges evenly among blocks (expand.cuh) and tests the mask before it accesses the output.  The output initially holds
// the identity of (+); for `any`, the thread that sets the presence bit writes the value.  The thread that sets a bit
// counts it.
// See product.cuh for the prologue (the matrix is by columns of M here); also U_FORM (0 index list, 1 bitmap, 2 full),
// NATIVE (0 compare-and-swap, 1 atomicAdd, 2 atomicMin, 3 atomicMax) and BLOCK.

#include "product.cuh"
#include "expand.cuh"

typedef choose<READS_U, U, char> Carried;

extern "C" __global__ void __launch_bounds__(BLOCK)
    mxv_list(const P* indptr, const J* u_indices, const u32* u_words, const U* u_values, U u_iso, i64 items, J* row,
             P* start, P* before, Carried* carried, u64* count, i64 shift) {
    const Packing packing = {int(shift)};
    const Append to = {row, start, before, count, 0};
    // A thread processes one index, or the four rows of a nibble of a presence word.
    constexpr i64 ROWS = U_FORM == 0 ? 1 : 4;
    for (i64 first = i64(blockIdx.x) * BLOCK * ROWS; first < items; first += i64(gridDim.x) * BLOCK * ROWS) {
        const i64 at = first + i64(threadIdx.x) * ROWS;
        u32 bits = 0;
        if (at < items) {
            if constexpr (U_FORM == 0) bits = 1;
            else if constexpr (U_FORM == 1) bits = (u_words[at >> 5] >> (at & 31)) & 15u;
            else bits = at + 4 <= items ? 15u : (1u << (items - at)) - 1u;
        }
        if (!__syncthreads_or(int(bits))) continue;
        i64 degrees = 0;
        for (u32 left = bits; left; left &= left - 1) {
            const i64 k = U_FORM == 0 ? i64(u_indices[at]) : at + __ffs(int(left)) - 1;
            degrees += i64(indptr[k + 1]) - i64(indptr[k]);
        }
        u64 packed = reserve(to, packing.pack(__popc(bits), degrees));
        for (; bits; bits &= bits - 1) {
            const i64 position = at + __ffs(int(bits)) - 1;
            const i64 k = U_FORM == 0 ? i64(u_indices[at]) : position;
            const i64 begin = i64(indptr[k]);
            put(packing, to, packed, k, begin);
            if constexpr (READS_U) carried[packing.rows(packed)] = value_at(u_values, u_iso, position);
            packed += packing.pack(1, i64(indptr[k + 1]) - begin);
        }
    }
}

// *at = *at (+) z, atomically.
template <class T>
DEVICE void combine(T* at, T z) {
    typedef unsigned_of<sizeof(T)> Bits;
    if constexpr (NATIVE == 1 && is_integer<T>) atomicAdd(reinterpret_cast<Bits*>(at), Bits(z));
    else if constexpr (NATIVE == 1) atomicAdd(at, z);
    else if constexpr (NATIVE == 2) atomicMin(at, z);
    else if constexpr (NATIVE == 3) atomicMax(at, z);
    else atomic_update(at, [z](T old) { return T(add(old, z)); });
}

struct Scatter {
    static constexpr bool APPENDS = false;
    static constexpr bool NEEDS_ROW = VALUED;
    typedef Carried Payload;
    const Matrix& a;
    const Mask& mask;
    const Carried* carried;
    u32* out_words;
    Z* out_values;
    i64* claimed;  // the number of presence bits that this thread set

    DEVICE bool first_only() const { return !VALUED || add_is_any; }
    DEVICE Payload payload(i64, i64 place) const {
        if constexpr (READS_U) return carried[place];
        else return 0;
    }
    DEVICE bool open(Payload, i64, i64 o, i64) const {
        if (!mask.admits(o)) return false;
        // No thread clears bits: a set bit stays set, and an outdated 0 costs an atomic.
        return !first_only() || !bit_relaxed(out_words, o);
    }
    DEVICE bool visit(Payload x, i64 k, i64 o, i64 p) const {
        if constexpr (!VALUED) {
            *claimed += bit_claim(out_words, o);
        } else {
            U u = U();
            if constexpr (READS_U) u = x;
            if constexpr (add_is_any) {
                if (bit_claim(out_words, o)) {
                    out_values[o] = product(a, u, o, k, p);
                    ++*claimed;
                }
            } else {
                combine(out_values + o, product(a, u, o, k, p));
                *claimed += bit_claim(out_words, o);
            }
        }
        return false;
    }
};

extern "C" __global__ void __launch_bounds__(BLOCK)
    mxv_push(PRODUCT_ARGUMENTS, J* row, P* start, P* before, const Carried* carried, const u64* edges, i64 shift,
             u64* count) {
    const Matrix a = {a_values, a_iso};
    const Mask mask = {mask_words, mask_values};
    const Packing packing = {int(shift)};
    const RowList list = {row, start, before, 0, *edges};
    i64 claimed = 0;
    const Scatter scatter = {a, mask, carried, out_words, out_values, &claimed};
    expand<BLOCK, GridRank>(packing, indptr, open_columns(indices), list, true, false, Append{}, scatter);
    add_count(count, claimed);
}
