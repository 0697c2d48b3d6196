"""Strangers who hold on to connections: the owner gets in, and strangers are ended in time."""

import os
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack

import pytest

from equinoise.explore import connections, guard
from tests.explore.test_command import COMMAND, visit
from tests.helpers.explore_server import Visitor, running_server
from tests.helpers.polling import wait_until

HALF = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"


def strangers(stack, port, many, sent=b""):
    """So many connections that stay open on their side, on which a part of a request was sent."""
    begun = []
    for _ in range(many):
        opened = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=60))
        opened.sendall(sent)
        begun.append(opened)
    return begun


def ended(opened):
    """Whether the other side has closed it."""
    opened.setblocking(False)
    try:
        return opened.recv(1) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def test_the_owner_gets_in_whoever_else_holds_on(tmp_path):
    with running_server(tmp_path) as explorer, ExitStack() as stack:
        begun = strangers(stack, explorer.port, 200, HALF) + strangers(stack, explorer.port, 50)
        owner = Visitor(explorer)
        assert owner.enter() == 200
        assert owner.ask("GET", "/facts")[0] == 200
        wait_until("strangers to be few", lambda: sum(not ended(each) for each in begun) <= connections.MOST_STRANGERS)


def test_the_owner_s_connection_is_nobody_else_s_place(tmp_path):
    with running_server(tmp_path) as explorer, ExitStack() as stack:
        owner = Visitor(explorer)
        assert owner.enter() == 200
        kept = owner.connect("GET", "/facts")
        assert kept.getresponse().read()
        strangers(stack, explorer.port, 3 * connections.MOST_STRANGERS, HALF)
        kept.request("GET", owner.home + "facts", headers={"Cookie": owner.cookie})
        assert kept.getresponse().status == 200
        kept.close()


def test_a_request_that_is_not_there_in_time_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(connections, "SECONDS_TO_ASK", 0.3)
    with running_server(tmp_path) as explorer, ExitStack() as stack:
        idle, half, slow = strangers(stack, explorer.port, 3)
        half.sendall(HALF)
        for opened in (idle, half):
            wait_until("it to be ended", ended, opened)

        def drips():
            try:
                slow.send(b"x")
            except OSError:
                return True
            return False

        wait_until("a slow one to be ended, too", drips)
        owner = Visitor(explorer)
        assert owner.enter() == 200
        opened = owner.connect("GET", "/facts")
        assert opened.getresponse().read()
        wait_until("one that asks no more to be ended", ended, opened.sock)
        opened.close()


def test_long_work_is_not_taken_for_a_slow_request(tmp_path, monkeypatch):
    monkeypatch.setattr(connections, "SECONDS_TO_ASK", 0.05)
    with running_server(tmp_path) as explorer:
        owner = Visitor(explorer)
        assert owner.enter() == 200
        assert owner.result(epsilon=1.0)


def test_nobody_can_say_that_they_are_somebody_else(tmp_path, monkeypatch):
    """A header that servers behind others believe in would hide another user of this computer."""
    seen = []
    monkeypatch.setattr(guard, "is_another_user", lambda client, port: seen.append(client) or True)
    with running_server(tmp_path) as explorer:
        Visitor(explorer).ask("GET", "/", headers={"X-Forwarded-For": "127.0.0.1", "X-Forwarded-Proto": "https"})
    assert seen[0][0] == "127.0.0.1"
    assert seen[0][1] > 0


@pytest.mark.skipif(os.name != "posix", reason="there are such limits")
def test_few_file_descriptors_lock_nobody_out_and_print_nothing(folder):
    words = [*COMMAND, "pay.csv", "--column", "pay", "--bounds", "pay", "0", "100", "--no-browser"]
    limited = f"ulimit -n 64; exec {' '.join(repr(word) for word in words)}"
    process = subprocess.Popen(
        ["bash", "-c", limited], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        address = process.stdout.readline().strip()
        port = int(address.split(":")[2].partition("/")[0])
        with ExitStack() as stack:
            strangers(stack, port, 150)
            strangers(stack, port, 50, HALF)
            owner = visit(address)
            assert owner.ask("GET", "/facts")[0] == 200
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=60)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    assert process.returncode == 0
    assert "Traceback" not in said
    assert "accept" not in said
    assert sys.platform != "linux" or said.endswith("Ended.\n")


def test_what_asyncio_would_print_is_a_line(capsys):
    all_connections = connections.Connections()
    all_connections.handle_error(None, {"exception": OSError(24, "Too many open files")})
    assert capsys.readouterr().err == ""
    all_connections.handle_error(None, {"exception": ZeroDivisionError("a secret")})
    assert capsys.readouterr().err == "Something unexpected went wrong in the page's server (ZeroDivisionError).\n"
