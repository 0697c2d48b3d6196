"""What the server answers: the page and its files, results as they come, files that it wrote, a report of one."""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from contextlib import aclosing
from functools import cache, partial
from importlib import resources
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from equinoise.atomic_write import write_whole
from equinoise.errors import BadInput, EquinoiseError, check
from equinoise.explore.refusals import MOST_BODY, NOTHING_HERE, TOO_LONG, check_file_name, refusal, refuse
from equinoise.explore.request import schema_from_json
from equinoise.explore.source import Opening
from equinoise.explore.tabs import Message, Tabs
from equinoise.present.figures import javascript
from equinoise.present.terminal import finite
from equinoise.settings import METHODS, SCALE_SETS

JAVASCRIPT = "text/javascript"
FILE_TYPES = {
    "page.css": "text/css", "page.js": JAVASCRIPT, "schema.js": JAVASCRIPT, "charts.js": JAVASCRIPT,
    "vega.js": JAVASCRIPT, "icon.svg": "image/svg+xml",
}  # fmt: skip
REPORT_POLICY = (
    "sandbox allow-scripts allow-downloads allow-popups; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data: blob:; font-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
"""A report brings its own scripts; in a sandbox it can neither load nor send anything, nor ask this server."""

SECONDS_TO_SEND = 10
"""A page of ours sends a few hundred bytes at once."""

SECONDS_BETWEEN_LOOKS = 0.2
"""How often it is seen whether the browser is still there."""

Result = TypeVar("Result")


class ChartScript:
    """The script that draws charts, made once: a few seconds, and not in this process, which what makes it would keep
    from ending, nor in a worker, which would have to wait until workers can be started."""

    def __init__(self) -> None:
        self._task: asyncio.Task[bytes] | None = None

    async def read(self) -> bytes:
        """All of it, in bytes; tried again if it failed before."""
        if self._task is None or (self._task.done() and not self._task.result()):
            self._task = asyncio.create_task(self._make())
        script = await asyncio.shield(self._task)
        if not script:
            raise BadInput("The charts' script could not be made. Load the page again.")
        return script

    async def _make(self) -> bytes:
        command = (sys.executable, "-m", javascript.__name__)
        process = await asyncio.create_subprocess_exec(*command, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL)
        try:
            script, _ = await process.communicate()
        finally:
            if process.returncode is None:  # nobody waits for it any more
                process.kill()
                await process.wait()
        return script if process.returncode == 0 else b""


def make_app(opening: Opening, tabs: Tabs, chart_script: ChartScript) -> Starlette:
    """The application; a guard must stand before it."""
    return Starlette(
        routes=[*_page_routes(opening, chart_script), *_work_routes(tabs)],
        exception_handlers=dict.fromkeys((EquinoiseError, HTTPException, Exception), _refuse_error),
    )


def _page_routes(opening: Opening, chart_script: ChartScript) -> list[Route]:
    """The page, its files, and what it begins with."""

    async def page(request: Request) -> Response:
        return HTMLResponse(_file("index.html"))

    async def file(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in FILE_TYPES:
            raise HTTPException(404)
        content = await chart_script.read() if name == "vega.js" else _file(name)
        return Response(content, media_type=FILE_TYPES[name])

    async def facts(request: Request) -> Response:
        return JSONResponse({**opening.to_json(), "scales": list(SCALE_SETS), "methods": list(METHODS)})

    return [Route("/", page), Route("/files/{name}", file), Route("/facts", facts)]


def _work_routes(tabs: Tabs) -> list[Route]:
    """Results as they come, files that are written, a report of one."""

    async def solve(request: Request) -> Response:
        body = await _json_body(request)
        look = _typed(body, "look", bool, "true or false")
        return _streamed(partial(tabs.solve, _tab(body), _settings(body), look))

    async def publish(request: Request) -> Response:
        body = await _json_body(request)
        name = check_file_name(body.get("name"), ".csv", "rows.csv")
        counts = _typed(body, "counts", bool, "true or false")
        return _streamed(partial(tabs.publish, _tab(body), _settings(body), name, counts))

    async def save(request: Request) -> Response:
        body = await _json_body(request)
        number, tab = _typed(body, "number", int, "that of a result"), _tab(body)
        try:
            messages = await _last_of_each_kind(tabs.save(tab, number, check_file_name(body.get("name"))))
        except EquinoiseError as error:
            messages = {"refused": refusal(error)}
        kind = "saved" if "saved" in messages else [*messages][-1]
        return JSONResponse({"kind": kind, **messages[kind]})

    async def save_schema(request: Request) -> Response:
        body = await _json_body(request)
        name = check_file_name(body.get("name"), ".toml", "people.toml")
        schema = schema_from_json(body.get("schema"))
        write_whole(tabs.folder / name, [schema.to_toml().encode()], mode=0o600, force=False)
        return JSONResponse({"kind": "saved", "name": name})

    async def report(request: Request) -> Response:
        name = check_file_name(request.path_params["name"])
        messages = await _unless_disconnected(request, _last_of_each_kind(tabs.report(name)))
        if "report" in messages:
            return HTMLResponse(messages["report"]["html"], headers={"Content-Security-Policy": REPORT_POLICY})
        return refuse(request, 409, messages.popitem()[1]["sentence"])

    return [
        Route("/solve", solve, methods=["POST"]),
        Route("/publish", publish, methods=["POST"]),
        Route("/save", save, methods=["POST"]),
        Route("/schema", save_schema, methods=["POST"]),
        Route("/report/{name}", report),
    ]


def _streamed(start: Callable[[], AsyncGenerator[Message]]) -> Response:
    return StreamingResponse(_json_lines(start), media_type="application/x-ndjson")


async def _json_lines(start: Callable[[], AsyncGenerator[Message]]) -> AsyncIterator[bytes]:
    """Messages as lines of JSON, each as soon as it is there. A refusal is one of them."""
    try:
        async with aclosing(start()) as messages:
            async for kind, fields in messages:
                yield _json_line(kind, fields)
    except EquinoiseError as error:
        yield _json_line("refused", refusal(error))


def _json_line(kind: str, fields: dict[str, Any]) -> bytes:
    return json.dumps(finite({"kind": kind, **fields}), allow_nan=False).encode() + b"\n"


async def _last_of_each_kind(messages: AsyncGenerator[Message]) -> dict[str, dict[str, Any]]:
    """The last message of each kind, in order, of a short job. (A worker that is not heard to the end is ended.)"""
    async with aclosing(messages):
        return {kind: fields async for kind, fields in messages}


async def _unless_disconnected(request: Request, work: Coroutine[Any, Any, Result]) -> Result:
    """The result of some work, which is cancelled when the browser goes away."""
    task = asyncio.ensure_future(work)
    while not task.done():
        await asyncio.wait([task], timeout=SECONDS_BETWEEN_LOOKS)
        if await request.is_disconnected():
            task.cancel()
    return await task


async def _json_body(request: Request) -> dict[str, Any]:
    """A request's JSON object; a length that was not said is counted."""
    body = b""
    try:
        async with asyncio.timeout(SECONDS_TO_SEND):
            async for part in request.stream():
                body += part
                if len(body) > MOST_BODY:
                    raise HTTPException(413)
    except TimeoutError:
        raise BadInput(f"What was sent did not arrive within {SECONDS_TO_SEND} seconds.") from None
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError):
        raise BadInput("What was sent is not JSON.") from None
    if not isinstance(fields, dict):
        raise BadInput("What was sent is not a JSON object.")
    return fields


def _typed(body: dict[str, Any], name: str, kind: type, meaning: str) -> Any:
    check(isinstance(body.get(name), kind), name, meaning, body.get(name))
    return body[name]


def _settings(body: dict[str, Any]) -> dict[str, Any]:
    settings: dict[str, Any] = _typed(body, "settings", dict, "a JSON object")
    return settings


def _tab(body: dict[str, Any]) -> str:
    tab = body.get("tab")
    check(isinstance(tab, str) and 0 < len(tab) <= 100, "tab", "a name of at most 100 letters", tab)
    return str(tab)


def _refuse_error(request: Request, error: Exception) -> Response:
    if isinstance(error, HTTPException):
        return refuse(request, error.status_code, TOO_LONG if error.status_code == 413 else NOTHING_HERE)
    return refuse(request, 400 if isinstance(error, EquinoiseError) else 500, refusal(error)["sentence"])


@cache
def _file(name: str) -> bytes:
    return resources.files("equinoise.explore").joinpath("page", name).read_bytes()
