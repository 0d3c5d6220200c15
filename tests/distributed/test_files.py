"""Files that the processes of a grid read and write in parts, against the readers and writers of one process."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector, distributed
from semiring.distributed import Grid
from semiring.distributed.checksums import combined
from semiring.exceptions import (
    DuplicateIndex,
    InvalidFormat,
    InvalidValue,
    NotSupported,
    OutOfMemory,
    SemiringError,
)
from semiring.io.read import VECTOR_WRITERS, WRITERS
from tests.distributed.grids import by_shape, in_folder, ranks_are_threads, run, same

__all__ = ["in_folder", "ranks_are_threads"]

dist = distributed


def objects() -> dict[str, Any]:
    """Matrices and vectors of every format, with empty parts, and of every kind of value."""
    rng = np.random.default_rng(0)
    kron, rect = sr.random.kronecker(6, seed=1, weights="uniform"), rng.integers(0, 3, (13, 7)).astype(float)
    return {
        "weights": kron,
        "iso": sr.random.kronecker(5, seed=1),
        "rectangle": Matrix.from_dense(rect, missing_value=0),
        "no entries": Matrix(int, 5, 4),
        "no rows": Matrix(int, 0, 0),
        "hypersparse": Matrix.from_coo([5, 10**8, 10**9 - 1], [3, 10**8, 7], [1.5, 2, 3], shape=(10**9, 10**9)),
        "varint": kron.compress("varint"),
        "packed": kron.compress(),
        "full": Matrix.from_dense(rng.random((9, 5))).convert("full"),
        "bitmap": Matrix.from_dense(rect, missing_value=0).convert("bitmap"),
        "full vector": Vector.from_dense(rng.random(37)),
        "few": Vector.from_coo([1, 5, 30], [1, 2, 3], size=37),
        "bits": Vector.from_coo(np.arange(0, 2000, 3), np.arange(0, 2000, 3), size=2000).convert("bitmap"),
        "few bits": Vector.from_coo([1, 5, 30], [1, 2, 3], size=37).convert("bitmap"),
        "one value": Vector.full(2.5, 40),
        "empty vector": Vector(float, 0),
        "complex": Vector.from_dense(rng.random(5) + 1j),
        "flags": Vector.from_dense(rng.random(5) > 0.5),
    }


@by_shape
def test_binary_files_in_parts_and_whole(shape: tuple[int, int]) -> None:
    held = objects()
    for name, A in held.items():
        sr.io.write(f"{name}.srb", A)

    def program(grid: Grid) -> list[str]:
        wrong = []
        for name, A in held.items():
            B = sr.io.read(f"{name}.srb", device=grid.device, verify=False)
            C = sr.io.read(f"{name}.srb", device=grid.device)
            sr.io.write(f"{name}.parts", C)
            D = sr.io.read(f"{name}.parts", device=grid.device)
            sr.io.write(f"whole {name}.srb", D)
            if not all(same(each, A) and each.is_iso == A.is_iso for each in (B, C, D)):
                wrong.append(name)
            if isinstance(A, Matrix) and {B.codec, C.codec, D.codec} != {A.codec}:
                wrong.append(f"{name}: codec")
        return wrong

    assert run(shape, program) == [[]] * (shape[0] * shape[1])
    for name, A in held.items():
        assert sr.io.read(f"whole {name}.srb").isequal(A, check_dtype=True), name
    for other in ((1, 1), (2, 2), (5, 1)):  # any other number of processes
        found = run(
            other,
            lambda grid: [n for n, A in held.items() if not same(sr.io.read(f"{n}.parts", device=grid.device), A)],
        )
        assert found == [[]] * (other[0] * other[1])


def test_storage_and_symmetry_of_what_is_read() -> None:
    A = sr.random.kronecker(6, seed=1)
    sr.io.write("graph.srb", A)
    sr.io.write("graph.el", A)

    def program(grid: Grid) -> None:
        B = sr.io.read("graph.srb", device=grid.device, compress="varint", placement="host")
        C = sr.io.read("graph.el", device=grid.device, compress="packed", placement="host")
        sr.io.write("graph.parts", B)
        D = sr.io.read("graph.parts", device=grid.device)
        E = sr.io.read("graph.srb", device=grid.device, placement="host", verify=False)
        assert [each.codec for each in (B, C, D, E)] == ["varint", "packed", "varint", None]
        assert [each.placement for each in (B, C, D, E)] == ["host", "host", "device", "host"]
        assert all(same(each, A) for each in (B, C, D, E))
        assert B.store.pattern.facts["symmetric"]
        assert D.store.pattern.facts["symmetric"]
        with pytest.raises(InvalidValue, match="codec"):
            sr.io.read("graph.srb", device=grid.device, compress="zip")

    run((2, 1), program)


def test_checksums_of_shares_combine() -> None:
    import zlib

    content = np.random.default_rng(1).bytes(1000)
    for cut in (0, 1, 500, 999, 1000):
        first, second = zlib.crc32(content[:cut]), zlib.crc32(content[cut:])
        assert combined(first, second, 1000 - cut) == zlib.crc32(content)


def failure(shape: tuple[int, int], name: str, **options: Any) -> str:
    """Return the error that all processes raise for a file."""

    def program(grid: Grid) -> str:
        with pytest.raises((SemiringError, OSError)) as caught:
            sr.io.read(name, device=grid.device, **options)
        return f"{caught.type.__name__}: {caught.value}"

    first, *others = run(shape, program)
    assert set(others) <= {first}
    return first


def test_damaged_binary_files() -> None:
    sr.io.write("graph.srb", sr.random.kronecker(6, seed=1, weights="uniform"))
    content = bytearray(Path("graph.srb").read_bytes())
    Path("short.srb").write_bytes(content[:-5])
    content[-3] ^= 1
    Path("damaged.srb").write_bytes(content)
    assert "section 'values'" in failure((3, 1), "damaged.srb")
    assert "the end of the file" in failure((3, 1), "short.srb")
    assert "FileNotFoundError" in failure((3, 1), "nothing.srb")
    assert "FileNotFoundError" in failure((3, 1), "nothing.parts")
    run((2, 1), lambda grid: sr.io.write("graph.parts", sr.random.path(9, device=grid.device)))
    for name in os.listdir("graph.parts"):
        if name.startswith("part-002"):
            os.truncate(f"graph.parts/{name}", 5000)
    assert "part-002-of-002" in failure((3, 1), "graph.parts")


def test_an_interrupted_write_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    from semiring.distributed import writing

    share = writing._write_share

    def failing(name: str, sections: Any, arrays: Any) -> Any:
        if arrays["indices"][0]:  # not the first process
            raise OSError(28, "No space left on device", name)
        return share(name, sections, arrays)

    def program(grid: Grid) -> None:
        sr.io.write("graph.srb", sr.random.path(9, device=grid.device))
        grid.comm.barrier()
        monkeypatch.setattr(writing, "_write_share", failing)
        with pytest.raises(OSError, match="No space"):
            sr.io.write("graph.srb", sr.random.path(20, device=grid.device))
        for path, error in (("graph.xyz", NotSupported), ("graph.srb.gz", InvalidValue), ("a.parts.gz", InvalidValue)):
            with pytest.raises(error):
                sr.io.write(path, sr.random.path(9, device=grid.device))
        with pytest.raises(NotSupported, match=r"a grid has no option progress of \.srb files"):
            sr.io.write("graph.srb", sr.random.path(9, device=grid.device), progress=print)
        with pytest.raises(NotSupported, match="a folder of parts is written from a Matrix or Vector on a grid"):
            sr.io.write("graph.parts", Matrix.identity(3, device="cpu"))

    run((2, 1), program)
    assert os.listdir() == ["graph.srb"]
    assert sr.io.read("graph.srb").isequal(sr.random.path(9))


def test_other_formats_are_written_by_one_process() -> None:
    A = sr.random.kronecker(5, 4, weights="uniform", seed=1)
    v = A.reduce_rowwise("plus").new()
    matrices, vectors = sorted(WRITERS.keys() - {".srb", ".el"}), sorted(VECTOR_WRITERS.keys() - {".srb"})
    for name in matrices:
        sr.io.write(f"whole{name}", A)
    for name in vectors:
        sr.io.write(f"vector{name}", v)

    def program(grid: Grid) -> None:
        for name in matrices:
            sr.io.write(f"parts{name}", A.to(grid.device))
        for name in vectors:
            sr.io.write(f"vector parts{name}", v.to(grid.device))
        with pytest.raises(OSError, match=r"nowhere/a\.mtx"):
            sr.io.write("nowhere/a.mtx", A.to(grid.device))

    run((2, 2), program)
    pairs = [(f"whole{name}", f"parts{name}") for name in matrices]
    for whole, parts in (*pairs, *((f"vector{name}", f"vector parts{name}") for name in vectors)):
        assert Path(parts).read_bytes() == Path(whole).read_bytes()


# -- text ------------------------------------------------------------------------------------------------

EDGES = [(int(a), int(b)) for a, b in np.random.default_rng(0).integers(0, 60, (200, 2))]


def lines(form: str, end: str = "\n") -> str:
    return end.join(form.format(a=a, b=b, k=k, h=k if k < 150 else k + 0.5) for k, (a, b) in enumerate(EDGES))


HEAD = "%%MatrixMarket matrix coordinate"
LOWER = "".join(f"{k + 2} {k + 1} {k}.25\n" for k in range(7))
NAMED = {"source": "who", "target": "with", "weight": "km", "relabel": True, "dup_op": "mean"}
TEXTS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("a.el", lines("{a} {b}"), {}),
    ("b.el", "# c\n" * 7 + lines("{a}\t{b}", "\r\n"), {"directed": False}),
    ("c.el", lines("{a} {b}", "\r"), {}),
    ("d.csv", "src,dst,w\n" + lines("{a},{b},{k}"), {"dup_op": "plus"}),
    ("e.csv", "src,dst,w\n" + lines("{a},{b},{h}"), {"dup_op": "plus"}),
    ("f.csv", lines("{a},{b},{k}"), {"dup_op": "plus", "dtype": "float32"}),
    ("g.csv", lines("{a},{b},{k}"), {"weights": False, "nrows": 70, "ncols": 65}),
    ("h.txt", lines("{a}000000000 {b}000000000"), {"relabel": True}),
    ("i.txt", lines("n{a}  n{b}"), {"relabel": True}),
    ("j.csv", lines('{a},"x, {b}",{h}'), {"relabel": True, "dup_op": "max"}),
    ("k.txt", lines("{a} {b}") + "\n7 q", {"relabel": True}),
    ("l.txt", "", {}),
    ("m.txt", "# only\n\n", {}),
    ("n.txt", "1 2", {}),
    ("o.txt", lines("1{a} 1{b}"), {"base": 1}),
    ("p.txt", "junk\nmore\n0 1\n1 2\n", {"skip_lines": 2}),
    ("q.mtx", f"{HEAD} real symmetric\n%c\n9 9 7\n{LOWER}", {}),
    ("r.mtx", f"{HEAD} real skew-symmetric\n9 9 7\n{LOWER}", {}),
    ("s.mtx", f"{HEAD} complex hermitian\n9 9 7\n" + LOWER.replace("\n", " 1\n"), {}),
    ("t.mtx", f"{HEAD} pattern general\n9 9 3\n1 1\n2 2\n3 9\n", {}),
    ("u.mtx", f"{HEAD} integer general\n9 9 3\n1 1 18446744073709551615\n2 2 5\n3 9 7\n", {}),
    ("v.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n", {}),
    ("w.mtx", f"{HEAD} real general\n0 0 0\n", {}),
    ("bare.mtx", "%c\n9 9 7\n" + LOWER, {}),
    ("bare_comments.mtx", "%c\n" * 40000 + "9 9 7\n" + LOWER, {}),
    ("bare_array.mtx", "2 2\n1\n2\n3\n4\n", {}),
    ("x.graph", "3 2\n2\n1 3\n2\n", {}),
    ("ba.csv", "\ufeffkm;who;with\n" + lines("{h};{a};{b}").replace(".", ","), NAMED),
    ("bb.csv", lines('"{a}";"x;{b}";{k},5'), {"sep": ";", "relabel": True, "dup_op": "last", "header": False}),
    ("bc.mtx", f"\ufeff{HEAD} pattern general\n9 9 3\n1 1\n2 2\n3 9\n", {}),
    ("bd.csv", f"{2**63},{2**64 - 1}\n{2**64 - 1},7\n7,{2**63}\n", {"relabel": True}),
    ("bf.csv", lines("{a};u{b};{k}"), {"sep": ";", "bipartite": True, "dup_op": "last", "header": False}),
    ("bg.el", "7 3\n2 3\n7 5\n" * 3, {"bipartite": True}),
    ("be.tsv", "#a\t#b\n" * 3 + '#b\t"c\td"\n', {"relabel": True, "symmetric": True}),
)
# The same lines, which end in a CR alone.
TEXTS += tuple((f"cr-{name}", text.replace("\n", "\r"), options) for name, text, options in TEXTS if "\r" not in text)


def test_a_border_of_shares_in_quotes_is_refused() -> None:
    Path("a.csv").write_text('"a\n\n\n\n\n\n\n\n\n\nb",c\n')
    sr.io.read("a.csv", relabel=True)

    def program(grid: Grid) -> str:
        with pytest.raises(NotSupported, match="a line end in quotes is at the border of two parts") as caught:
            sr.io.read("a.csv", device=grid.device, relabel=True)
        return str(caught.value)

    run((2, 1), program)


@pytest.mark.costly
@by_shape
def test_text_in_shares(shape: tuple[int, int]) -> None:
    for name, text, _ in TEXTS:
        Path(name).write_bytes(text.encode())
    sr.io.write("y.el.gz", sr.random.path(5))
    expected = [(name, options, sr.io.read(name, **options)) for name, _, options in TEXTS]
    known = {name: right for name, _, right in expected}
    assert all(right.isequal(known[name.removeprefix("cr-")], check_dtype=True) for name, right in known.items())
    expected.append(("y.el.gz", {}, sr.random.path(5)))

    def program(grid: Grid) -> list[str]:
        wrong = []
        for name, options, right in expected:
            A = sr.io.read(name, device=grid.device, **options)
            if not same(A, right) or (A.row_labels, A.column_labels) != (right.row_labels, right.column_labels):
                wrong.append(name)
        return wrong

    assert run(shape, program) == [[]] * (shape[0] * shape[1])


@pytest.mark.parametrize(
    ("name", "text", "kind", "found"),
    [
        ("a.el", lines("{a} {b}") + "\n3 x\n1 2\n", InvalidFormat, "a.el:201: expected an integer as target"),
        ("b.el", lines("{a} {b}") + "\n3\n1 2\n", InvalidFormat, "b.el:201: expected 2 columns"),
        ("c.csv", "0,1,2\n" * 2 + "5,6,7\n" * 5, DuplicateIndex, "c.csv: entry (0, 1)"),
        ("d.mtx", f"{HEAD} pattern general\n9 9 3\n1 1\n2 2\n3 9\n4 4\n", InvalidFormat, "d.mtx:6: expected the end"),
        ("e.mtx", f"{HEAD} pattern general\n9 9 5\n1 1\n2 2\n3 9\n4 4\n", InvalidFormat, "e.mtx:7: expected 5 entries"),
        ("f.mtx", f"{HEAD} pattern general\n9 9 3\n1 1\n2 2\n3 10\n", InvalidFormat, "f.mtx:5: expected column from 1"),
        ("g.el", lines("{a} {b}") + "\n3 999999999999\n", OutOfMemory, "g.el:201: the id 999999999999"),
        ("j.el", lines("{a} {b}", "\r") + "\r3 x\r1 2\r", InvalidFormat, "j.el:201: expected an integer as target"),
        ("h.mtx", "junk\n", InvalidFormat, "h.mtx:1: "),
        ("j.mtx", "9 9 2\n1 1 1\n2 2\n", InvalidFormat, "j.mtx:3: expected 3 columns"),
        ("i.csv", "1,2,3\n4,5\n", InvalidFormat, "i.csv:2: expected 3 columns"),
    ],
)
def test_malformed_text(name: str, text: str, kind: type[Exception], found: str) -> None:
    Path(name).write_text(text)
    with pytest.raises(kind):
        sr.io.read(name)
    message = failure((3, 1), name)
    assert message.startswith(f"{kind.__name__}: {found}"), message


def test_options_of_text() -> None:
    Path("a.el").write_text("0 1\n1 2\n")
    Path("b.csv").write_text("0,1,2,3\n1,2,3,4\n")
    assert "foo=" in failure((2, 1), "a.el", foo=1)
    assert "progress=" in failure((2, 1), "a.el", progress=print)
    assert "relabel" in failure((2, 1), "a.el", relabel=True, nrows=3)
    assert "FileNotFoundError" in failure((2, 1), "none.el")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run((2, 1), lambda grid: sr.io.read("b.csv", device=grid.device))
    assert [each.category.__name__ for each in caught] == ["IgnoredColumns"]


@pytest.mark.usefixtures("in_folder")
def test_a_file_is_read_onto_a_device_of_this_process() -> None:
    A = sr.random.path(5)
    sr.io.write("graph.el", A)
    with sr.use("cpu"):
        assert sr.io.read("graph.el", device="cpu").isequal(A.to("cpu"))
    with pytest.raises(InvalidValue, match="a device is"):
        sr.io.read("graph.el", device="far")
    with pytest.raises(InvalidValue, match="verify"):
        sr.io.read("graph.el", device="cpu", verify=False)


def test_a_journal_is_of_one_process() -> None:
    def begin(grid: Grid) -> None:
        with pytest.raises(NotSupported, match="a matrix on a grid of processes"):
            sr.io.Journal("journal", sr.random.path(9, device=grid.device))

    run((2, 1), begin)
    assert not Path("journal").exists()
