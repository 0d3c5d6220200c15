"""One process of the campaign ``concurrency``: ``python -m tests.faults._concurrent KIND cpu 1``.

Its exit code is 0 if all results were correct, and 1 after a line for each failure.
"""

from __future__ import annotations

import faulthandler
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

import semiring as sr
from tests.faults._interrupted import Work

# One operation for each way in which threads cooperate; none compiles long.
NAMES = [
    "apply vector",
    "ewise_add vectors",
    "select",
    "reduce",
    "mxv",
    "transpose",
    "bfs_levels",
    "sssp",
    "connected_components",
    "pagerank",
    "build",
    "update",
]
_SECONDS = 1.0


class TimeUp(Exception):
    """What a handler of SIGALRM raises, as test runners with a time limit do."""


def _busy(engine: str, work: Work, wrong: list[str], stop: Callable[[], bool]) -> None:
    """Repeat operations and compare, on a separate Python thread."""
    chosen = random.Random(threading.get_ident())
    with sr.use(engine):
        while not stop():
            name = chosen.choice(list(work.expected))
            try:
                if not work.same(name):
                    wrong.append(f"{name}: another result")
            except Exception as error:
                wrong.append(f"{name}: {error!r}")


def _threads(engine: str, work: Work, wrong: list[str], count: int) -> list[threading.Thread]:
    end = time.monotonic() + _SECONDS
    started = [
        threading.Thread(target=_busy, args=(engine, work, wrong, lambda: time.monotonic() > end)) for _ in range(count)
    ]
    for thread in started:
        thread.start()
    return started


def threads(engine: str, work: Work) -> list[str]:
    """Several Python threads and the main thread compute at once."""
    wrong: list[str] = []
    started = _threads(engine, work, wrong, 4)
    wrong += work.wrong()
    for thread in started:
        thread.join()
    return wrong


def fork(engine: str, work: Work) -> list[str]:
    """Children compute everything, forked while other threads of the parent work; the parent continues."""
    wrong: list[str] = []
    started = _threads(engine, work, wrong, 2)
    while any(thread.is_alive() for thread in started):
        wrong += _forked(work)
    return wrong + work.wrong()


def fork_from_threads(engine: str, work: Work) -> list[str]:
    """Several threads fork at once, beside threads that compute."""
    wrong: list[str] = []
    forking = [threading.Thread(target=lambda: wrong.extend(_forked(work))) for _ in range(3)]
    started = _threads(engine, work, wrong, 1)
    for thread in forking:
        thread.start()
    for thread in [*forking, *started]:
        thread.join()
    return wrong + work.wrong()


def fork_while_compiling(engine: str, work: Work) -> list[str]:
    """A child compiles a kernel itself, forked while the parent compiles one."""
    v = sr.Vector.full(2.0, 10)
    operator = f"x * {random.getrandbits(40)} + 1"
    compiler = threading.Thread(target=lambda: v.apply(operator).wait())
    compiler.start()
    time.sleep(random.random() * 0.5)
    wrong = _forked(work, lambda: [] if v.apply(f"{operator} + 1").nvals == 10 else ["another result"])
    compiler.join()
    return wrong


def _forked(work: Work, check: Callable[[], list[str]] | None = None) -> list[str]:
    """What is wrong in a forked child."""
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(100)
        found = (check or work.wrong)()
        if found:
            os.write(2, f"in a child: {found}\n".encode())
        os._exit(1 if found else 0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return [f"a forked child: exit code {code}"] if code else []


def leave(engine: str, work: Work) -> list[str]:
    """The interpreter exits while threads compute."""
    for _ in range(3):
        threading.Thread(target=_busy, args=(engine, work, [], lambda: False), daemon=True).start()
    time.sleep(random.random() * 0.3)
    return []


def leave_compiling(engine: str, work: Work) -> list[str]:
    """The interpreter exits after an interrupt has left the compiler running."""
    signal.signal(signal.SIGALRM, _time_up)
    signal.setitimer(signal.ITIMER_REAL, random.random() * 0.5)
    try:
        sr.Vector.full(2.0, 10).apply(f"x * {random.getrandbits(40)} + 1").wait()
        time.sleep(1.0)
    except TimeUp:
        pass
    return []


def alarm(engine: str, work: Work) -> list[str]:
    """A handler of SIGALRM raises repeatedly on the main thread; other threads compute."""
    wrong: list[str] = []
    started = _threads(engine, work, wrong, 1)
    signal.signal(signal.SIGALRM, _time_up)
    for _ in range(20):
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.0005 + random.random() * 0.05)
            while True:
                work.once(random.choice(NAMES))
        except TimeUp:
            pass
    for thread in started:
        thread.join()
    return wrong + work.wrong()


def _time_up(number: int, frame: FrameType | None) -> None:
    raise TimeUp


KINDS: dict[str, Callable[[str, Work], list[str]]] = {
    kind.__name__: kind
    for kind in (threads, leave, leave_compiling, alarm, fork, fork_from_threads, fork_while_compiling)
}


def main() -> None:
    kind, engine, seed = sys.argv[1:]
    faulthandler.enable()
    random.seed(int(seed))
    with sr.use(engine):
        work = Work(engine, int(seed), NAMES)
        wrong: list[Any] = KINDS[kind](engine, work)
    for line in dict.fromkeys(wrong):
        print(line)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
