"""The first search of a process, from the start of Python to the levels: run by the case ``speed`` in a new process.

    python -m benchmarks.first_call GRAPH DEVICE SOURCE STARTED LEVELS

GRAPH is an .npz with `indptr` and `indices`; STARTED the time at which the caller began to start this process; the
levels go to the .npy file LEVELS.  Prints one line of JSON: seconds from STARTED to the import of the
package, to the matrix, and to the levels.
"""

from __future__ import annotations

import json
import sys
import time


def main(graph: str, device: str, source: str, started: str, out: str) -> None:
    import numpy as np

    import semiring as sr

    marks = {"imported": time.time()}
    with sr.use(device), np.load(graph) as stored:
        offsets = stored["indptr"]
        A = sr.Matrix.from_csr(offsets, stored["indices"], True, ncols=offsets.size - 1, copy=False)
        marks["loaded"] = time.time()
        levels = sr.algorithms.bfs_levels(A, int(source)).wait()
        marks["searched"] = time.time()
        np.save(out, levels.to_numpy(-1))
    print(json.dumps({name: moment - float(started) for name, moment in marks.items()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
