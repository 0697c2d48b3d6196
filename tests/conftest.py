from __future__ import annotations

import os
import sys

import numpy as np
import polars as pl
import pytest
from hypothesis import settings

from benchmarks import heights as basketball
from equinoise.cli import main as cli

settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=100, print_blob=False)
settings.load_profile("repeatable")


def seeded_bytes(seed):
    """A repeatable source of random bytes for draws."""
    return np.random.default_rng(seed).bytes


@pytest.fixture(scope="session", autouse=True)
def _own_state_folder(tmp_path_factory):
    """Releases are noted in a folder of the tests' own, by the processes they start, too."""
    os.environ["EQUINOISE_STATE"] = str(tmp_path_factory.mktemp("state"))


@pytest.fixture(autouse=True)
def _no_progress_line(monkeypatch):
    """Keeps the line about slow work out of what a test reads from the terminal."""
    monkeypatch.setattr("equinoise.present.terminal.progress_line.FIRST_LINE", 10_000.0)


@pytest.fixture(scope="session")
def heights():
    """Heights (centimetres) of 1,844 basketball players."""
    values = basketball.heights()
    assert len(values) == 1844
    return values


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, empty but for ``pay.csv``: 300 people with an id and their pay."""
    monkeypatch.chdir(tmp_path)
    people = np.random.default_rng(11).normal(50, 12, 300).clip(0, 100).round(1)
    pl.DataFrame({"id": range(300), "pay": people}).write_csv("pay.csv")
    return tmp_path


@pytest.fixture
def run(folder, monkeypatch, capsys):
    """Runs the command line in this process, in that folder; gives status, stdout, stderr."""

    def call(*args):
        monkeypatch.setattr(sys, "argv", ["equinoise", *map(str, args)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        captured = capsys.readouterr()
        return ended.value.code, captured.out, captured.err

    return call
