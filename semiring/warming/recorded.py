"""One process of `warm` for a GPU: compile recorded CUDA kernels (`engines.cuda.kernel_lists`) by NVRTC, without a GPU.

    python -m semiring.warming.recorded ARCHITECTURE

Reads the number of one recorded text per line, and writes one line of JSON for each: how many kernels were compiled
(0: the store had it), the seconds that it took, or an error.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any


def main(architecture: str) -> None:
    """Process the lines of standard input until it ends."""
    from semiring.engines.cuda import kernel_lists
    from semiring.engines.cuda.compile import compiled

    for line in sys.stdin:
        started = time.perf_counter()
        file, prologue, entry = kernel_lists.text(int(line))
        result: dict[str, Any] = {}
        try:
            result |= {"kernels": int(compiled(file, prologue, architecture, entry))}
            result |= {"seconds": time.perf_counter() - started}
        except Exception as error:
            result["error"] = f"{type(error).__name__}: {error}"
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
