// Definitions for the kernels of the matrix-vector product:  t(o) = (+)_k  M(o, k) (x) u(k), where the mask admits o.
//
// The prologue defines the semiring; the types P (offsets), A (matrix values), U (vector values), M (mask values); the
// parameters of columns.cuh; and the constants FLIP (multiply(u, a), not multiply(a, u)), U_FULL (every u(k) is
// present), MASK (0 none, 1 by presence, 2 by presence and value, 3 by value alone), COMPLEMENT, and VALUED (false:
// compute presence only).

#pragma once

#include "columns.cuh"

typedef add_z Z;

constexpr bool READS_A = VALUED && (FLIP ? multiply_reads_y : multiply_reads_x);
constexpr bool READS_U = VALUED && (FLIP ? multiply_reads_x : multiply_reads_y);
constexpr bool READS_O = VALUED && (FLIP ? multiply_reads_yj : multiply_reads_xi);

// Every entry of the matrix contributes.  The pattern alone then determines the presence of the result, so kernels
// write neither `out_words` (null) nor the count.
constexpr bool UNMASKED_FULL = U_FULL && MASK == 0;

// Loads a value that is used once, with the streaming hint, so that the vector stays in the caches.
template <class T>
DEVICE T load_streaming(const T* at) {
    typedef unsigned_of<sizeof(T)> Bits;
    return from_bits<T>(Bits(__ldcs(reinterpret_cast<const Bits*>(at))));
}
template <class T>
DEVICE Complex<T> load_streaming(const Complex<T>* at) {
    return Complex<T>(__ldcs(&at->re), __ldcs(&at->im));
}

template <int BYTES>
DEVICE Record<BYTES> load_streaming(const Record<BYTES>* at) {
    Record<BYTES> record;
#pragma unroll
    for (int w = 0; w < Record<BYTES>::WORDS; w++) record.words[w] = __ldcs(at->words + w);
    return record;
}

struct Matrix {
    const A* values;
    A iso;
    // The value at position p, if the product reads any.
    DEVICE A value(i64 p) const {
        if constexpr (!READS_A) return A();
        else return values == nullptr ? iso : load_streaming(values + p);
    }
};
struct Vector {
    const u32* words;
    const U* values;
    U iso;
    DEVICE bool has(i64 k) const { return U_FULL || bit_test(words, k); }
    DEVICE U value(i64 k) const {
        if constexpr (!READS_U) return U();
        else return value_at(values, iso, k);
    }
};
struct Mask {
    const u32* words;
    const M* values;
    DEVICE bool admits(i64 o) const {
        if constexpr (MASK == 0) return true;
        else if constexpr (MASK == 1) return bit_test(words, o) != COMPLEMENT;
        else if constexpr (MASK == 2) return (bit_test(words, o) && values[o] != M(0)) != COMPLEMENT;
        else return (values[o] != M(0)) != COMPLEMENT;
    }
};

// M(o, k) (x) u(k), from the two values, or for the matrix entry at position p.
DEVICE Z product(A x, U y, i64 o, i64 k) {
    if constexpr (!VALUED) return Z();
    else if constexpr (FLIP) return multiply(y, x, 0, k, k, o);
    else return multiply(x, y, o, k, k, 0);
}
DEVICE Z product(const Matrix& a, U y, i64 o, i64 k, i64 p) { return product(a.value(p), y, o, k); }
DEVICE Z product(const Matrix& a, const Vector& u, i64 o, i64 k, i64 p) {
    return product(a.value(p), u.value(k), o, k);
}

struct Add {
    DEVICE Z operator()(Z a, Z b) const { return add(a, b); }
};
DEVICE bool finished(const Maybe<Z>& sum) {
    if constexpr (!VALUED) return sum.hit;
    else return sum.hit && add_is_terminal(sum.value);
}

#define PRODUCT_ARGUMENTS                                                                                 \
    const P *indptr, ColumnsArgument indices, const A *a_values, A a_iso, const u32 *u_words,             \
        const U *u_values, U u_iso, const u32 *mask_words, const M *mask_values, u32 *out_words, Z *out_values, i64 nout
#define PRODUCT_OPERANDS                                    \
    const Columns columns = open_columns(indices);          \
    const Matrix a = {a_values, a_iso};                     \
    const Vector u = {u_words, u_values, u_iso};            \
    const Mask mask = {mask_words, mask_values};
