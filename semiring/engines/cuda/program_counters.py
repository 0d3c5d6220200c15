"""The counters of programs that have a fixed use (`kernels/program.cuh`)."""

from typing import Final

INVALID: Final = 0
OVER: Final = 1
FIRST_COUNTER: Final = 2
# How a program ends.
RUNNING, FAILED, YIELDED = -1, -2, -3
# A list has outgrown its arrays: the program continues with larger ones.  With HOST_PRODUCT - k the host executes
# product k, and the program continues behind it.
OUTGROWN, HOST_PRODUCT = -4, -5
# Words of the barrier behind the counters: each of the arrivals and of the gate is alone in its cache line.
BARRIER_WORDS: Final = 48
