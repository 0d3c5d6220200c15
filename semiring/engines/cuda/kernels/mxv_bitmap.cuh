// Product of a bitmap matrix and a vector:  t(o) = (+)_k  M(o, k) (x) u(k).
//
// The inner index is divided into parts of `range` numbers.  A warp reduces a part of a row, or a thread a part of a
// column, of which adjacent threads read adjacent values; another kernel combines the parts in their order.  `words`
// has a bit for each position of the matrix as it is stored, in row-major order.
//
// The prologue defines the semiring; the types A (matrix values) and U (vector values); the constants FLIP
// (multiply(u, a), not multiply(a, u)) and U_FULL (every u(k) is present).

#include "semiring.cuh"

typedef add_z Z;

struct Add {
    DEVICE Z operator()(Z a, Z b) const { return cast<Z>(add(a, b)); }
};

struct Bits {
    const u32* words;
    const A* values;
    A iso;
    const u32* u_words;
    const U* u_values;
    U u_iso;

    DEVICE Z product(A x, U y, i64 o, i64 k) const {
        if constexpr (FLIP) return cast<Z>(multiply(y, x, 0, k, k, o));
        else return cast<Z>(multiply(x, y, o, k, k, 0));
    }
    // The product at the position p of the matrix, which is (o, k), if there is one.
    DEVICE Maybe<Z> product_at(i64 p, i64 o, i64 k) const {
        if (!bit_test(words, p) || !(U_FULL || bit_test(u_words, k))) return {false, Z()};
        return {true, product(value_at(values, iso, p), value_at(u_values, u_iso, k), o, k)};
    }
};

DEVICE bool finished(const Maybe<Z>& sum) {
    if constexpr (add_has_terminal) return sum.hit && add_is_terminal(sum.value);
    else return false;
}

constexpr int BATCH = 4;  // loads of a thread that overlap

#define BITS_ARGUMENTS                                                                                                \
    i64 nout, i64 ninner, i64 parts, i64 range, const u32 *words, const A *values, A iso, const u32 *u_words,         \
        const U *u_values, U u_iso, Z *partial, bool *hits

// M is stored by rows: position o ninner + k.
extern "C" __global__ void mxv_bits_rows(BITS_ARGUMENTS) {
    const Bits bits = {words, values, iso, u_words, u_values, u_iso};
    for (i64 number = warp_id(); number < nout * parts; number += warp_count()) {
        const i64 o = number / parts, part = number % parts;
        const i64 first = part * range, last = first + range < ninner ? first + range : ninner;
        Maybe<Z> sum = {false, Z()};
        for (i64 base = first + lane_id(); base < last && !finished(sum); base += 32 * BATCH) {
            // Values are read at the same time as the bits: slots without an entry have any value.
            bool hit[BATCH];
            A x[BATCH];
            U y[BATCH];
#pragma unroll
            for (int e = 0; e < BATCH; ++e) {
                const i64 k = base + 32 * e;
                hit[e] = k < last;
                x[e] = A();
                y[e] = U();
                if (!hit[e]) continue;
                hit[e] = bit_test(words, o * ninner + k) & (U_FULL || bit_test(u_words, k));
                x[e] = value_at(values, iso, o * ninner + k);
                y[e] = value_at(u_values, u_iso, k);
            }
#pragma unroll
            for (int e = 0; e < BATCH; ++e) {
                if (hit[e]) sum = join(sum, Maybe<Z>{true, bits.product(x[e], y[e], o, base + 32 * e)}, Add());
            }
        }
        sum = warp_reduce(sum, Add());  // valid in lane 0
        if (lane_id() == 0) {
            partial[part * nout + o] = sum.value;
            hits[part * nout + o] = sum.hit;
        }
    }
}

// The transpose of M is stored by rows: position k nout + o.
extern "C" __global__ void mxv_bits_columns(BITS_ARGUMENTS) {
    const Bits bits = {words, values, iso, u_words, u_values, u_iso};
    for (i64 number = thread_id(); number < nout * parts; number += thread_count()) {
        const i64 o = number % nout, part = number / nout;
        const i64 first = part * range, last = first + range < ninner ? first + range : ninner;
        Maybe<Z> sum = {false, Z()};
#pragma unroll 4
        for (i64 k = first; k < last && !finished(sum); k++)
            sum = join(sum, bits.product_at(k * nout + o, o, k), Add());
        partial[number] = sum.value;
        hits[number] = sum.hit;
    }
}

// Combines the parts of each output, and writes its presence bit; *count += the number of outputs that are present.
extern "C" __global__ void mxv_bits_combine(i64 nout, i64 parts, const Z* partial, const bool* hits, u32* out_words,
                                            Z* out_values, u64* count) {
    add_count(count, write_bits(nout, out_words, [=](i64 o) {
        Maybe<Z> sum = {false, Z()};
        for (i64 part = 0; part < parts; part++)
            sum = join(sum, Maybe<Z>{hits[part * nout + o], partial[part * nout + o]}, Add());
        if (sum.hit) out_values[o] = sum.value;
        return sum.hit;
    }));
}
