"""Lines of a child process, waited for with a time limit."""

from __future__ import annotations

import os
import select
import time
from typing import IO


class Lines:
    """The lines that a pipe brings, one by one."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._read = b""

    def next(self, seconds: float) -> bytes | None:
        """The next line, or None if none came in time or the other end is closed."""
        deadline = time.monotonic() + seconds
        while b"\n" not in self._read:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._stream], [], [], left)[0]:
                return None
            more = os.read(self._stream.fileno(), 1 << 16)
            if not more:
                return None
            self._read += more
        line, _, self._read = self._read.partition(b"\n")
        return line

    def close(self) -> None:
        """Close the pipe."""
        self._stream.close()
