"""An executed notebook as a page: its text, its code and what came out, just as it is kept.

``python -m docs_build.notebook`` runs the example anew, in a folder of its own, and keeps what comes out.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "docs" / "example.ipynb"


@dataclass
class Page:
    """A notebook in Markdown, and the pictures that it needs beside it, by their names."""

    name: str
    parts: list[str] = field(default_factory=list)
    pictures: dict[str, str] = field(default_factory=dict)

    @property
    def markdown(self) -> str:
        """All of it."""
        return "\n\n".join(self.parts) + "\n"


def page_of(notebook: str, name: str) -> Page:
    """The page of a notebook's JSON; its pictures are called ``name``-1.svg and so on."""
    page = Page(name)
    for cell in json.loads(notebook)["cells"]:
        source = _text(cell["source"])
        if cell["cell_type"] == "markdown":
            page.parts.append(source)
        elif cell["cell_type"] == "code":
            page.parts += [f"```python\n{source}\n```", *_outputs(cell["outputs"], page)]
    return page


def executed(notebook: Path, folder: Path) -> Any:
    """A notebook with what comes out of it when it is run in a folder, by the package as it is here."""
    import nbformat
    from nbclient import NotebookClient

    found = nbformat.read(notebook, as_version=4)
    paths = [str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "EQUINOISE_STATE": str(folder / "state")}
    NotebookClient(
        found, timeout=300, kernel_name="python3", resources={"metadata": {"path": folder}}, record_timing=False
    ).execute(env=environment)
    return found


def _outputs(outputs: list[dict[str, Any]], page: Page) -> Iterator[str]:
    """Of what an output offers, the first of: a picture, HTML, text."""
    for output in outputs:
        data = output.get("data", {"text/plain": output.get("text", "")})
        if "image/svg+xml" in data:
            picture = f"{page.name}-{len(page.pictures) + 1}.svg"
            page.pictures[picture] = _text(data["image/svg+xml"])
            yield f"![What the code above draws]({picture})"
        elif "text/html" in data:
            html = "\n".join(line for line in _text(data["text/html"]).splitlines() if line.strip())
            yield f"<div>\n{html}\n</div>"
        else:
            yield f"```text\n{_text(data['text/plain']).rstrip()}\n```"


def _text(lines: str | list[str]) -> str:
    return lines if isinstance(lines, str) else "".join(lines)


if __name__ == "__main__":
    import nbformat

    with TemporaryDirectory() as place:
        nbformat.write(executed(EXAMPLE, Path(place)), EXAMPLE)
