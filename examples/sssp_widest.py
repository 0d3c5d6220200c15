"""One loop, two problems: shortest paths with (min, +), widest paths with (max, min).

x = x ⊕ (x A), until nothing changes. The semiring defines ⊕ and the product; the loop does not change.
"""

from __future__ import annotations

import numpy as np

import semiring as sr
from semiring import Matrix, Vector


def relax(A: Matrix, source: int, start: float, semiring_name: str, accum: str) -> Vector:
    """Return the fixed point of x = x ⊕ (x A), where x is `start` at `source` and missing elsewhere."""
    x = Vector.from_coo([source], [start], size=A.nrows)
    for _ in range(A.nrows):  # a path without a cycle has fewer steps
        before = x.dup()
        x(accum=accum) << x.vxm(A, semiring_name)
        if x.isequal(before):
            break
    return x


def main() -> None:
    """Find the shortest and the widest paths through a small network of pipes."""
    rows, columns = [0, 0, 1, 2, 2], [1, 2, 3, 1, 3]
    length_or_width = [4.0, 1.0, 1.0, 2.0, 5.0]
    A = Matrix.from_coo(rows, columns, length_or_width, nrows=5, ncols=5)

    distance = relax(A, 0, 0.0, "min_plus", "min")
    print("distance from 0:", distance.to_dense(fill_value=np.inf).tolist())
    assert distance.to_dense(fill_value=np.inf).tolist() == [0.0, 3.0, 1.0, 4.0, np.inf]
    assert distance.isequal(sr.algorithms.sssp(A, 0))

    width = relax(A, 0, np.inf, "max_min", "max")
    print("widest path from 0:", width.to_dense(fill_value=0.0).tolist())
    assert width.to_dense(fill_value=0.0).tolist() == [np.inf, 4.0, 1.0, 1.0, 0.0]


if __name__ == "__main__":
    main()
