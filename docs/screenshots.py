"""Photograph the built pages in a browser, and report what a reader would see as a fault.

    pip install playwright
    python docs/screenshots.py FOLDER [PAGE...] [--browser /usr/bin/chromium] [--dark]

writes a picture of every page, or of those whose path contains PAGE, at the widths of a desktop and of a phone. It
reports elements that reach beyond the window, requests that failed and messages of the browser's console.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

WINDOWS = {"desktop": (1280, 800), "phone": (390, 844)}

# Elements of the text that reach beyond the window, unless something around them scrolls.
BEYOND = """() => {
  const width = document.documentElement.clientWidth;
  const scrolls = e => e && e.tagName != "ARTICLE"
    && (["auto", "scroll", "hidden"].includes(getComputedStyle(e).overflowX) || scrolls(e.parentElement));
  return [...document.querySelectorAll("article *")]
    .filter(e => { const box = e.getBoundingClientRect();
                   return box.height && box.right > width + 1 && !scrolls(e.parentElement); })
    .slice(0, 4).map(e => `${e.tagName} ${e.className}: ${e.textContent.trim().slice(0, 40)}`);
}"""


def photograph(browser: Any, root: Path, pages: list[Path], folder: Path, *, dark: bool) -> int:
    """Write the pictures; return the number of faults, which are printed."""
    faults = 0
    for name, (width, height) in WINDOWS.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        page = browser.new_context(
            viewport={"width": width, "height": height},
            is_mobile=name == "phone",
            color_scheme="dark" if dark else "light",
        ).new_page()
        page.set_default_timeout(120_000)
        found: list[str] = []
        page.on("console", lambda m, found=found: found.append(m.text) if m.type in ("error", "warning") else None)
        page.on("requestfailed", lambda request, found=found: found.append(f"failed: {request.url}"))
        for path in pages:
            found.clear()
            page.goto(path.resolve().as_uri(), wait_until="load")
            page.evaluate("() => window.MathJax?.startup?.promise")
            found += page.evaluate(BEYOND)
            title = path.relative_to(root).with_suffix("").as_posix()
            page.screenshot(path=folder / name / f"{title.replace('/', '-')}.png", full_page=True)
            faults += len(found)
            for fault in found:
                print(f"{name} {title}: {fault}")
    return faults


def main() -> int:
    """Run the browser; return 1 if there is a fault."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("page", nargs="*")
    parser.add_argument("--browser", help="the program to run; by default the one that playwright installed")
    parser.add_argument("--dark", action="store_true", help="with the colors for dark surroundings")
    given = parser.parse_intermixed_args()
    root = Path(__file__).parent / "_build"
    pages = [path for path in sorted(root.rglob("*.html")) if "_static" not in path.parts]
    chosen = [path for path in pages if not given.page or any(word in path.as_posix() for word in given.page)]
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=given.browser, args=["--no-sandbox"])
        faults = photograph(browser, root, chosen, given.folder, dark=given.dark)
        browser.close()
    print(f"{len(chosen)} pages, {faults} faults")
    return int(faults > 0 or not chosen)


if __name__ == "__main__":
    sys.exit(main())
