"""A running page and somebody who visits it, for tests."""

from __future__ import annotations

import http.client
import json
import re
import threading
from contextlib import closing, contextmanager

import numpy as np
import polars as pl

from equinoise.explore.counts import count_columns
from equinoise.explore.serve import Explorer, open_socket

PEOPLE = np.random.default_rng(11).normal(50, 12, 300).clip(0, 100).round(1)
BINS = (21, 51, 401)
LONG = {"epsilon": 1.0, "bins": 401, "draws": 500, "delta": 1e-6, "scales": "adaptive"}
"""Takes ten seconds at least: something to cancel."""


def count(**options):
    return count_columns(PEOPLE, column="pay", **{"bounds": (0, 100), "bins": BINS, **options})


def pairs(**options):
    """Two columns that go together and one that does not, of 300 people; one of them has no value in two."""
    rng = np.random.default_rng(12)
    tall = (2 * PEOPLE + rng.normal(0, 20, 300)).clip(0, 200)
    data = pl.DataFrame({"pay": PEOPLE, "tall": tall, "age": rng.uniform(18, 90, 300)})
    data = data.with_columns(age=pl.when(pl.int_range(300) < 2).then(None).otherwise("age"))
    limits = {"pay": (0, 100), "tall": (0, 200), "age": (18, 90)}
    columns = options.pop("column", ["pay", "tall", "age"])
    asked = {"bins": (9, 15), "missing": "drop", "bounds": {name: limits[name] for name in columns}, **options}
    return data, count_columns(data, column=columns, **asked)


@contextmanager
def exploring(folder, counted=None):
    """A server in a thread of this process, with workers of its own."""
    explorer = Explorer(counted or count(), open_socket(0), folder=folder)
    thread = threading.Thread(target=explorer.serve)
    thread.start()
    try:
        yield explorer
    finally:
        explorer.server.handle_exit(2, None)
        thread.join(30)
        assert not thread.is_alive()


class Visitor:
    """Somebody with a browser's headers, and a cookie once they have one."""

    def __init__(self, explorer, cookie=None):
        self.explorer, self.cookie, self.again = explorer, cookie, None
        self.home = getattr(explorer.guard, "home", "/")

    def connect(self, method, path, body=None, headers=None):
        """A connection on which the answer has not been read yet."""
        connection = http.client.HTTPConnection("127.0.0.1", self.explorer.port, timeout=60)
        outside = path.startswith("/?token=")
        cookie = self.again if outside else self.cookie  # as a browser does, by the folders that they are for
        given = {"Cookie": cookie} if cookie else {}
        path = path if outside else self.home + path.removeprefix("/")
        if isinstance(body, dict | list):
            body = json.dumps(body)
        if body is not None:
            given["Content-Type"] = "application/json"
        connection.request(method, path, body, {**given, **(headers or {})})
        return connection

    def ask(self, method, path, body=None, headers=None):
        """Status, headers, body."""
        connection = self.connect(method, path, body, headers)
        answer = connection.getresponse()
        found = answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        connection.close()
        return found

    def enter(self, token=None):
        """The first visit."""
        with closing(self.connect("GET", f"/?token={token or self.explorer.guard.token}")) as connection:
            answer = connection.getresponse()
            if answer.status == 200:
                self.home = re.search(r'url=(/[^"]+/)', answer.read().decode())[1]
                given = [cookie.split("; ") for cookie in answer.headers.get_all("Set-Cookie")]
                ((self.again, *rest), (self.cookie, *others)) = given
                assert rest == ["HttpOnly", "Path=/", "SameSite=strict"]
                assert others == ["HttpOnly", f"Path={self.home}", "SameSite=strict"]
            return answer.status

    def solve(self, tab="one", **settings):
        """All messages."""
        status, _, body = self.ask("POST", "/solve", {"tab": tab, "settings": {"bins": 51, **settings}})
        assert status == 200, body
        return [json.loads(line) for line in body.splitlines()]

    def result(self, tab="one", promise="differential-privacy", **settings):
        """The result among them; of the promise that takes no time unless another is named."""
        settings["promise"] = promise
        messages = self.solve(tab, **settings)
        assert messages[-1]["kind"] == "done", messages[-1]
        return next(message for message in messages if message["kind"] == "result")

    def save(self, number, name, tab="one"):
        """What came of it, and what is said of that."""
        _, _, body = self.ask("POST", "/save", {"tab": tab, "number": number, "name": name})
        found = json.loads(body)
        return found.pop("kind", "refused"), found
