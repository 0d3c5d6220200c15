"""Device functions run on the CPU, where their text is plain C++: see device_shim.h."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semiring
from semiring import dtypes
from semiring.engines.cuda import specialize
from semiring.engines.shared.expression_numpy import cast, evaluate
from semiring.operators import catalog
from semiring.operators.types import TypedUnary
from tests.ops.test_every_operator import disagreement, pairs_of

FOLDER = Path(semiring.__file__).parent / "engines" / "cuda" / "kernels"
SHIM = Path(__file__).parent / "device_shim.h"
CXX = shutil.which("g++")

pytestmark = pytest.mark.skipif(CXX is None, reason="device functions are run by a C++ compiler for the host")

# Reads lines "position end count"; writes for each what skip and warp_skip find, and what lanes of a warp disagree on.
SKIP = """
#include <cstdio>
int main(int, char** given) {
    FILE* file = std::fopen(given[1], "rb");
    alignas(16) static unsigned char stream[1 << 16];
    const i64 size = i64(std::fread(stream, 1, sizeof(stream), file));
    const VarintBytes bytes(stream, size);
    i64 position, end;
    int count;
    while (std::scanf("%lld %lld %d", &position, &end, &count) == 3) {
        static i64 found[32];
        shim::warp([=, &bytes] { found[threadIdx.x] = bytes.warp_skip(position, end, count); });
        int other = 0;
        for (i64 one : found) other += one != found[0];
        std::printf("%lld %lld %d\\n", bytes.skip(position, end, count), found[0], other);
    }
}
"""


# Unites the ends of random edges by 8 threads at once, flattens the forest, and counts rows that do not point to the
# least row of their component.
UNITE = """
#include <cstdio>
constexpr i64 ROWS = 3000, EDGES = 6000, THREADS = 8, ROUNDS = 8;
template <class Body>
void on_all(Body body) {
    blockDim.x = THREADS;
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < THREADS; ++t) threads.emplace_back([=] { threadIdx.x = t; body(i64(t)); });
    for (std::thread& thread : threads) thread.join();
}
int main() {
    static F parent[ROWS], ends[EDGES][2], least[ROWS];
    u64 state = 1;
    i64 wrong = 0;
    for (i64 round = 0; round < ROUNDS; ++round) {
        for (i64 v = 0; v < ROWS; ++v) parent[v] = least[v] = F(v);
        for (auto& edge : ends)  // a chain that many rows are hooked into, and edges anywhere
            for (F& end : edge) end = F((state = state * 6364136223846793005ull + 1442695040888963407ull) >> 33) % ROWS;
        for (i64 e = 0; e < ROWS / 2; ++e) ends[e][1] = (ends[e][0] + 1) % ROWS;
        on_all([](i64 t) { for (i64 e = t; e < EDGES; e += THREADS) unite(parent, ends[e][0], ends[e][1]); });
        on_all([](i64) { flatten(parent, ROWS); });
        for (bool changed = true; changed;) {
            changed = false;
            for (auto& [i, j] : ends) {
                const F low = least[i] < least[j] ? least[i] : least[j];
                changed |= least[i] != low || least[j] != low;
                least[i] = least[j] = low;
            }
        }
        for (i64 v = 0; v < ROWS; ++v) wrong += parent[v] != least[v];
    }
    std::printf("%lld wrong\\n", wrong);
}
"""


def built(place: Path, name: str, files: tuple[str, ...], types: str, program: str, *options: str) -> Path:
    """A program after the text of kernel files, without their includes but those of complex numbers."""
    text = "".join(map(_text, files))
    source = place / f"{name}.cpp"
    source.write_text(f'#include "{SHIM}"\n{types}{text}{program}')
    assert CXX is not None
    command = [CXX, "-std=c++20", "-O1", "-w", "-pthread", *options, source, "-o", place / name]
    subprocess.run(command, check=True, timeout=120)
    return place / name


def _text(file: str) -> str:
    text = re.sub(r'#include "(complex\w*\.cuh)"', lambda found: _text(found[1]), (FOLDER / file).read_text())
    return re.sub(r"#include .*|#pragma once", "", text)


@pytest.fixture(scope="module")
def skip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program `SKIP` after the text of the varint readers."""
    files = ("types.cuh", "warp.cuh", "compressed.cuh", "varint.cuh")
    return built(tmp_path_factory.mktemp("skip"), "skip", files, "typedef int J;\ntypedef long long AT;\n", SKIP)


