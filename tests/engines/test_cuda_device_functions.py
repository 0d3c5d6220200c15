"""Device functions run on the CPU, where their text is plain C++: see device_shim.h."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import semiring

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


@pytest.fixture(scope="module")
def skip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program `SKIP` behind the text of the varint readers."""
    files = ("types.cuh", "warp.cuh", "compressed.cuh", "varint.cuh")
    text = "".join(re.sub(r"#include .*|#pragma once", "", (FOLDER / name).read_text()) for name in files)
    place = tmp_path_factory.mktemp("skip")
    source = place / "skip.cpp"
    source.write_text(f'#include "{SHIM}"\ntypedef int J;\ntypedef long long AT;\n{text}{SKIP}')
    assert CXX is not None
    subprocess.run([CXX, "-std=c++20", "-O1", "-w", "-pthread", source, "-o", place / "skip"], check=True, timeout=120)
    return place / "skip"


def skipped(program: Path, stream: bytes, questions: list[tuple[int, int, int]]) -> list[tuple[int, ...]]:
    file = program.with_name("stream")
    file.write_bytes(stream)
    lines = "".join(f"{position} {end} {count}\n" for position, end, count in questions)
    done = subprocess.run([program, file], input=lines, capture_output=True, text=True, check=True, timeout=20)
    return [tuple(map(int, line.split())) for line in done.stdout.splitlines()]


def test_skip_finds_the_ends_of_numbers(skip: Path) -> None:
    """Numbers of 1 to 9 bytes; 128 of the longest take 5 rounds of a warp."""
    draw = np.random.default_rng(3)
    for longest in (1, 5, 9):
        lengths = draw.integers(1, longest + 1, 300)
        stream = b"".join(b"\x80" * int(length - 1) + b"\x01" for length in lengths)
        ends = np.concatenate(([0], np.cumsum(lengths)))
        pairs = [(int(a), int(n)) for a, n in zip(draw.integers(0, 170, 40), draw.integers(0, 128, 40), strict=True)]
        questions = [(int(ends[a]), int(ends[a + n]), n) for a, n in pairs]
        found = skipped(skip, stream + bytes(16), questions)
        assert found == [(int(ends[a + n]), int(ends[a + n]), 0) for a, n in pairs]


@pytest.mark.parametrize("end", [2**62, 2**63 - 1, 40, 0, -1, -(2**63)])
def test_skip_ends_whatever_a_file_says(skip: Path, end: int) -> None:
    """In a stream without the end of any number; a search goes as far as so many numbers could, and one window more."""
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
