"""The grid of processes that hold the parts of matrices and vectors."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from ..config import checked_device, default_device, engine_for
from ..devices import Device, in_parts, register
from ..exceptions import InvalidValue
from ..formats.pattern import scalar_facts
from ..memory.arrays import Array
from . import transports
from .agreement import Agreement
from .communicator import Communicator, Traffic
from .rules import GridExecutor
from .threads import run_ranks

__all__ = ["Grid", "run"]

P = ParamSpec("P")
T = TypeVar("T")

_numbers = itertools.count(2)
_known: set[str] = set()


# The names of earlier versions, and those that replace them.
_RENAMED = {
    "above": "col_comm",
    "account": "record_traffic",
    "agreed": "all_reduce_and",
    "all": "comm",
    "beside": "row_comm",
    "found": "broadcast_present",
    "joint": "collective_call",
    "piece": "segment",
    "place": "coords",
    "spread": "scatter_entries",
    "sum": "reduce_scatter",
    "take": "partition",
    "together": "run_then_barrier",
    "total": "all_reduce_sum",
    "whole": "allgather",
}

# Segments of at least so many positions begin at multiples of 32, so that bitmaps of segments are joined by words.
_ALIGNED = 1024
_WORD = 32


@functools.lru_cache
def segment_bounds(extent: int, count: int) -> tuple[int, ...]:
    """Return the ``count + 1`` bounds of the segments of `extent` positions, of nearly equal sizes."""
    size = -(-extent // count)
    if size >= _ALIGNED:
        size = -(-size // _WORD) * _WORD
    return tuple(min(k * size, extent) for k in range(count + 1))


class Grid:
    """Processes in rows and columns, on which matrices and vectors are held in parts.

    Its `device` is the device of such objects: ``Vector.full(1.0, n, device=grid.device)``.  Every process makes the
    same grids, and the same calls on their objects in the same order: each operation on a grid is collective.

    Parameters
    ----------
    communicator : Communicator, or a communicator of mpi4py, optional
        The processes: a group of `connect`, or those of an intracommunicator of MPI, which is duplicated; by default
        all that a launcher started (`semiring launch`, mpiexec, srun, torchrun).  Arrays on GPUs are copied from the
        memory of the other process if all are on one host and their GPUs allow it; else they go by NCCL if each process
        has a GPU of its own and CuPy finds NCCL, else through host memory.
    shape : (int, int), optional
        Rows and columns of the grid; by default as nearly square as the number of processes allows.
    device : ``"cpu"`` or ``"cuda"``, optional
        Where each process holds its parts; by default the default device.

    Attributes
    ----------
    device : str
        The device of objects on this grid, such as ``"2x2 cpu"``.
    rank, size : int
        The number of this process, and how many there are.
    shape : (int, int)
    local : str
        The device of the parts.
    comm, row_comm, col_comm : Communicator
        All processes; those of the same row of the grid; those of the same column.

    Raises
    ------
    InvalidValue
        If the shape does not have as many places as there are processes, or a launcher has started more processes than
        have found each other.
    InvalidType
        For another communicator.
    NotSupported
        Without a communicator in a process that MPI's launcher has started, if mpi4py or MPI is missing.

    Notes
    -----
    With p = shape[0] * shape[1] processes each dimension has p segments of nearly equal sizes.  Process (i, j), of rank
    ``i * shape[1] + j``, holds segment `rank` of a vector; of a matrix the block of the segments of rows
    ``i * shape[1] ... (i + 1) * shape[1]`` and the segments of columns ``j * shape[0] ... (j + 1) * shape[0]``.
    So the rows of a block are the segments of the processes in its row of the grid, and blocks of a square grid
    transpose in pairs.

    A second grid of the same group, shape and device of parts is the same grid: its device is that of the first, and
    their objects may be operands of one call.  Objects of other grids may not (`DeviceMismatch`): gather one, or
    distribute it over the grid of the other.

    Examples
    --------
    >>> sr.distributed.run(6, lambda grid: (grid.device, grid.rank), device="cpu")[:2]
    [('3x2 cpu', 0), ('3x2 cpu', 1)]
    """

    def __init__(
        self,
        communicator: Any = None,
        *,
        shape: tuple[int, int] | None = None,
        device: str | None = None,
    ) -> None:
        from .mpi import MpiCommunicator, of_mpi4py, world

        group: Communicator
        if communicator is None:
            group = world()
        else:
            group = communicator if isinstance(communicator, Communicator) else of_mpi4py(communicator)
        self.shape = _shape(group.size, shape)
        self.local = default_device() if device is None else checked_device(device)
        if in_parts(self.local):
            raise InvalidValue(f"the parts of a grid are on 'cpu' or 'cuda', got {device!r}")
        known, kind = group.grids, (self.shape, self.local)
        if kind in known:
            vars(self).update(vars(known[kind]))
            return
        if isinstance(group, MpiCommunicator) and self.local == "cuda":
            group = transports.select_transport(group)
        self.comm, self.rank = group, group.rank
        row, col = self.coords
        # The processes of this row of the grid, which hold the same rows; and those of this column, the same columns.
        self.row_comm: Communicator = group.split(row, col)
        self.col_comm: Communicator = group.split(col, row)
        self._agreement = Agreement(group, (self.row_comm, self.col_comm))
        name = "x".join(map(str, self.shape))
        if not group.threads:
            if f"{name} {self.local}" in _known:
                name = f"{name}#{next(_numbers)}"
            _known.add(f"{name} {self.local}")
        self.device = Device(f"{name} {self.local}", GridExecutor(self))
        register(self.device, thread=group.threads)
        known[kind] = self

    @property
    def size(self) -> int:
        """The number of processes."""
        return self.shape[0] * self.shape[1]

    @property
    def coords(self) -> tuple[int, int]:
        """The row and the column of this process."""
        return divmod(self.rank, self.shape[1])

    def segment(self, extent: int, rank: int | None = None) -> tuple[int, int]:
        """Return the first and the last + 1 position of the segment of a process.

        Parameters
        ----------
        extent : the size of the dimension
        rank : of the process; by default of this one

        Examples
        --------
        >>> sr.distributed.run(2, lambda grid: grid.segment(10))
        [(0, 5), (5, 10)]
        """
        bounds, k = segment_bounds(extent, self.size), self.rank if rank is None else rank
        return bounds[k], bounds[k + 1]

    def rows(self, nrows: int, rank: int | None = None) -> tuple[int, int]:
        """Return the first and the last + 1 row of the block of a process.

        Parameters
        ----------
        nrows : of the matrix
        rank : of the process; by default of this one

        Examples
        --------
        >>> sr.distributed.run(4, lambda grid: grid.rows(10))
        [(0, 6), (0, 6), (6, 10), (6, 10)]
        """
        bounds, width = segment_bounds(nrows, self.size), self.shape[1]
        i = (self.rank if rank is None else rank) // width
        return bounds[i * width], bounds[(i + 1) * width]

    def cols(self, ncols: int, rank: int | None = None) -> tuple[int, int]:
        """Return the first and the last + 1 column of the block of a process.

        Parameters
        ----------
        ncols : of the matrix
        rank : of the process; by default of this one

        Examples
        --------
        >>> sr.distributed.run(4, lambda grid: grid.cols(10))
        [(0, 6), (6, 10), (0, 6), (6, 10)]
        """
        bounds, height = segment_bounds(ncols, self.size), self.shape[0]
        j = (self.rank if rank is None else rank) % self.shape[1]
        return bounds[j * height], bounds[(j + 1) * height]

    @property
    def engine(self) -> str:
        """The engine that computes with the parts."""
        return engine_for(self.local)

    @property
    def traffic(self) -> Traffic:
        """What this process has sent to others since the grid was made."""
        return self.comm.traffic

    def part(self, store: Any) -> Any:
        """Return the part of a store that this process holds, with positions of its own.

        Parameters
        ----------
        store : of an object on the grid

        Examples
        --------
        >>> v = Vector.from_dense([1, 2, 3])
        >>> sr.distributed.run(2, lambda grid: grid.part(v.to(grid.device).store).nvals)
        [2, 1]
        """
        from .partition import local

        return local(store)

    def with_part(self, store: Any, part: Any) -> Any:
        """Return a matrix store of parts with another block of the same entries.

        Parameters
        ----------
        store : of a Matrix on the grid
        part : store of a block with the entries of this process, in any storage kind

        Examples
        --------
        >>> def program(grid):
        ...     A = sr.random.path(4, device=grid.device)
        ...     block = sr.distributed.local_part(A).part.compress("varint")
        ...     return A.with_store(grid.with_part(A.store, block.store)).codec
        >>> sr.distributed.run(2, program)[0]
        'varint'
        """
        from .partition import matrix

        made = matrix(self, store.shape, part, iso=store.iso)
        made.pattern.facts.update(scalar_facts(store.pattern))
        return made

    def partition(self, store: Any) -> Any:
        """Return the store of parts of an object that every process has as a whole.

        Parameters
        ----------
        store : of an object on the device of the parts

        Examples
        --------
        >>> v = Vector.from_dense([1, 2, 3])
        >>> sr.distributed.run(2, lambda grid: grid.partition(v.store).part.nvals)
        [2, 1]
        """
        from .scattering import partition_store

        return self.collective_call(partition_store, store, self)

    def allgather(self, store: Any) -> Any:
        """Return the whole of a store of parts, on every process.  Collective.

        Parameters
        ----------
        store : of an object on the grid

        Examples
        --------
        >>> v = Vector.from_dense([1, 2, 3])
        >>> sr.distributed.run(2, lambda grid: grid.allgather(v.to(grid.device).store).nvals)
        [3, 3]
        """
        from .scattering import allgather_store

        return self.collective_call(allgather_store, store)

    def replica(self, store: Any, *, values: bool) -> Any:
        """Return the whole of a matrix, kept with it; None if a process has no memory for it.  Collective.

        Parameters
        ----------
        store : of a Matrix on the grid
        values : whether the caller reads values; else all entries may be true

        Examples
        --------
        >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 0)])
        >>> sr.distributed.run(2, lambda grid: grid.replica(A.to(grid.device).store, values=False).nvals)
        [3, 3]
        """
        from .replication import admitted, replica

        def act() -> Any:
            return replica(self, store, values=values) if admitted(self, store, values=values) else None

        return self.collective_call(act)

    def reduce_scatter(self, store: Any, monoid: Any) -> Any:
        """Return the store of parts of the sum of objects, of which each process has one as a whole.  Collective.

        Parameters
        ----------
        store : of an object on the device of the parts, of one shape and type on all processes
        monoid : typed, which adds up entries at one position in the order of the ranks

        Examples
        --------
        >>> plus = sr.monoid.plus[np.int64]
        >>> def program(grid):
        ...     v = Vector.full(grid.rank + 1, 4)
        ...     return v.with_store(grid.reduce_scatter(v.store, plus)).to("cpu").to_dense().tolist()
        >>> sr.distributed.run(2, program, device="cpu")[0]
        [3, 3, 3, 3]
        """
        from .replication import sum_and_partition

        return self.collective_call(sum_and_partition, self, store, monoid)

    def scatter_entries(self, u: Any, shape: tuple[int, int], at: Callable[[Array], tuple[Array, Array]]) -> Any:
        """Return the matrix with t(at(i)) = u(i) for the entries of a vector.  Collective.

        Parameters
        ----------
        u : store of a Vector on the grid
        shape : of the result
        at : function of an array of positions, which returns those of the rows and of the columns

        Examples
        --------
        >>> v = Vector.from_dense([1, 2, 3])
        >>> def program(grid):
        ...     return grid.scatter_entries(v.to(grid.device).store, (3, 3), lambda i: (i, 2 - i)).nvals
        >>> sr.distributed.run(2, program)
        [3, 3]
        """
        from .routing import scatter_entries

        return self.collective_call(scatter_entries, self, u, shape, at)

    def broadcast_present(self, value: Any) -> Any:
        """Return the value of the process that has one, None if none has.  Collective.

        Parameters
        ----------
        value : None on the other processes

        Examples
        --------
        >>> sr.distributed.run(3, lambda grid: grid.broadcast_present("here" if grid.rank == 1 else None))
        ['here', 'here', 'here']
        """
        return next((each for each in self.comm.allgather(value) if each is not None), None)

    def collective_call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Return ``function(*args, **kwargs)``; raise on all processes if it raises on one.  Collective.

        Parameters
        ----------
        function : of the arguments
            All processes call it; it may make collective calls.
        *args, **kwargs : of the function

        Raises
        ------
        Any error of a process
            That of the lowest rank, with its rank in the message unless all raise the same.  Of a class that is
            neither Python's nor the library's, the nearest base class that is.

        Notes
        -----
        An operation on objects of the grid is such a call, so an output is unchanged on all processes if one of them
        fails.  Inside of another collective call it is the function alone, whose error ends the outer call.  Cost: one
        collective without data, to agree that no process has failed.

        Examples
        --------
        >>> def program(grid):
        ...     def build(size):
        ...         v = Vector.from_coo([grid.rank], size=size)
        ...         return v.nvals, grid.all_reduce_sum(1)
        ...     try:
        ...         return grid.collective_call(build, 1)
        ...     except sr.exceptions.IndexOutOfBound as error:
        ...         return str(error)
        >>> sr.distributed.run(2, program)[0]
        'indices[0] = 1 is out of bounds for a vector with size 1 (rank 1 of 2)'
        """
        return self._agreement.collective_call(function, *args, **kwargs)

    def run_then_barrier(self, function: Callable[[], T]) -> T:
        """Return what the function returns on this process, once it has returned on all.  Collective.

        Parameters
        ----------
        function : of no arguments

        Raises
        ------
        Any error of a process
            As `collective_call`; inside of a collective call at its end, and no process goes on before.

        Notes
        -----
        Before a step that must not happen if a process has failed, such as the replacement of a file.

        Examples
        --------
        >>> def program(grid):
        ...     try:
        ...         return grid.run_then_barrier(lambda: Vector.from_coo([grid.rank], size=1).nvals)
        ...     except sr.exceptions.IndexOutOfBound as error:
        ...         return str(error)
        >>> sr.distributed.run(2, program)[0]
        'indices[0] = 1 is out of bounds for a vector with size 1 (rank 1 of 2)'
        """
        return self._agreement.run_then_barrier(function)

    def all_reduce_and(self, flag: bool) -> bool:
        """Return whether the flag is set on all processes.  Collective.

        Parameters
        ----------
        flag : of this process

        Examples
        --------
        >>> sr.distributed.run(2, lambda grid: grid.all_reduce_and(grid.rank == 0))
        [False, False]
        """
        return self.comm.sum(not flag) == 0

    def all_reduce_sum(self, count: int) -> int:
        """Return the sum of the counts of all processes.  Collective.

        Parameters
        ----------
        count : of this process

        Examples
        --------
        >>> sr.distributed.run(3, lambda grid: grid.all_reduce_sum(grid.rank))
        [3, 3, 3]
        """
        return self.comm.sum(count)

    def record_traffic(self) -> AbstractContextManager[None]:
        """Note what this process sends inside the block in the record that `explain` makes of the current call.

        Examples
        --------
        >>> def program(grid):
        ...     v = Vector.from_dense([1, 2, 3]).to(grid.device)
        ...     with sr.explain() as log:
        ...         v.reduce("plus").get()
        ...     return log[-1].details["messages"], log[-1].details["sent_bytes"]
        >>> sr.distributed.run(3, program)[0]
        (2, 18)
        """
        from .traffic_log import record_traffic

        return record_traffic(self)

    if not TYPE_CHECKING:  # a type checker would accept any attribute

        def __getattr__(self, name: str) -> Any:
            if name in _RENAMED:
                raise AttributeError(f"Grid.{name} is now Grid.{_RENAMED[name]}", name=name, obj=self)
            raise AttributeError(f"'Grid' object has no attribute {name!r}", name=name, obj=self)

    def __repr__(self) -> str:
        return f"Grid({self.device!r}, rank {self.rank} of {self.size})"


