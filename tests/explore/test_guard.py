"""Who may ask: every refusal, on a real server."""

import http.client
import json

import pytest

from equinoise.explore import app
from equinoise.explore.guard import HEADERS
from equinoise.explore.refusals import MOST_BODY
from equinoise.explore.source import Opening
from tests.helpers.explore_server import Visitor, pids_at_work, running_server


def refused(answer, status, words):
    """Refused with a sentence, with nothing of the data in it, and with the headers of every answer."""
    assert answer[0] == status, answer[2]
    assert words in answer[2].decode()
    assert b"Traceback" not in answer[2]
    assert b"pay" not in answer[2].replace(b"pay.eq", b"")
    assert {name: answer[1].get(name.lower()) for name in HEADERS} == HEADERS


def test_the_address_is_of_this_computer_alone(explorer):
    assert explorer.address.startswith(f"http://127.0.0.1:{explorer.port}/?token=")
    assert len(explorer.guard.token) >= 43
    assert explorer._listener.getsockname()[0] == "127.0.0.1"


def test_the_token_is_exchanged_once_for_a_strict_cookie(tmp_path):
    with running_server(tmp_path) as explorer:
        first, second = Visitor(explorer), Visitor(explorer)
        assert first.enter("wrong") == 403
        assert first.enter(explorer.guard.token + "x") == 403
        assert first.enter("%C3%A9") == 403
        assert first.enter() == 200
        assert explorer.guard.token not in first.cookie + first.reentry_cookie + first.home
        refused(
            second.ask("GET", f"/?token={explorer.guard.token}", headers={"Accept": "text/html"}), 403, "has been used"
        )
        assert first.ask("GET", f"/?token={explorer.guard.token}")[0] == 200  # another tab of the same browser
        assert first.ask("GET", "/")[0] == 200


def test_pages_of_the_guard_ask_for_no_icon(tmp_path):
    """A browser looks for one where no cookie is sent, and complains of the refusal: on some visits, not on all."""
    with running_server(tmp_path) as explorer:
        for path in ("/?token=wrong", "/", f"/?token={explorer.guard.token}"):
            page = Visitor(explorer).ask("GET", path, headers={"Accept": "text/html"})[2].decode()
            assert '<link rel="icon" href="data:,">' in page


def test_what_a_browser_tells_other_servers_of_this_computer_opens_nothing(explorer, visitor):
    """They are sent the cookies of all of the host, if a page of theirs is visited; not those of a folder."""
    thief = Visitor(explorer, visitor.reentry_cookie)
    for path in ("/", "/facts"):
        refused(thief.ask("GET", path), 401, "for the browser that opened the address")
        thief.home = "/"
        refused(thief.ask("GET", path), 401, "for the browser that opened the address")
    renamed = visitor.reentry_cookie.replace("-again=", "=")
    refused(Visitor(explorer, renamed).ask("GET", "/facts"), 401, "for the browser that opened the address")
    assert len(visitor.home) >= 22
    outside = Visitor(explorer, visitor.cookie)
    outside.home = "/"
    for path in ("/", "/facts", "/files/page.js", visitor.home.rstrip("/"), "/" + visitor.home):
        refused(outside.ask("GET", path), 404, "nothing at this address")  # a browser would not send the cookie here


def test_a_wrong_token_does_not_use_up_the_right_one(tmp_path):
    with running_server(tmp_path) as explorer:
        assert Visitor(explorer).enter("wrong") == 403
        assert Visitor(explorer).ask("POST", f"/?token={explorer.guard.token}", {})[0] == 401
        assert Visitor(explorer).ask("GET", f"/facts?token={explorer.guard.token}")[0] == 401
        assert Visitor(explorer).enter() == 200


@pytest.mark.parametrize("path", ["/", "/facts", "/files/page.js", "/report/pay.eq", "/nothing"])
def test_without_the_cookie_nothing_is_shown(explorer, visitor, path):
    name = visitor.cookie.split("=")[0]
    for cookie in (None, f"{name}=wrong", f"{name}=", "other=1", visitor.cookie[:-1], f"{name}=\u00e9"):
        refused(Visitor(explorer, cookie).ask("GET", path), 401, "for the browser that opened the address")


