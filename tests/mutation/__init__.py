"""Mutation runs: whether the tests fail when a line that defines semantics is changed.

    python -m tests.mutation --count 200 --seed 1

cosmic-ray (its command must be on the path, or named by ``--cosmic-ray``; it is not a dependency) lists the changes of
`MODULES`; a seeded sample, at most one change a place, is applied in turn to a clone of the last commit; and the
tests of the changed module run on the CPU engine (`suspects`), which is never changed, so that its kernels come from
the cache after the first run.  It prints how many changes a test detected, and each undetected one.
``docs/reliability.md`` quotes the score.  CI does not run it.
"""
