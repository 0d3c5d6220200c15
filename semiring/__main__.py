"""``python -m semiring``: the `semiring` command."""

from __future__ import annotations

import sys

from semiring.cli import main

if __name__ == "__main__":
    sys.exit(main())
