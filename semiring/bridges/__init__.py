"""Bridges to other libraries and to the shell, on the public API alone; nothing in the core imports them.

Users import `networkx`, `csgraph` (SciPy), `graphblas` (python-graphblas) and `plot` (matplotlib) by their public
paths: `semiring.nx_backend`, `semiring.csgraph`, `semiring.compat.graphblas` and `semiring.plot`.  `cli` is the command
`semiring`, also ``python -m semiring``, and `bench` the suites of `semiring bench`.  Decision 43 in
``docs/decisions`` has the reasons.
"""
