// The operands of a product of matrices:  t(i, j) = (+)_k A(i, k) (x) B(k, j), where the mask admits (i, j).
//
// The prologue defines the semiring, and the types AP, AI, A (offsets, columns and values of A), BP, BI, B, MP, MI, M (of B
// and the mask).

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
