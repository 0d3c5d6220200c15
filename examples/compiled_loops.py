"""From an idea to a compiled algorithm, cell by cell: how far it is to the nearest of several depots.

Editors run the cells between the marks `# %%` one after the other, as a notebook does; Python runs all of them.
"""

# %%
from __future__ import annotations

import time
from collections.abc import Callable
from importlib.resources import as_file, files

import numpy as np

import semiring as sr
from semiring import Matrix, Vector

# %% The idea, as equations.
#
#     d = min(d, c A)     a crossing is as far from a depot as a neighbor is, and the road from there
#     c = where d became less: only these can offer their neighbors a shorter way
#
# The product is that of the semiring (min, +).  Each line is an operation on whole vectors.


def nearest(A: Matrix, depots: list[int]) -> tuple[Vector, int]:
    """Return the distance to the nearest depot, and the number of rounds."""
    distance = Vector.from_coo(depots, 0, size=A.nrows, dtype=A.dtype)
    changed = distance.dup()
    rounds = 0
    while changed.nvals:
        offered = changed.vxm(A, "min_plus")
        better = offered.ewise_mult(distance, "lt").select("==", True)
        changed = offered.dup(mask=~distance.S).ewise_add(offered.dup(mask=better.S), "min")
        distance(accum="min") << changed
        rounds += 1
    return distance, rounds


# %% Is it right?  On a small graph, beside the least of the distances from each depot.
small = sr.random.kronecker(6, 4, seed=1).apply("colindex").apply("plus", right=1).dup(np.int64)
found, rounds = nearest(small, [1, 2])
expected = sr.algorithms.sssp(small, 1).ewise_add(sr.algorithms.sssp(small, 2), "min")
assert found.isequal(expected)
print(f"a graph of {small.nrows} vertices: {found.nvals} reached in {rounds} rounds")

# %% Compiled: the same function; the loop is one kernel, and the result is the same.
compiled = sr.compile(nearest)
assert compiled(small, [1, 2])[0].isequal(expected)
plan = compiled.plan(small, [1, 2])
print(plan)
assert plan.loops[0].compiled


# %% What does not compile has its reason in the plan.  Here it is a list of Python that grows.
@sr.compile
def nearest_with_history(A: Matrix, depots: list[int]) -> list[int]:
    """Return how many distances each round has changed."""
    distance = Vector.from_coo(depots, 0, size=A.nrows, dtype=A.dtype)
    changed, history = distance.dup(), []
    while changed.nvals:
        history.append(changed.nvals)
        offered = changed.vxm(A, "min_plus")
        better = offered.ewise_mult(distance, "lt").select("==", True)
        changed = offered.dup(mask=~distance.S).ewise_add(offered.dup(mask=better.S), "min")
        distance(accum="min") << changed
    return history


print(nearest_with_history.plan(small, [1, 2]).loops[0].reason)


# %% A vector in its place is part of the program: element by round, and no more rounds than there are vertices.
@sr.compile(strict=True)
def sizes_of_rounds(A: Matrix, depots: list[int]) -> Vector:
    """Return how many distances each round has changed."""
    distance = Vector.from_coo(depots, 0, size=A.nrows, dtype=A.dtype)
    changed, history = distance.dup(), Vector(int, A.nrows)
    rounds = 0
    while changed.nvals:
        history[rounds] = changed.nvals
        offered = changed.vxm(A, "min_plus")
        better = offered.ewise_mult(distance, "lt").select("==", True)
        changed = offered.dup(mask=~distance.S).ewise_add(offered.dup(mask=better.S), "min")
        distance(accum="min") << changed
        rounds += 1
    return history


assert sizes_of_rounds(small, [1, 2]).to_coo()[1].tolist() == nearest_with_history(small, [1, 2])

# %% Does it pay?  On the roads of New York, with 264,346 crossings.  The program of the small graph serves: it
# depends on types, not on sizes.
with as_file(files("semiring") / "data" / "NY.gr.xz") as path:
    roads = sr.io.read(path)
depots = [10_000, 120_000, 250_000]


def timed(function: Callable[[Matrix, list[int]], tuple[Vector, int]]) -> float:
    """Return the seconds of the faster of two calls."""
    taken = []
    for _ in range(2):
        begin = time.perf_counter()
        function(roads, depots)[0].wait()
        taken.append(time.perf_counter() - begin)
    return min(taken)


distance, rounds = compiled(roads, depots)
one_by_one, as_kernel = timed(nearest), timed(compiled)
print(f"{distance.nvals} crossings in {rounds} rounds: {as_kernel:.3f} s, operations one by one {one_by_one:.3f} s")
# No road makes a way shorter, and from each depot it is none.
assert not distance.vxm(roads, "min_plus").ewise_mult(distance, "lt").reduce("lor").value
assert [distance[depot].value for depot in depots] == [0, 0, 0]
