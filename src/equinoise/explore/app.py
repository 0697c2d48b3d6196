"""What the server answers: the page and its files, results as they come, a saved file, its report."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine
from contextlib import aclosing
from functools import cache
from importlib import resources
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from equinoise.errors import BadInput, EquinoiseError, check
from equinoise.explore.counts import Counted
from equinoise.explore.guard import MOST_BODY, NOTHING, refuse, too_long
from equinoise.explore.refusals import check_name, refusal
from equinoise.explore.tabs import Message, Tabs
from equinoise.formatting import visible
from equinoise.present.figures import javascript
from equinoise.present.terminal import finite
from equinoise.settings import SCALE_SETS

FILES = {"page.css": "text/css", "page.js": "text/javascript", "icon.svg": "image/svg+xml"}
REPORT_POLICY = (
    "sandbox allow-scripts allow-downloads allow-popups; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data: blob:; font-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
"""A report brings its own scripts; in a sandbox it can neither load nor send anything, nor ask this server."""


SECONDS_TO_SEND = 10
"""A page of ours sends a few hundred bytes at once."""

LOOK_EVERY = 0.2
"""Seconds between two looks whether the browser is still there."""

Answer = TypeVar("Answer")


class TooLong(Exception):
    """More was sent than any page of ours sends."""


class Library:
    """What draws charts, made once: a few seconds, and not in this process, which what makes it would keep from
    ending, nor in a worker, which would have to wait until workers can be started."""

    def __init__(self) -> None:
        self._made: asyncio.Task[bytes] | None = None

    async def script(self) -> bytes:
        """All of it."""
        if self._made is None or (self._made.done() and not self._made.result()):
            self._made = asyncio.create_task(_printed(sys.executable, "-m", javascript.__name__))
        found = await asyncio.shield(self._made)
        if not found:
            raise BadInput("The charts' script could not be made. Load the page again.")
        return found


def make_app(counted: Counted, tabs: Tabs, library: Library) -> Starlette:
    """The application; a guard must stand before it."""

    async def page(request: Request) -> Response:
        return HTMLResponse(_file("index.html"))

    async def file(request: Request) -> Response:
        name = request.path_params["name"]
        if name == "vega.js":
            return Response(await library.script(), media_type="text/javascript")
        if name not in FILES:
            raise HTTPException(404)
        return Response(_file(name), media_type=FILES[name])

    async def facts(request: Request) -> Response:
        return JSONResponse(_facts(counted))

    async def solve(request: Request) -> Response:
        given = await _body(request)
        messages = tabs.solve(_tab(given), _dict(given, "settings"))
        return StreamingResponse(_lines(messages), media_type="application/x-ndjson")

    async def save(request: Request) -> Response:
        given = await _body(request)
        number, name = given.get("number"), given.get("name")
        check(isinstance(number, int), "number", "that of a result", number)
        try:
            found = await _heard(tabs.save(_tab(given), number, check_name(name)))  # type: ignore[arg-type]
        except EquinoiseError as error:
            found = {"refused": refusal(error)}
        kind = "saved" if "saved" in found else [*found][-1]
        return JSONResponse({"kind": kind, **found[kind]})

    async def report(request: Request) -> Response:
        found = await _unless_left(request, _heard(tabs.report(check_name(request.path_params["name"]))))
        if "report" in found:
            return HTMLResponse(found["report"]["html"], headers={"Content-Security-Policy": REPORT_POLICY})
        return refuse(request, 409, found.popitem()[1]["sentence"])

    return Starlette(
        routes=[
            Route("/", page),
            Route("/files/{name}", file),
            Route("/facts", facts),
            Route("/solve", solve, methods=["POST"]),
            Route("/save", save, methods=["POST"]),
            Route("/report/{name}", report),
        ],
        exception_handlers={EquinoiseError: _sorry, TooLong: _too_long, HTTPException: _missing, Exception: _sorry},
    )


def _facts(counted: Counted) -> dict[str, Any]:
    """What the page needs to know before anything is worked out."""
    return {
        "columns": [
            {"label": axis.label, "low": axis.low, "high": axis.high, "public_bounds": axis.name in counted.public}
            for axis in counted.axes
        ],
        "source": visible(counted.source),
        "people": counted.people,
        "bins": list(counted.bins),
        "scales": list(SCALE_SETS),
        "warnings": list(counted.warnings),
    }


async def _lines(messages: AsyncGenerator[Message]) -> AsyncIterator[bytes]:
    """Messages as lines of JSON, each as soon as it is there. A refusal is one of them."""
    async with aclosing(messages):
        try:
            async for kind, message in messages:
                yield _line(kind, message)
        except EquinoiseError as error:
            yield _line("refused", refusal(error))


def _line(kind: str, message: dict[str, Any]) -> bytes:
    return json.dumps(finite({"kind": kind, **message}), allow_nan=False).encode() + b"\n"


async def _heard(messages: AsyncGenerator[Message]) -> dict[str, dict[str, Any]]:
    """The last message of each kind, in order, of a short piece of work. (A worker that is not heard to the end is
    ended.)"""
    async with aclosing(messages):
        return {kind: message async for kind, message in messages}


async def _printed(*command: str) -> bytes:
    """What a command prints, or nothing if it fails. It ends with whoever waits for it."""
    nothing, heard = subprocess.DEVNULL, subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdin=nothing, stdout=heard, stderr=nothing)
    try:
        printed, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return printed if process.returncode == 0 else b""


async def _unless_left(request: Request, work: Coroutine[Any, Any, Answer]) -> Answer:
    """Wait for work, but leave it when the browser goes away."""
    task = asyncio.ensure_future(work)
    while not task.done():
        await asyncio.wait([task], timeout=LOOK_EVERY)
        if await request.is_disconnected():
            task.cancel()
    return await task


async def _body(request: Request) -> dict[str, Any]:
    """A request's JSON object; a length that was not said is counted."""
    body = b""
    try:
        async with asyncio.timeout(SECONDS_TO_SEND):
            async for part in request.stream():
                body += part
                if len(body) > MOST_BODY:
                    raise TooLong
    except TimeoutError:
        raise BadInput(f"What was sent did not arrive within {SECONDS_TO_SEND} seconds.") from None
    try:
        given = json.loads(body)
    except (ValueError, RecursionError):
        raise BadInput("What was sent is not JSON.") from None
    if not isinstance(given, dict):
        raise BadInput("What was sent is not a JSON object.")
    return given


def _tab(given: dict[str, Any]) -> str:
    tab = given.get("tab")
    check(isinstance(tab, str) and 0 < len(tab) <= 100, "tab", "a name of at most 100 letters", tab)
    return str(tab)


def _dict(given: dict[str, Any], name: str) -> dict[str, Any]:
    found = given.get(name)
    check(isinstance(found, dict), name, "a JSON object", found)
    assert isinstance(found, dict)
    return found


def _sorry(request: Request, error: Exception) -> Response:
    return refuse(request, 400 if isinstance(error, EquinoiseError) else 500, refusal(error)["sentence"])


def _too_long(request: Request, error: Exception) -> Response:
    return too_long(request)


def _missing(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    return refuse(request, status, NOTHING)


@cache
def _file(name: str) -> bytes:
    return resources.files("equinoise.explore").joinpath("page", name).read_bytes()
