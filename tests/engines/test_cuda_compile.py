"""All CUDA text compiles, on a machine without a GPU: every kernel file, and every built-in operator."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import numpy as np
import pytest

cupy = pytest.importorskip("cupy", reason="CuPy brings NVRTC")

from semiring import operators  # noqa: E402
from semiring.config import config  # noqa: E402
from semiring.engines.cuda import catalog, columns, compile, specialize  # noqa: E402
from semiring.exceptions import SemiringError  # noqa: E402
from semiring.formats import CODECS  # noqa: E402
from semiring.warming.wheel import ARCHITECTURES  # noqa: E402
from tests import sampling  # noqa: E402

pytestmark = pytest.mark.nvrtc

FOLDER = Path(compile.__file__).parent / "kernels"
KERNELS = list(dict.fromkeys((kernel.file, kernel.prologue, kernel.entry) for kernel in catalog.kernels()))
FILES = sorted({file for file, _, _ in KERNELS})


def texts_of(file: str) -> list[str]:
    return list(dict.fromkeys(prologue for other, prologue, _ in KERNELS if other == file))


NATIVE = sampling.draw("files to machine code", FILES, len(FILES) // 4)


@pytest.mark.parametrize("file", FILES)
def test_a_text_of_every_file_compiles(file: str) -> None:
    """Compile a text for an architecture, both drawn: of a quarter of the files each kernel alone to machine code.

    The others are compiled to PTX, which takes half the time.  --exhaustive compiles all texts to machine code for all
    architectures.
    """
    (text,) = sampling.draw(file, texts_of(file), 1)
    (arch,) = sampling.draw(f"{file} for an architecture", ARCHITECTURES, 1)
    if file not in NATIVE:
        assert compile.compile_text(file, text, arch.replace("sm", "compute"))
        return
    for entry in (entry for other, prologue, entry in KERNELS if (other, prologue) == (file, text)):
        assert entry.encode() in compile.compile_text(file, text, arch, entry)


@pytest.mark.exhaustive
@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("file", FILES)
def test_machine_code_of_every_text(file: str, arch: str) -> None:
    for prologue in texts_of(file):
        assert compile.compile_text(file, prologue, arch)


ENTRY = re.compile(r"__global__ void (?:ONE_CLUSTER )?(?:__launch_bounds__\([^)]*\)\s+)?(\w+)\(")


def test_samples_request_every_kernel() -> None:
    """The functions that plan launches, called by ``samples()``, return every kernel of every file, and no other."""
    defined = {(path.name, name) for path in FOLDER.glob("*.cuh") for name in ENTRY.findall(path.read_text())}
    assert {(kernel.file, kernel.entry) for kernel in catalog.kernels()} == defined


def test_kernels_are_requested_in_cached_functions() -> None:
    """A host requests its kernels in functions cached by types, operators and flags, which ``samples()`` calls.

    So prologues are composed in these functions alone: a launch requests the texts that are compiled here.
    """
    outside = []
    for path in sorted(FOLDER.parent.rglob("*.py")):
        tree = ast.parse(path.read_text())
        cached = [
            range(node.lineno, (node.end_lineno or 0) + 1)
            for node in tree.body
            if isinstance(node, ast.FunctionDef) and any("cache" in ast.unparse(each) for each in node.decorator_list)
        ]
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "kernel":
                outside += [] if any(node.lineno in lines for lines in cached) else [f"{path.name}:{node.lineno}"]
    assert outside == []


def test_kernels_are_named_once() -> None:
    names = [name for path in FOLDER.glob("*.cuh") for name in ENTRY.findall(path.read_text())]
    assert len(names) == len(set(names))


KINDS = {
    "unary": specialize.unary,
    "binary": specialize.binary,
    "indexunary": specialize.indexunary,
    "select": specialize.indexunary,
    "monoid": specialize.monoid,
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_operator_compiles(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pieces, calls = [], []
    for number, (_, op) in enumerate(operators.catalog(kind)):
        name = f"operator_{number}"
        pieces.append(KINDS[kind](name, op))
        x = f"{name}_x()"
        arguments = {"unary": x, "binary": f"{x}, {name}_y()", "monoid": f"{x}, {name}_y()"}
        calls.append(f"    out[{number}] = {name}({arguments.get(kind, f'{x}, 0, 0, {name}_k()')}) != 0;\n")
    kernel = 'extern "C" __global__ void all_of_them(bool* out) {\n' + "".join(calls) + "}\n"
    monkeypatch.setattr(compile, "_source", lambda file: _text(file, kernel))
    # PTX of one architecture: the text is what is tested here, and it does not depend on the machine.
    assert b"all_of_them" in compile.compile_text("all.cuh", "".join(pieces), "compute_80")


def _text(file: str, kernel: str) -> str:
    return kernel if file == "all.cuh" else (FOLDER / file).read_text()


BARRIER = '#include "grid.cuh"\nextern "C" __global__ void waiting(u64* arrivals) { %s.barrier(); }\n'


@pytest.mark.parametrize("group", ["CooperativeGrid(arrivals)", "Cluster()", "GridRank()"])
def test_a_barrier_of_an_ordinary_launch_does_not_compile(group: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile, "_source", lambda file: _text(file, BARRIER % group))
    prologue = f"// {group}\n"  # texts are cached under it
    if group != "GridRank()":
        text = compile.compile_text("all.cuh", prologue, "compute_90").decode(errors="replace")
        assert "waiting" in text
        assert ".aligned" not in "".join(line for line in text.splitlines() if "barrier.cluster" in line)
    else:
        with pytest.raises(SemiringError, match='has no member "barrier"'):
            compile.compile_text("all.cuh", prologue, "compute_90")


def test_cooperative_grids_are_launched_cooperatively() -> None:
    """Kernels with a barrier of the grid, and the modules that launch them: no other kernel, no other module."""
    text = "".join(path.read_text() for path in FOLDER.glob("*.cuh"))
    parts = ENTRY.split(text)[1:]
    waiting = {name for name, body in zip(parts[::2], parts[1::2], strict=True) if "CooperativeGrid group(" in body}
    assert waiting == {"acyclic_grid", "closure_grid", "closure_many", "mxv_adaptive", "peel_grid", "relax_grid"}
    launches = {path.name for path in FOLDER.parent.rglob("*.py") if "cooperative=True" in path.read_text()}
    assert launches == {
        "acyclic_closure.py", "closure_many_plans.py", "closure_plans.py", "mxv_adaptive.py", "peel.py",
        "program_run.py",
    }  # fmt: skip


def test_included_files_are_part_of_the_text() -> None:
    text = compile.module_text("write.cuh", "// prologue\n")
    assert "#include" not in text
    assert text.count('#line 1 "warp.cuh"') == 1
    assert text.index("DEVICE To cast(") < text.index("// prologue") < text.index("void write_vector(")


@pytest.mark.parametrize("file", sorted(path.name for path in FOLDER.glob("*.cuh")))
def test_a_file_is_read_without_a_prologue(file: str) -> None:
    """Hosts read the structs of arguments from such a text; what belongs to a codec is left out."""
    text = compile.module_text(file)
    assert f'#line 1 "{file}"' in text
    assert "#include" not in text


def _numbered(text: str) -> dict[tuple[str, int], str]:
    """Return what is at each line of each file, where the compiler's messages name it."""
    lines, file, number = {}, "", 0
    for line in text.splitlines():
        if found := re.fullmatch(r'#line (\d+) "(.*)"', line):
            number, file = int(found[1]), found[2]
            continue
        if line.strip():
            lines[file, number] = line
        number += 1
    return lines


