"""Record engine calls: ``with sr.explain() as log`` records each call, with its kernel and its time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..engines.recording import Call, listen


class Log(list[Call]):
    """The calls in order; prints as a table."""

    def __repr__(self) -> str:
        lines = [f"{'operation':<15} {'kernel':<28} {'ms':>9}  details"]
        for call in self:
            details = ", ".join(f"{key}={value}" for key, value in call.details.items())
            lines.append(f"{call.operation:<15} {call.kernel:<28} {call.ms:9.3f}  {details}".rstrip())
        lines.append(f"{'total':<15} {'':<28} {sum(call.ms for call in self):9.3f}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from .display import html_table

        lines = [["", "operation", "kernel", "ms", "details"]]
        for number, call in enumerate(self):
            details = ", ".join(f"{key}={value}" for key, value in call.details.items())
            lines.append([str(number), call.operation, call.kernel, f"{call.ms:.3f}", details])
        return html_table([*lines, ["total", "", "", f"{sum(call.ms for call in self):.3f}", ""]])


@contextmanager
def explain() -> Iterator[Log]:
    """Record every engine call made inside the block: kernel, time, format of the result, bytes, push or pull.

    ``call.details`` holds ``"format"``, ``"bytes"`` (of the arrays of operands and result), ``"direction"`` (``"-"``
    if the operation has none), and the details that the kernel adds.

    Yields
    ------
    The log: a list of calls, which prints as a table.

    Notes
    -----
    Inside the block each call on the GPU is waited for, so that its time excludes other calls: synchronises.

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
