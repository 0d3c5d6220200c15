"""Record engine calls: ``with sr.explain() as log`` records each call, with its kernel and its time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..engines.recording import Call, listen


class Log(list[Call]):
    """The calls in the order in which they ended; prints as a table, in which calls within a call are indented."""

    def __repr__(self) -> str:
        names = ["  " * call.depth + call.operation for call in self]
        width = max([15, *map(len, names)])
        lines = [f"{'operation':<{width}} {'kernel':<28} {'ms':>9}  details"]
        for name, call in zip(names, self, strict=True):
            details = ", ".join(f"{key}={value}" for key, value in call.details.items())
            lines.append(f"{name:<{width}} {call.kernel:<28} {call.ms:9.3f}  {details}".rstrip())
        lines.append(f"{'total':<{width}} {'':<28} {self._total():9.3f}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from .display import html_table

        lines = [["", "operation", "kernel", "ms", "details"]]
        for number, call in enumerate(self):
            details = ", ".join(f"{key}={value}" for key, value in call.details.items())
            name = "\N{NO-BREAK SPACE}" * (2 * call.depth) + call.operation
            lines.append([str(number), name, call.kernel, f"{call.ms:.3f}", details])
        return html_table([*lines, ["total", "", "", f"{self._total():.3f}", ""]])

    def _total(self) -> float:
        """Return the time of all calls, in ms; a call contains the time of the calls within it."""
        return sum(call.ms for call in self if not call.depth)


@contextmanager
def explain() -> Iterator[Log]:
    """Record every engine call made inside the block: kernel, time, format of the result, bytes, push or pull.

    ``call.details`` holds ``"format"``, ``"bytes"`` (of the arrays of operands and result), ``"direction"`` (``"-"``
    if the operation has none), and the details that the kernel adds.  A call may contain others, which precede it in
    the log; ``call.depth`` is the number of calls that contain this one, and the total counts calls of depth 0.

    Operations on a grid of processes also have what this process sent: ``"collectives"``, ``"messages"``,
    ``"sent_bytes"``, and ``"communication_ms"``, which includes waiting for the others.  Each level of a search on a
    grid is a call ``step``.

    Yields
    ------
    The log: a list of calls, which prints as a table.

    Notes
    -----
    Inside the block each call on the GPU is waited for, so that its time excludes other calls: synchronizes.

    Examples
    --------
    >>> v = Vector.from_coo([0, 2], [1.0, 2.0], size=3)
    >>> with sr.explain() as log:
    ...     w = (v + v).wait()
    >>> log[0].operation, log[0].details["direction"]
    ('ewise', '-')
    """
    log = Log()
    with listen() as calls:
        try:
            yield log
        finally:
            log.extend(calls)