def _watches_races(place: Path) -> bool:
    """Whether programs can be built and run under the compiler's thread sanitizer here."""
    try:
        program = built(place, "empty", (), "", "int main() {}\n", "-fsanitize=thread")
        return subprocess.run([program], capture_output=True, timeout=60).returncode == 0
    except subprocess.CalledProcessError:
        return False


@pytest.mark.costly
@pytest.mark.parametrize("label", ["int", "long long"])
def test_unions_by_many_threads(label: str, tmp_path: Path) -> None:
    """Every row ends at the least row of its component; and no two threads race, except by relaxed accesses."""
    options = ("-fsanitize=thread",) if _watches_races(tmp_path) else ()
    files = ("types.cuh", "warp.cuh", "forest.cuh")
    program = built(tmp_path, "unite", files, f"typedef {label} F;\n", UNITE, *options)
    done = subprocess.run([program], capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stdout) == (0, "0 wrong\n"), done.stderr[:2000]


def skipped(program: Path, stream: bytes, skips: list[tuple[int, int, int]]) -> list[tuple[int, ...]]:
    file = program.with_name("stream")
    file.write_bytes(stream)
    lines = "".join(f"{position} {end} {count}\n" for position, end, count in skips)
    done = subprocess.run([program, file], input=lines, capture_output=True, text=True, check=True, timeout=20)
    return [tuple(map(int, line.split())) for line in done.stdout.splitlines()]


@pytest.mark.costly
def test_skip_finds_the_ends_of_numbers(skip: Path) -> None:
    """Numbers of 1 to 9 bytes; 128 of the longest take 5 rounds of a warp."""
    draw = np.random.default_rng(3)
    for longest in (1, 5, 9):
        lengths = draw.integers(1, longest + 1, 300)
        stream = b"".join(b"\x80" * int(length - 1) + b"\x01" for length in lengths)
        ends = np.concatenate(([0], np.cumsum(lengths)))
        pairs = [(int(a), int(n)) for a, n in zip(draw.integers(0, 170, 40), draw.integers(0, 128, 40), strict=True)]
        skips = [(int(ends[a]), int(ends[a + n]), n) for a, n in pairs]
        found = skipped(skip, stream + bytes(16), skips)
        assert found == [(int(ends[a + n]), int(ends[a + n]), 0) for a, n in pairs]


@pytest.mark.parametrize("end", [2**62, 2**63 - 1, 40, 0, -1, -(2**63)])
def test_skip_ends_for_any_file(skip: Path, end: int) -> None:
    """In a stream without the end of any number; a search reads as far as the numbers could extend, and one step."""
    stream = b"\x80" * 4096
    positions = (0, 7, 4000, 4079, 4080, 4096, 2**40, 2**63 - 1, -1, -(2**63))
    found = skipped(skip, stream, [(position, end, 127) for position in positions])
    assert len(found) == len(positions)
    for position, (alone, together, other) in zip(positions, found, strict=True):
        assert other == 0
        for place, window in ((alone, 8), (together, 256)):
            assert position <= place < position + 9 * 127 + window
            assert place == position or place < len(stream) + window
            assert place == position or place < end + window


# Reads pairs of numbers; writes every operator f0, f1, ... of each.
OPERATORS = """
#include <cstdio>
int main() {
    long long x, y;
    while (std::scanf("%lld %lld", &x, &y) == 2) {
        CALLS
        std::printf("\\n");
    }
}
"""
WRAPPING = [
    "abs(x * y)",
    "x * y",
    "x * y - x",
    "select(x * y < 0, 1, 2)",
    "-(x * x) > 0",
    "max(x + 1, x)",
    "abs(-x - y)",
]


