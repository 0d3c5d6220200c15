"""Connected components: the built-in algorithm, and the same partition from a loop of one product.

Two vertices are in one component if a path joins them, in any direction of its edges. Labels propagate along the
edges until nothing changes; each component keeps its smallest label.
"""

from __future__ import annotations

import numpy as np

import semiring as sr
from semiring import Matrix, Vector


def spread_labels(A: Matrix) -> Vector:
    """Return for each vertex of the symmetric matrix `A` the smallest vertex of its component."""
    label = Vector.from_coo(np.arange(A.nrows), np.arange(A.nrows), size=A.nrows)
    while True:
        before = label.dup()
        label(accum="min") << A.mxv(label, "min_second")
        if label.isequal(before):
            return label


def main() -> None:
    """Label three components, and count those of a generated graph."""
    edges = [(0, 1), (1, 2), (3, 4)]
    A = Matrix.from_edgelist(edges + [(j, i) for i, j in edges], nrows=6, ncols=6)
    labels = sr.algorithms.connected_components(A).to_dense(fill_value=-1).tolist()
    print("labels:", labels)
    assert labels[0] == labels[1] == labels[2]
    assert labels[3] == labels[4]
    assert len({labels[0], labels[3], labels[5]}) == 3

    smallest = spread_labels(A).to_dense(fill_value=-1).tolist()
    print("smallest vertex of each component:", smallest)
    assert smallest == [0, 0, 0, 3, 3, 5]


if __name__ == "__main__":
    main()
