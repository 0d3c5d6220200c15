"""Operations on bitmap matrices: requests on vectors of nrows ncols entries, and results shaped as matrices again.

One set for all engines, as `engines.sliced`.  The entries of a bitmap matrix in row-major order are a bitmap vector, so
the kernels for vectors serve element-wise operations, masks and reductions.  Operations that need rows read the matrix
as uncompressed rows, which are made once and cached with it.  The modules are loaded on first use (`operations`).
"""
