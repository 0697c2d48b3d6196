"""Hostile requests to the local page's server: it refuses each, tells nothing, and goes on serving its owner."""

from __future__ import annotations

import json
import random
import socket
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fuzz.cases import Case, Lost
from tests.helpers.explore_server import Visitor, pids_at_work, running_server

SECONDS_TO_ANSWER = 60
ODD = [
    None,
    -1,
    0,
    1,
    3,
    1e308,
    1e-300,
    2**70,
    "",
    "x",
    "wide",
    "paper",
    True,
    [],
    {},
    [0],
    [[0]],
    "\x00",
    "\u00e9",
    "long" * 100,
]
POSTED = ["solve", "solve", "save", "publish", "schema"]
PATHS = ["", "facts", *POSTED, "report/pay.eq", "files/page.js", "nothing", "../facts", "%2e%2e/facts", "//etc/passwd",
         "report/%00.eq", "report/../../x.eq", "files/..%2fapp.py", "?token=x", "%ff",
         "facts?x=" + "y" * 5000, "*"]  # fmt: skip
NO_FILE = "data"
"""No name that a file may have."""

OTHER_NAMES = ("delta", "draws", "verb", "unit", "people", "method", "x", "", "__class__", "peeked", "step", "columns")

METHODS = ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "TRACE", "CONNECT", "get", "X" * 300]


