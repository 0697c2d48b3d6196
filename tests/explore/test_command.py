"""``equinoise explore`` itself: as a command, with bad input, until Ctrl-C."""

import json
import os
import signal
import socket
import subprocess
import sys
from types import SimpleNamespace

import pytest

import equinoise
from tests.helpers.explore_server import LONG_REQUEST, Visitor
from tests.helpers.polling import wait_until

COMMAND = [sys.executable, "-c", "from equinoise.cli.main import main; main()", "explore"]


@pytest.fixture
def start_command(folder):
    """Starts the command in a session of its own; gives the process."""
    processes = []

    def start(*options):
        process = subprocess.Popen(
            [*COMMAND, "pay.csv", "--column", "pay", "--bounds", "pay", "0", "100", "--no-browser", *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        processes.append(process)
        return process

    yield start
    for process in processes:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def visit(address):
    token = address.partition("token=")[2]
    port = int(address.split(":")[2].partition("/")[0])
    found = Visitor(SimpleNamespace(port=port, guard=SimpleNamespace(token=token)))
    assert found.enter() == 200
    return found


def nobody_left(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_everything(start_command, which):
    process = start_command("--json")
    told = json.loads(process.stdout.readline())
    assert sorted(told) == ["address", "port"]
    visitor = visit(told["address"])
    connection = visitor.connect("POST", "/solve", {"tab": "a", "look": True, "settings": LONG_REQUEST})
    answer = connection.getresponse()
    assert json.loads(answer.readline())["kind"] == "plan"
    assert json.loads(answer.readline())["kind"] == "note"
    os.killpg(process.pid, which) if which == signal.SIGINT else process.send_signal(which)
    out, err = process.communicate(timeout=60)
    connection.close()
    wait_until("its processes to end", lambda: nobody_left(process.pid))
    assert out == ""
    assert "Traceback" not in err
    if which == signal.SIGINT:
        assert process.returncode == 0
        assert err.endswith("Ended.\n")


def test_the_address_is_printed(start_command):
    process = start_command()
    address = process.stdout.readline().strip()
    visitor = visit(address)
    assert visitor.ask("GET", "/")[0] == 200
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "the page shows nothing of the data" in err


def test_a_book_that_the_environment_names_is_charged(start_command, folder, monkeypatch):
    book = equinoise.Book.create("people.book", epsilon=3)
    monkeypatch.setenv("EQUINOISE_BOOK", "people.book")
    process = start_command("--json")
    visitor = visit(json.loads(process.stdout.readline())["address"])
    assert visitor.publish("one.csv")[-1]["kind"] == "done"
    assert book.left() == 2
    assert visitor.publish("two.csv", epsilon=2.5)[-1]["kind"] == "refused"
    assert not (folder / "two.csv").exists()
    kind, found = visitor.save(visitor.result(epsilon=1.0)["number"], "game.eq")
    assert kind == "refused"
    assert "the game promises none" in found["sentence"]


def test_a_port_in_use(run):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        status, out, err = run("explore", "pay.csv", "--column", "pay", "--bounds", "pay", 0, 100, "--port", port)
    assert status == 2
    assert out == ""
    assert err == f"Error: Port {port} is in use. Name another with --port, or leave it out for any free one.\n"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["pay.csv", "--column", "wage"], "wage"),
        ([], "Name a file, or with --schema"),
        (["none.csv"], "none.csv"),
        (["pay.csv", "--schema", "none.toml"], "none.toml"),
        (["pay.csv", "--unit", "person", "--bounds", "pay", 0, 1], "no column 'person'"),
        (["pay.csv", "--bounds", "pay", 1, 0], "the lower one first"),
        (["pay.csv", "--column", "pay", "--bounds", "id", 0, 1], "--bounds names column 'id', but --column is 'pay'"),
        (["pay.csv", "--bounds", "pay", 0, 1, "--bounds", "pay", 0, 1], "Give --bounds once for column 'pay'"),
        (["pay.csv", "--column", "pay", "--port", 70000], "--port must be a whole number"),
        (["pay.csv", "--column", "pay", "--port", -1], "--port must be a whole number"),
        (["pay.csv", "--column", "pay", "--engine", "abacus"], "engine"),
    ],
    ids=str,
)
def test_bad_input(run, options, sentence):
    status, out, err = run("explore", *options)
    assert status == 2
    assert out == ""
    assert sentence in err
    assert err.startswith("Error: ")


def test_without_the_extra(run, monkeypatch):
    from equinoise.cli import explore as cli_explore

    monkeypatch.setattr(cli_explore, "find_spec", lambda name: None)
    status, _, err = run("explore", "pay.csv")
    assert status == 2
    assert "pip install 'equinoise[explore]'" in err
