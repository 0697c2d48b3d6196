"""Runs the server of ``equinoise explore`` in this process, and visits it as a browser does."""

import http.client
import json
import re
import threading
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import polars as pl

from equinoise.data.read_players import columns_asked_for
from equinoise.explore.server import Explorer, open_socket
from equinoise.explore.source import Opening, Source

PAY_VALUES = np.random.default_rng(11).normal(50, 12, 300).clip(0, 100).round(1)
PAY = {"columns": {"pay": {"bounds": [0, 100], "bins": 51}}}
FINE_PAY = {"columns": {"pay": {"bounds": [0, 100], "bins": 401}}}
LONG_REQUEST = {
    "verb": "optimize", "schema": FINE_PAY, "epsilon": 1.0, "draws": 500, "delta": 1e-6, "scales": "adaptive"
}  # fmt: skip
"""Settings that take ten seconds at least: something to cancel."""


def pay_file(folder):
    """A file of the pay of 300 people."""
    path = Path(folder) / "pay.csv"
    if not path.exists():
        pl.DataFrame({"pay": PAY_VALUES}).write_csv(path)
    return path


def pay_opening(folder):
    """What the page of that file begins with."""
    return Opening.of(Source(pay_file(folder)), columns_asked_for(PAY, None, None))


def three_columns(folder):
    """A file of 300 people, and its schema: two columns that go together, a ward (empty in two rows), names."""
    rng = np.random.default_rng(12)
    tall = (2 * PAY_VALUES + rng.normal(0, 20, 300)).clip(0, 200)
    ward = rng.choice(["north", "south", "east"], 300)
    data = pl.DataFrame({"pay": PAY_VALUES, "tall": tall, "ward": ward, "patient": [f"p{n}" for n in range(300)]})
    path = Path(folder) / "people.csv"
    data.with_columns(ward=pl.when(pl.int_range(300) < 2).then(None).otherwise("ward")).write_csv(path)
    columns = {
        "pay": {"bounds": [0, 100], "bins": 9},
        "tall": {"bounds": [0, 200], "bins": 9},
        "ward": {"categories": ["north", "south", "east"]},
    }
    return path, {"columns": columns}


@contextmanager
def running_server(folder, opening=None):
    """The server, in a thread of this process with workers of its own; it is ended on the way out."""
    if opening is None:
        (Path(folder) / "data").mkdir(parents=True, exist_ok=True)
        opening = pay_opening(Path(folder) / "data")
    explorer = Explorer(opening, open_socket(0), folder=folder)
    thread = threading.Thread(target=explorer.serve_page)
    thread.start()
    try:
        yield explorer
    finally:
        explorer.handle_exit(2, None)
        thread.join(30)
        assert not thread.is_alive()


def pids_at_work(explorer):
    """Ids of the processes that are at work for tabs."""
    busy = [worker.process for worker in explorer.tabs._workers.values() if worker.busy and worker.process is not None]
    return [process.pid for process in busy if process.is_alive()]


class Visitor:
    """A browser's headers and cookies, once there are any."""

    def __init__(self, explorer, cookie=None):
        self.explorer, self.cookie, self.reentry_cookie = explorer, cookie, None
        self.home = getattr(explorer.guard, "home", "/")

    def connect(self, method, path, body=None, headers=None):
        """A connection on which the answer has not been read yet."""
        connection = http.client.HTTPConnection("127.0.0.1", self.explorer.port, timeout=60)
        outside = path.startswith("/?token=")
        cookie = self.reentry_cookie if outside else self.cookie  # as a browser does, by the folders that they are for
        sent_headers = {"Cookie": cookie} if cookie else {}
        path = path if outside else self.home + path.removeprefix("/")
        if isinstance(body, dict | list):
            body = json.dumps(body)
        if body is not None:
            sent_headers["Content-Type"] = "application/json"
        connection.request(method, path, body, {**sent_headers, **(headers or {})})
        return connection

    def ask(self, method, path, body=None, headers=None):
        """Status, headers by lower-case name, and body of an answer."""
        connection = self.connect(method, path, body, headers)
        answer = connection.getresponse()
        result = answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        connection.close()
        return result

    def enter(self, token=None):
        """The status of the first visit, with the token; keeps the cookies and the page's folder."""
        with closing(self.connect("GET", f"/?token={token or self.explorer.guard.token}")) as connection:
            answer = connection.getresponse()
            if answer.status == 200:
                self.home = re.search(r'url=(/[^"]+/)', answer.read().decode())[1]
                cookies = [cookie.split("; ") for cookie in answer.headers.get_all("Set-Cookie")]
                ((self.reentry_cookie, *rest), (self.cookie, *others)) = cookies
                assert rest == ["HttpOnly", "Path=/", "SameSite=strict"]
                assert others == ["HttpOnly", f"Path={self.home}", "SameSite=strict"]
            return answer.status

    def solve(self, tab="one", look=True, **settings):
        """All messages of one piece of work, from first to last."""
        settings = {"schema": PAY, **settings}
        status, _, body = self.ask("POST", "/solve", {"tab": tab, "look": look, "settings": settings})
        assert status == 200, body
        return [json.loads(line) for line in body.splitlines()]

    def result(self, tab="one", **settings):
        """The message with the result of the game, whose mechanism can be saved."""
        messages = self.solve(tab, **{"verb": "optimize", **settings})
        assert messages[-1]["kind"] == "done", messages[-1]
        return next(message for message in messages if message["kind"] == "result")

    def save(self, number, name, tab="one"):
        """The kind of the answer (saved, refused, ...), and its other fields."""
        _, _, body = self.ask("POST", "/save", {"tab": tab, "number": number, "name": name})
        answer = json.loads(body)
        return answer.pop("kind", "refused"), answer

    def publish(self, name="rows.csv", tab="one", counts=False, **settings):
        """All messages of making rows."""
        settings = {"schema": PAY, "epsilon": 1.0, "rows": 20, **settings}
        body = {"tab": tab, "name": name, "counts": counts, "settings": settings}
        return [json.loads(line) for line in self.ask("POST", "/publish", body)[2].splitlines()]
