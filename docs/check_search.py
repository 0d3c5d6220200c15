"""Check what the search of the built pages finds first, computed from its index as Sphinx's searchtools.js does.

    python docs/check_search.py [docs/_build]

The scores by the kind of page are those of docs/search_scorer.js, which has the same rules in JavaScript.  The exit
code is 1 if a query leads to another page than expected, or if a decision precedes other pages.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from name_links import WORDS

# The page that each query leads to, beside all of WORDS.
EXPECTED = {
    "dijkstra": "algorithms/paths",
    "pandas": "frames",
    "nx.pagerank": "networkx",
    "personalized pagerank": "algorithms/centrality",
    "read_csv": "files",
    "pagerank": "api/algorithms_centrality",
    "bfs_levels": "api/algorithms_paths",
    "mxm": "api/matrix",
    "networkx": "networkx",
    "labels": "api/labels",
    "betweenness": "algorithms/centrality",
    "betweenness_centrality": "api/algorithms_centrality",
}
# Queries without a page of their own: no decision is among the first results.
GENERAL = (
    "closure",
    "csr",
    "cupy",
    "dijkstra",
    "iso",
    "mask",
    "memory",
    "pandas",
    "sort",
    "transpose",
    "weights",
)
FIRST = 3


def scorer() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return what the scorer matches pages with: the decisions, and the pages of background."""
    text = (Path(__file__).parent / "search_scorer.js").read_text(encoding="utf-8")
    decisions, background = re.findall(r"/(\^\S+)/\.test\(page\)", text)
    return re.compile(decisions.replace("\\/", "/")), re.compile(background.replace("\\/", "/"))


class Index:
    """The index of a build, and the order in which its search shows pages."""

    def __init__(self, root: Path) -> None:
        from sphinx.search.en import SearchEnglish

        text = (root / "searchindex.js").read_text(encoding="utf-8")
        self.facts: dict[str, Any] = json.loads(text.removeprefix("Search.setIndex(").removesuffix(")"))
        self.stem = SearchEnglish({}).stem
        self.decisions, self.background = scorer()

    def search(self, query: str) -> list[tuple[float, str, str]]:
        """Return (score, page, what matched), the first shown first; of equal scores in the order of titles."""
        query, titles = query.lower().strip(), self.facts["titles"]
        found = [*self._titles(query), *self._entries(query), *self._objects(query), *self._texts(query)]
        pages = self.facts["docnames"]
        scored = [
            (self._score(score, pages[at], kind), pages[at], kind, name or titles[at])
            for score, at, kind, name in found
        ]
        scored.sort(key=lambda one: (-one[0], one[3].lower()))
        return [(score, page, kind) for score, page, kind, _ in scored]

    def _score(self, score: float, page: str, kind: str) -> float:
        if kind == "index" and score < 100:
            return score / 10
        if kind in ("object", "index"):
            return score
        return score * (0.2 if self.decisions.match(page) else 0.5 if self.background.match(page) else 1)

    def _titles(self, query: str) -> Any:
        for title, places in self.facts["alltitles"].items():
            if query in title.lower() and len(query) >= len(title) / 2:
                for at, _ in places:
                    whole = self.facts["titles"][at] == title
                    name = title if whole else f"{self.facts['titles'][at]} > {title}"
                    yield round(15 * len(query) / len(title)) + whole, at, "title", name

    def _entries(self, query: str) -> Any:
        for entry, places in self.facts["indexentries"].items():
            if query in entry and len(query) >= len(entry) / 2:
                yield from ((round(100 * len(query) / len(entry)), at, "index", "") for at, _, main in places if main)

    def _objects(self, query: str) -> Any:
        terms = set(re.findall(r"\w+", query))
        for term in terms:
            for prefix, listed in self.facts["objects"].items():
                for at, kind, priority, _, name in listed:
                    full = f"{prefix}.{name}" if prefix else name
                    last = full.lower().rpartition(".")[2]
                    context = f"{full} {self.facts['objnames'][str(kind)][2]} {self.facts['titles'][at]}".lower()
                    if term in full.lower() and all(other in context for other in terms - {term}):
                        matched = 11 if term in (full.lower(), last) else 6 if term in last else 0
                        yield matched + {0: 15, 1: 5, 2: -5}.get(priority, 0), at, "object", full

    def _texts(self, query: str) -> Any:
        scores: dict[int, dict[str, int]] = {}
        words = [self.stem(word) for word in re.findall(r"\w+", query) if not word.isdigit()]
        for word in words:
            for table, exact, partial in (("terms", 5, 2), ("titleterms", 15, 7)):
                known = self.facts[table]
                for term in [word] if word in known else [one for one in known if len(word) > 2 and word in one]:
                    pages = known[term] if isinstance(known[term], list) else [known[term]]
                    for at in pages:
                        scores.setdefault(at, {})[word] = exact if term == word else partial
        needed = {len(set(words)), len({word for word in words if len(word) > 2})}
        for at, matched in scores.items():
            if len(matched) in needed:
                yield max(matched.values()), at, "text", ""


def main() -> int:
    """Print each query that leads elsewhere; return 1 if there is one."""
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent / "_build")
    index = Index(root)
    expected = {word: page for page, words in WORDS.items() for word in words} | EXPECTED
    faults = []
    for query, page in expected.items():
        first = next((found for _, found, _ in index.search(query)), None)
        if first != page:
            faults.append(f"search for {query!r} leads to {first}, not to {page}")
    for query in GENERAL:
        pages = list(dict.fromkeys(page for _, page, _ in index.search(query)))
        if any(index.decisions.match(page) for page in pages[:FIRST]):
            faults.append(f"search for {query!r} shows a decision among the first: {pages[:FIRST]}")
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"{len(expected) + len(GENERAL)} searches checked, {len(faults)} lead elsewhere")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
