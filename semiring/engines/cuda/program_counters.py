"""The counters of programs that have a fixed use (`kernels/program.cuh`)."""

from typing import Final

INVALID: Final = 0
OVER: Final = 1
FIRST_COUNTER: Final = 2
# How a program ends; with ASKED - k it asks the host for product k, and continues behind it.
RUNNING, FAILED, YIELDED, ASKED = -1, -2, -3, -4
