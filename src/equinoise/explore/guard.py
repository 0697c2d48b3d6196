"""Who may ask: whoever holds the one-time token, from then on the browser that has exchanged it for a cookie.

The page shows the histogram, so every request is checked, in this order:

0. It is not another user of this computer who asks, where the system tells.
1. ``Host`` is this server's own name. (A page elsewhere whose name was made to point here has another.)
2. ``Origin``, if there is one, is this server's, and ``Sec-Fetch-Site``, if there is one, does not say that another
   site is asking. Only the first visit may come from anywhere.
3. The cookie is the one that was given out, compared in constant time. It belongs to a folder with a secret name, under
   which everything is: a browser sends a host's cookies to all of its ports, but not those of a folder that it is not
   asked for, so another server on this computer never sees it.
4. What is sent is JSON and short. (A form of another site cannot send JSON.)

Every answer forbids being stored, framed, or loading anything from elsewhere.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from equinoise.explore.refusals import MOST_BODY, NOTHING_HERE, TOO_LONG, plain_page, refuse
from equinoise.explore.socket_owner import is_another_user

HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}

WELCOME = """<meta http-equiv="refresh" content="0; url={home}">
<p>Opening. If nothing happens, <a href="{home}">go on</a>.</p>"""
"""The address with the token in it must not stay in the address bar. This and no redirect: a browser that came from
a page elsewhere would keep back the new cookie after a redirect, but not when this page moves on by itself."""

ANOTHER_SITE = "Another site's page may not ask here."
RUN_AGAIN = "Run the command again (equinoise explore) for a new one, and open it in one browser only."


class Guard:
    """Lets through what is allowed; refuses the rest with a sentence. ``welcome`` hears of the owner's connections."""

    def __init__(self, app: ASGIApp, port: int, welcome: Callable[[Any], None]) -> None:
        self._app, self._port, self._welcome = app, port, welcome
        self.token = secrets.token_urlsafe(32)
        self.home = f"/{secrets.token_urlsafe(16)}/"
        self._cookie, self._reentry = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        self._name, self._reentry_name = f"equinoise-{port}", f"equinoise-{port}-again"
        self._token_used = False
        ends = {f":{port}", ""} if port == 80 else {f":{port}"}
        self._hosts = {f"{name}{end}" for name in ("127.0.0.1", "localhost") for end in ends}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, here or in the app."""
        if scope["type"] != "http":
            raise ValueError("only http is served")
        request = Request(scope)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        answer = self._check_sender(request) or self._exchange_token(request) or self._check_cookie(request)
        if answer is None or answer.status_code == 200:
            self._welcome(scope.get("client"))
            answer = answer or _check_body(request)
        await (answer or self._app)({**scope, "root_path": self.home.rstrip("/")}, receive, send_with_headers)

    def _check_sender(self, request: Request) -> Response | None:
        """The refusal of a request that no browser showing our page would make."""
        headers = request.headers
        if is_another_user(request.scope.get("client"), self._port):
            return refuse(request, 403, "Another user of this computer may not ask here.")
        if len(headers.getlist("host")) != 1 or headers["host"] not in self._hosts:
            return refuse(request, 403, "This server answers to 127.0.0.1 and localhost only, with its own port.")
        origins = headers.getlist("origin")
        if origins and origins != [f"http://{headers['host']}"]:
            return refuse(request, 403, ANOTHER_SITE)
        if request.method not in {"GET", "POST"}:
            return refuse(request, 405, "Only GET and POST are answered.")
        return None

    def _exchange_token(self, request: Request) -> Response | None:
        """The answer to the first visit, the token for a cookie, once; None if there is no token.

        A second cookie, of no use without the token, lets the same browser come this way again.
        """
        token = request.query_params.get("token")
        if token is None or request.method != "GET" or request.url.path != "/":
            return None
        if not _same(token, self.token):
            return refuse(request, 403, f"The token in this address is not the right one. {RUN_AGAIN}")
        if self._token_used and not _has_cookie(request, self._reentry_name, self._reentry):
            sentence = f"The token in this address has been used: it opens one browser, once. {RUN_AGAIN}"
            return refuse(request, 403, sentence)
        self._token_used = True
        answer = HTMLResponse(plain_page("Equinoise", WELCOME.format(home=self.home)))
        answer.set_cookie(self._reentry_name, self._reentry, httponly=True, samesite="strict", path="/")
        answer.set_cookie(self._name, self._cookie, httponly=True, samesite="strict", path=self.home)
        return answer

    def _check_cookie(self, request: Request) -> Response | None:
        """The refusal of anyone but the token's holder, and of what was made for another site."""
        if not _has_cookie(request, self._name, self._cookie):
            sentence = f"This page is for the browser that opened the address printed first. {RUN_AGAIN}"
            return refuse(request, 401, sentence)
        if not _from_own_page(request.headers):
            return refuse(request, 403, ANOTHER_SITE)
        if not request.scope["path"].startswith(self.home):
            return refuse(request, 404, NOTHING_HERE)
        return None


def _check_body(request: Request) -> Response | None:
    """The refusal of something sent that is not JSON, or too long."""
    if request.method != "POST":
        return None
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        return refuse(request, 415, "What is sent here must be JSON (Content-Type: application/json).")
    length = request.headers.get("content-length", "0")
    if not length.isascii() or not length.isdigit() or int(length) > MOST_BODY:
        return refuse(request, 413, TOO_LONG)
    return None


def _has_cookie(request: Request, name: str, expected: str) -> bool:
    return _same(request.cookies.get(name, ""), expected)


def _same(secret: str, expected: str) -> bool:
    return hmac.compare_digest(secret.encode(errors="replace"), expected.encode())


def _from_own_page(headers: Headers) -> bool:
    """Whether the browser says that our own page asks, or a person by typing the address; old ones say nothing."""
    site = headers.get("sec-fetch-site")
    return site in {None, "same-origin"} or (site == "none" and headers.get("sec-fetch-mode") == "navigate")
