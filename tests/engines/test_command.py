"""The command line with every engine, each in a process of its own."""

import json
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from tests.engines.conftest import ENGINE_NAMES

MAIN = "from equinoise.cli.main import main; main()"


def run(*arguments):
    done = subprocess.run(
        [sys.executable, "-c", MAIN, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, json.loads(done.stdout), done.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder of three CSV files, 200 rows each."""
    path = tmp_path_factory.mktemp("rows") / "parts"
    path.mkdir()
    pay = np.random.default_rng(3).normal(900, 300, 600).clip(0, 4000).round(2)
    for i in range(3):
        pl.DataFrame({"id": range(200), "pay": pay[200 * i : 200 * (i + 1)]}).write_csv(path / f"{i}.csv")
    return path


def optimize(data, out, *more):
    return run("optimize", data, "--bounds", "pay", 0, 4000, "--epsilon", 1, "--out", out, "--json", *more)


@pytest.mark.parametrize("name", ENGINE_NAMES)
def test_every_engine_makes_the_same_mechanism_and_audits_it(folder, tmp_path, addresses, name):
    at = ["--engine", name, *([] if addresses[name] is None else ["--engine-address", addresses[name]])]
    profiles = []
    for i, more in enumerate(([], at)):
        status, found, said = optimize(folder / "*.csv" if i else folder, tmp_path / f"{i}.eq", *more)
        assert (status, found["people"]) == (0, 600), said
        profiles.append(run("show", tmp_path / f"{i}.eq", "--json")[1]["profile"])
    assert profiles[0] == profiles[1]
    if name != "spark":  # which takes its time to start
        status, found, said = run("audit", tmp_path / "0.eq", "--data", folder, "--json", *at)
        assert (status, found["same_histogram"]) == (0, True), said
    for i, more in enumerate(([], at)):
        status, found, said = run("losses", tmp_path / "0.eq", folder, "--out", tmp_path / f"{i}.csv", "--json", *more)
        assert (status, found.get("rows")) == (0, 600), said
    assert (tmp_path / "0.csv").read_bytes() == (tmp_path / "1.csv").read_bytes()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--engine", "dask", "--engine-address", "tcp://127.0.0.1:1"], "There is no Dask scheduler at"),
        (["--engine", "dask", "--engine-address", "nonsense"], "There is no Dask scheduler at 'nonsense'"),
        (["--engine", "spark", "--engine-address", "spark://127.0.0.1:1"], "There is no Spark master at"),
        (["--engine", "spark", "--engine-address", "non sense"], "'non sense' is no Spark master"),
        (["--engine-address", "tcp://127.0.0.1:1"], "polars engine works in this process"),
    ],
)
def test_nobody_there_is_one_sentence(folder, tmp_path, options, said):
    status, found, _ = optimize(folder, tmp_path / "a.eq", *options)
    assert status == 2
    assert said in found["error"]


def test_without_java_spark_says_so(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    status, found, _ = optimize(folder, tmp_path / "a.eq", "--engine", "spark")
    assert (status, "needs Java" in found["error"]) == (2, True)


def test_without_an_address_this_machine_does_the_work(folder, tmp_path):
    for name in ("dask", "spark"):
        status, found, said = optimize(folder, tmp_path / f"{name}.eq", "--engine", name)
        assert (status, found.get("people")) == (0, 600), said
        assert "ERROR" not in said
