// The operands of a product of matrices:  t(i, j) = (+)_k A(i, k) (x) B(k, j), where the mask admits (i, j).
//
// The prologue defines the semiring; the types AP, AI, A (offsets, columns and values of A), BP, BI, B, MP, MI, M (of B
// and the mask); and the constants MASKED, VALUED (the mask admits entries by value), COMPLEMENT, and KEEPS (results
// have values of their own).

#pragma once

#include "semiring.cuh"

typedef add_z Z;

// B is given by its rows or, for dot products, by those of its transpose.
struct ProductArguments {
    const AP* a_indptr;
    const AI* a_indices;
    const A* a_values;
    A a_iso;
    const BP* b_indptr;
    const BI* b_indices;
    const B* b_values;
    B b_iso;
    const MP* mask_indptr;
    const MI* mask_indices;
    const M* mask_values;
    M mask_iso;
    i64 nrows;  // of A
    Z start;  // an exact start value of sums, if (+) has one
};

// The value of A at entry p, if the product reads any.
DEVICE A left_value(const ProductArguments& s, i64 p) {
    if constexpr (!KEEPS || !multiply_reads_x) return A();
    else return value_at(s.a_values, s.a_iso, p);
}

// A(i, k) (x) B(k, j), for the value x of A and entry q of B.
DEVICE Z product(const ProductArguments& s, A x, i64 q, i64 i, i64 k, i64 j) {
    B y = B();
    if constexpr (multiply_reads_y) y = value_at(s.b_values, s.b_iso, q);
    return cast<Z>(multiply(x, y, i, k, k, j));
}

// Row i of the mask.
struct MaskRow {
    const ProductArguments& s;
    i64 begin, end;

    DEVICE MaskRow(const ProductArguments& arguments, i64 i) : s(arguments), begin(0), end(0) {
        if constexpr (MASKED) {
            begin = i64(s.mask_indptr[i]);
            end = i64(s.mask_indptr[i + 1]);
        }
    }
    // Whether the mask admits column j.
    DEVICE bool admits(i64 j) const {
        i64 at = begin;
        return search(at, j);
    }
    // The same for columns in ascending order: later searches begin where this one ended.
    DEVICE bool admits_next(i64 j) { return search(begin, j); }

   private:
    DEVICE bool search(i64& at, i64 j) const {
        if constexpr (!MASKED) return true;
        return lists_column<VALUED>(s.mask_indices, s.mask_values, s.mask_iso, at, end, j) != COMPLEMENT;
    }
};
