"""Kernel arguments packed by name: layouts equal the compiler's, and every call names every field."""

from __future__ import annotations

import ast
import re
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cupy", reason="CuPy brings NVRTC")

from semiring.engines.cuda import arguments, catalog, compile

FOLDER = Path(compile.__file__).parent
TEXTS = [path.read_text() for path in sorted((FOLDER / "kernels").glob("*.cuh"))]
DECLARED = re.findall(r"^struct (\w+Arguments)(?: : \w+)? {", "".join(TEXTS), re.MULTILINE)
# A base of other structs, which no kernel accepts itself.
BODIES = {name: arguments.fields_text("".join(TEXTS), name) for name in DECLARED if name != "LoopArguments"}
# The types of fields that a prologue names, in Python's codes and in C.
LETTERS = ("bool", "signed char", "short", "unsigned int", "float", "long long", "double")
CODES = dict(zip(LETTERS, "?bhIfqd", strict=True))
TYPES = ("A", "B", "C", "M", "T", "U", "Z", "F", "ALPHA", "BETA")


def fields(name: str, code: str = "q") -> dict[str, str]:
    return arguments.layout(name, BODIES[name], dict.fromkeys(TYPES, code))


def test_structs_are_found() -> None:
    assert set(BODIES) == {
        "AcyclicArguments", "DenseArguments", "DotArguments", "EitherArguments", "EwiseArguments", "GemmArguments",
        "HubArguments", "KeepArguments", "LevelArguments", "LinkArguments", "ManyArguments", "MaskedArguments",
        "MatrixArguments", "PairArguments", "PassArguments", "PeelArguments", "ProductArguments", "RadixArguments",
        "RangeArguments", "RelaxArguments", "SddmmArguments", "SearchArguments", "SourceArguments", "SpmmArguments",
        "VoteArguments", "WriteArguments",
    }  # fmt: skip
    assert list(fields("SourceArguments").items()) == [
        ("sources", "P"), ("single", "q"), ("u_values", "P"), ("u_iso", "q"), ("source_count", "q"),
    ]  # fmt: skip


@pytest.mark.costly
@pytest.mark.nvrtc
@pytest.mark.parametrize("name", sorted(BODIES))
def test_layouts_are_those_of_the_compiler(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With values of every size: the compiler checks size and alignment of every field, and the size of the struct.

    These determine the offsets; not every NVRTC has an offsetof.
    """
    read = compile._source
    declared = re.compile(rf"^struct {name}(?: : \w+)? {{", re.MULTILINE)
    holds = {path.name for path in (FOLDER / "kernels").glob("*.cuh") if declared.search(path.read_text())}
    file, prologue = next(
        (file, text)
        for file, text in catalog.entries()
        if any(f'#line 1 "{part}"' in compile.module_text(file, text) for part in holds)
    )
    asserts = ""
    for number, (letter, code) in enumerate(CODES.items()):
        codes = fields(name, code)
        body = re.sub(rf"\b({'|'.join(TYPES)}) (?=\w+;)", f"{letter} ", re.sub(r"//.*", "", BODIES[name]))
        asserts += f"struct Tried{number} {{\n{body}}};\n"
        for field, field_code in codes.items():
            size, of_type = struct.calcsize("@" + field_code), f"decltype(Tried{number}::{field})"
            alignment = struct.calcsize(f"@?{field_code}") - size
            asserts += f"static_assert(sizeof({of_type}) == {size} && alignof({of_type}) == {alignment});\n"
        asserts += f"static_assert(sizeof(Tried{number}) == {struct.calcsize('@' + ''.join(codes.values()) + '0P')});\n"
    monkeypatch.setattr(compile, "_source", lambda asked: read(asked) + (asserts if asked == file else ""))
    assert compile.compile_text(file, prologue + f"// layouts of {name}\n", "compute_80")


@pytest.mark.parametrize("base", ["RowArrays", "LoopArguments"])
def test_a_base_ends_without_padding(base: str) -> None:
    """The fields of a derived struct therefore begin at its end, as if the struct declared all of them."""
    codes = "@" + "".join(arguments.layout(base, arguments.fields_text("".join(TEXTS), base), {}).values())
    assert struct.calcsize(codes) == struct.calcsize(codes + "0P")


class Pointed:
    """As much of a CuPy array as is read."""

    class data:
        ptr = 0x7F00_1234_5678


def test_values_are_at_the_offsets_of_their_names() -> None:
    codes = {"first": "P", "value": "f", "count": "q", "second": "P", "flag": "?"}
    pack = arguments.packer("Tried", codes)
    made = pack(flag=np.True_, second=None, count=-(2**62), value=np.float32(np.nan), first=Pointed)
    raw = made
    assert len(raw) == 40
    assert raw[:8] == Pointed.data.ptr.to_bytes(8, "little")
    assert raw[8:12] == np.float32(np.nan).tobytes()
    assert raw[16:24] == np.int64(-(2**62)).tobytes()
    assert raw[24:33] == bytes(8) + b"\1"


@pytest.mark.parametrize("value", [np.nan, -0.0, np.inf, 1e-45, 3.4e38])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_floats_keep_their_bits(value: float, kind: Any) -> None:
    made = arguments.packer("Tried", {"value": np.dtype(kind).char})(value=kind(value))
    assert made[: kind().itemsize] == kind(value).tobytes()


def test_names_are_checked() -> None:
    pack = arguments.packer("Tried", {"start": "P", "before": "P"})
    for given in ({"start": None}, {"start": None, "before": None, "after": None}, {"start": None, "befor": None}):
        with pytest.raises(TypeError, match=r"Tried\(\)"):
            pack(**given)
    with pytest.raises(TypeError, match="positional"):
        pack(None, None)


@pytest.mark.parametrize(
    "line", ["const P *indptr;", "P* start, *before;", "u32 words[4];", "W value;", "i64 n; i64 n;"]
)
def test_what_cannot_be_read_raises(line: str) -> None:
    with pytest.raises(ValueError, match="struct Tried"):
        arguments.layout("Tried", f"    {line}\n", {})


def test_a_field_declared_twice_raises() -> None:
    with pytest.raises(ValueError, match="n is declared twice"):
        arguments.layout("Tried", "    i64 n;\n    i64 n;  // again\n", {})


def calls() -> list[tuple[str, set[str]]]:
    """(struct, names given) for every call of a packer in the engine.

    A packer is called where it is made, ``arguments(file, struct)(...)``, or as ``pack`` of a call plan: then its
    struct is the one that shares the most names.
    """
    found = []
    for path in FOLDER.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call):
                continue
            given = {str(keyword.arg) for keyword in node.keywords}
            called = getattr(node.func, "attr", None) or getattr(node.func, "id", None)
            if called == "pack" and given:
                name = max(BODIES, key=lambda name: len(set(fields(name)) & given) - len(set(fields(name)) - given))
            elif (
                isinstance(node.func, ast.Call)
                and isinstance(node.func.func, ast.Name)
                and node.func.func.id == "arguments"
            ):
                struct_name = node.func.args[1]
                assert isinstance(struct_name, ast.Constant)
                name = str(struct_name.value)
            else:
                continue
            found.append((name, given))
    return found


def test_every_call_names_every_field() -> None:
    """Without a GPU no call is made, so their text is read."""
    found = calls()
    assert {name for name, _ in found} == set(BODIES)
    for name, given in found:
        assert given == set(fields(name)), name
