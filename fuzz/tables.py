"""Odd tables: odd values, names, types and schemas, in files of every kind, through the commands that read data."""

from __future__ import annotations

import datetime
import json
import math
import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pyarrow as pa

import equinoise
from equinoise.mechanisms.book import Book
from fuzz.cases import Case, Lost
from fuzz.commands import Ending, inside, run, run_checker
from tests.helpers.odd_rows import ODD_NAMES, ODD_VALUES
from tests.helpers.odd_values import FILES, FRAMES, ODD

NAMES = ["c", "pay", "a b", 'say "x"', "a.b", "", " ", "nan", "unit", "two\nlines", "caf\u00e9", "cafe\u0301",
         "\U0001f600", "<b>x</b>", "-n", "c'", "x,y", "[c]", "\x00", "index", "long " * 60,
         "{0}", "%s", "bounds", "="]  # fmt: skip
ODD_KEYS = {
    "bounds": [[0, 0], [1, 0], [0, 1e308], [-1e308, 1e308], [0, 5e-324], [math.nan, 1], [0, math.inf],
               [2**53, 2**53 + 2], [0], [], ["a", "b"], 3, [0, 10**400], [True, 2],
               [datetime.date(1, 1, 1), datetime.date(9999, 12, 31)],
               [datetime.date(2024, 1, 1), 3]],
    "step": [0, -1, 0.1, 1e-9, 1e300, math.nan, math.inf, 5e-324, "1", True, 3, 0.3],
    "bins": [0, 1, 2, 3, 7, 10_000, 10_001, 2.5, "3", True, -1, 2**70],
    "categories": [[], ["a"], ["a", "a"], ["", "a"], [1, "1"], [True], [True, False], [1, 2, 2**53], [1.5, 2.5], "ab",
                   ["a", "b"], ["e\u0301", "\u00e9"], [0, -0], ["NA", "missing"], [2**70, 1], ["a b", " a b"],
                   ["\n", "x"],
                   [None, "a"]],
    "missing": ["refuse", "drop", "category", "", "x", 3],
    "outside": ["refuse", "drop", "clip", "", "x", True],
    "peeked": [["bounds"], [], "bounds", ["x"]],
    "other": [1],
}  # fmt: skip
"""By key what is odd or wrong in a schema."""

TEXT = [b"\xef\xbb\xbf", b"\x00", b"\xff\xfe", b'"', b"\r", b"\n\n", b"\r\n", b",", b",,,", b"\t", b";", b"1e999",
        b"nan",
        b"\\", b"=1+1", b"\xe9", b"NA", b" ", b"#", b"-", b"0x1", b"1_0", "\u0661".encode()]  # fmt: skip
"""What may stand anywhere in a text file."""


QUESTIONS = ["mean:{0}", "median:{0}", "quantiles:{0}:0.1,0.9", "count", "count:{0}", "share:{0}", "count:{0}={2}",
             "mean", "share:{0}={2}", "correlation:{0},{1}", "difference:{0}:{1}={2},x", "",
             "x:y", ":::", "quantiles:{0}:2"]  # fmt: skip
ODD_ROWS = ["0", "-1", "x", "1.5", "", "1e3", "99999999999999999999"]
ODD_EPSILONS = ["1e-9", "nan", "-1", "0", "1e308", "inf", "1e-5", "1000", "1001", "x"]


@contextmanager
def begin(folder: Path) -> Iterator[Case]:
    """Each table in a folder of its own."""

    def try_one(order: random.Random) -> Counter[str]:
        place = Path(tempfile.mkdtemp(dir=folder))
        try:
            with inside(place):
                return Counter([one_case(order)])
        finally:
            shutil.rmtree(place)

    yield try_one


def one_case(order: random.Random) -> str:
    """A table and a schema, and one command on them."""
    says, table = odd_table(order)
    data = write(order, table, says)
    if data is None:
        return "no such file can be written"
    unit = order.choice(["", "", "", 'unit = "u"\n'])
    Path("s.toml").write_text(unit + toml(says), encoding="utf-8", newline="")
    command = order.choices([synthesize, frame, optimize, draft, compare], [8, 4, 2, 2, 1])[0]
    return command(order, data, says) if command is not frame else frame(order, table, says)


