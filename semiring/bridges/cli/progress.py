"""Progress on standard error: one redrawn line on a terminal, separate lines elsewhere.

On a terminal a long step has a line that is redrawn, with the share done where it is known, and erased at the end.
Elsewhere (a log, a pipe) a step prints nothing for its first second, then a line, another every ten seconds, and one at
its end. A separate thread prints, so that a step that never reports is shown too.
"""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

_DRAW_EVERY_S = 0.1
_LIVE_AFTER_S = 0.3
_LINE_AFTER_S = 1.0
_LINE_EVERY_S = 10.0
_BAR_CELLS = 24


class Progress:
    """Reports progress of consecutive steps.

    Parameters
    ----------
    enabled : True for lines about every step, False for none, None for the default of the module
    stream : where to write; by default standard error
    """

    def __init__(self, enabled: bool | None = None, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._live = enabled is None and self._stream.isatty()
        self._silent = enabled is False
        self._delay_s = 0.0 if enabled else _LINE_AFTER_S
        self._what, self._share = "", 0.0

    @contextmanager
    def step(self, what: str) -> Iterator[Progress]:
        """Report on the work inside the block; the object itself is the callback to pass to readers."""
        self._what, self._share = what, 0.0
        if self._silent:
            yield self
            return
        ended = threading.Event()
        printed: list[str] = []
        start = time.perf_counter()
        drawer = threading.Thread(target=self._draw, args=(ended, printed, start), daemon=True)
        drawer.start()
        try:
            yield self
        finally:
            ended.set()
            drawer.join()
            if printed and self._live:
                self._write("\x1b[K")
            elif printed:
                self._write(f"semiring: {what}: {seconds(time.perf_counter() - start)}\n")

    def __call__(self, what: str, share: float) -> None:
        """Record the current step and the share that is done, from 0 to 1."""
        self._what, self._share = what, share

    def _draw(self, ended: threading.Event, printed: list[str], start: float) -> None:
        if ended.wait(_LIVE_AFTER_S if self._live else self._delay_s):
            return
        while True:
            printed.append(self._what)
            spent = time.perf_counter() - start
            if self._live:
                # Return the cursor to the start of the line, so that other output overwrites it.
                self._write(f"\x1b[K{self._line(spent)}\r")
            else:
                done = f" ({self._share:.0%})" if 0 < self._share < 1 else ""
                self._write(f"semiring: {self._what}{done} ...\n")
            if ended.wait(_DRAW_EVERY_S if self._live else _LINE_EVERY_S):
                return

    def _line(self, spent: float) -> str:
        """Return one line that fits the terminal: a wrapped line could not be redrawn."""
        columns = shutil.get_terminal_size().columns - 1
        if not 0 < self._share < 1:
            rest = f" ... {seconds(spent)}"
        else:
            filled = round(self._share * _BAR_CELLS)
            rest = f" [{'=' * filled}{' ' * (_BAR_CELLS - filled)}] {self._share:4.0%} {seconds(spent)}"
        return f"{self._what[: max(columns - len(rest), 0)]}{rest}"[:columns]

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


def seconds(spent: float) -> str:
    """Format a duration: 0.42 s, 12 s, 3 min 20 s."""
    if spent < 10:
        return f"{spent:.2g} s" if spent < 1 else f"{spent:.1f} s"
    if spent < 60:
        return f"{spent:.0f} s"
    return f"{int(spent) // 60} min {int(spent) % 60} s"
