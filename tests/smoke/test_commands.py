"""Every command once, as a user calls it: do they work at all with the versions that are installed here?"""

import csv
import json
import os
import signal
import subprocess
import sys
import urllib.request
from importlib.metadata import version

import numpy as np
import polars as pl
import pytest

BOUNDS = ["--bounds", "pay", "0", "100", "--bins", "31"]


def run(folder, *words):
    """What a command printed; warnings of Python's (of libraries that do not go together) are failures, too."""
    done = subprocess.run(
        [sys.executable, "-m", "equinoise", *map(str, words)],
        cwd=folder, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert "DeprecationWarning" not in done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Rows as files of both kinds, and a mechanism made from them."""
    folder = tmp_path_factory.mktemp("smoke")
    random = np.random.default_rng(5)
    pay, age = random.normal(50, 12, 200).clip(0, 100).round(1), random.integers(18, 80, 200)
    rows = pl.DataFrame({"who": np.arange(200) // 2, "pay": pay, "age": age})
    rows.write_csv(folder / "pay.csv")
    rows.write_parquet(folder / "pay.parquet")
    made = run(folder, "optimize", "pay.csv", *BOUNDS, "--epsilon", 1, "--draws", 20, "--out", "pay.eq", "--json")
    assert json.loads(made)["certificate"]["holds"] is True
    return folder


def test_what_is_tried():
    """Shown with -v: the versions that all of this is about."""
    for name in ("numpy", "numba", "polars", "narwhals", "pydantic", "click", "rich", "altair"):
        print(name, version(name))


def test_audit_sample_show_and_cost(folder):
    assert json.loads(run(folder, "audit", "pay.eq", "--data", "pay.parquet", "--json"))["passed"] is True
    rows = list(csv.reader(run(folder, "sample", "pay.eq", "-n", 5).splitlines()))
    assert rows[0] == ["pay"]
    assert len(rows) == 6
    assert "bounds 0 to 100, 31 bins of 3.23" in run(folder, "show", "pay.eq")
    run(folder, "cost", "pay.eq", "--plot", "cost.svg")
    assert "<svg" in (folder / "cost.svg").read_text()


@pytest.mark.parametrize("engine", ["polars", "duckdb", "dask"])
def test_every_engine_counts_and_writes_losses(folder, engine):
    run(folder, "audit", "pay.eq", "--data", "pay.csv", "--engine", engine)
    run(folder, "losses", "pay.eq", "pay.parquet", "--engine", engine, "--out", f"{engine}.parquet")
    added = ["row", "loss", "scale", "scale_needed"]
    assert pl.read_parquet(folder / f"{engine}.parquet").columns == ["who", "pay", "age", *added]


@pytest.mark.parametrize(
    "options",
    [
        ["--solver", "optimal", "--time-limit", "3", "--epsilon", "0.3", "--bins", "101"],
        ["--solver", "genetic", "--generations", "3"],
        ["--unit", "who", "--epsilon", "4"],
        ["--delta", "1e-6", "--draws", "3", "--epsilon", "4"],
        ["--bounds", "age", "18", "80", "--bins", "11"],
    ],
    ids=" ".join,
)
def test_everything_that_can_be_made(folder, options):
    made = run(
        folder, "optimize", "pay.csv", *BOUNDS, "--epsilon", "1", *options, "--out", "made.eq", "--force", "--verbose"
    )
    assert "Certified" in made


@pytest.mark.parametrize("method", ["envelope", "pay-once"])
def test_rows_to_publish_and_what_is_charged_for_them(folder, method):
    run(folder, "book", "create", f"{method}.book", "--epsilon", 1)
    asked, out = [*BOUNDS, "--epsilon", 1, "--rows", 9], f"{method}.csv"
    made = run(folder, "synthesize", "pay.csv", *asked, "--method", method, "--book", f"{method}.book", "--out", out)
    assert "Differential privacy with epsilon 1 for everything in this release" in " ".join(made.split())
    assert pl.read_csv(folder / f"{method}.csv").shape == (9, 1)
    assert json.loads(run(folder, "book", "show", f"{method}.book", "--json"))["epsilon_left"] == 0
    answers = json.loads(run(folder, "answer", out, "mean:pay", "median:pay", "--json"))["answers"]
    if method == "pay-once":
        answers += json.loads(run(folder, "answer", "pay-once.eq", "mean:pay", "count", "--json"))["answers"]
    assert all(answer["low"] <= answer["estimate"] <= answer["high"] for answer in answers)
    assert json.loads(run(folder, "plan", *asked, "--people", 200, "--json"))["method"] in {"envelope", "pay-once"}


def test_report_compare_and_demo(folder):
    run(folder, "report", "pay.eq", "--out", "report.html")
    assert "Contains private data" in (folder / "report.html").read_text()
    run(folder, "report", "pay.eq", "--figure", "losses", "--out", "losses.png")
    assert (folder / "losses.png").read_bytes().startswith(b"\x89PNG")
    found = run(
        folder, "compare", "pay.csv", *BOUNDS, "--epsilon", 1, "--time-limit", 2, "--plot", "all.html", "--json"
    )
    assert {"best-response", "optimal", "dp-histogram"} <= {each["method"] for each in json.loads(found)["results"]}
    assert json.loads(run(folder, "demo", "--json"))["optimize"]["people"] == 935


def test_the_local_page(folder):
    command = [sys.executable, "-m", "equinoise", "explore", "pay.csv", "--bounds", "pay", "0", "100", "--no-browser"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            address = process.stdout.readline().strip()
            with urllib.request.urlopen(address, timeout=60) as answer:
                assert b"Opening" in answer.read()
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=60)
        finally:
            if process.poll() is None:
                os.kill(process.pid, signal.SIGKILL)
    assert process.returncode == 0
    assert "Traceback" not in said
