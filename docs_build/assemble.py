"""Put the pages of the site together in build/docs, which MkDocs then turns into build/site: `make docs`.

Pages come from docs/, and those of the repository that are not there (README, changelog, benchmarks) come along into
the folder ``repository``. A link is written as the plain repository has it (``../benchmarks/attack.md``), so that it
works there, too, and is turned here to where the site has it. A link to what is not there stays as it is, and MkDocs
refuses it. All this happens before MkDocs and not inside, so that another generator can take its place.
"""

from __future__ import annotations

import posixpath
import re
import shutil
from pathlib import Path

from docs_build.notebook import page_of
from docs_build.reference import filled

ROOT = Path(__file__).resolve().parent.parent
DOCS, OUTSIDE, BUILT = "docs", "repository", "build/docs"
LINK = re.compile(r"(\]\()([^)\s#:]+)((?:#[^)\s]*)?\))")
CODE = re.compile(r"(^```.*?^```|^ {4}[^\n]*|`[^`\n]+`)", re.DOTALL | re.MULTILINE)


def site_files() -> dict[str, str]:
    """Every file of the site, by the place that the repository has it in."""
    inside = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / DOCS).rglob("*")) if path.is_file()]
    pages = [path.name for path in sorted(ROOT.glob("*.md"))]
    measured = [path.name for path in sorted((ROOT / "benchmarks").glob("*.md")) if not path.stem.endswith("_text")]
    outside = [*pages, "LICENSE", *(f"benchmarks/{name}" for name in measured)]
    places = {name: name.removeprefix(f"{DOCS}/") for name in inside} | {name: f"{OUTSIDE}/{name}" for name in outside}
    return {name: re.sub(r"\.ipynb$", ".md", place) for name, place in places.items()}


def turned(markdown: str, name: str, places: dict[str, str]) -> str:
    """The text of a page, which the repository calls ``name``, with its links as the site needs them."""

    def on_site(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(name), link[2]))
        if target not in places:
            return link[0]
        return link[1] + posixpath.relpath(places[target], posixpath.dirname(places[name]) or ".") + link[3]

    parts = CODE.split(markdown)  # every other one is code, and stays as it is
    return "".join(part if number % 2 else LINK.sub(on_site, part) for number, part in enumerate(parts))


def assemble(folder: Path) -> None:
    """Write them all, from the beginning."""
    shutil.rmtree(folder, ignore_errors=True)
    places = site_files()
    for name, place in places.items():
        target = folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith(".md"):
            target.write_text(filled(turned((ROOT / name).read_text(), name, places)))
        elif name.endswith(".ipynb"):
            page = page_of((ROOT / name).read_text(), target.stem)
            target.write_text(turned(page.markdown, name, places))
            for picture, text in page.pictures.items():
                (target.parent / picture).write_text(text)
        else:
            shutil.copyfile(ROOT / name, target)


if __name__ == "__main__":
    assemble(ROOT / BUILT)
