import html
import json
import os
import signal
import stat
import subprocess
import sys

import pytest

from equinoise.analysis.method_row import PROMISES

FAST = ["--restarts", "1", "--bins", "31", "--time-limit", "0.3"]
OF_ONE_COLUMN = [method for method in PROMISES if method not in {"genetic", "aim", "mst"}]
COLUMN = ["--column", "pay", "--bounds", "pay", "0", "100"]


def test_json(run, folder):
    status, out, err = run("compare", "pay.csv", *COLUMN, *FAST, "--epsilon", "2,0.5", "--json", "--plot", "plot.svg")
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert set(found) == {
        "people", "coverage", "cells", "column", "epsilons", "rows", "settings", "results", "left_out", "warnings",
        "plot",
    }  # fmt: skip
    assert (found["people"], found["cells"], found["column"]) == (300, 31, "pay")
    assert found["epsilons"] == [0.5, 2]
    assert (found["left_out"], found["warnings"], found["plot"]) == ([], [], "plot.svg")
    assert {row["method"] for row in found["results"]} == set(OF_ONE_COLUMN)
    assert (found["rows"], len(found["results"])) == (1, 2 * len(OF_ONE_COLUMN))
    names = {
        "kl", "js", "tv", "sd_loss", "pmf_sd_loss", "jaccard", "cosine", "wasserstein", "mean_error", "median_error",
    }  # fmt: skip
    for row in found["results"]:
        assert {"epsilon", "method", "metrics", "seconds", "protected", "promised", "promise"} <= set(row)
        assert set(row["metrics"]) == names
        assert ("solver" in row) == (row["method"] in {"best-response", "optimal"})
        assert ("kl_spread" in row) == (row["method"] in {"dp-histogram", "pay-once"})
        assert ("worst_loss" in row) == (row["method"] not in {"dp-histogram", "pay-once"})
    assert stat.S_IMODE(os.stat("plot.svg").st_mode) == 0o600


def test_for_people(run, folder):
    status, out, _ = run("compare", "pay.csv", *COLUMN, *FAST, "--epsilon", "0.5,2", "--plot", "plot.png")
    assert status == 0
    lines = out.splitlines()
    table = lines[2 : lines.index("What is promised, with the epsilon of the last column:")]
    assert max(len(line) for line in table if not line.startswith("Not in the table")) <= 100
    for method in OF_ONE_COLUMN:
        assert sum(line.startswith(method) and "all" in line for line in lines) == 2
    assert out.count("not differential privacy") == 1
    assert "means over 20 releases" in out
    assert "The plot is in plot.png" in out
    assert out.rstrip().endswith("as secret as the data.")


def test_a_game_that_cannot_protect_everyone_is_a_row_not_a_failure(run, folder):
    (folder / "few.csv").write_text("pay\n" + "0\n" * 30 + "100\n")
    status, out, _ = run("compare", "few.csv", *COLUMN, *FAST, "--epsilon", "0.1", "--scales", "0.5,1")
    assert status == 0
    assert "best-response at epsilon 0.1: Nothing: " in out
    assert "none" in out


def test_an_optimum_that_is_not_proven_is_not_called_one(run, folder, monkeypatch):
    from equinoise.solvers.optimal import search

    monkeypatch.setattr(search, "TARGET", (0.0, 0.0))
    status, out, _ = run("compare", "pay.csv", *COLUMN, *FAST, "--epsilon", "1")
    assert status == 0
    assert "optimal at epsilon 1 is the best found, not proven best" in out


def test_bounds_left_out_warn(run, folder):
    status, out, err = run("compare", "pay.csv", "--column", "pay", *FAST, "--epsilon", "1", "--json")
    assert status == 0
    assert err.startswith("Warning: The bounds of column 'pay' were read off the data")
    assert json.loads(out)["warnings"] == [err.removeprefix("Warning: ").strip()]
    assert (
        "For all of them: the bounds were read off"
        in run("compare", "pay.csv", "--column", "pay", *FAST, "--epsilon", "1")[1]
    )


def test_what_the_paper_s_grid_has_no_room_for_is_left_out(run, folder):
    status, out, err = run("compare", "pay.csv", *COLUMN, *FAST, "--epsilon", "1,2", "--grid", "paper", "--json")
    assert status == 0
    left = {each["method"]: each["reason"] for each in json.loads(out)["left_out"]}
    assert "without padding" in left["pay-once"]
    assert f"Left out: pay-once. {left['pay-once']}\n" in err


