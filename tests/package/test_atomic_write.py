"""Files are written whole or not at all, whatever ends the writing."""

import os
import stat
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import duckdb
import polars as pl
import pytest

from equinoise import BadInput
from equinoise import atomic_write as files
from equinoise.atomic_write import check_writable, whole_file, write_whole
from equinoise.data import write_rows
from equinoise.data.counting import find_bounds
from equinoise.data.engines.failures import unreadable
from equinoise.data.grid import Axis
from equinoise.data.rows import open_rows
from tests.helpers.counts import count


@pytest.fixture(params=["without a name", "with a name"])
def way(request, monkeypatch):
    """Where a file can be written before it has a name, and where it cannot."""
    if request.param == "with a name":
        monkeypatch.setattr(files, "_open_unnamed", lambda folder, mode: None)
    return request.param


def test_a_file_is_there_when_it_is_whole(tmp_path, way):
    with whole_file(tmp_path / "a.csv", mode=0o600, force=False) as file:
        file.write(b"x\n")
        assert not (tmp_path / "a.csv").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]
    assert (tmp_path / "a.csv").read_bytes() == b"x\n"
    assert stat.S_IMODE((tmp_path / "a.csv").stat().st_mode) == 0o600


@pytest.mark.parametrize("force", [False, True])
def test_a_file_is_on_the_disk_before_it_has_its_name_and_so_is_the_name_in_the_end(tmp_path, way, monkeypatch, force):
    """Seen at the system call: all of the content is synced while the name is another's, then the folder is."""
    synced, fsync, path = [], os.fsync, tmp_path / "a.csv"
    if force:
        path.write_bytes(b"old")

    def record(file):
        status = os.fstat(file)
        there = path.read_bytes() if path.exists() else None
        synced.append(("folder" if stat.S_ISDIR(status.st_mode) else status.st_size, there))
        fsync(file)

    monkeypatch.setattr(os, "fsync", record)
    write_whole(path, [b"new"] * 5, mode=0o600, force=force)
    assert synced == [(15, b"old" if force else None), ("folder", b"new" * 5)]


def test_a_file_that_appears_meanwhile_is_kept(tmp_path, way):
    with pytest.raises(BadInput, match="exists"), whole_file(tmp_path / "a.csv", mode=0o600, force=False):
        (tmp_path / "a.csv").write_bytes(b"somebody else's")
    assert (tmp_path / "a.csv").read_bytes() == b"somebody else's"
    assert len(list(tmp_path.iterdir())) == 1


def test_what_is_there_is_replaced_with_force_only(tmp_path, way):
    (tmp_path / "a.csv").write_bytes(b"old")
    with pytest.raises(BadInput, match="exists"), whole_file(tmp_path / "a.csv", mode=0o600, force=False) as file:
        file.write(b"new")
    assert (tmp_path / "a.csv").read_bytes() == b"old"
    with whole_file(tmp_path / "a.csv", mode=0o600, force=True) as file:
        file.write(b"new")
    assert (tmp_path / "a.csv").read_bytes() == b"new"
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def test_what_is_no_ordinary_file_is_never_replaced(tmp_path, way):
    """As root, --out /dev/null --force would leave a machine without one."""
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "real.csv").write_bytes(b"kept")
    os.symlink("real.csv", tmp_path / "link.csv")
    for name in ("pipe.csv", "link.csv"):
        with pytest.raises(BadInput, match="not an ordinary file"):
            check_writable(tmp_path / name, force=True)
        with pytest.raises(BadInput, match="not an ordinary file"):
            write_whole(tmp_path / name, [b"new"], mode=0o600, force=True)
    assert stat.S_ISFIFO((tmp_path / "pipe.csv").stat().st_mode)
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_bytes() == b"kept"
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt(), MemoryError()])
def test_a_failure_leaves_nothing(tmp_path, way, error):
    def content():
        yield b"x\n"
        raise error

    with pytest.raises(BadInput if isinstance(error, OSError) else type(error)):
        write_whole(tmp_path / "a.csv", content(), mode=0o600, force=False)
    assert list(tmp_path.iterdir()) == []


def test_a_killed_process_leaves_nothing(tmp_path):
    """What it wrote may be private. (Where files must have a name, one is left.)"""
    unnamed = files._open_unnamed(tmp_path, 0o600)
    left = 1 if unnamed is None else os.close(unnamed) or 0
    code = (
        "import os, signal, sys; from pathlib import Path; from equinoise.atomic_write import whole_file\n"
        "with whole_file(Path(sys.argv[1]), mode=0o600, force=True) as file:\n"
        "    file.write(b'private' * 10**6); file.flush(); os.kill(os.getpid(), signal.SIGKILL)"
    )
    ended = subprocess.run([sys.executable, "-c", code, str(tmp_path / "a.csv")], check=False)
    assert (ended.returncode, len(list(tmp_path.iterdir()))) == (-9, left)


@pytest.mark.parametrize(
    "said",
    [
        "Query interrupted",
        "INTERRUPT Error: Interrupted!",
        "Invalid Input Error: reading the Arrow source failed. Detail: Python exception: KeyboardInterrupt",
    ],
)
def test_ctrl_c_in_duckdb_is_ctrl_c_and_not_bad_data(monkeypatch, said):
    rows = open_rows(duckdb.sql("select 1.0 as x"), "x")

    def interrupted(self, *args, **settings):
        raise RuntimeError(said)

    monkeypatch.setattr("narwhals.LazyFrame.collect", interrupted)
    with pytest.raises(KeyboardInterrupt):
        count(rows, Axis.padded("x", 0, 2))
    with pytest.raises(KeyboardInterrupt):
        find_bounds(rows)


def test_a_full_disk_is_told_in_its_own_words(tmp_path, monkeypatch):
    @contextmanager
    def full(path, *, mode, force):
        with open("/dev/full", "wb") as file:
            yield file

    monkeypatch.setattr(write_rows, "whole_file", full)
    with pytest.raises(BadInput, match=r"'a\.parquet' cannot be written: No space left on device\.$"):
        write_rows.write_frames(Path("a.parquet"), iter([pl.DataFrame({"x": range(10**5)})]), force=False)


def test_what_java_throws_is_told_by_its_cause():
    said = (
        "An error occurred while calling o7.getResult.\n: org.apache.spark.SparkException: Job aborted.\n\tat org\n"
        "Caused by: java.lang.ClassNotFoundException: Class org.BrotliCodec was not found\n\tat java.base"
    )
    told = str(unreadable("The file 'a'", RuntimeError(said)))
    assert (
        told == "The file 'a' could not be read: java.lang.ClassNotFoundException: Class org.BrotliCodec was not found"
    )
    assert str(unreadable("It", RuntimeError("a\nb"))) == "It could not be read: a"
