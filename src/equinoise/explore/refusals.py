"""How the server says no: one sentence, the one that the command line would print, and its exit status."""

from __future__ import annotations

import html
import unicodedata
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from equinoise.errors import BadInput, EquinoiseError, PromiseNotMet

MOST_BODY = 300_000
"""Bytes of a request: settings are a few hundred, a schema with long lists of categories may be many more."""

NOTHING_HERE = "There is nothing at this address."
TOO_LONG = f"What is sent here must be at most {MOST_BODY:,} bytes."


def refusal(error: Exception) -> dict[str, Any]:
    """The sentence and the exit status that the command line would end with; never a traceback."""
    if isinstance(error, EquinoiseError):
        return {"sentence": str(error), "status": 1 if isinstance(error, PromiseNotMet) else 2}
    if isinstance(error, MemoryError):
        return {"sentence": "There is not enough memory. Use fewer bins or scales.", "status": 2}
    return {"sentence": f"Something unexpected went wrong ({type(error).__name__}). Please report it.", "status": 2}


def refuse(request: Request, status: int, sentence: str) -> Response:
    """An answer that refuses: a page for whoever navigates, JSON for the page's own requests."""
    if request.method == "GET" and "text/html" in request.headers.get("accept", ""):
        return HTMLResponse(plain_page("Refused", f"<h1>Refused</h1><p>{html.escape(sentence)}</p>"), status)
    return JSONResponse({"sentence": sentence, "status": 2}, status)


def plain_page(title: str, body: str) -> str:
    """A page that is one file, with an empty icon: otherwise the browser asks for one and is refused."""
    head = f'<meta charset="utf-8"><title>{title}</title><link rel="icon" href="data:,">'
    return f'<!DOCTYPE html><html lang="en">{head}{body}</html>'


def check_file_name(name: object, ending: str = ".eq", example: str = "pay.eq") -> str:
    """A plain name with an ending, in the folder where the command was started and nowhere else."""
    name = unicodedata.normalize("NFC", name) if isinstance(name, str) else name  # an accent is no letter of its own
    if (
        isinstance(name, str)
        and name.endswith(ending)
        and name[0].isalnum()
        and len(name.encode(errors="replace")) <= 100
        and all(letter.isalnum() or letter in " ._-" for letter in name)
    ):
        return name
    raise BadInput(
        "A file's name here is letters, digits, spaces, dots, dashes and underscores (at most 100 bytes), begins "
        f"with a letter or a digit and ends in {ending}, such as {example}. Got {str(name)[:60]!r} instead."
    )