def test_without_the_cookie_nothing_is_done(explorer):
    for path in ("/solve", "/save"):
        refused(Visitor(explorer).ask("POST", path, {"tab": "a", "settings": {"epsilon": 1}}), 401, "for the browser")
    assert pids_at_work(explorer) == []


def hosts(port):
    return [
        "evil.example", f"evil.example:{port}", "127.0.0.1", f"127.0.0.1:{port + 1}", f"127.0.0.1.evil.example:{port}",
        f"[::1]:{port}", f"0.0.0.0:{port}", f"127.0.0.1:{port}@evil.example", "",
    ]  # fmt: skip


def test_other_host_names_are_refused(explorer, visitor):
    for host in hosts(explorer.port):
        for path in ("/", "/facts", f"/?token={explorer.guard.token}"):
            refused(visitor.ask("GET", path, headers={"Host": host}), 403, "answers to 127.0.0.1 and localhost only")
    assert visitor.ask("GET", "/facts", headers={"Host": f"localhost:{explorer.port}"})[0] == 200


def test_two_host_names_are_refused(explorer, visitor):
    connection = http.client.HTTPConnection("127.0.0.1", explorer.port, timeout=60)
    connection.putrequest("GET", "/facts", skip_host=True)
    for host in (f"127.0.0.1:{explorer.port}", "evil.example"):
        connection.putheader("Host", host)
    connection.putheader("Cookie", visitor.cookie)
    connection.endheaders()
    answer = connection.getresponse()
    assert answer.status in {400, 403}
    assert b"people" not in answer.read()
    connection.close()


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "https://127.0.0.1:{port}", "http://127.0.0.1", "http://127.0.0.1:1", "null", ""]
)
def test_another_origin_is_refused(explorer, visitor, origin):
    headers = {"Origin": origin.format(port=explorer.port)}
    refused(visitor.ask("GET", "/facts", headers=headers), 403, "Another site")
    refused(visitor.ask("POST", "/solve", {"tab": "a", "settings": {}}, headers), 403, "Another site")
    # the page's own requests name this one
    assert visitor.ask("GET", "/facts", headers={"Origin": f"http://127.0.0.1:{explorer.port}"})[0] == 200


def test_the_origin_must_be_the_name_that_was_asked(explorer, visitor):
    headers = {"Host": f"localhost:{explorer.port}", "Origin": f"http://127.0.0.1:{explorer.port}"}
    refused(visitor.ask("GET", "/facts", headers=headers), 403, "Another site")


@pytest.mark.parametrize("site", ["cross-site", "same-site", "none", "Same-Origin"])
def test_a_browser_that_asks_for_another_site_is_refused(visitor, site):
    for path in ("/", "/facts", "/report/pay.eq"):
        refused(visitor.ask("GET", path, headers={"Sec-Fetch-Site": site}), 403, "Another site")


