"""A page as Markdown, with its pictures in a folder beside it."""

from __future__ import annotations

import re

from equinoise.present.figures import Figure
from equinoise.present.page import Block, Bullets, Page, Paragraph, Table


def markdown(page: Page, folder: str) -> str:
    """All of a page but what holds no text; pictures are named, and described for whoever cannot see them."""
    parts = [f"# {page.title}"]
    for section in page.sections:
        parts += [f"## {section.title}"] if section.title else []
        parts += [_block(block, folder) for block in section.blocks]
    return "\n\n".join(parts) + "\n"


def _block(block: Block, folder: str) -> str:
    match block:
        case Paragraph(text, "heading"):
            return f"### {text}"
        case Paragraph(text):
            return text
        case Bullets(lines):
            return "\n".join(f"- {line}" for line in lines)
        case Table(header, rows):
            table = [header, ["---"] * len(header), *rows]
            return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in table)
        case Figure(name=name, title=title, caption=caption, words=words):
            described = re.sub(r"[\[\]]", "", f"{title}. {caption} {words}")
            return f"![{described}]({folder}/{name}.svg)"
    raise TypeError(f"Markdown has no {type(block).__name__}.")
