"""Check the links of the built pages: files, anchors and pictures exist; links to other sites are counted; names of
algorithms in tables are links.

    python docs/check_links.py [docs/_build]

Nothing is fetched, so the check needs no network. The exit code is 1 if a link is broken.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The anchors of a page, and what it links to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path, self.anchors, self.links = path, {""}, set[str]()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect the attributes of one element."""
        for name, value in attrs:
            if value and (name == "id" or (name == "name" and tag == "a")):
                self.anchors.add(value)
            elif value and name in ("href", "src") and tag != "link":
                self.links.add(value)


def check(root: Path) -> tuple[list[str], Counter[str], int]:
    """Return the broken links under a folder, the hosts of external ones, and the number of internal ones."""
    pages = {path.resolve(): Page(path) for path in sorted(root.rglob("*.html"))}
    broken, hosts, internal = [], Counter[str](), 0
    for path, page in pages.items():
        for link in sorted(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                hosts[parts.netloc or f"{parts.scheme}:"] += 1
                continue
            internal += 1
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            known = pages.get(target)
            if not target.exists() or (known is not None and unquote(parts.fragment) not in known.anchors):
                broken.append(f"{page.path.relative_to(root)}: {link}")
    return broken, hosts, internal


def unlinked(root: Path) -> list[str]:
    """Return the names of functions in tables of the pages on algorithms that are no links to the API pages."""
    found = []
    for path in sorted((root / "algorithms").glob("*.html")):
        cells = "".join(re.findall(r"<td>.*?</td>", path.read_text(encoding="utf-8"), flags=re.DOTALL))
        plain = re.sub(r"<a .*?</a>", "", cells, flags=re.DOTALL)
        names = re.findall(r'<code class="[^"]*"><span class="pre">(\w+)</span></code>', plain)
        known = "".join(api.read_text(encoding="utf-8") for api in (root / "api").glob("algorithms_*.html"))
        found += [f"{path.name}: {name}" for name in names if f'id="semiring.algorithms.{name}"' in known]
    return found


def main() -> int:
    """Print what was found; return 1 if a link is broken or missing, or if there are no pages."""
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent / "_build")
    broken, hosts, internal = check(root)
    without = unlinked(root)
    for line in broken:
        print(f"broken link: {line}", file=sys.stderr)
    for line in without:
        print(f"no link: {line}", file=sys.stderr)
    print(f"{internal} internal links checked, {len(broken)} broken; external ones, not opened:")
    print("  " + ", ".join(f"{host} ({count})" for host, count in hosts.most_common()))
    return int(bool(broken or without) or not internal)


if __name__ == "__main__":
    sys.exit(main())