@pytest.mark.parametrize("dtype", ["uint16", "int32", "int64"])
def test_integers_wrap_in_operators(dtype: str, tmp_path: Path) -> None:
    """A compiler may assume that signed integers do not overflow: the text of operators leaves it no such choice."""
    least, largest = (int(limit) for limit in dtypes.limits(dtype))
    numbers = [least, least + 1, 0, 1, 3, 65534, largest - 1, largest]
    x, y = (np.array(side).ravel() for side in np.meshgrid(numbers, numbers))
    ops = [semiring.binary.register_anonymous(text)[dtype] for text in WRAPPING]
    calls = [f'std::printf("%lld ", (long long)f{at}(f{at}_x(x), f{at}_y(y)));' for at in range(len(ops))]
    texts = "".join(specialize.binary(f"f{at}", op) for at, op in enumerate(ops))
    program = texts + OPERATORS.replace("CALLS", "\n        ".join(calls))
    files = ("types.cuh", "expression.cuh")
    done = subprocess.run(
        [built(tmp_path, "operators", files, "#include <cmath>\n", program, "-O3")],
        input="".join(f"{a} {b}\n" for a, b in zip(x.tolist(), y.tolist(), strict=True)),
        capture_output=True, text=True, check=True, timeout=20,
    )  # fmt: skip
    given = {"x": x.astype(dtype), "y": y.astype(dtype)}
    for at, op in enumerate(ops):
        got = [int(line.split()[at]) for line in done.stdout.splitlines()]
        assert got == evaluate(op.expr, given, op.z).astype(np.int64).tolist(), op.expr


# Reads the parts of pairs of numbers; writes the parts of every operator of each.
COMPLEX_OPERATORS = """
#include <cstdio>
template <class T>
void show(T z) { std::printf("%.17g %.17g ", double(real_part(z)), double(imaginary_part(z))); }
int main() {
    double a, b, c, d;
    while (std::scanf("%lf %lf %lf %lf", &a, &b, &c, &d) == 4) {
        const Complex<double> x(a, b), y(c, d);
        CALLS
        std::printf("\\n");
    }
}
"""


@pytest.mark.parametrize("dtype", [dtypes.FC64, pytest.param(dtypes.FC32, marks=pytest.mark.exhaustive)], ids=str)
def test_complex_operators(dtype: np.dtype[Any], tmp_path: Path) -> None:
    """Every built-in operator on complex numbers is that of NumPy."""
    ops = [op for _, op in catalog("unary", "binary") if dtype in (op.x, op.z) and op.x.kind in "fc"]
    names = [f"operator_{at}" for at in range(len(ops))]
    texts, calls = "", []
    for name, op in zip(names, ops, strict=True):
        unary = isinstance(op, TypedUnary)
        texts += (specialize.unary if unary else specialize.binary)(name, op)
        calls.append(f"show({name}({'x' if unary else 'x, y'}));")
    program = texts + COMPLEX_OPERATORS.replace("CALLS", "\n        ".join(calls))
    x, y = pairs_of(dtype, dtype)
    done = subprocess.run(
        [built(tmp_path, "operators", ("types.cuh", "expression.cuh"), "#include <cmath>\n", program)],
        input="".join(f"{a.real} {a.imag} {b.real} {b.imag}\n" for a, b in zip(x.tolist(), y.tolist(), strict=True)),
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    written = np.array([line.split() for line in done.stdout.splitlines()], np.float64)
    wrong = []
    for at, op in enumerate(ops):
        found = np.empty(x.size, np.complex128)
        found.real, found.imag = written[:, 2 * at], written[:, 2 * at + 1]
        given = {"x": cast(x, op.x)} | ({} if isinstance(op, TypedUnary) else {"y": cast(y, op.y)})
        wrong.append(disagreement(op, given, cast(found, op.z)))
    assert not any(wrong), "\n".join(filter(None, wrong))