BAD = [
    ("no epsilon", ["--epsilon", ""], "--epsilon is empty"),
    ("a gap", ["--epsilon", "1,,2"], "Got '' among them"),
    ("no number", ["--epsilon", "1,small"], "Got 'small' among them"),
    ("repeated", ["--epsilon", "1,2,1.0"], "Epsilon 1 is given more than once"),
    ("zero", ["--epsilon", "0,1"], "--epsilon must be"),
    ("negative", ["--epsilon=-1"], "--epsilon must be"),
    ("infinite", ["--epsilon", "1,inf"], "--epsilon must be"),
    ("NaN", ["--epsilon", "nan"], "--epsilon must be"),
    ("unknown column", ["--column", "pya", "--bounds", "pya", "0", "1"], "Did you mean 'pay'"),
    ("bounds of another column", ["--bounds", "id", "0", "1"], "--bounds names column"),
    ("time limit zero", ["--time-limit", "0"], "--time-limit must be"),
    ("restarts zero", ["--restarts", "0"], "--restarts must be"),
    ("scales unknown", ["--scales", "tall"], "--scales must be"),
    ("no rows", ["--rows", "0"], "--rows must be a whole number"),
    ("as many rows as people", ["--rows", "same"], "--rows must be a whole number"),
    ("too many rows", ["--rows", "10**9"], "--rows must be a whole number"),
    ("plot of no kind", ["--plot", "plot"], "must end in .png, .svg or .html"),
    ("plot of an unknown kind", ["--plot", "plot.pdf"], "must end in .png, .svg or .html"),
    ("plot exists", ["--plot", "old.svg"], "exists"),
    ("plot a dangling link", ["--plot", "dangling.svg"], "exists"),
    ("plot in no folder", ["--plot", "none/plot.svg"], "There is no folder"),
    ("plot is the data", ["--plot", "data.svg", "--force"], "is the file being read"),
    ("no such option", ["--colour", "red"], "No such option"),
]


@pytest.mark.parametrize(("more", "said"), [b[1:] for b in BAD], ids=[b[0] for b in BAD])
def test_bad_input(run, folder, more, said):
    (folder / "old.svg").write_text("precious")
    (folder / "dangling.svg").symlink_to("nowhere")
    (folder / "data.svg").symlink_to("pay.csv")
    before = sorted(os.listdir())
    options = ["--epsilon", "1"] if not more[0].startswith("--epsilon") else []
    columns = [] if more[:2] == ["--column", "pya"] else COLUMN
    for extra in ([], ["--json"]):
        status, out, err = run("compare", "pay.csv", *columns, *FAST, *options, *more, *extra)
        assert status == 2
        assert said in err
        assert err.startswith("Error: ")
        assert err.count("\n") == 1
        assert out == "" if not extra else json.loads(out)["status"] == 2
    assert sorted(os.listdir()) == before
    assert (folder / "old.svg").read_text() == "precious"


def test_force_replaces_a_plot(run, folder):
    (folder / "old.svg").write_text("old")
    status, _, err = run("compare", "pay.csv", *COLUMN, *FAST, "--epsilon", "1", "--plot", "old.svg", "--force")
    assert status == 0, err
    assert (folder / "old.svg").read_text().startswith("<svg")


def test_ctrl_c_exits_130_without_a_traceback_or_a_file(folder):
    command = [
        sys.executable, "-c", "from equinoise.cli.main import main; main()", "compare", "pay.csv", *COLUMN,
        "--epsilon", "1", "--restarts", "1000000", "--plot", "plot.png",
    ]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, "")
    assert "Traceback" not in err
    assert os.listdir() == ["pay.csv"]


def test_help_imports_no_pictures():
    code = "import sys, equinoise.cli.main; print([m for m in ('altair', 'vl_convert', 'opendp') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.fixture
def two_columns(folder):
    """Arguments for a file with two columns."""
    (folder / "two.csv").write_text("a,b\n" + "".join(f"{i % 60},{(i * i) % 40}\n" for i in range(200)))
    limits = ["--bounds", "a", 0, 60, "--bounds", "b", 0, 40]
    return ["two.csv", *limits, "--epsilon", 1, "--restarts", 1, "--bins", 9, "--time-limit", 0.3]


def test_two_columns_as_json(run, two_columns):
    status, out, err = run("compare", *two_columns, "--json", "--plot", "two.svg")
    assert status == 0
    assert all(line.startswith(("Left out: aim. ", "Left out: mst. ")) for line in err.splitlines())  # an extra
    found = json.loads(out)
    assert (found["column"], found["cells"], found["settings"]["bins"]) == (["a", "b"], 81, 9)
    assert found["settings"]["schema"]["columns"] == {
        "a": {"bounds": [0, 60], "bins": 9}, "b": {"bounds": [0, 40], "bins": 9}
    }  # fmt: skip
    for row in found["results"]:
        assert set(row["metrics"]["columns"]) == {"a", "b"}
    with open("two.svg") as plot:
        assert "for columns 'a' and 'b'" in html.unescape(plot.read())


def test_two_columns_for_people(run, two_columns):
    status, out, _ = run("compare", *two_columns, "--rows", 20)
    assert status == 0
    table = out[: out.index("What is promised")].splitlines()[2:]
    assert max(len(line) for line in table if not line.startswith("Not in the table")) <= 100
    assert all(any(line.startswith(f"{name} ") for line in table) for name in ("laplace", "envelope", "pay-once"))
    assert "epsilon is for 20 rows together" in out
    assert "best-response, optimal: all 20 draws together" in out
    assert "1 per-instance" in out
    assert "columns 'a' and 'b', 81 cells" in out
    assert "laplace, bounded-laplace and staircase give each column epsilon/2" in " ".join(out.split())
    assert "corre-" in out
    assert "Wasser-" not in out
    assert "medians" in out.partition("What is promised")[0]


def test_two_columns_with_scales_in_numbers_are_refused_with_what_to_do(run, two_columns):
    status, out, err = run("compare", *two_columns, "--scales", "1,2")
    assert (status, out) == (2, "")
    assert "Scales for several columns are 'wide', 'adaptive', 'paper'" in err
