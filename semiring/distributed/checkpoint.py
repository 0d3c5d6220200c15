"""The state of a long iteration in a folder, from which any number of processes goes on."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np

from semiring import Matrix, Vector

from ..exceptions import InvalidFormat, InvalidType, InvalidValue
from ..io.files import PathLike
from ..io.label_sets import set_label_sets
from .grid import Grid
from .part_files import (
    INDEX,
    checked_index,
    files_of,
    made_folder,
    read_index,
    read_part,
    remove_others,
    write_index,
    write_parts,
)
from .reading import placed_part

__all__ = ["Checkpoint", "Saved"]


class Saved(NamedTuple):
    """What a checkpoint holds.

    Attributes
    ----------
    step : int
        The number passed to `Checkpoint.save`.
    state : dict
        Each Matrix and Vector, on the grid that reads, and each number, by name.

    Examples
    --------
    >>> def program(grid):
    ...     file = sr.distributed.Checkpoint("saved.checkpoint", grid)
    ...     file.save(3, x=Vector.full(0.5, 4, device=grid.device))
    ...     return file.load().step
    >>> sr.distributed.run(2, program)
    [3, 3]
    """

    step: int
    state: dict[str, Any]


class Checkpoint:
    """A folder that holds the last state of an iteration, whole at every moment.

    A program that loads the state first, and saves it now and then, goes on after an interruption, on the same or
    another number of processes.

    Parameters
    ----------
    path : str or PathLike
        A folder on a file system that all processes share; made by the first `save`.
    grid : Grid

    Examples
    --------
    >>> def program(grid):
    ...     A = sr.random.grid2d(8, 8, device=grid.device)
    ...     degrees = A.apply("one").dup(float).reduce_rowwise("plus")
    ...     base = Vector.full(0.15 / 64, 64, device=grid.device)
    ...     file = sr.distributed.Checkpoint("pagerank.checkpoint", grid)
    ...     saved = file.load()
    ...     step, r = (0, base) if saved is None else (saved.step, saved.state["r"])
    ...     while step < 20:
    ...         r = base + 0.85 * A.T.mxv(r / degrees, "plus_second")
    ...         step += 1
    ...         if step % 10 == 0:
    ...             file.save(step, r=r)
    ...     return step, r.nvals
    >>> sr.distributed.run(2, program)
    [(20, 64), (20, 64)]
    """

    def __init__(self, path: PathLike, grid: Grid) -> None:
        self.path, self.grid = os.fspath(path), grid

    def save(self, step: int, **state: Any) -> None:
        """Replace the saved state; the old one stays until the new one is complete on all processes.  Collective.

        Parameters
        ----------
        step : int
            How far the iteration is, not negative.
        **state : Matrix or Vector on the grid, int, float, bool, str or None
            Numbers are the same on all processes.

        Raises
        ------
        InvalidType
            For a value of another type, or an object that is not on this grid.
        InvalidValue
            If the step is no number from 0, or the folder holds something else.
        OSError
            On all processes, with the rank where it was found; the old state is unchanged.

        Notes
        -----
        Each process writes its parts and waits until they are on the disk.  Cost O(bytes of the parts), and a few
        collectives without data.  Floats are saved exactly.

        Examples
        --------
        >>> def program(grid):
        ...     file = sr.distributed.Checkpoint("state.checkpoint", grid)
        ...     file.save(7, v=Vector.full(1.5, 3, device=grid.device), change=0.25)
        ...     saved = file.load()
        ...     return saved.step, saved.state["change"], sr.distributed.gather(saved.state["v"]).to_dense().tolist()
        >>> sr.distributed.run(2, program)[0]
        (7, 0.25, [1.5, 1.5, 1.5])
        """
        self.grid.collective_call(self._save, step, state)

    def _save(self, step: int, state: dict[str, Any]) -> None:
        grid = self.grid

        def checked() -> tuple[int, dict[str, Any]]:
            if isinstance(step, bool) or not hasattr(step, "__index__") or step.__index__() < 0:
                raise InvalidValue(f"save: step is a number from 0, got {step!r}")
            numbers = {name: _number(name, value, grid) for name, value in state.items() if not _is_object(value)}
            for name, value in state.items():
                if _is_object(value) and value.device != grid.device:
                    raise InvalidType(
                        f"save: {name}= is on {value.device}; a checkpoint of {grid.device} holds its objects"
                    )
            if grid.rank == 0:
                made_folder(self.path, "one of a checkpoint")
            return step.__index__(), numbers

        number, numbers = grid.run_then_barrier(checked)
        objects = {
            name: write_parts(value, self.path, grid, f"{at}-").content()
            for at, (name, value) in enumerate(state.items())
            if _is_object(value)
        }
        content = {"step": number, "numbers": numbers, "objects": objects}
        grid.run_then_barrier(lambda: write_index(self.path, content) if grid.rank == 0 else None)
        if grid.rank == 0:
            remove_others(self.path, files_of(content))

    def load(self, *, verify: bool = True) -> Saved | None:
        """Return the last saved state, or None if there is none.  Collective.

        Parameters
        ----------
        verify : bool
            Compare the checksums of all parts, and check every index of uncompressed rows.

        Returns
        -------
        Saved, or None

        Raises
        ------
        InvalidFormat
            On all processes: the folder holds no checkpoint, or a damaged one; the message contains the file.
        OSError

        Notes
        -----
        The processes may be more or fewer than those that saved.  Cost O(bytes of the parts).

        Examples
        --------
        >>> sr.distributed.run(2, lambda grid: sr.distributed.Checkpoint("no.checkpoint", grid).load())
        [None, None]
        """
        return self.grid.collective_call(self._load, verify)

    def _load(self, verify: bool) -> Saved | None:
        grid, path = self.grid, os.path.join(self.path, INDEX)
        if not grid.all_reduce_and(os.path.exists(path)):
            return None

        def described() -> tuple[int, dict[str, Any], dict[str, Any]]:
            found = read_index(self.path)
            step, numbers, objects = (found.get(key) for key in ("step", "numbers", "objects"))
            if type(step) is not int or not isinstance(numbers, dict) or not isinstance(objects, dict):
                raise InvalidFormat(f"{path}: expected a checkpoint: step, numbers and objects; found {sorted(found)}")
            return step, numbers, {name: checked_index(each, path) for name, each in objects.items()}

        step, state, objects = grid.run_then_barrier(described)
        for name, index in objects.items():
            part, file, labels = grid.run_then_barrier(
                lambda index=index: read_part(self.path, index, grid, verify=verify)  # type: ignore[misc]
            )
            state[name] = set_label_sets(placed_part(grid, index, part, file, None, None), labels)
        return Saved(step, state)


def _is_object(value: Any) -> bool:
    return isinstance(value, (Matrix, Vector))


def _number(name: str, value: Any, grid: Grid) -> Any:
    """Return a number as JSON holds it exactly."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise InvalidType(
        f"save: {name}= is a {type(value).__name__}; expected a Matrix or Vector on {grid.device}, a number or text"
    )