def test_a_text_has_one_kernel_and_the_lines_of_the_file() -> None:
    for file, prologue, entry in {(file, entry): (file, prologue, entry) for file, prologue, entry in KERNELS}.values():
        if file == "program.cuh":
            continue
        text = compile.module_text(file, prologue, entry)
        assert ENTRY.findall(text) == [entry]
        kept, whole = _numbered(text), _numbered(compile.module_text(file, prologue))
        assert kept.items() <= whole.items()
        assert {name for name, _ in kept} == {name for name, _ in whole}


def test_error_names_file_and_line(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SemiringError, match=r"cast\.cuh.*\n.*cast\.cuh\(\d+\): error: identifier \"A\""):
        compile.compile_text("cast.cuh", "typedef int Z;\n", "sm_90")


def test_damaged_cache_entry_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prologue = specialize.typedefs(A=np.dtype(np.int32), Z=np.dtype(np.int32))
    with config.set(cache_dir=tmp_path):
        made = compile._binary("cast.cuh", prologue, "sm_90", "cast_values", None)
        (entry,) = (tmp_path / "cuda").iterdir()
        whole = entry.read_bytes()
        for damaged in (b"", whole[:-1], whole[:-1] + b"?"):
            entry.write_bytes(damaged)
            assert compile._binary("cast.cuh", prologue, "sm_90", "cast_values", None) == made
            assert entry.read_bytes() == whole
        monkeypatch.setattr(compile, "compile_text", pytest.fail)  # from here on the disk cache must serve
        assert compile._binary("cast.cuh", prologue, "sm_90", "cast_values", None) == made


