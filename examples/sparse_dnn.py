"""Inference in a sparse deep neural network, the challenge of MIT, Amazon and IEEE: three operations a layer.

Rows of Y are images, columns neurons.  A layer of weights W and bias b maps Y to

    min(32, max(0, Y W + b))

where b is added to the entries of Y W alone, so that a neuron without input stays out of the matrix.  The product, the
sum and the selection are matrix operations over plus_times; only the entries that are positive go on to the next layer.

Source: Kepner et al., "Sparse Deep Neural Network Graph Challenge", HPEC 2019; the layers are those of its RadiX-Nets
without their permutations.
"""

from __future__ import annotations

import numpy as np

from semiring import Matrix

NEURONS, FAN, LAYERS, IMAGES = 1024, 32, 12, 200
WEIGHT, BIAS, CEILING = 1 / 16, -0.3, 32


def radix_layer(number: int) -> Matrix:
    """Return the weights of a layer: every neuron leads to 32 others, next to it or 32 apart in turns."""
    source = np.repeat(np.arange(NEURONS), FAN)
    step = np.tile(np.arange(FAN), NEURONS) * (1, FAN)[number % 2]
    weights = np.full(source.size, WEIGHT, np.float32)
    return Matrix.from_coo(source, (source + step) % NEURONS, weights, nrows=NEURONS, ncols=NEURONS)


def inferred(Y: Matrix, layers: list[Matrix]) -> Matrix:
    """Return what the last layer makes of the images."""
    for W in layers:
        Z = Y.mxm(W, "plus_times").dup().apply("plus", right=np.float32(BIAS)).dup()
        Y = Z.select("valuegt", 0).dup().apply("min", right=np.float32(CEILING)).dup()
    return Y


def categories(Y: Matrix) -> list[int]:
    """Return the images that have an entry after the last layer, the result that the challenge compares."""
    return [int(row) for row in Y.reduce_rowwise("any").to_coo(device="cpu")[0]]


def main() -> None:
    """Compare with NumPy, where every neuron is stored."""
    layers = [radix_layer(number) for number in range(LAYERS)]
    # Images of all brightnesses: dark ones die out on the way.
    rng = np.random.default_rng(1)
    bright = rng.random((IMAGES, NEURONS)) < np.linspace(0.0, 0.4, IMAGES)[:, None]
    Y = inferred(Matrix.from_dense(bright.astype(np.float32), missing_value=0), layers)

    dense = bright.astype(np.float32)
    for W in layers:
        Z = dense @ W.to("cpu").to_dense(0)
        dense = np.where(Z > 0, np.clip(Z + np.float32(BIAS), 0, CEILING), 0).astype(np.float32)
    # A layer doubles what its predecessor was rounded by.
    assert np.allclose(Y.to("cpu").to_dense(0), dense, rtol=0, atol=1e-3)
    assert categories(Y) == np.flatnonzero(dense.any(axis=1)).tolist()
    assert 0 < len(categories(Y)) < IMAGES
    print(f"{len(categories(Y))} of {IMAGES} images excite a neuron of layer {LAYERS}; {Y.nvals} entries")


if __name__ == "__main__":
    main()
