"""User-defined operators: a Python function or one expression.

They run on every engine at the speed of the built-in ones, and need no compiler on the machine.
"""

from __future__ import annotations

from math import exp, isclose, log, log1p

import numpy as np

from semiring import Matrix, Vector, binary, indexunary, monoid, semiring, unary


def main() -> None:
    """Register one operator of each kind and use it."""
    A = Matrix.from_coo([0, 0, 1, 2], [0, 2, 1, 0], [-0.5, 0.25, 3.0, 0.75], nrows=3, ncols=3)

    clip = unary.register_new("clip01", lambda x: min(max(x, 0.0), 1.0))
    clipped = A.apply(clip)
    print("clipped to [0, 1]:", clipped.to_coo()[2].tolist())
    assert clipped.to_coo()[2].tolist() == [0.0, 0.25, 1.0, 0.75]

    absdiff = binary.register_new("absdiff", "abs(x - y)")
    difference = A.ewise_mult(clipped, absdiff)
    assert difference.to_coo()[2].tolist() == [0.5, 0.0, 2.0, 0.0]

    near = indexunary.register_new("near_diagonal", lambda x, i, j, k: abs(i - j) <= k)
    band = A.apply(near, right=1)
    assert band.to_coo()[2].tolist() == [True, False, True, False]

    # log(exp(x) + exp(y)) without overflow: the sum of probabilities that are stored as logarithms
    logadd = monoid.register_new("logadd", lambda x, y: max(x, y) + log1p(exp(-abs(x - y))), identity=-np.inf)
    log_plus = semiring.register_new("logadd_plus", logadd, binary.plus)
    P = Matrix.from_coo([0, 0], [0, 1], [log(0.5), log(0.5)], nrows=1, ncols=2)
    v = Vector.from_coo([0, 1], [log(0.2), log(0.6)], size=2)
    total = exp(P.mxv(v, log_plus)[0].value)
    print(f"0.5 * 0.2 + 0.5 * 0.6 = {total:.3f}, summed as logarithms")
    assert isclose(total, 0.4)


if __name__ == "__main__":
    main()
