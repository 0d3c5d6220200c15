// Pull for rows of very different lengths, a block a tile; the carries in a second launch.
// See mxv_tile.cuh for the prologue.

#include "mxv_tile.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK)
    mxv_balanced(PRODUCT_ARGUMENTS, i64 nvals, const i64* first_row, bool* carry_hit, Z* carry_value) {
    PRODUCT_OPERANDS
    __shared__ TileStage stage;
    balanced_tile(stage, i64(blockIdx.x), indptr, columns, a, u, mask, out_words, out_values, nout, nvals, first_row,
                  carry_hit, carry_value);
}

extern "C" __global__ void __launch_bounds__(BLOCK) mxv_carry(const P* indptr, const i64* first_row, const bool* hit,
                                                              const Z* value, i64 tiles, u32* out_words, Z* out_values,
                                                              i64 nout) {
    add_carry(thread_id(), indptr, first_row, hit, value, tiles, out_words, out_values, nout);
}