def odd_table(order: random.Random) -> tuple[dict[str, dict], pa.Table]:
    """One to three columns, and what a schema says about each, which may be wrong."""
    rows = order.choice([0, 1, 2, 5, 20, 60])
    says, columns = {}, {}
    for _ in range(order.choice([1, 1, 2, 3])):
        name, odd = order.choice(NAMES) if order.random() < 0.4 else f"c{len(says)}", order.choice(list(ODD.values()))
        says[name] = dict(odd.says)
        if "categories" in odd.says and order.random() < 0.9:  # whole numbers from 2^53 on are refused at once
            says[name]["categories"] = [one for one in odd.says["categories"] if type(one) is not int or one < 2**53]
        values = [value for value, _ in odd.values]
        columns[name] = pa.array([order.choice(values) for _ in range(rows)], odd.dtype, from_pandas=False)
        if order.random() < 0.25:
            columns[name] = odd_objects(order, columns[name])
        if "bounds" in says[name] and "bins" not in says[name] and order.random() < 0.8:
            says[name]["bins"] = order.choice([2, 3, 4])
        if order.random() < 0.3:
            says[name]["missing"] = order.choice(["drop", "category", "category"])
        if order.random() < 0.3:
            says[name]["outside"] = "clip" if "bounds" in odd.says else "drop"
        if order.random() < 0.2:
            key = order.choice(list(ODD_KEYS))
            says[name][key] = order.choice(ODD_KEYS[key])
            if order.random() < 0.5 and key in {"bounds", "categories"}:
                says[name] = {key: says[name][key]}
    if order.random() < 0.3:
        columns["u"] = pa.array([order.choice(["p", "q", "1", "1.0", None, ""]) for _ in range(rows)], pa.string())
    return says, pa.table(columns)


def odd_objects(order: random.Random, column: pa.Array) -> pa.Array:
    """The column with an odd value of another type in it, if a column can hold both; or with nothing in it at all."""
    values = column.to_pylist()
    for _ in range(order.choice([1, 1, 3])):
        if values:
            values[order.randrange(len(values))] = order.choice([*ODD_VALUES.values(), *ODD_NAMES.values()])
    for dtype in (None, pa.string(), pa.null()):
        try:
            shown = [None if value is None else str(value) for value in values] if dtype == pa.string() else values
            return pa.array([None] * len(values) if dtype == pa.null() else shown, dtype)
        except (pa.ArrowException, ValueError, TypeError, OverflowError):
            continue
    return column


def write(order: random.Random, table: pa.Table, says: dict) -> Path | None:
    """A file of the table, some of text damaged; None where a library refuses to write it."""
    name = order.choice(list(FILES))
    path = Path(f"data.{name.split('.')[1]}")
    try:
        FILES[name](table, path)
    except BaseException as error:  # polars panics
        if isinstance(error, KeyboardInterrupt | SystemExit | Lost):
            raise
        return None
    if path.suffix != ".parquet" and order.random() < 0.3:
        content = path.read_bytes()
        for _ in range(order.choice([1, 1, 4])):
            at = order.randrange(len(content) + 1)
            content = content[:at] + order.choice(TEXT) + content[at + order.choice([0, 0, 1, 30]) :]
        path.write_bytes(content)
    return path


def toml(says: dict[str, dict]) -> str:
    """A schema as a file says it."""
    lines = []
    for name, keys in says.items():
        lines += [f"[columns.{_toml_value(name)}]", *(f"{key} = {_toml_value(value)}" for key, value in keys.items())]
    return "\n".join(lines) + "\n"


def _toml_value(value: object) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml_value, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, datetime.date):
        return value.isoformat()
    return str(value).lower() if isinstance(value, bool | float) else str(value)


