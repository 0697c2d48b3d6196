"""How a process ends: without memory, with Ctrl-C at any moment, with a stderr that is full, with odd names."""

import csv
import os
import signal
import subprocess
import sys
import time
from contextlib import nullcontext

import polars as pl
import pytest

from equinoise.cli import main as cli
from equinoise.cli import process as cli_process
from equinoise.errors import system_sentence
from tests.cli.test_commands import OPTIMIZE, PEOPLE, make
from tests.present.test_terminal import on_a_terminal

ENTRY = [sys.executable, "-c", "from equinoise.__main__ import main; main()"]


class PanicException(BaseException):
    """What a library written in Rust raises, by its name."""


def ended(*words, **options):
    return subprocess.run([*ENTRY, *words], capture_output=True, text=True, check=False, timeout=120, **options)


def test_a_library_that_gives_up_is_bad_input_and_a_sentence(run, folder, monkeypatch):
    def gives_up(*rest):
        raise PanicException("failed to spawn\na thread")

    monkeypatch.setattr("equinoise.mechanisms.base.Mechanism.open", gives_up)
    status, out, err = run("show", "pay.eq", "--json")
    assert status == 2
    assert '"status": 2' in out
    assert err.startswith("Error: A library gave up (failed to spawn<U+000A>a thread). Most often there is too little")
    assert err.count("\n") == 1


@pytest.mark.parametrize(("error", "heard"), [(PanicException(), b""), (OSError(), b"why"), (None, b"why")])
def test_what_a_library_prints_is_kept_back_only_if_it_gives_up(capfd, error, heard):
    with pytest.raises(type(error)) if error is not None else nullcontext(), cli_process.hold_stderr():
        os.write(2, b"why")
        if error is not None:
            raise error
    assert capfd.readouterr().err.encode() == heard


def test_too_little_address_space_is_refused_before_libraries_fail(folder, run):
    resource = pytest.importorskip("resource")
    make(run)

    def limited():
        resource.setrlimit(resource.RLIMIT_AS, (300_000 * 1024,) * 2)

    done = ended("show", "pay.eq", preexec_fn=limited)
    assert done.returncode == 2
    assert done.stderr == (
        "Error: This needs at least 2 GB of address space, and the limit is 0.29 GB. Raise it (ulimit -v unlimited).\n"
    )


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError("Could not find/load shared object file 'x.so'."), "A library could not be loaded (Could not find/lo"),
        (ImportError("y.so: failed to map segment"), "A library could not be loaded (y.so: failed to map segment). "),
        (OSError(36, "File name too long", "x" * 300), "cannot be used: File name too long."),
        (OSError(28, "No space left on device"), "The output could not be written: No space left on device."),
        (OSError(12, "Cannot allocate memory"), "There is not enough memory. "),
        (OSError(24, "Too many open files"), "The system says: Too many open files."),
    ],
)
def test_what_the_system_would_not_do_is_called_by_its_name(run, monkeypatch, error, said):
    def fails(*rest):
        raise error

    monkeypatch.setattr("equinoise.mechanisms.base.Mechanism.open", fails)
    status, out, err = run("show", "pay.eq", "--json")
    assert status == 2
    assert said in err
    assert len(err) < 250
    assert said in out or error.errno == 28
    assert err == f"Error: {system_sentence(error)}\n"


def test_a_path_that_is_too_long_is_named(run, folder):
    long = "x" * 300
    for words in (["show", long], ["optimize", "pay.csv", *OPTIMIZE, "--out", long]):
        status, _, err = run(*words)
        assert status == 2
        assert "File name too long" in err
        assert "output could not be written" not in err
        assert "xxx" in err


@pytest.mark.parametrize("redirected", ["2>/dev/full", "2>&-"])
def test_a_stderr_that_cannot_be_written_changes_no_status(folder, run, redirected):
    make(run, "--draws", "10")
    (folder / "other.csv").write_text("pay\n1\n2\n")
    entry = f'{sys.executable} -c "from equinoise.__main__ import main; main()"'
    for command, status, lines in (
        ("sample pay.eq -n 2", 0, 3),
        ("audit pay.eq --data other.csv --json", 1, 1),
        ("show none.eq", 2, 0),
    ):
        words = ["bash", "-c", f"{entry} {command} {redirected}"]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == status, command
        assert len(done.stdout.splitlines()) == lines


ODD = "pay\x1b]0;owned\x07\x1b[31m"


def test_a_name_cannot_steer_a_terminal_and_stays_itself_elsewhere(folder, run):
    pl.DataFrame({ODD: PEOPLE, "b\x1b[2J": PEOPLE[::-1]}).write_csv("odd.csv")
    both = ["--bounds", ODD, "0", "100", "--bounds", "b\x1b[2J", "0", "100", "--bins", "9", "--epsilon", "4"]
    seen = on_a_terminal(folder, "optimize", "odd.csv", *both, "--draws", "9", "--out", "odd.eq")
    seen += on_a_terminal(folder, "sample", "odd.eq", "-n", "2")
    for command in (["audit", "odd.eq"], ["losses", "odd.eq", "odd.csv", "--out", "l.csv"]):
        seen += on_a_terminal(folder, *command)
    assert "\x1b]" not in seen
    assert "\x1b[2J" not in seen
    assert "\x07" not in seen
    assert "pay<U+001B>]0;owned" in seen
    rows = run("sample", "odd.eq")[1]
    assert next(csv.reader([rows.splitlines()[0]])) == [ODD, "b\x1b[2J"]


def test_the_first_import_loads_nothing_else():
    """Whatever is loaded before the command line can catch Ctrl-C would end in a traceback."""
    code = "import sys; before = set(sys.modules); import equinoise.__main__; print(sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['equinoise', 'equinoise.__main__']\n"


@pytest.mark.parametrize(
    "module", ["equinoise.cli.main", "click", "equinoise.errors", "polars", "equinoise.mechanisms.base"]
)
def test_ctrl_c_in_any_import_is_a_sentence(folder, module):
    code = f"""
import sys

class Interrupting:
    def find_spec(self, name, *rest):
        if name == {module!r}:
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupting())
sys.argv = ["equinoise", "show", "pay.eq"]
from equinoise.__main__ import main
main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 130
    assert done.stderr.lstrip() == "Error: Stopped. Nothing more was written.\n"  # click begins a new line


def test_ctrl_c_while_a_process_starts_shows_nothing_of_ours(folder):
    """At many moments: what Python itself was at is not ours, nor is the line that calls us."""
    for step in range(16):
        process = subprocess.Popen(
            [*ENTRY, "show", "none.eq"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        time.sleep(0.008 * step)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=120)
        assert process.returncode in {130, 2, 1, -signal.SIGINT}
        assert "equinoise" + os.sep not in err, err
        if "Traceback" not in err:
            said = {"", "Error: Stopped. Nothing more was written.\n", "Error: There is no file 'none.eq'.\n"}
            assert err.lstrip() in said  # click begins a new line


def test_ctrl_c_twice_is_as_good_as_once(folder):
    code = """
import os, signal, sys
from equinoise import __main__
from equinoise.cli import main as cli
def run():
    raise KeyboardInterrupt
cli.main = run
class Again:
    def write(self, text):
        os.kill(os.getpid(), signal.SIGINT)
        os.write(2, text.encode())
    def flush(self): pass
sys.stderr = Again()
__main__.main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "Error: Stopped. Nothing more was written.\n")


def test_every_command_loads_its_libraries_with_care():
    assert all(command.callback.__wrapped__ for command in cli.all_commands().values())
