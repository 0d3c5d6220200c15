"""Dense features on a sparse graph: one step of a graph convolution, and one of graph attention.

Features are a full matrix X, one row for each vertex.  The convolution is a product of a sparse matrix with a full one.
Attention needs the inner product of the features at both ends of each edge, and of no other pair: a product of two full
matrices under the mask of the graph.
"""

from __future__ import annotations

import numpy as np

import semiring as sr
from semiring import Matrix, Vector


def scale_rows(r: Vector, A: Matrix) -> Matrix:
    """Return B(i, j) = r(i) A(i, j)."""
    return r.diag().mxm(A, "plus_times")


def convolution(A: Matrix, X: Matrix) -> Matrix:
    """Return the mean of the neighbors' features for each vertex; missing for a vertex without neighbors."""
    degree = A.apply("one").dup(X.dtype).reduce_rowwise("plus")
    return scale_rows(degree.apply("minv"), A.mxm(X))


def attention(A: Matrix, X: Matrix) -> Matrix:
    """Return the features of the neighbors, weighted by the softmax of their inner products with the vertex."""
    score = X.mxm(X.T, "plus_times", mask=A.S)  # one inner product for each edge
    largest = score.reduce_rowwise("max").diag().mxm(score, "any_first")
    weight = score.ewise_mult(largest, "minus").apply("exp")
    return scale_rows(weight.reduce_rowwise("plus").apply("minv"), weight).mxm(X)


def main() -> None:
    """Run both on a generated graph, and compare them with NumPy."""
    A = sr.random.rmat(8, 8, seed=1).dup(np.float64)
    features = np.random.default_rng(2).standard_normal((A.nrows, 16)) / 4
    X = Matrix.from_dense(features)
    mean, mixed = convolution(A, X), attention(A, X)

    dense = np.array(A.to("cpu").to_dense(0))
    edge, degree = dense != 0, dense.sum(axis=1, keepdims=True)
    reached = degree[:, 0] > 0
    np.testing.assert_allclose(mean.to("cpu").to_dense(0)[reached], (dense @ features / np.maximum(degree, 1))[reached])
    score = np.where(edge, features @ features.T, -np.inf)[reached]
    weight = np.exp(score - score.max(axis=1, keepdims=True))
    expected = weight / weight.sum(axis=1, keepdims=True) @ features
    np.testing.assert_allclose(mixed.to("cpu").to_dense(0)[reached], expected)
    print(f"{A.nvals} edges, {X.ncols} features: {mean.nvals // X.ncols} of {A.nrows} vertices have neighbors")


if __name__ == "__main__":
    main()
