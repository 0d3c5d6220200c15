"""The `semiring` command: one module for each subcommand; `program` runs one and maps errors to exit codes.

A command module has ``add(commands)``, which declares its arguments, and ``run(args) -> int``. Results go to standard
output, as text or (``--json``) as one JSON object; progress and errors go to standard error.
"""

from __future__ import annotations

from semiring.bridges.cli.program import main

__all__ = ["main"]