def test_cache_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    prologue = specialize.typedefs(A=np.dtype(np.int8), Z=np.dtype(np.int8))
    with config.set(cache_dir=file):
        assert compile._binary("cast.cuh", prologue, "sm_80", "cast_fill", None)


@pytest.mark.parametrize(
    "value",
    [np.True_, np.int8(-128), np.int64(-(2**63)), np.uint64(2**64 - 1), np.float32(-0.0), np.float64(np.inf)],
)
def test_literals_keep_type_and_value(value: np.generic) -> None:
    text = specialize.literal(value)
    number = re.search(r"0x([0-9a-f]+)", text)
    if value.dtype.kind == "f":
        assert number is not None
        assert np.uint64(int(number[1], 16)).astype(f"u{value.dtype.itemsize}").tobytes() == value.tobytes()
    elif value.dtype.kind != "b":
        plain = re.sub(r"\((?:signed |unsigned )?(?:char|short|int|long long)\)|u?ll", "", text)
        assert eval(plain) == int(value)


FOREST = """#include "forest.cuh"
extern "C" __global__ void uniting(F* parent, F i, F j) { unite(parent, i, j); }
extern "C" __global__ void flattening(F* parent, i64 n) { flatten(parent, n); }
"""


@pytest.mark.parametrize("label", ["int", "long long"])
def test_a_forest_is_read_and_written_by_atomic_accesses_alone(label: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """These two functions access only parents, which all threads change at once."""
    monkeypatch.setattr(compile, "_source", lambda file: _text(file, FOREST))
    ptx = compile.compile_text("all.cuh", f"typedef {label} F;\n", "compute_80").decode(errors="replace")
    accesses = re.findall(r"^\s*(?:@%p\d+ )?((?:ld|st|atom)\.(?!param)[\w.:]+)", ptx, re.MULTILINE)
    assert {access.split(".")[0] for access in accesses} == {"ld", "st", "atom"}
    # `load_weak` writes ".weak" explicitly; a load that the compiler generates does not.
    allowed = ("ld.weak.global", "st.relaxed.gpu", "atom.")
    assert [access for access in accesses if not access.startswith(allowed)] == []


def test_memory_that_others_write_is_read_by_one_function() -> None:
    """Neither __ldcg, which is a weak load, nor volatile: `load_relaxed` and `load_weak` in atomics.cuh."""
    code = {
        path.name: re.sub(r"//.*", "", path.read_text()).replace("asm volatile", "") for path in FOLDER.glob("*.cuh")
    }
    assert [name for name, text in sorted(code.items()) if re.search(r"\bvolatile\b|\b__ldc[gv]\b", text)] == []


@pytest.mark.parametrize("transposed", ["uncompressed", *CODECS])
@pytest.mark.parametrize("codec", ["uncompressed", *CODECS])
def test_a_text_has_the_readers_of_the_codecs_that_it_reads(codec: str, transposed: str) -> None:
    prologue = columns.codec_types(codec, np.dtype(np.int32)) + columns.transposed_codec(transposed)
    text = compile.module_text("closure_level.cuh", prologue)
    read = {name for name in (*CODECS, "uncompressed") if f'#line 1 "{name}.cuh"' in text}
    assert read == {codec, transposed}


def test_the_prologue_names_the_codec_of_an_include(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {
        "any.cuh": '1\n#include "CODEC_tile.cuh"\n#include "T_CODEC.cuh"\n4\n',
        "a_tile.cuh": "a\n",
        "b.cuh": "b\n",
    }
    monkeypatch.setattr(compile, "_source", texts.__getitem__)
    lines = compile._expand("any.cuh", set(), {"CODEC": "a", "T_CODEC": "b"}).splitlines()
    assert [line for line in lines if line] == [
        '#line 1 "any.cuh"', "1", '#line 1 "a_tile.cuh"', "a", '#line 2 "any.cuh"',
        '#line 1 "b.cuh"', "b", '#line 3 "any.cuh"', "4",
    ]  # fmt: skip
