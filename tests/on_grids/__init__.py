"""The library's tests on a grid of processes: what runs, and what does not, with reasons (``skipped.md``)."""
