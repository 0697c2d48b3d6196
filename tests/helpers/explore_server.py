"""Runs the server of ``equinoise explore`` in this process, and visits it as a browser does."""

from __future__ import annotations

import http.client
import json
import re
import threading
from contextlib import closing, contextmanager

import numpy as np
import polars as pl

from equinoise.explore.counts import count_columns
from equinoise.explore.server import Explorer, open_socket

PAY_VALUES = np.random.default_rng(11).normal(50, 12, 300).clip(0, 100).round(1)
BIN_CHOICES = (21, 51, 401)
LONG_REQUEST = {"epsilon": 1.0, "bins": 401, "draws": 500, "delta": 1e-6, "scales": "adaptive"}
"""Settings that take ten seconds at least: something to cancel."""


def pay_counts(**options):
    """The counts of one column, the pay of 300 people."""
    return count_columns(PAY_VALUES, column="pay", **{"bounds": (0, 100), "bins": BIN_CHOICES, **options})


def three_columns(**options):
    """A table of 300 people, and its counts: two columns that go together and one that does not, empty in two rows."""
    rng = np.random.default_rng(12)
    tall = (2 * PAY_VALUES + rng.normal(0, 20, 300)).clip(0, 200)
    data = pl.DataFrame({"pay": PAY_VALUES, "tall": tall, "age": rng.uniform(18, 90, 300)})
    data = data.with_columns(age=pl.when(pl.int_range(300) < 2).then(None).otherwise("age"))
    limits = {"pay": (0, 100), "tall": (0, 200), "age": (18, 90)}
    columns = options.pop("column", ["pay", "tall", "age"])
    settings = {"bins": (9, 15), "missing": "drop", "bounds": {name: limits[name] for name in columns}, **options}
    return data, count_columns(data, column=columns, **settings)


@contextmanager
def running_server(folder, counts=None):
    """The server, in a thread of this process with workers of its own; it is ended on the way out."""
    explorer = Explorer(counts or pay_counts(), open_socket(0), folder=folder)
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

    def solve(self, tab="one", **settings):
        """All messages of one piece of work, from first to last."""
        status, _, body = self.ask("POST", "/solve", {"tab": tab, "settings": {"bins": 51, **settings}})
        assert status == 200, body
        return [json.loads(line) for line in body.splitlines()]

    def result(self, tab="one", promise="differential-privacy", **settings):
        """The message with the result; of the promise that takes no time unless another is named."""
        settings["promise"] = promise
        messages = self.solve(tab, **settings)
        assert messages[-1]["kind"] == "done", messages[-1]
        return next(message for message in messages if message["kind"] == "result")

    def save(self, number, name, tab="one"):
        """The kind of the answer (saved, refused, ...), and its other fields."""
        _, _, body = self.ask("POST", "/save", {"tab": tab, "number": number, "name": name})
        answer = json.loads(body)
        return answer.pop("kind", "refused"), answer
