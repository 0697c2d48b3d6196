"""What people see: pictures in letters, time left, quiet pipes, colours, completion."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import equinoise
from equinoise.analysis.end_to_end import end_to_end
from equinoise.data.grid import Axis
from equinoise.present.terminal import bars, progress_line
from equinoise.solvers.solution import Round

OPTIMIZE = ["optimize", "pay.csv", "--column", "pay", "--epsilon", "1", "--bounds", "pay", "0", "100", "--bins", "41"]
COLOUR = re.compile(r"\x1b\[(?:\d+;)*3\d")
COMMANDS = [
    "answer",
    "audit",
    "book",
    "compare",
    "cost",
    "demo",
    "explore",
    "losses",
    "optimize",
    "plan",
    "report",
    "reproduce",
    "sample",
    "schema",
    "show",
    "synthesize",
]


def on_a_terminal(folder, *arguments, **variables):
    """Run a command with a terminal of 80 columns; everything that would be seen, as it was sent."""
    pty, termios, fcntl = (pytest.importorskip(name) for name in ("pty", "termios", "fcntl"))
    main, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, b"\x28\x00\x50\x00\x00\x00\x00\x00")
    kept = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "FORCE_COLOR", "COLUMNS"}}
    command = [sys.executable, "-m", "equinoise", *arguments]
    with subprocess.Popen(
        command, cwd=folder, stdin=side, stdout=side, stderr=side, env={**kept, "TERM": "xterm-256color", **variables}
    ) as process:
        os.close(side)
        sent = b""
        while True:
            try:
                part = os.read(main, 65536)
            except OSError:  # the other side is closed
                break
            if not part:
                break
            sent += part
    os.close(main)
    assert process.returncode == 0, sent
    return sent.decode()


def test_alone_it_explains_the_three_steps_on_stdout(run):
    status, out, err = run()
    assert (status, err) == (0, "")
    places = [
        out.index(f"equinoise {step}") for step in ("schema people.csv", "synthesize people.csv", "report rows.eq")
    ]
    assert places == sorted(places)
    assert max(map(len, out.splitlines())) <= 110


def test_every_command_of_the_three_steps_exists_and_takes_these_options(run, folder):
    from equinoise.cli.main import THREE_STEPS, all_commands

    shown = [line.split()[1:] for line in THREE_STEPS.splitlines() if line.strip().startswith("equinoise ")]
    assert [words[0] for words in shown] == ["schema", "synthesize", "report"]
    for name, *rest in shown:
        known = {option for parameter in all_commands()[name].params for option in parameter.opts}
        assert {word for word in rest if word.startswith("-")} <= known


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["equinoise", ""], COMMANDS),
        (["equinoise", "re"], ["report", "reproduce"]),
        (["equinoise", "optimize", "--noise", "g"], ["gaussian", "geometric"]),
        (["equinoise", "report", "--figure", "lo"], ["losses"]),
        (["equinoise", "sample", "--fo"], ["--force"]),
    ],
)
def test_a_shell_completes_commands_options_and_names(words, expected):
    asked = {"_EQUINOISE_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
    found = subprocess.run(
        [sys.executable, "-m", "equinoise"], env={**os.environ, **asked}, capture_output=True, text=True, check=True
    )
    assert [line.split(",")[1] for line in found.stdout.split()] == expected


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_is_told_how_to_complete(shell):
    told = subprocess.run(
        [sys.executable, "-m", "equinoise"], env={**os.environ, "_EQUINOISE_COMPLETE": f"{shell}_source"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert f"_EQUINOISE_COMPLETE={shell}_complete" in told.stdout


def test_names_that_are_completed_are_names_that_are_taken():
    from equinoise.choices import NOISES
    from equinoise.cli.main import all_commands
    from equinoise.present.figures import FIGURES

    def offered(command, option):
        parameter = next(each for each in all_commands()[command].params if option in each.opts)
        return [item.value for item in parameter.shell_complete(None, "")]

    assert offered("optimize", "--noise") == list(NOISES)
    assert offered("report", "--figure") == list(FIGURES)


def test_a_terminal_sees_progress_and_colours_and_is_left_clean(run, folder):
    sent = on_a_terminal(folder, *OPTIMIZE, "--out", "seen.eq")
    assert "Reading and counting" in sent
    assert COLOUR.search(sent)
    shown = on_a_terminal(folder, "show", "seen.eq")
    assert "Checking the certificate" in shown
    assert "Reading" not in shown
    assert sent.count("\x1b[?25l") == sent.count("\x1b[?25h")  # the cursor is back


def test_a_narrow_terminal_sees_fewer_metrics_and_none_cut_short(folder):
    sent = on_a_terminal(
        folder, "compare", "pay.csv", "--bounds", "pay", "0", "100", "--bins", "21", "--epsilon", "1",
        "--time-limit", "1", NO_COLOR="1",
    )  # fmt: skip
    table = sent.split("method ")[1].split("What is promised")[0]
    assert "…" not in table
    assert "Not in the table (--json has all): " in table
    rows = [line.split() for line in table.splitlines() if line.startswith(("optimal", "envelope"))]
    assert {len(row) for row in rows} == {9}  # method, four metrics, seconds, protected, promised and what kind
    assert all(len(line) <= 80 for line in table.splitlines() if line.startswith(("optimal", "laplace")))


def test_no_color_is_respected_on_a_terminal(run, folder):
    sent = on_a_terminal(folder, *OPTIMIZE, "--out", "grey.eq", NO_COLOR="1")
    assert "Reading and counting" in sent
    assert not COLOUR.search(sent)


@pytest.mark.parametrize("forced", [{}, {"FORCE_COLOR": "1"}])
def test_a_pipe_sees_no_bar_whatever_colours_are_forced(run, folder, forced, monkeypatch):
    for name, value in forced.items():
        monkeypatch.setenv(name, value)
    for arguments in ([*OPTIMIZE, "--out", "piped.eq", "--force"], ["sample", "piped.eq"]):
        status, _, err = run(*arguments)
        assert status == 0
        assert "Reading" not in err
        assert "left" not in err.replace("left out", "")
        assert "\r" not in err


def test_a_pipe_sees_a_line_now_and_then_if_work_takes_its_time(run, folder, monkeypatch):
    """Also while a compiled round is under way, of which nothing is heard until it ends."""
    monkeypatch.setattr(progress_line, "FIRST_LINE", 0.05)
    monkeypatch.setattr(progress_line, "LONGEST_SILENCE", 0.05)
    monkeypatch.setattr(progress_line, "FEWEST_SECONDS", 0)
    status, out, err = run(*OPTIMIZE, "--restarts", "300", "--out", "slow.eq", "--json")
    assert (status, json.loads(out)["file"]) == (0, "slow.eq")
    lines = err.splitlines()
    assert len(lines) >= 2
    assert all(re.fullmatch(r"\[ +\d+ s\] (Reading|Compiling|Run).*", line) for line in lines)
    assert any("left" in line for line in lines)


def test_many_draws_are_told_of_in_a_pipe(monkeypatch):
    heard = []

    @contextmanager
    def telling(console, words):
        heard.append(words)
        yield heard.append

    monkeypatch.setattr(progress_line, "periodic_lines", telling)
    with progress_line.draw_progress(6, quiet=False) as seen:
        assert len(list(seen(iter(np.zeros((3, 2)))))) == 3
    assert heard[0] == "Drawing"
    assert [words.split(",")[0] for words in heard[1:]] == ["2 drawn", "4 drawn", "6 drawn"]


def test_lines_come_more_and_more_rarely(monkeypatch):
    asked, hand = [], Hand()

    class Ended:
        def wait(self, seconds):
            asked.append(round(seconds, 3))
            hand.now += seconds
            return len(asked) > 8

        def set(self):
            pass

    class Silent:
        def print(self, words):
            pass

    monkeypatch.setattr(progress_line, "FIRST_LINE", 2.0)
    monkeypatch.setattr(progress_line.threading, "Event", Ended)
    monkeypatch.setattr(progress_line.time, "monotonic", hand)
    monkeypatch.setattr(progress_line.threading, "Thread", lambda target, daemon: Now(target))
    with progress_line.periodic_lines(Silent(), "words"):
        pass
    assert asked == [2, 2, 4, 8, 16, 32, 60, 60, 60]


class Now:
    """A thread that has run when it has started."""

    def __init__(self, target):
        self.start = target

    def join(self):
        pass


def test_compiled_rounds_let_others_speak():
    """A round on many cells takes minutes: whoever tells of it must get a word in."""
    from equinoise.solvers.best_response.loop import play_round

    assert play_round.targetoptions["nogil"] is True


def test_bars_are_in_peoples_output_and_never_in_json(run, folder):
    _, out, _ = run(*OPTIMIZE, "--out", "bars.eq")
    assert "█" in out
    assert "█" in run("show", "bars.eq")[1]
    for arguments in ([*OPTIMIZE, "--out", "more.eq"], ["show", "bars.eq"]):
        as_json = run(*arguments, "--json")[1]
        assert json.loads(as_json)
        assert "█" not in as_json


def test_letters_that_a_terminal_lacks_are_replaced(folder):
    command = [sys.executable, "-m", "equinoise", *OPTIMIZE, "--out", "plain.eq"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    out = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=True).stdout.decode("ascii")
    assert re.search(r"[-=+*#%]{3}", out)
    assert "\\u" not in out


shares = st.lists(st.floats(0, 1), min_size=2, max_size=60).filter(lambda values: sum(values) > 0)


@given(shares, st.data(), st.integers(1, 18))
def test_lines_add_up_and_are_few(values, data, most):
    others = data.draw(st.lists(st.floats(0, 1), min_size=len(values), max_size=len(values)).filter(any))
    p, q = (np.array(each) / sum(each) for each in (values, others))
    axis = Axis("x", 0.0, 1.0, len(values), 0.0)
    lines = bars.lines_of(axis, p, q, most)
    assert sum(line.original for line in lines) == pytest.approx(1)
    assert sum(line.released for line in lines) == pytest.approx(1)
    assert len([line for line in lines if line.label != "elsewhere"]) <= most
    low, high = lines[0].label.split(" to ")[0], [line for line in lines if " to " in line.label][-1].label.split()[-1]
    first, last = np.flatnonzero(p)[[0, -1]]
    assert float(low) == pytest.approx(first / len(values), abs=1e-4)
    assert float(high) == pytest.approx((last + 1) / len(values), abs=1e-4)


@given(st.floats(0, 1), st.floats(0.001, 1))
def test_bars_are_as_long_as_shares_are_large(share, most):
    share = min(share, most)
    drawn = bars.bar(share, most, plain=False)
    eighths = 8 * drawn.count("█") + (bars.EIGHTHS.index(drawn[-1]) if drawn and drawn[-1] != "█" else 0)
    assert len(drawn) <= bars.BAR
    assert abs(eighths - 8 * bars.BAR * share / most) <= (1 if share else 0)
    assert bool(drawn) == (share > 0)
    assert len(bars.bar(share, most, plain=True)) <= bars.BAR


@pytest.mark.parametrize("columns", [1, 2, 4])
def test_the_picture_fits_twenty_lines_of_eighty(columns):
    random = np.random.default_rng(3)
    names = ["pay", "名前" * 20, "a\nb", "d"][:columns]
    rows = {name: random.normal(0, 1e5, 200).clip(-3e5, 3e5) for name in names}
    import polars as pl

    limits = dict.fromkeys(names, (-3e5, 3e5))
    bins = {1: 101, 2: 21, 4: 7}[columns]
    made = equinoise.optimize(
        pl.DataFrame(rows), column=names if columns > 1 else names[0],
        bounds=limits if columns > 1 else limits["pay"], epsilon=2, bins=bins,
    )  # fmt: skip
    from rich.cells import cell_len

    text = bars.picture(made).plain
    assert len(text.rstrip("\n").split("\n")) <= 20
    assert max(cell_len(line) for line in text.split("\n")) <= 80
    assert text.count("released") == min(columns, 3)
    assert ("and 1 more column" in text) == (columns == 4)


class Hand:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self):
        return self.now


def test_time_left_is_told_once_it_can_be_known_and_anew_for_each_piece_of_work():
    hand = Hand()
    clock = progress_line.TimeLeft(hand)
    assert clock.seconds(None) is None
    assert clock.seconds(0.0) is None
    hand.now = 10.0
    assert clock.seconds(0.25) == pytest.approx(30)
    hand.now = 20.0
    assert clock.seconds(0.5) == pytest.approx(20)
    hand.now = 35.0
    assert clock.seconds(0.5) == pytest.approx(5)  # time runs down while no more is known
    hand.now = 45.0
    assert clock.seconds(0.5) is None
    assert clock.seconds(0.9) == pytest.approx(5)
    assert clock.seconds(1.0) is None
    hand.now = 100.0
    assert clock.seconds(0.0) is None  # another piece begins
    hand.now = 104.0
    assert clock.seconds(0.5) == pytest.approx(4)


def test_a_limit_is_told_as_one_and_work_of_unknown_length_not_at_all():
    hand = Hand()
    clock = progress_line.TimeLeft(hand)
    assert clock.in_words(progress_line.note("reading")) == ""
    assert clock.began is None
    assert clock.in_words(progress_line.note("proving", left=12.2)) == ", at most 12 s left"
    hand.now = 100.0
    assert clock.in_words(progress_line.note("run", 0.0)) == ""
    hand.now = 130.0
    assert clock.in_words(progress_line.note("run", 0.5)) == ", about 30 s left"
    assert clock.in_words(progress_line.note("reading again")) == ""


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, ""), (4.9, ""), (5.0, ", about 5 s left"), (59.6, ", about 60 s left"), (150, ", about 2 min left"),
        (5400, ", about 2 h left"),
    ],
)  # fmt: skip
def test_time_left_in_words(seconds, words):
    assert progress_line.time_left_text(seconds) == words


def test_solvers_tell_how_much_of_their_work_is_done():
    people = np.random.default_rng(2).normal(50, 12, 120).clip(0, 100)
    heard: list[Round] = []

    def settings(**more):
        return {"epsilon": 1, "bounds": (0, 100), "bins": 21, "grid": "paper", "progress": heard.append, **more}

    equinoise.optimize(people, **settings(restarts=4))
    assert [state.done for state in heard] == [state.run / 13 for state in heard]
    assert heard[-1].done == 9 / 13  # the first restart has one run, if that protects everyone
    heard.clear()
    equinoise.optimize(people, **settings(restarts=2, utility="tv"))
    assert {state.done for state in heard} == {run / 7 for run in range(5)}  # the last from where KL ended
    heard.clear()
    equinoise.optimize(people, **settings(solver="genetic", generations=3))
    assert [state.done for state in heard] == [1 / 3, 2 / 3, 1]
    heard.clear()
    equinoise.optimize(people, **settings(solver="optimal", time_limit=5, epsilon=0.3))
    limits = [state.left for state in heard if state.left is not None]
    assert all(0 <= left <= 5 for left in limits)
    assert limits == sorted(limits, reverse=True)
    heard.clear()
    end_to_end(equinoise.optimize(people, **settings(restarts=1)), heard.append)
    measured = [state.done for state in heard if "Without a person" in state.note]
    many = len(np.unique(np.floor((people + 161) / 422 * 21)))
    assert measured[0] == 0
    assert max(measured) < 1
    assert measured[1] == pytest.approx(1 / many, rel=0.5)


def test_a_comparison_tells_how_many_epsilons_are_done(monkeypatch):
    heard: list[Round] = []

    @contextmanager
    def listening():
        yield heard.append

    monkeypatch.setattr(progress_line, "progress", listening)
    people = np.random.default_rng(2).normal(50, 12, 120).clip(0, 100)
    with progress_line.comparison_progress((1.0, 2.0)) as told:
        equinoise.compare(people, epsilons=[2, 1], bounds=(0, 100), bins=21, restarts=1, time_limit=1, progress=told)
    assert {(state.note.split(",")[0], state.done) for state in heard} == {("Epsilon 1", 0.0), ("Epsilon 2", 0.5)}


def test_a_terminal_that_does_not_know_its_width_shows_everything(folder, run):
    assert run(*OPTIMIZE, "--out", "pay.eq")[0] == 0
    seen = on_a_terminal(folder, "audit", "pay.eq", COLUMNS="0")
    assert "not differential privacy" in seen.replace("\r\n", " ")


def test_ctrl_c_while_starting_is_a_sentence(folder):
    """Interrupted within the first import of the command line."""
    code = """
import sys

class Interrupting:
    def find_spec(self, name, *rest):
        if name == "click":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupting())
sys.argv = ["equinoise", "demo", "--json"]
from equinoise.__main__ import main
main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 130
    assert done.stderr == "Error: Stopped. Nothing more was written.\n"
    assert json.loads(done.stdout)["status"] == 130
