"""Fault campaigns: damaged files, random operations, random products, interrupts, failed allocations, kills and forks.

A campaign is a module of this folder with one function ``trials(count, seed)`` that runs `count` trials and returns a
`tally.Tally`.  ``tests/faults/test_<campaign>.py`` runs it in pytest: a few trials in a plain run, more under
``--exhaustive``, all of them under ``--long-faults``.  From the shell::

    python -m tests.faults files --count 100000 --seed 1

prints the tally, writes it to ``--out FILE`` if given, and exits with 1 if any trial failed.  ``docs/reliability.md``
quotes the counts and seeds of the last long run.
"""
