"""Errors that all processes raise: what fails on one of them ends the call on all.

A call on a grid is made by all processes and ends with an agreement, a collective without data.  A process on which the
call raises sends the error in place of its next message, to each group of the grid: so the others find it in the next
collective of the call, at the latest in the agreement.  Each of them then does the same, by which all processes have
made as many collectives in each group, and raises the error of the lowest rank among those sent to all.

A call without any other collective has its agreement too: if one process lacks memory for its part of a result, the
others may not store theirs, and only a message can prevent that.  With the next collective it would come too late: the
output would have changed on some processes.  The agreement is the shortest message that there is, a header.  It is left
out where it would find nothing: if a call ends with a collective of all processes, after which they compute the same
from what they have received, they have agreed by that (`Agreed`).
"""

from __future__ import annotations

import builtins
import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn, ParamSpec, TypeVar, cast

from .. import exceptions
from ..exceptions import SemiringError
from . import call_ids
from .communicator import Communicator, Failed

__all__ = ["Agreed", "Agreement", "ErrorRecord", "collective"]

P = ParamSpec("P")
T = TypeVar("T")

# The characters of a message that are sent, and of a text beside it: errors have slots of one size (`mpi`).
_LONGEST, _LONGEST_DATA = 6000, 200


class ErrorRecord(NamedTuple):
    """What is sent of an error: the rank where it was raised, its class and message, and what else it holds.

    number, file: of an OSError.  data: the attributes of an error of this package that are numbers or text.
    """

    rank: int
    kind: type[BaseException]
    message: str
    number: int | None
    file: str | None
    data: dict[str, Any]


class Agreed(NamedTuple):
    """What a collective call returns in place of its result, if its last step was a collective of all processes.

    Each of them has received the same by it, and computes the result from that alone.
    """

    result: Any


class Agreement:
    """The calls on a grid, each of which raises on all of its processes or on none.

    groups: that of all processes, and those in which calls of the grid make collectives too.
    """

    def __init__(self, everyone: Communicator, groups: Sequence[Communicator]) -> None:
        self._everyone, self._groups = everyone, (everyone, *groups)
        self._inside = False

    def collective_call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Return what the function returns; if it raises on a process, raise on all of them.  Collective.

        Inside of another such call it is the function alone, whose error is that of the outer call.
        """
        made: Any
        if self._inside:
            made = function(*args, **kwargs)
            return cast(T, made.result if type(made) is Agreed else made)
        self._inside = True
        call_ids.enter(function, args)
        try:
            made = function(*args, **kwargs)
            if type(made) is Agreed:
                return cast(T, made.result)
            self._everyone.barrier()
            return cast(T, made)
        except Exception as error:
            self._raise_on_all(error)
        finally:
            call_ids.leave()
            self._inside = False

    def run_then_barrier(self, function: Callable[[], T]) -> T:
        """Return ``function()`` once all processes have returned from it.  Collective.

        If it raises on one, none goes on: inside of another call the error is raised on all at the end of that one.
        """
        if not self._inside:
            return self.collective_call(function)
        made = function()
        self._everyone.barrier()
        return made

    def _raise_on_all(self, error: Exception) -> NoReturn:
        """Send the error, or that of another process which has arrived, to all groups; raise the one that counts."""
        if any(group.broken for group in self._groups):
            raise error
        arrived = error if isinstance(error, Failed) else None
        sent = describe_error(error, self._everyone.rank) if arrived is None else arrived.first
        waits = [(group, group.report(sent)) for group in self._groups if arrived is None or group is not arrived.group]
        try:
            found = {id(group): wait() for group, wait in waits}
        except Exception:
            # The others make another call: that is reported by them, and this error by this process.
            raise error if arrived is None else rebuild_error(arrived.first, self._everyone.size) from None
        errors = (
            arrived.errors if arrived is not None and arrived.group is self._everyone else found[id(self._everyone)]
        )
        first = min((each for each in errors if each is not None), key=lambda each: each.rank)
        if all(each is not None and each == first._replace(rank=rank) for rank, each in enumerate(errors)):
            raise error  # the same on all
        raise rebuild_error(first, self._everyone.size) from (None if arrived is not None else error)


def collective(function: Callable[P, T]) -> Callable[P, T]:
    """Make a function with an argument `grid` a collective call of that grid."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def collective_function(*args: P.args, **kwargs: P.kwargs) -> T:
        grid: Any = kwargs["grid"] if "grid" in kwargs else signature.bind(*args, **kwargs).arguments["grid"]
        made: T = grid.collective_call(function, *args, **kwargs)
        return made

    return collective_function


def describe_error(error: Exception, rank: int) -> ErrorRecord:
    """Return what is sent of an error that was raised on this process."""
    data = {}
    if isinstance(error, SemiringError):
        data = {
            name: value[:_LONGEST_DATA] if isinstance(value, str) else value
            for name, value in vars(error).items()
            if isinstance(value, (int, float, str, type(None)))
        }
    if isinstance(error, OSError) and error.errno is not None:
        file = None if error.filename is None else str(error.filename)
        return ErrorRecord(rank, OSError, error.strerror or str(error), error.errno, file, data)
    kind = next(base for base in type(error).__mro__ if _is_known(base))
    message = str(error.args[0]) if isinstance(error, KeyError) and len(error.args) == 1 else str(error)
    message = message if len(message) <= _LONGEST else f"{message[:_LONGEST]}..."
    if kind is Exception and type(error) is not Exception:
        message = f"{type(error).__name__}: {message}"
    return ErrorRecord(rank, kind, message, None, None, data)


def rebuild_error(error: ErrorRecord, size: int) -> BaseException:
    """Return an error of another process, with its rank in the message."""
    text = f"{error.message} (rank {error.rank} of {size})"
    if error.number is not None:
        return OSError(error.number, text, error.file)  # the class follows from the number
    made = error.kind(text)
    for name, value in error.data.items():
        setattr(made, name, value)
    return made


def _is_known(kind: type[BaseException]) -> bool:
    """Whether every process has this class, and makes an error of it from a message."""
    if getattr(exceptions if kind.__module__ == exceptions.__name__ else builtins, kind.__name__, None) is not kind:
        return False
    try:
        kind("")
    except TypeError:
        return False
    return True
