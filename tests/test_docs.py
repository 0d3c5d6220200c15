"""The names in the pages exist: files of the project, public names, commands, and the row of a tuning figure."""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.util
import operator
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import semiring as sr
from benchmarks import case
from semiring import exceptions
from semiring.renamed import NAMES
from tests.test_examples import SHELL

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "benchmarks").glob("*.md")],
    key=lambda page: page.as_posix(),
)
PAGES = [page for page in PAGES if not {"_build", "api"} & set(page.parts)]

BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([^`\n]+)`")
# A name of the public API, from its root: in prose as `sr.io.read`, in programs as a whole word.
PUBLIC = re.compile(r"\bsr((?:\.[A-Za-z_]\w*)+)")
# Output of the project's commands, which no clone has.
WRITTEN = ("docs/_build", "docs/api", "/.venv")
# Folders of the project: what begins with one of them is a path, from the root or from the package.
TOP = tuple(path.name for path in (*ROOT.iterdir(), *(ROOT / "semiring").iterdir()) if path.is_dir())
MODULE = re.compile(r"(?:python3?|python) -m ((?:benchmarks|tests|semiring)[\w.]*)")
CASE = re.compile(r"-m benchmarks ([a-z][\w-]*)")
SCRIPT = re.compile(r"^(?:\.venv/bin/python |python3? )?((?:run\.py|benchmarks/|\.ci/)\S*)", re.MULTILINE)


def named(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def expanded(path: str) -> list[str]:
    """`a/{b,c}.py` as `a/b.py` and `a/c.py`."""
    found = re.search(r"\{([^}]*)\}", path)
    if found is None:
        return [path]
    return [one for word in found[1].split(",") for one in expanded(path.replace(found[0], word.strip(), 1))]


def paths_of(text: str) -> set[str]:
    """The files and folders of the project that a page names in code."""
    words = {word.rstrip(",;:") for code in CODE.findall(text) for word in code.split()}
    words |= {word for block in SHELL.findall(text) for word in block.split()}
    paths = {path for word in words for path in expanded(word) if re.fullmatch(r"[\w./*-]+", path)}
    return {path for path in paths if path.partition("/")[0] in TOP and "/" in path.rstrip("/")}


def exists(path: str) -> bool:
    """Whether the project has it: from the root, or, as in the pages on the design, from the package."""
    return any(any(base.glob(path.rstrip("/"))) for base in (ROOT, ROOT / "semiring", ROOT / "semiring/engines/cuda"))


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_files_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    missing = [path for path in sorted(paths_of(text)) if not path.startswith(WRITTEN) and not exists(path)]
    assert not missing, f"{named(page)} names what the project does not have: {missing}"


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_somewhere(page: Path) -> None:
    prose = CODE.sub("", BLOCK.sub("", page.read_text(encoding="utf-8")))
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", prose)
    local = {link: page.parent / link for link in targets if "://" not in link}
    written = {link for link, path in local.items() if path.resolve().relative_to(ROOT).as_posix().startswith(WRITTEN)}
    assert not [link for link, path in local.items() if link not in written and not path.exists()]


def anchors(page: Path) -> set[str]:
    """The anchors of the headings of a page, as GitHub and MyST make them."""
    prose = BLOCK.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.+?)\s*$", prose, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_to_a_heading(page: Path) -> None:
    prose = CODE.sub("", BLOCK.sub("", page.read_text(encoding="utf-8")))
    targets = re.findall(r"\]\(([^)#\s]*)#([^)\s]+)\)", prose)
    pages = [(page.parent / link if link else page, anchor) for link, anchor in targets if "://" not in link]
    absent = [(path.name, anchor) for path, anchor in pages if path.suffix == ".md" and anchor not in anchors(path)]
    assert not absent


def test_broken_links_of_built_pages_are_reported(tmp_path: Path) -> None:
    def checked(link: str) -> subprocess.CompletedProcess[str]:
        (tmp_path / "a.html").write_text(f'<h1 id="top">A</h1><a href="{link}">b</a> <a href="https://x.org/">x</a>')
        (tmp_path / "b.html").write_text('<h1 id="top">B</h1><img src="a.html">')
        program = [sys.executable, str(ROOT / "docs" / "check_links.py"), str(tmp_path)]
        return subprocess.run(program, capture_output=True, text=True, check=False)

    for link in ("b.html", "b.html#top", "#top"):
        found = checked(link)
        assert found.returncode == 0
        assert "2 internal links checked, 0 broken" in found.stdout
        assert "x.org (1)" in found.stdout
    for link in ("c.html", "b.html#bottom", "#bottom"):
        found = checked(link)
        assert found.returncode == 1
        assert f"broken link: a.html: {link}" in found.stderr


def test_names_in_tables_without_links_are_reported(tmp_path: Path) -> None:
    for folder in ("algorithms", "api"):
        (tmp_path / folder).mkdir()
    (tmp_path / "api" / "algorithms_paths.html").write_text('<dt id="semiring.algorithms.sssp">')
    program = [sys.executable, str(ROOT / "docs" / "check_links.py"), str(tmp_path)]
    code = '<code class="docutils"><span class="pre">sssp</span></code>'
    cells = {f'<td><a href="../api/algorithms_paths.html">{code}</a></td>': 0, f'<a href="#"></a><td>{code}</td>': 1}
    for cell, expected in cells.items():
        (tmp_path / "algorithms" / "paths.html").write_text(cell)
        found = subprocess.run(program, capture_output=True, text=True, check=False)
        assert found.returncode == expected
        assert ("no link: paths.html: sssp" in found.stderr) == bool(expected)


def from_docs(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_public_name_is_on_a_page_of_the_reference(tmp_path: Path) -> None:
    """And `dir`, which completion in editors shows, lists those names and documented modules alone."""
    pages = from_docs("reference_pages")
    pages.FOLDER = tmp_path
    pages.write()
    text = "\n".join(page.read_text(encoding="utf-8") for page in tmp_path.glob("*.md"))
    written = set(re.findall(r"^\.\. auto(?:class|function):: semiring\.(\S+)$", text, re.MULTILINE))
    reference = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    for name in ("algorithms", "distributed", "io", "ops", "plot", "random"):
        module = getattr(sr, name)
        modules = {one for one in dir(module) if isinstance(getattr(module, one), ModuleType)}
        assert {f"{name}.{one}" for one in dir(module) if one not in modules} <= written
        assert all(f"`sr.{name}.{one}`" in reference for one in modules)
        assert {one.removeprefix(f"{name}.") for one in written if re.fullmatch(rf"{name}\.\w+", one)} <= {*dir(module)}


def is_public(name: str) -> bool:
    """Whether an object is listed by the module that its name begins with."""
    holder, _, last = name.rpartition(".")
    if not resolves(name.removeprefix("semiring")):
        return False
    return last in getattr(operator.attrgetter(holder)(SimpleNamespace(semiring=sr)), "__all__", [last])


@pytest.mark.parametrize(
    ("code", "where", "name"),
    [
        ("pagerank", {}, "semiring.algorithms.pagerank"),
        ("common_neighbors(A)", {}, "semiring.algorithms.common_neighbors"),
        ("sr.io.read(path)", {}, "semiring.io.read"),
        ("A.spy(order)", {}, "semiring.Matrix.spy"),
        ("v.hist(bins)", {}, "semiring.Vector.hist"),
        ("plot.frontiers(levels, A)", {}, "semiring.plot.frontiers"),
        ("apply", {}, "semiring.Matrix.apply"),
        ("hist", {"section": "Vector"}, "semiring.Vector.hist"),
        ("shape", {"section": "Scalar"}, "semiring.Scalar.shape"),
        ("Matrix.from_coo(rows, columns)", {"page": "cugraph", "column": 1}, "semiring.Matrix.from_coo"),
        ("pagerank", {"page": "cugraph", "column": 0}, None),
        ("density", {"page": "networkx"}, None),
        ("device", {}, None),
        ("damping=0.5", {}, None),
        ("A + B", {}, None),
        ("np.sqrt(A)", {}, None),
    ],
)
def test_names_in_tables_lead_to_their_objects(code: str, where: dict[str, Any], name: str | None) -> None:
    options = {"page": "algorithms/paths", "column": 0, "section": "", **where}
    named = from_docs("name_links").targets(code, **options)
    assert next((one for one in named if is_public(one)), None) == name


def test_all_algorithms_in_tables_are_linked() -> None:
    targets = from_docs("name_links").targets
    counted = 0
    for page in sorted((ROOT / "docs" / "algorithms").glob("*.md")):
        rows = [line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
        for name in set(CODE.findall(" ".join(rows))) & set(sr.algorithms.__all__):
            counted += 1
            assert f"semiring.algorithms.{name}" in targets(name, page=f"algorithms/{page.stem}", column=0, section="")
    assert counted > 100


def test_the_search_knows_the_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pages of words exist, and the scorer matches those that index.md lists as background."""
    words = from_docs("name_links")
    assert [page for page in words.WORDS if not (ROOT / "docs" / f"{page}.md").exists()] == []
    monkeypatch.setitem(sys.modules, "name_links", words)
    search = from_docs("check_search")
    assert {page for page in search.EXPECTED.values() if not page.startswith("api/")} <= set(words.WORDS)
    decisions, background = search.scorer()
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    listed = index.partition(":caption: Background")[2].partition("```")[0].split()
    assert len(listed) > 3
    for path in (ROOT / "docs").rglob("*.md"):
        page = path.relative_to(ROOT / "docs").with_suffix("").as_posix()
        if page in listed and page != "decisions/index":
            assert background.match(page), page
        elif not page.startswith(("decisions/", "_build/", "api/")) and page != "algorithms/proofs":
            assert not background.match(page), page
            assert not decisions.match(page), page
    assert decisions.match("decisions/0001-immutable-stores")
    names = words.words_of("networkx")
    assert "nx.pagerank" in names
    assert len(names) > 300


def test_the_functions_for_users_of_cugraph_exist() -> None:
    page = (ROOT / "docs" / "cugraph.md").read_text(encoding="utf-8")
    rows = page.partition("\n## Functions\n")[2].partition("\n\nThe names")[0].strip().splitlines()[2:]
    named = [name for row in rows for name in CODE.findall(row.split("|")[2])]
    assert len(named) > 40
    assert [name for name in named if not resolves(f".algorithms.{name}") and not resolves(f".{name}")] == []


def resolves(dotted: str) -> bool:
    """Whether `semiring` followed by ``.a.b`` is an object or a module."""
    found: object = sr
    path = "semiring"
    for name in dotted.removeprefix(".").split("."):
        path = f"{path}.{name}"
        try:
            found = getattr(found, name)
        except AttributeError:
            try:
                found = importlib.import_module(path)
            except ImportError:
                return False
    return True


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_public_names_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    old = {f"{owner.removeprefix('semiring')}.{name}" for owner, table in NAMES.items() for name in table}
    named = {name for name in PUBLIC.findall(text) if page.name != "CHANGELOG.md" or name not in old}
    unknown = sorted(f"sr{name}" for name in named if not resolves(name))
    assert not unknown


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_commands_exist(page: Path) -> None:
    """Modules that are run with ``-m``, and scripts at the beginning of a line of a shell block."""
    text = page.read_text(encoding="utf-8")
    modules = set(MODULE.findall(text))
    absent = [name for name in modules if not exists(name.replace(".", "/") + ".py") and not exists(package(name))]
    scripts = {word for block in SHELL.findall(text) for word in SCRIPT.findall(block)}
    assert not absent
    assert set(CASE.findall(text)) <= names_of_cases().keys()
    assert not [script for script in scripts if not (ROOT / script).exists()]


@functools.cache
def names_of_cases() -> dict[str, str]:
    """The cases of the benchmarks; to list them, every file of theirs is parsed."""
    return case.names()


def package(name: str) -> str:
    return name.replace(".", "/") + "/__main__.py"


def test_the_checks_report_what_is_missing() -> None:
    """Each reports missing names; otherwise pages could name anything."""
    assert paths_of("see `tests/ops/test_mxv_gone.py`, `sr.io`") == {"tests/ops/test_mxv_gone.py"}
    assert not exists("tests/ops/test_mxv_gone.py")
    assert exists("kernels/mxv_*.cuh")
    assert paths_of("`engines/{cpu,cuda}/mxv.py`") == {"engines/cpu/mxv.py", "engines/cuda/mxv.py"}
    assert not resolves(".io.raed")
    assert resolves(".io.read")
    assert MODULE.findall("`python -m benchmarks.sped --more`") == ["benchmarks.sped"]
    assert not exists(package("benchmarks.sped"))
    assert CASE.findall("`python -m benchmarks sped --more`") == ["sped"]
    assert sum(len(paths_of(page.read_text(encoding="utf-8"))) for page in PAGES) > 20


@pytest.mark.parametrize("kind", [sr.Matrix, sr.Vector, sr.Scalar])
def test_the_reference_lists_what_completion_offers(kind: type) -> None:
    page = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    section = page.partition(f"\n## {kind.__name__}\n")[2].partition("\n## ")[0]
    listed = CODE.findall(section)
    assert sorted(listed) == [name for name in dir(kind()) if not name.startswith("__")]


def test_the_contract_names_everything() -> None:
    """Every public name of the root, of `ops` and of `distributed`, every setting and every error."""
    page = (ROOT / "docs" / "api_contract.md").read_text(encoding="utf-8")
    settings = [name for name in vars(type(sr.config)) if not name.startswith("_") and name != "set"]
    names = [*sr.__all__, *sr.ops.__all__, *sr.distributed.__all__, *settings, *exceptions.__all__]
    assert [name for name in names if not re.search(rf"\b{name}\b", page)] == []


def test_internals_are_not_completed() -> None:
    """Names of the other objects that expressions return; a mask and a target have little besides operators."""
    v = sr.Vector(bool, 1)
    assert [name for name in dir(v.S) if not name.startswith("_")] == ["new"]
    assert [name for name in dir(v(v.S)) if not name.startswith("_")] == ["update"]


def test_a_time_in_the_tuning_table_is_of_a_kernel_or_of_a_call() -> None:
    """The two differ by launches, allocation and read-backs, so that a figure without the word cannot be compared."""
    tree = ast.parse((ROOT / "semiring" / "engines" / "cuda" / "tuning.py").read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "_row"]
    rows = {ast.literal_eval(call.args[0]): ast.literal_eval(call.args[3]) for call in calls}
    timed = {name: source for name, source in rows.items() if re.search(r"H200,.* ms", source)}
    assert len(timed) >= 5
    assert not [name for name, source in timed.items() if not re.search(r"\b(kernel|call)\b", source)]


def test_the_pages_count_what_there_is() -> None:
    """The numbers of algorithms and of built-in types that the pages state."""
    functions = [name for name in sr.algorithms.__all__ if not isinstance(getattr(sr.algorithms, name), type)]
    assert len(sr.dtypes.ALL) == 13
    assert "the thirteen built-in types" in (ROOT / "README.md").read_text(encoding="utf-8")
    for page, link in (("README.md", "docs/algorithms/index.md"), ("docs/tour.md", "algorithms/index.md")):
        stated = re.search(rf"about \[(\d+)\]\({link}\)", (ROOT / page).read_text(encoding="utf-8"))
        assert stated is not None
        assert abs(len(functions) - int(stated[1])) <= 10, f"{page}: there are {len(functions)} algorithms"