@dataclass
class Hostile:
    """A request in bytes. ``owner`` is whether all that the guard looks at is right."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes = b""
    owner: bool = True
    leaves: bool = False
    extra: list[str] = field(default_factory=list)

    def to_bytes(self) -> bytes:
        """As it is sent; its length is told unless another one stands in the headers."""
        headers = dict(self.headers)
        if "Transfer-Encoding" not in headers:
            headers.setdefault("Content-Length", str(len(self.body)))
        lines = [f"{self.method} {self.target} HTTP/1.1", *(f"{k}: {v}" for k, v in headers.items()), *self.extra]
        return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace") + self.body


@contextmanager
def begin(folder: Path) -> Iterator[Case]:
    """One server for all cases, and its owner, who must be answered after each."""
    with running_server(folder) as explorer:
        owner = Visitor(explorer)
        if owner.enter() != 200:
            raise Lost("The owner is not let in.")

        def try_one(order: random.Random) -> Counter[str]:
            hostile = request(order, explorer.port, explorer.guard.token, owner)
            found = outcome(order, explorer.port, hostile)
            status, _, body = owner.ask("GET", "/facts")
            if status != 200 or json.loads(body)["names"] != ["pay"]:
                raise Lost(f"The owner is not served after {hostile}: {status} {body[:300]!r}")
            if hostile.leaves:
                end = time.monotonic() + SECONDS_TO_ANSWER
                while pids_at_work(explorer):
                    if time.monotonic() > end:
                        raise Lost(f"Work goes on for nobody after {hostile}.")
                    time.sleep(0.01)
            return Counter([found])

        yield try_one


def outcome(order: random.Random, port: int, hostile: Hostile) -> str:
    """Send it, and what came of it: refused, answered (the owner alone), or nobody was there any more."""
    sent = hostile.to_bytes()
    if order.random() < 0.15:  # no longer a request at all
        hostile.owner, cut = False, order.randrange(1, len(sent) + 1)
        sent = order.choice(
            [sent[:cut], sent[:cut] + order.randbytes(50), order.randbytes(400), b"\r\n" * 50, b"\x16\x03\x01" + sent]
        )
        hostile.leaves = True
    with closing(socket.create_connection(("127.0.0.1", port), timeout=SECONDS_TO_ANSWER)) as opened:
        with suppress(OSError):  # it may hang up before all is sent
            opened.sendall(sent)
        if hostile.leaves:
            time.sleep(order.choice([0, 0, 0.01, 0.05]))
            return "left, and the server went on"
        answer = b""
        with suppress(ConnectionError):
            while part := opened.recv(2**16):
                answer += part
    status = int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.1 ") else None
    said = answer.decode("utf-8", "replace")
    wrong = status is None or status >= 500 or "Traceback" in said or "Something unexpected" in said
    told = not hostile.owner and (
        status is None or status < 400 or "pay" in said.replace("pay.eq", "") or '"columns"' in said
    )
    if wrong or told:
        raise Lost(f"{hostile}\n  was answered: {said[:1500]}")
    return (
        "refused in a sentence"
        if status is not None and (status >= 400 or '"refused"' in said)
        else "answered to the owner"
    )


def request(order: random.Random, port: int, token: str, owner: Visitor) -> Hostile:
    """A request that is wrong in one way or several."""
    headers = {"Host": f"127.0.0.1:{port}", "Cookie": str(owner.cookie), "Connection": "close"}
    kind = order.choice(["sender", "sender", "path", "body", "body", "settings", "settings", "leaves", "headers"])
    hostile = Hostile("GET", f"{owner.home}facts", headers)
    if kind == "sender":
        hostile.owner = False
        wrong_sender(order, port, hostile, token, owner)
    elif kind == "path":
        hostile.method, hostile.target = order.choice(METHODS), owner.home + order.choice(PATHS)
    elif kind == "headers":
        name = order.choice(
            ["Accept", "Content-Type", "X-Forwarded-For", "Range", "Expect", "Upgrade", "Accept-Encoding", "Cookie2"]
        )
        value = order.choice(["", "x" * 10, "x" * 5000, "100-continue", "text/html", "websocket", "\xe9"])
        hostile.extra = [f"{name}: {value}"]
    else:
        hostile.method, hostile.target = (
            "POST",
            owner.home + order.choice(POSTED),
        )
        headers["Content-Type"] = "application/json"
        hostile.body = json.dumps(body(order, odd=kind == "settings")).encode()
        if kind == "body":
            hostile.body = broken(order, hostile)
        hostile.leaves = kind == "leaves"
    return hostile


def wrong_sender(order: random.Random, port: int, hostile: Hostile, token: str, owner: Visitor) -> None:
    """Another host, origin, site, cookie or token; on any path."""
    headers, what = hostile.headers, order.choice(["host", "origin", "site", "cookie", "token"])
    hostile.target = owner.home + order.choice(["", "facts", "report/pay.eq", "files/page.js"])
    if what == "host":
        headers["Host"] = order.choice(
            ["evil.example", f"evil.example:{port}", "127.0.0.1", f"[::1]:{port}", "", "x" * 500]
        )
    elif what == "origin":
        headers["Origin"] = order.choice(
            ["http://evil.example", f"https://127.0.0.1:{port}", "null", "", "http://127.0.0.1:1", "\xe9"]
        )
    elif what == "site":
        headers["Sec-Fetch-Site"] = order.choice(["cross-site", "same-site", "none", "x", ""])
    elif what == "cookie":
        name, _, secret = headers["Cookie"].partition("=")
        at = order.randrange(len(secret))
        other = "A" if secret[at] != "A" else "B"
        wrong = ["", secret[:at], secret[:at] + other + secret[at + 1 :], secret + "x", "\xe9", "x" * 4000]
        headers["Cookie"] = order.choice([f"{name}={order.choice(wrong)}", f"{name}x={secret}", secret, ";" * 100])
    else:
        headers.pop("Cookie")
        at = order.randrange(len(token))
        other = "A" if token[at] != "A" else "B"
        hostile.target = "/?token=" + order.choice(
            [token, token[:at], token[:at] + other + token[at + 1 :], token + "x", "", "%00", "x" * 3000]
        )


def body(order: random.Random, odd: bool) -> dict[str, Any]:
    """What the page sends, with odd values in it if wanted; no file is written."""
    column: dict[str, Any] = {"bounds": [0, 100], "bins": order.choice([21, 51])}
    schema: dict[str, Any] = {"columns": {"pay": column}}
    settings = {"epsilon": order.choice([0.5, 1.0]), "rows": order.choice([1, 3]), "schema": schema}
    said: dict[str, Any] = {
        "tab": order.choice(["one", "two"]), "settings": settings, "number": 1, "name": NO_FILE, "counts": False,
        "look": order.choice([True, False]), "schema": schema,
    }  # fmt: skip
    for _ in range(order.choice([1, 1, 3]) if odd else 0):
        holder: dict[str, Any] = order.choice([said, settings, settings, column, schema])
        holder[order.choice([*holder, *OTHER_NAMES])] = order.choice(ODD)
    return said


def broken(order: random.Random, hostile: Hostile) -> bytes:
    """A body that is no JSON, too long, of another length than was said, or in another type."""
    sent, what = hostile.body, order.randrange(6)
    at = order.randrange(len(sent))
    if what == 0:
        return sent[:at] + order.choice([b"", b"{", b"\xff", b"\x00", b"NaN", b"1e9999", b'"']) + sent[at + 1 :]
    if what == 1:
        return order.choice(
            [b"", b"[" * 9_000, b'{"a":' * 1_900, b"null", b"3", b"[1]", b'"x"', b"9" * 9_000, b'{"tab": NaN}']
        )
    if what == 2:
        return b" " * order.choice([300_001, 10**6, 10**7]) + sent
    if what == 3:
        hostile.headers["Content-Type"] = order.choice(
            ["text/plain", "", "multipart/form-data", "application/x-www-form-urlencoded"]
        )
    elif what == 4:
        hostile.headers["Transfer-Encoding"] = "chunked"
        length = f"{len(sent):x}\r\n".encode()
        return order.choice([length + sent + b"\r\n0\r\n\r\n", b"zz\r\n" + sent, b"0\r\n\r\n", b"-1\r\n"])
    else:
        hostile.headers["Content-Length"] = order.choice(["-1", "x", "1e3", "99999999999999999999", "+5", "0x10"])
        hostile.owner = hostile.owner and True
    return sent
