"""A document of a few kinds of blocks, written as Markdown and as one HTML page that needs nothing else."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from equinoise.experiments.drawing import Picture


@dataclass(frozen=True)
class Heading:
    """A title at a level from 1 on."""

    text: str
    level: int = 2


@dataclass(frozen=True)
class Paragraph:
    """Plain text."""

    text: str


@dataclass(frozen=True)
class Bullets:
    """One line each."""

    lines: Sequence[str]


@dataclass(frozen=True)
class Table:
    """Text in cells. Rows with a cell that begins with ``theirs`` look different."""

    header: Sequence[str]
    lines: Sequence[Sequence[str]]
    theirs: str = "the paper's"


@dataclass(frozen=True)
class Figure:
    """A picture with its words."""

    picture: Picture


Block = Heading | Paragraph | Bullets | Table | Figure

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a;
  background: #ffffff; }
h1, h2, h3 { line-height: 1.2; margin-top: 2.2em; }
h1 { margin-top: 0; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.85rem; margin: 1rem 0; }
th, td { border-bottom: 1px solid #d8d8d8; padding: 0.25rem 0.6rem; text-align: left; vertical-align: top;
  font-variant-numeric: tabular-nums; }
th { border-bottom: 2px solid #555555; }
tr.theirs td { background: #fff6e0; font-style: italic; }
figure { margin: 1.5rem 0; }
figure svg { max-width: 100%; height: auto; }
figcaption { font-size: 0.85rem; color: #444444; }
"""

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""
"""The policy keeps the page from loading anything."""


@dataclass
class Document:
    """Blocks in order."""

    title: str
    blocks: list[Block] = field(default_factory=list)

    def add(self, *blocks: Block) -> None:
        """At the end."""
        self.blocks.extend(blocks)

    def pictures(self) -> list[Picture]:
        """All of them."""
        return [block.picture for block in self.blocks if isinstance(block, Figure)]

    def markdown(self, folder: str) -> str:
        """With pictures in a folder beside it."""
        parts = [f"# {self.title}", *(_markdown(block, folder) for block in self.blocks)]
        return "\n\n".join(parts) + "\n"

    def page(self) -> str:
        """With pictures in it."""
        body = "\n".join([f"<h1>{html.escape(self.title)}</h1>", *(_html(block) for block in self.blocks)])
        return PAGE.format(title=html.escape(self.title), style=STYLE, body=body)


def _markdown(block: Block, folder: str) -> str:
    if isinstance(block, Heading):
        return f"{'#' * block.level} {block.text}"
    if isinstance(block, Paragraph):
        return block.text
    if isinstance(block, Bullets):
        return "\n".join(f"- {line}" for line in block.lines)
    if isinstance(block, Table):
        rows = [block.header, ["---"] * len(block.header), *block.lines]
        return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)
    picture = block.picture
    alt = re.sub(r"[\[\]]", "", f"{picture.title}. {picture.alt}")
    return f"![{alt}]({folder}/{picture.name}.svg)"


def _html(block: Block) -> str:
    if isinstance(block, Heading):
        return f"<h{block.level}>{html.escape(block.text)}</h{block.level}>"
    if isinstance(block, Paragraph):
        return f"<p>{html.escape(block.text)}</p>"
    if isinstance(block, Bullets):
        return "<ul>" + "".join(f"<li>{html.escape(line)}</li>" for line in block.lines) + "</ul>"
    if isinstance(block, Table):
        return _html_table(block)
    return f"<figure>{unique_ids(block.picture)}<figcaption>{html.escape(block.picture.caption)}</figcaption></figure>"


def _html_table(table: Table) -> str:
    def cells(row: Iterable[str], tag: str) -> str:
        return "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row)

    body = []
    for row in table.lines:
        opening = '<tr class="theirs">' if any(cell.startswith(table.theirs) for cell in row) else "<tr>"
        body.append(f"{opening}{cells(row, 'td')}</tr>")
    lines = "".join(body)
    head = "".join(f'<th scope="col">{html.escape(cell)}</th>' for cell in table.header)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table></div>'


def unique_ids(picture: Picture) -> str:
    """The SVG with names of its own inside, so that several fit on one page."""
    text = picture.svg
    for name in sorted(set(re.findall(r'\bid="([^"]+)"', text)), key=len, reverse=True):
        new = f"{picture.name}-{name}"
        text = text.replace(f'id="{name}"', f'id="{new}"').replace(f"url(#{name})", f"url(#{new})")
        text = text.replace(f'href="#{name}"', f'href="#{new}"')
    return text