def synthesize(order: random.Random, data: Path, says: dict) -> str:
    """Rows inside the schema and the book charged for them; or refused, with nothing written and nothing charged."""
    method, out = (
        order.choice(["pay-once", "pay-once", "envelope"]),
        order.choice(["r.parquet", "r.parquet", "r.csv", "r.tsv"]),
    )
    rows = (
        order.choice(["1", "3", "same" if method == "pay-once" else "2"])
        if order.random() < 0.9
        else order.choice(ODD_ROWS)
    )
    epsilon = order.choice(["1", "0.5", "20"]) if order.random() < 0.9 else order.choice(ODD_EPSILONS)
    words = [
        "synthesize",
        data,
        "--schema",
        "s.toml",
        "--method",
        method,
        "--rows",
        rows,
        "--epsilon",
        epsilon,
        "--out",
        out,
    ]
    words += order.choice([[], ["--json"], ["--verbose"]])
    counts = order.random() < 0.4 and method == "pay-once"
    words += ["--publish-counts", "z.json"] if counts else []
    words += order.choice([[], [], ["--missing", "category"], ["--missing", "refuse"], ["--outside", "refuse"]])
    words += ["--unit", "u", "--rows-per-person", order.choice(["1", "2", "0"])] if order.random() < 0.2 else []
    book = Book.create("b.book", epsilon=30) if order.random() < 0.3 else None
    words += ["--book", "b.book"] if book else []
    before = files()
    ending = run(*words)
    if not ending.done:
        ending.require(files() == before, "Refused, but something was written.")
        ending.require(book is None or not Book.open("b.book").entries, "Refused, but charged to the book.")
        return "refused in a sentence"
    saved = Path(out).with_suffix(".eq")
    ending.require(saved.exists() and Path(out).exists() and Path("z.json").exists() == counts, "A file is not there.")
    if book:
        charged = [(entry.state, entry.charge.cost.epsilon) for entry in Book.open("b.book").entries]
        ending.require(charged == [("finished", float(epsilon))], f"The book says {charged}.")
    default = words[words.index("--missing") + 1] if "--missing" in words else "drop"
    require_inside(ending, read_rows(Path(out), says), says, default, None if rows == "same" else int(rows))
    for path in (saved, Path("z.json")) if counts else (saved,):
        checked = run_checker(path)
        checked.require(checked.done, f"The checker does not accept what was made by {ending.words}.")
    after(order, says, [out, saved, *(["z.json"] if counts else [])])
    return "rows inside the schema"


def after(order: random.Random, says: dict, paths: list) -> None:
    """Questions about what came out, and more rows of it; whatever is said must be a sentence."""
    names = [*says, "none"]
    question = order.choice(QUESTIONS)
    question = question.format(order.choice(names), order.choice(names), order.choice(["a b", "1", "true", "", "="]))
    path = Path(order.choice(paths))
    words = ["answer", path, question, *(["--schema", "s.toml"] if path.suffix not in {".eq", ".json"} else [])]
    run(
        *words,
        *order.choice([[], ["--json"], ["--by", order.choice(names)], ["--level", order.choice(["0.9", "0", "nan"])]]),
    )
    run(order.choice(["show", "audit", "sample"]), paths[1], *order.choice([[], ["--json"]]))


def frame(order: random.Random, table: pa.Table, says: dict) -> str:
    """The same of a dataframe, from Python: rows inside the schema, or an error that is raised on purpose."""
    try:
        data = order.choice(list(FRAMES.values())[:-1])(table)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt | SystemExit | Lost):
            raise
        return "no such frame can be made"
    if order.random() < 0.3:
        data = objects(order, table) if len(table) else data
    method, many = order.choice(["pay-once", "envelope"]), order.choice([1, 3])
    try:
        release = equinoise.synthesize(data, {"columns": says}, epsilon=1.0, rows=many, method=method)
    except equinoise.EquinoiseError:
        return "refused in a sentence"
    rows = pl.DataFrame(release.mechanism.sample(2, frame="polars")) if method == "pay-once" else None
    ending = Ending(("synthesize", repr(says), repr(data)[:500]), 0, "", "")
    if rows is not None:
        require_inside(ending, rows, says, "drop", 2)
    ending.require(len(release.rows) == many, "Another number of rows.")
    return "rows inside the schema"


def objects(order: random.Random, table: pa.Table) -> object:
    """A pandas frame of objects, with values of any kind among them."""
    import pandas as pd

    columns = {name: list(table[name].to_pylist()) for name in table.column_names}
    for values in columns.values():
        values[order.randrange(len(values))] = order.choice([*ODD_VALUES.values(), *ODD_NAMES.values()])
    return pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()})


