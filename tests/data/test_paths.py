import numpy as np
import polars as pl
import pytest

from equinoise import optimize
from equinoise.atomic_write import check_writable
from equinoise.data.engines import connect
from equinoise.data.grid import Axis
from equinoise.data.rows import open_rows
from equinoise.errors import BadInput
from tests.helpers.counts import count

AXIS = Axis.padded("pay", 0, 100, bins=11)
ENGINES = ["polars", "duckdb"]


@pytest.fixture(params=ENGINES)
def engine(request):
    with connect(request.param) as found:
        yield found


def write(folder, name, **columns):
    folder.mkdir(exist_ok=True)
    frame, path = pl.DataFrame(columns), folder / name
    if path.suffix in {".parquet", ".pq"}:
        frame.write_parquet(path)
    else:
        frame.write_csv(path, separator="," if path.suffix == ".csv" else "\t")
    return path


@pytest.mark.parametrize("ending", ["csv", "tsv", "tab", "parquet", "pq"])
def test_a_folder_or_a_pattern_is_all_its_files(tmp_path, engine, ending):
    values, folder = np.random.default_rng(1).uniform(0, 100, 90), tmp_path / "a [1]"
    for i in range(3):
        write(folder, f"{i}.{ending}", id=range(30), pay=values[30 * i : 30 * (i + 1)])
    (folder / "_SUCCESS").touch()
    (folder / ".hidden").write_text("no rows")
    bins = np.array([AXIS.cell_of(value) for value in values])
    for data, people in ((folder, slice(0, 90)), (str(tmp_path / f"*/[02].{ending}"), np.r_[0:30, 60:90])):
        found = count(open_rows(data, "pay", engine), AXIS).counts
        assert found.tolist() == np.bincount(bins[people], minlength=11).tolist()


def test_what_is_wrong_in_one_file_is_found_in_all(tmp_path, engine):
    write(tmp_path / "a", "1.csv", pay=["5", "x"])
    write(tmp_path / "a", "2.csv", pay=["6", "b", "NA"])
    with pytest.raises(BadInput, match="in 2 rows, such as 'b'"):
        count(open_rows(tmp_path / "a", "pay", engine), AXIS)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "is empty"),
        ({"a.csv": {"pay": [1]}, "b.tsv": {"pay": [1]}}, "not all of one kind"),
        ({"a.csv": {"pay": [1]}, "b.parquet": {"pay": [1]}}, "not all of one kind"),
        ({"a.csv": {"pay": [1]}, "b.csv": {"wage": [1]}}, "b.csv' has 'wage', unlike"),
        ({"a.csv": {"pay": [1], "id": [1]}, "b.csv": {"pay": [1]}}, "b.csv' lacks 'id', unlike"),
        ({"a.csv": {"pay": [1], "id": [1]}, "b.csv": {"id": [1], "pay": [1]}}, "in another order"),
        ({"a.parquet": {"pay": [1]}, "b.parquet": {"pay": [1.5]}}, "has 'pay' of type Float64"),
        ({"a.parquet": {"pay": [1]}, "b.parquet": {"wage": [1]}}, "has 'wage'"),
    ],
)
def test_files_that_do_not_belong_together_are_refused(tmp_path, files, said):
    folder = tmp_path / "rows"
    folder.mkdir()
    for name, columns in files.items():
        write(folder, name, **columns)
    with pytest.raises(BadInput, match=said):
        open_rows(folder, "pay")


def test_nothing_in_a_folder_is_passed_over(tmp_path):
    write(tmp_path, "a.csv", pay=[1])
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(BadInput, match=r"notes\.txt' must end in \.csv"):
        open_rows(tmp_path, "pay")
    (tmp_path / "notes.txt").unlink()
    (tmp_path / "b.csv").touch()
    with pytest.raises(BadInput, match=r"b\.csv' is empty"):
        open_rows(tmp_path, "pay")
    (tmp_path / "b.csv").unlink()
    (tmp_path / "inner").mkdir()
    with pytest.raises(BadInput, match="has a folder in it, 'inner'"):
        open_rows(tmp_path, "pay")


def test_the_files_being_read_are_never_written_over(tmp_path):
    path = write(tmp_path / "rows", "a.csv", pay=[1])
    with pytest.raises(BadInput, match="in the folder being read"):
        check_writable(tmp_path / "rows" / "a.eq", tmp_path / "rows", force=True)
    with pytest.raises(BadInput, match="is the file being read"):
        check_writable(path, tmp_path / "rows" / "*.csv", force=True)
    check_writable(tmp_path / "a.eq", tmp_path / "rows" / "*.csv", force=False)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"engine": "excel"}, "'polars', 'duckdb', 'dask' or 'spark'. Got 'excel'"),
        ({"engine": "duckdb", "engine_address": "tcp://x:1"}, "duckdb engine works in this process"),
    ],
)
def test_engines_that_there_are_not_are_refused(tmp_path, settings, said):
    path = write(tmp_path, "a.csv", pay=[1, 2])
    with pytest.raises(BadInput, match=said):
        optimize(path, epsilon=1, bounds=(0, 4), **settings)


def test_a_dataframe_has_its_own_engine():
    with pytest.raises(BadInput, match="left out with a dataframe"):
        optimize([1, 2], epsilon=1, bounds=(0, 4), engine="duckdb")


@pytest.mark.parametrize("name", ["dask", "spark", "duckdb"])
def test_a_missing_extra_is_named(monkeypatch, name):
    def lacking(module):
        raise ModuleNotFoundError(f"No module named {name!r}")

    monkeypatch.setattr("equinoise.choices.import_module", lacking)
    with pytest.raises(BadInput, match=rf"pip install 'equinoise\[{name}\]'"), connect(name):
        pass
