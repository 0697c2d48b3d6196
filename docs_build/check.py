"""Refuse a built site that loads anything from the network, or lacks a page, a public name or a command.

``python -m docs_build.check FOLDER``. MkDocs has checked every link before; a link that a reader follows may lead
anywhere.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

from docs_build.assemble import site_files

ELSEWHERE = re.compile(r"^\s*(?:https?:)?//", re.IGNORECASE)
IN_STYLE = re.compile(r"""(?:url\(|@import)\s*["']?\s*((?:https?:)?//[^"')\s]+)""", re.IGNORECASE)
LOADS = {"src", "srcset", "poster", "data"}
NOT_LOADED = {"canonical", "alternate", "prev", "next", "license"}


class Loaded(HTMLParser):
    """Collects what a page loads from elsewhere: scripts, styles, fonts, pictures, frames."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """One tag."""
        given = {name: value or "" for name, value in attrs}
        wanted = [value for name, value in given.items() if name in LOADS]
        if tag == "link" and not set(given.get("rel", "").split()) & NOT_LOADED:
            wanted.append(given.get("href", ""))
        self.found += [value for value in wanted if ELSEWHERE.match(value)]
        self.found += IN_STYLE.findall(given.get("style", ""))


def loaded(name: str, text: str) -> list[str]:
    """What a page, a style sheet or a picture loads from elsewhere."""
    if name.endswith(".css"):
        return IN_STYLE.findall(text)
    parser = Loaded()
    parser.feed(text)
    return parser.found + IN_STYLE.findall("".join(re.findall(r"(?s)<style.*?</style>", text)))


def complaints(folder: Path) -> Iterator[str]:
    """What is wrong with the site, one sentence each."""
    for path in sorted(folder.rglob("*")):
        if path.suffix in {".html", ".css", ".svg"}:
            for where in loaded(path.name, path.read_text()):
                yield f"{path.relative_to(folder)} loads {where} from the network."
    for place in site_files().values():
        built = folder / re.sub(r"\.md$", ".html", re.sub(r"README\.md$", "index.md", place))
        if not built.is_file():
            yield f"{place} has no page."
    yield from _lacking(folder)


def _lacking(folder: Path) -> Iterator[str]:
    import equinoise
    from equinoise.cli.main import all_commands

    names = (folder / "reference" / "python.html").read_text()
    yield from (f"The reference lacks {name}." for name in equinoise.__all__ if f'id="equinoise.{name}"' not in names)
    commands = (folder / "reference" / "command-line.html").read_text()
    yield from (
        f"The reference lacks {name}."
        for name in all_commands()
        if f'id="equinoise-{name.replace(" ", "-")}"' not in commands
    )


def main() -> None:
    """Say what is wrong, and exit with 1 if anything is."""
    folder = Path(sys.argv[1])
    wrong = list(complaints(folder))
    print("\n".join(wrong) or f"{folder}: {sum(1 for _ in folder.rglob('*.html'))} pages, nothing from the network.")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