def optimize(order: random.Random, data: Path, says: dict) -> str:
    """A mechanism that the checker accepts, or refused with nothing written."""
    before = files()
    epsilon = order.choice(["1", "3", "8"]) if order.random() < 0.9 else order.choice(ODD_EPSILONS)
    words = [
        "optimize",
        data,
        "--schema",
        "s.toml",
        "--restarts",
        "1",
        "--epsilon",
        epsilon,
        "--out",
        "m.eq",
        "--draws",
        "3",
    ]
    words += order.choice([[], ["--json"], ["--delta", "1e-4"]]) + order.choice(
        [[], ["--missing", "drop", "--outside", "clip"]]
    )
    ending = run(*words)
    if not ending.done:
        ending.require(files() == before, "Refused, but something was written.")
        return "refused in a sentence"
    drawn = run("sample", "m.eq", "-n", 2, "--out", "r.parquet")
    drawn.require(drawn.done, "A fresh mechanism gives no rows.")
    missing = words[words.index("--missing") + 1] if "--missing" in words else "refuse"
    require_inside(drawn, read_rows(Path("r.parquet"), says), says, missing, 2)
    checked = run_checker(Path("m.eq"))
    checked.require(checked.done, "The checker does not accept a fresh mechanism.")
    return "rows inside the schema"


def draft(order: random.Random, data: Path, says: dict) -> str:
    """A draft that can be opened, or refused with nothing written."""
    before = files()
    ending = run(
        "schema", data, "--out", "draft.toml", *order.choice([[], ["--peek"], ["--json"], ["--peek", "--json"]])
    )
    ending.require(ending.done or files() == before, "Refused, but something was written.")
    if ending.done:
        equinoise.Schema.open("draft.toml")
    return "drafted" if ending.done else "refused in a sentence"


def compare(order: random.Random, data: Path, says: dict) -> str:
    """A table of methods, or refused."""
    few = ["--restarts", "1", "--time-limit", "1", "--epsilon", "1", "--missing", "drop", "--outside", "clip"]
    ending = run("compare", data, "--schema", "s.toml", *few, *order.choice([[], ["--json"]]))
    return "compared" if ending.done else "refused in a sentence"


def files() -> set[str]:
    """Names of everything here, but for what keeps the book."""
    return {path.name for path in Path().iterdir() if not path.name.startswith(("b.book", "state"))}


def read_rows(path: Path, says: dict) -> pl.DataFrame | int:
    """Rows of a Parquet file, with their types; of a text file how many there are."""
    if path.suffix == ".parquet":
        return pl.read_parquet(path)
    import csv

    with path.open(newline="", encoding="utf-8") as file:
        return sum(1 for _ in csv.reader(file, delimiter="\t" if path.suffix == ".tsv" else ",")) - 1


def require_inside(ending: Ending, rows: pl.DataFrame | int, says: dict, missing: str, many: int | None) -> None:
    """So many rows, and every value one that the schema allows, by code of its own."""
    height = rows if isinstance(rows, int) else rows.height
    ending.require(many in {None, height}, f"There are {height} rows, not {many}.")
    if isinstance(rows, int):
        return
    ending.require(rows.columns == [*says], f"The columns are {rows.columns}.")
    for name, keys in says.items():
        for value in rows[name].to_list():
            ending.require(
                allowed(value, keys, missing), f"{value!r} is in column {name!r}, of which the schema says {keys}."
            )


def allowed(value: object, keys: dict, missing: str) -> bool:
    """Whether a schema's column can hold a value."""
    if value is None:
        return keys.get("missing", missing) == "category"
    if "categories" in keys:
        return any(type(value) is type(one) and value == one for one in keys["categories"])
    low, high = keys["bounds"]
    if isinstance(low, datetime.date):
        return low <= value <= high
    step = keys.get("step")
    steps = None if step is None else (value - low) / step
    return low <= value <= high and (steps is None or abs(steps - round(steps)) < 1e-6 * max(1, abs(steps)))
