// Device functions of pushes: the entries of u are listed with their values and the number of edges before each; blocks
// divide the edges evenly (expand.cuh) and test the mask before they access the output.
//
// The output initially holds the identity of (+); for `any`, the thread that sets the presence bit writes the value.  The
// thread that sets a bit counts it.
// See product.cuh for the prologue; also U_FORM (0 index list, 1 bitmap, 2 full), NATIVE (atomics.cuh) and BLOCK.

#pragma once

#include "product.cuh"
#include "expand.cuh"

// Both branches of `if constexpr` must compile outside a template: hence the casts between U and Carried.
typedef choose<READS_U, U, char> Carried;

// Appends the entries of u, `items` of its indices or positions, to a list of `capacity` rows at most; clears the
// presence bits of the output.  The number that `to.counter` counts may exceed the capacity.  All blocks call.
DEVICE void list_entries(const Packing& packing, const P* indptr, const J* u_indices, const u32* u_words,
                         const U* u_values, U u_iso, i64 items, const Append& to, Carried* carried, i64 capacity,
                         u32* out_words, i64 nout) {
    const i64 out_word_count = (nout + 31) / 32;
    for (i64 w = thread_id(); w < out_word_count; w += thread_count()) out_words[w] = 0;
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
            if (packing.rows(packed) < capacity) {
                put(packing, to, packed, k, begin);
                const i64 place = i64(packing.rows(packed));
                if constexpr (READS_U) carried[place] = cast<Carried>(value_at(u_values, u_iso, position));
            }
            packed += packing.pack(1, i64(indptr[k + 1]) - begin);
        }
    }
}

// *at = *at (+) z, atomically.
template <class T>
DEVICE void combine(T* at, T z) {
    atomic_combine<NATIVE>(at, z, [](T old, T mine) { return T(add(old, mine)); });
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
        else return Payload();
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
            if constexpr (READS_U) u = cast<U>(x);
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

// Follows the edges of a list.  Returns the presence bits that this thread set.
DEVICE i64 push_entries(const Packing& packing, const P* indptr, const Columns& columns, const Matrix& a,
                        const Mask& mask, const RowList& list, const Carried* carried, u32* out_words, Z* out_values) {
    i64 claimed = 0;
    const Scatter scatter = {a, mask, carried, out_words, out_values, &claimed};
    expand<BLOCK, GridRank>(Graph{indptr, columns, packing, true}, list, false, Append{}, scatter);
    return claimed;
}
