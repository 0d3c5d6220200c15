"""Mutation runs: whether the tests fail when a line that defines semantics is changed.

    python -m tests.mutation --count 200 --seed 1 --processes 2 --out results.jsonl

cosmic-ray (its command must be on the path, or named by ``--cosmic-ray``; it is not a dependency) lists the changes of
`MODULES`, of which a seeded sample is drawn, at most one change a place.  Each change is applied in turn to a copy of
the working tree, and the tests of the changed module run there on the CPU engine (`suspects`).  The CPU engine itself
is never changed, so that its kernels come from a cache, which the first run of the unchanged tests fills.  A test that
fails on the unchanged tree is named, and left out.

    python -m tests.mutation --count 200 --seed 1 --draw mutants.jsonl
    python -m tests.mutation --mutants mutants.jsonl --processes 14 --seconds 480 --out results.jsonl

do the same in two steps.  The second needs neither cosmic-ray nor git, so that another machine can run it.  Each of the
processes has a copy of the tree and a cache of kernels of its own.  A result is appended to the file of ``--out`` as
soon as it is known, and mutants that this file already contains are not run again: a run can be stopped and continued.

The run prints how many changes a test detected, each undetected one, and each one that was not tried.
``docs/reliability.md`` quotes the score.  CI does not run it.
"""