def test_typing_the_address_and_the_page_itself_are_not(visitor):
    typed = {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"}
    assert visitor.ask("GET", "/", headers=typed)[0] == 200
    assert visitor.ask("GET", "/facts", headers={"Sec-Fetch-Site": "same-origin"})[0] == 200


def test_only_the_first_visit_may_come_from_another_page(tmp_path):
    with running_server(tmp_path) as explorer:
        status, headers, body = Visitor(explorer).ask(
            "GET", f"/?token={explorer.guard.token}", headers={"Sec-Fetch-Site": "cross-site"}
        )
        assert status == 200
        moves_on = f'content="0; url={explorer.guard.home}"'  # by itself, as the same site
        assert moves_on in body.decode()
        assert "location" not in headers


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", "json"])
def test_what_is_sent_must_be_json(visitor, kind):
    body = {"tab": "a", "look": False, "settings": {"epsilon": 1}}
    refused(visitor.ask("POST", "/solve", body, {"Content-Type": kind}), 415, "must be JSON")


def test_json_may_say_its_letters(visitor):
    body = {"tab": "a", "look": False, "settings": {"epsilon": -1}}
    answer = visitor.ask("POST", "/solve", body, {"Content-Type": "application/json; charset=utf-8"})
    assert answer[0] == 200


def test_what_is_too_long_is_refused(visitor):
    refused(visitor.ask("POST", "/solve", b" " * (MOST_BODY + 1)), 413, "at most 300,000 bytes")
    refused(visitor.ask("POST", "/save", b" " * (MOST_BODY + 1)), 413, "at most 300,000 bytes")


def test_what_does_not_arrive_is_refused(visitor, monkeypatch):
    monkeypatch.setattr(app, "SECONDS_TO_SEND", 0.2)
    headers = {"Content-Length": "100"}  # of which nothing follows
    refused(visitor.ask("POST", "/solve", b"{", headers), 400, "did not arrive within 0.2 seconds")


def test_what_is_too_long_without_saying_so_is_refused(visitor):
    def parts():
        for _ in range(20):
            yield b" " * 20_000

    refused(visitor.ask("POST", "/solve", parts()), 413, "at most 300,000 bytes")


@pytest.mark.parametrize("body", [b"", b"{", b"[1]", b"3", b"null", b"\xff", b"[" * 5_000])
def test_what_is_no_json_object_is_refused(visitor, body):
    for path in ("/solve", "/save"):
        refused(visitor.ask("POST", path, body), 400, "What was sent is not")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"tab": 3},
        {"tab": ""},
        {"tab": "a" * 101},
        {"tab": "a"},
        {"tab": "a", "look": True},
        {"tab": "a", "settings": {}},
        {"tab": "a", "look": 1, "settings": {}},
        {"tab": "a", "look": True, "settings": 3},
    ],
)
def test_what_is_missing_is_named(visitor, body):
    refused(visitor.ask("POST", "/solve", body), 400, "parameter must be")


@pytest.mark.parametrize("method", ["PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE"])
def test_other_methods_are_refused(visitor, method):
    assert visitor.ask(method, "/")[0] == 405


def test_what_is_not_there_is_not_found(visitor):
    paths = [
        "/nothing",
        "/files/worker.py",
        "/files/../app.py",
        "/files/%2e%2e/app.py",
        "/files/..%2fapp.py",
        "//etc/passwd",
    ]
    for path in paths:
        refused(visitor.ask("GET", path), 404, "nothing at this address")
    refused(visitor.ask("POST", "/facts", {}), 405, "nothing at this address")
    refused(visitor.ask("GET", "/solve"), 405, "nothing at this address")


def test_refusals_are_pages_for_people(visitor, explorer):
    _, headers, body = Visitor(explorer).ask("GET", "/", headers={"Accept": "text/html,*/*"})
    assert headers["content-type"].startswith("text/html")
    assert b"<h1>Refused</h1>" in body
    assert b"Run the command again" in body


def test_every_answer_forbids_storing_framing_and_loading_from_elsewhere(visitor):
    for path in ("/", "/facts", "/files/page.css", "/nothing"):
        headers = visitor.ask("GET", path)[1]
        assert headers["cache-control"] == "no-store"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-frame-options"] == "DENY"
        assert "access-control-allow-origin" not in headers
        assert "server" not in headers
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'")
        assert "unsafe" not in policy


def test_what_goes_wrong_unexpectedly_shows_no_traceback(visitor, monkeypatch):
    def broken(counted):
        raise ZeroDivisionError("a secret")

    monkeypatch.setattr(Opening, "to_json", broken)
    status, _, body = visitor.ask("GET", "/facts")
    assert status == 500
    assert json.loads(body)["sentence"] == "Something unexpected went wrong (ZeroDivisionError). Please report it."


def test_the_page_s_files_are_its_own(visitor):
    for name in ("page.css", "page.js", "icon.svg", "schema.js", "charts.js", "vega.js"):
        status, _, body = visitor.ask("GET", f"/files/{name}")
        assert status == 200
        if name != "vega.js":
            assert b"http://" not in body.replace(b"http://www.w3.org/2000/svg", b"")
            assert b"https://" not in body
    assert b"vegaEmbed" in body