def grid_of(x: Any) -> Grid:
    """Return the grid of an object or a store."""
    return cast(Grid, x.device.executor.grid)


def _shape(count: int, shape: tuple[int, int] | None) -> tuple[int, int]:
    if shape is None:
        cols = next(c for c in range(int(count**0.5), 0, -1) if count % c == 0)
        return count // cols, cols
    rows, cols = shape
    if rows < 1 or cols < 1 or rows * cols != count:
        raise InvalidValue(f"a grid of shape {rows} x {cols} needs {rows * cols} processes, and there are {count}")
    return int(rows), int(cols)


def run(
    count: int, program: Callable[[Grid], T], *, shape: tuple[int, int] | None = None, device: str | None = None
) -> list[T]:
    """Run a program as `count` ranks in this process, one after another between collectives; without MPI.

    Parameters
    ----------
    count : int
        How many ranks.
    program : function of the grid
    shape, device : as for `Grid`

    Returns
    -------
    list of what the program returned on each rank.

    Raises
    ------
    InvalidValue
        If `count` is not positive, or a rank waits for others that do not make the same call.
    Any exception of a rank
        The first one; the other ranks end.

    Notes
    -----
    For tests, and for counting what a program sends (`Grid.traffic`): ranks run in turns, so it is no faster with more
    of them.

    Examples
    --------
    >>> def program(grid):
    ...     A = sr.distributed.scatter(Matrix.from_edgelist([(0, 1), (1, 2)]), grid)
    ...     return sr.distributed.gather(sr.algorithms.bfs_levels(A, 0)).to_dict()
    >>> sr.distributed.run(2, program)[0]
    {0: 0, 1: 1, 2: 2}
    """
    if count < 1:
        raise InvalidValue(f"run: the number of ranks must be positive, got {count}")
    return run_ranks(count, lambda communicator: program(Grid(communicator, shape=shape, device=device)))
