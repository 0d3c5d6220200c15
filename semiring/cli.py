"""The `semiring` command; ``python -m semiring.cli`` runs it too."""

from __future__ import annotations

import sys

from semiring.bridges.cli import main

__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main())
