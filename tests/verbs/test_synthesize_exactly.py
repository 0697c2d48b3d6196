"""Differential privacy of all of ``synthesize``, exactly: every two small files that differ by one person, odd values
and all, read and counted as the verb does, and what comes out of them in fractions."""

import itertools
import json
import math
from collections import Counter
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import equinoise
from equinoise.analysis.audit import audit
from equinoise.data.read_players import columns_asked_for, read_players
from equinoise.mechanisms import counts_table
from equinoise.mechanisms.private_table import check_private_grid
from equinoise.mechanisms.published_counts import PublishedCounts
from equinoise.verbs.table_request import Saving, TableRequest, public_columns
from tests.conftest import seeded_bytes

AGE = {"bounds": [0, 4], "bins": 3}
STEPS = {"bounds": [0, 9], "step": 1, "bins": 5, "missing": "category"}
WARD = {"categories": ["a", "b"]}
KNOWN_WARD = {"categories": ["a", "b"], "missing": "category"}
AGES = ["0", " 2.5", "4", "-7", "1e9", "", "NA", "inf", "-0.0"]
WARDS = ["a", " b ", "A", "other", "", "n/a"]
BOTH = ["0,a", "4,b", "9,a", "1,other", ",b", "3,", "nan,c"]


CROWD = 18


class Case(NamedTuple):
    """Columns, and people to be in the data or not, each a tuple of rows; with several rows, how many count."""

    columns: dict
    people: list
    most: int | None = None


ALONE = [(row,) for row in AGES]
VISITS = [
    ("0",), ("4", "4", "4", "4"), ("0", "4"), ("4", "0", "0"), ("NA", "4"),
    ("9", "", "2", "2", "-1"), ("inf", "NA"), ("1", "2", "3", "0"),
]  # fmt: skip
STAYS = [
    ("0,a",),
    ("3,b", "3,b", "3,b"),
    ("0,a", "0,a", "4,b"),
    ("3,other", "1,b", "9,b"),
    (",", "2,a"),
    ("1,b", "2,a", "0,b", "4,a"),
]
CASES = {
    "numbers": Case({"age": AGE}, ALONE),
    "steps and the missing": Case({"age": STEPS}, ALONE),
    "categories": Case({"ward": WARD}, [(row,) for row in WARDS]),
    "categories and the missing": Case({"ward": KNOWN_WARD}, [(row,) for row in WARDS]),
    "two columns": Case({"age": AGE, "ward": KNOWN_WARD}, [(row,) for row in BOTH]),
    "one of several rows": Case({"age": AGE}, VISITS, 1),
    "two of several rows": Case({"age": AGE}, VISITS, 2),
    "two of several rows of two columns": Case({"age": STEPS, "ward": WARD}, STAYS, 2),
    "none is dropped": Case({"age": STEPS}, VISITS, 3),
}


def text_of(case, people, nameless=()):
    """A file of these people: names in another order than people, the rows of all mixed; and rows without a name."""
    named = [f"p{len(people) - i},{row}" for i, rows in enumerate(people) for row in rows]
    named += [f"{name},{row}" for name, row in zip(itertools.cycle(["", " ", "NA"]), nameless, strict=False)]
    mixed = named[1::2] + named[::2][::-1]
    return "\n".join([",".join(["who", *case.columns]), *mixed]) + "\n"


class Reader:
    """Counts files as the verb does, and makes its mechanisms of them."""

    def __init__(self, case, folder):
        self.case, self.path = case, folder / "people.csv"
        unit = None if case.most is None else "who"
        self.most = case.most or 1
        self.schema = public_columns(columns_asked_for({"columns": case.columns}, None, None, unit=unit))

    def players(self, people, nameless=()):
        self.path.write_text(text_of(self.case, people, nameless))
        return read_players(
            self.path, self.schema, most_rows=self.most, check_grid=check_private_grid, least=0
        )  # fmt: skip

    def make(self, people, **settings):
        request = TableRequest(unit=self.schema.unit, rows_per_person=self.most, **settings)
        choice = request.choose(self.schema, None, None)
        return request.make(*self.players(people), choice, Saving(), None)

    def pairs(self):
        """Every dataset of at most one person or of a crowd of the first, and the same with one person more."""
        first = self.case.people[0]
        for people in [(), *((one,) for one in self.case.people), (first,) * CROWD]:
            for person in self.case.people:
                yield people, tuple(sorted((*people, person), key=self.case.people.index))


@pytest.fixture(params=CASES.values(), ids=CASES)
def reader(request, tmp_path):
    """Of every case."""
    return Reader(request.param, tmp_path)


def remembered(make):
    """A function of datasets that works each out once."""
    known = {}
    return lambda people: known[people] if people in known else known.setdefault(people, make(people))


def e_to(x):
    """A fraction just below e^x, x above 0: the first terms of its series."""
    return sum(Fraction(x) ** k / math.factorial(k) for k in range(40))


def test_one_person_moves_the_counts_by_no_more_than_the_noise_is_for(reader):
    counts = remembered(lambda people: reader.players(people)[0].histogram.counts)
    moves = {int(np.abs(counts(more) - counts(fewer)).sum()) for fewer, more in reader.pairs()}
    assert max(moves) == reader.most
    for epsilon in (0.1, 1 / 3, 2.0):
        law = counts_table.noise_law(epsilon, reader.most)
        # P(k) is proportional to a^abs(k), a = e^(-1/scale): a table of noisy counts differs by a^(-move) at most.
        assert max(moves) / Fraction(law.scale) <= Fraction(epsilon)


def test_a_row_of_the_envelope_differs_by_no_more_than_its_part_of_epsilon(reader):
    epsilon, rows = 3.0, 3
    make = remembered(lambda people: reader.make(people, epsilon=epsilon, rows=rows, method="envelope"))
    bound, largest = e_to(Fraction(epsilon) / rows), Fraction(0)
    for fewer, more in reader.pairs():
        one, other = make(fewer).weights, make(more).weights
        for a, b in zip(one.dense(), other.dense(), strict=True):
            p, q = Fraction(a, one.total), Fraction(b, other.total)
            largest = max(largest, p / q, q / p)
    assert 1 < largest <= bound
    assert math.log(largest) > 0.91 * epsilon / rows  # so a tenth too much would be seen


def hockey_stick(p, q, rows, bound):
    """The greatest of P - bound Q over sets of what so many independent rows can be, in fractions."""
    total = Fraction(0)
    for drawn in itertools.combinations_with_replacement(range(len(p)), rows):
        ways = math.factorial(rows)
        for times in Counter(drawn).values():
            ways //= math.factorial(times)
        total += ways * max(0, math.prod(p[x] for x in drawn) - bound * math.prod(q[x] for x in drawn))
    return total


@pytest.mark.parametrize("name", ["numbers", "categories and the missing", "two of several rows"])
@pytest.mark.parametrize(("delta", "rows"), [(0.05, 12), (0.0, 3)])
def test_many_rows_of_the_envelope_stay_within_epsilon_but_for_delta(tmp_path, name, delta, rows):
    reader, epsilon = Reader(CASES[name], tmp_path), 1.0
    make = remembered(lambda people: reader.make(people, epsilon=epsilon, delta=delta, rows=rows, method="envelope"))
    assert delta == 0 or make(()).epsilon > 1.2 * epsilon / rows
    bound, seen = e_to(epsilon), {}
    for fewer, more in reader.pairs():
        both = make(fewer).weights, make(more).weights
        sides = [tuple(Fraction(weight, found.total) for weight in found.dense()) for found in both]
        for p, q in itertools.permutations(sides):
            if (p, q) not in seen:
                seen[p, q] = hockey_stick(p, q, rows, bound)
    assert (delta > 0) == (max(seen.values()) > 0)
    assert max(seen.values()) <= Fraction(delta)


@pytest.mark.parametrize("name", ["steps and the missing", "two columns", "two of several rows"])
def test_all_that_comes_out_of_noisy_counts_depends_on_them_alone(name, monkeypatch, tmp_path):
    reader, asked = Reader(CASES[name], tmp_path), []

    def same_counts(counts, law):
        asked.append(counts)
        return np.random.default_rng(5).integers(-3, 9, len(counts))

    monkeypatch.setattr(counts_table, "noisy_counts", same_counts)
    found = set()
    for people in [(), reader.case.people[:1], reader.case.people[-1:], reader.case.people]:
        made = reader.make(people, epsilon=1.0, rows="same")
        assert np.array_equal(asked[-1], made.histogram)
        rows = made.sample(50, source=seeded_bytes(1)).write_csv()
        made.report(tmp_path / "page.html", public=True, force=True)
        page = (tmp_path / "page.html").read_text()
        found.add((tuple(made.weights), made.rows_alike, rows, json.dumps(PublishedCounts.of(made).to_json()), page))
    assert len(found) == 1


def test_a_row_without_a_name_changes_nothing(tmp_path):
    for case in CASES.values():
        if case.most is not None:
            reader = Reader(case, tmp_path)
            one, other = (reader.players(case.people[:2], nameless)[0] for nameless in ((), case.people[0]))
            assert one.same(other)


@pytest.mark.parametrize("method", ["envelope", "pay-once"])
def test_nobody_at_all_is_as_good_as_anybody(tmp_path, monkeypatch, run, method):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.toml").write_text(
        "[columns.age]\nbounds = [0, 4]\nstep = 1\n[columns.day]\nbounds = [2024-01-01, 2024-01-03]\n"
        '[columns.ward]\ncategories = ["a", "b"]\n[columns.kg]\nbounds = [0.0, 9.5]\nbins = 2\nmissing = "category"\n'
    )
    released = []
    for number, rows in enumerate(["", "1,2024-01-05,a,3\n", ",,?,1\n"]):
        (tmp_path / "t.csv").write_text(f"age,day,ward,kg\n{rows}")
        asked = ("synthesize", "t.csv", "--schema", "t.toml", "--epsilon", 1, "--rows", 4, "--method", method)
        if number == 0:
            status, out, err = run(*asked, "--out", "text.csv")
            assert (status, err, "Nobody had a usable value: all of this is noise." in out) == (0, "", True)
        status, out, err = run(*asked, "--out", "r.csv", "--json")
        assert (status, err) == (0, "")
        assert json.loads(out)["people"] == (number == 1)
        for command in (("show",), ("audit",), ("cost",), ("audit", "--json"), ("show", "--json")):
            assert run(command[0], "r.eq", *command[1:])[0] == 0
        losses = run("losses", "r.eq", "t.csv", "--out", f"losses{number}.csv")
        assert losses[0] == (0 if number == 1 else 2), losses[2]
        assert number == 1 or "nobody had a usable value" in losses[2]
        assert number or run("report", "r.eq", "--out", "page.html")[0] == 0
        assert run("report", "r.eq", "--public", "--out", "public.html", "--force")[0] == 0
        frame = pl.read_csv("r.csv")
        (tmp_path / "r.eq").unlink()
        (tmp_path / "r.csv").unlink()
        released.append((frame.columns, frame.height, (tmp_path / "public.html").read_text()))
    assert released[0] == released[1] == released[2]


FRAMES = {"polars": pl.DataFrame, "pandas": pd.DataFrame, "pyarrow": pa.table}
ODD = {
    "a missing number": [1, 2, None],
    "a number with a fraction": [1.0, 2.0, 2.5],
    "a large number": [1, 2, 2**40],
    "nothing but the missing": [None, None],
}
"""Values of people of whom one is odd, in the type that they need; without that one a library reads whole numbers."""


def types_of(rows):
    """What anybody sees of a table besides its rows."""
    found = getattr(rows, "dtypes", None)
    return str(rows.schema if isinstance(rows, pa.Table) else rows.dtype if found is None else list(found))


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_the_types_of_rows_do_not_tell_of_one_persons_value(kind, odd):
    schema = {"columns": {"age": {"bounds": [0, 5], "step": 1}}}
    tables = [FRAMES[kind]({"age": values}) for values in (odd, [1, 2])]
    some, fewer = (equinoise.synthesize(table, schema, epsilon=1, rows=9).rows for table in tables)
    assert type(some) is type(fewer) is type(tables[0])
    assert types_of(some) == types_of(fewer)


@pytest.mark.parametrize(
    "column",
    [
        lambda values: pd.DataFrame({"ward": pd.Categorical(values)}),
        lambda values: pl.DataFrame({"ward": pl.Series(values, dtype=pl.Enum(sorted(set(values))))}),
        lambda values: pa.table({"ward": pa.array(values).dictionary_encode()}),
    ],
)
def test_categories_that_only_occur_in_the_data_do_not_come_out(column):
    schema = {"columns": {"ward": {"categories": ["b", "a"]}}}
    some, fewer = (
        equinoise.synthesize(column(values), schema, epsilon=1, rows=9).rows for values in (["a", "rare"], ["a", "b"])
    )
    assert types_of(some) == types_of(fewer)
    assert "rare" not in types_of(some) + repr(some)


@pytest.mark.parametrize("code", [2**53, -(10**17), str(10**16), "9007199254740993.0"])
def test_categories_that_one_missing_value_would_round_are_refused(code):
    """In pandas nobody would be in any of them once one person's code is missing."""
    for rows in ([2**53 + 1], [2**53 + 1, None]):
        with pytest.raises(equinoise.BadInput, match="Give them shorter codes"):
            equinoise.synthesize(
                pd.DataFrame({"code": rows}),
                {"columns": {"code": {"categories": [type(code)(1), code]}}},
                epsilon=1,
                rows=1,
            )
    known = {"columns": {"code": {"categories": [2**53 - 1, 5]}}}
    found = [equinoise.synthesize(pd.DataFrame({"code": rows}), known, epsilon=1, rows=1).mechanism.histogram
             for rows in ([2**53 - 1, 5], [2**53 - 1, 5, None])]  # fmt: skip
    assert found[0].tolist() == found[1].tolist() == [1, 1]


def test_unlikely_noise_is_told_by_an_audit_and_stops_nothing(monkeypatch, tmp_path):
    """To release only where the noise is likely would tell, once in a while, what the counts are."""
    monkeypatch.setattr(counts_table, "noisy_counts", lambda counts, law: counts)
    schema = {"columns": {"age": {"bounds": [0, 99], "step": 1}}}
    release = equinoise.synthesize([5, 6, 7], schema, column="age", epsilon=0.1, rows=20, save=tmp_path / "a.eq")
    assert len(release.rows) == 20
    assert len(equinoise.Mechanism.open(tmp_path / "a.eq").sample(3)) == 3
    assert not audit(tmp_path / "a.eq").passed
    monkeypatch.undo()
    equinoise.synthesize([5, 6, 7], schema, column="age", epsilon=0.1, rows=20, save=tmp_path / "b.eq")
    assert audit(tmp_path / "b.eq").passed


def test_a_parquet_file_of_nothing_but_missing_values_is_a_table_of_nobody(tmp_path):
    schema = {"unit": "who", "columns": {"age": {"bounds": [0, 5], "step": 1}, "ward": {"categories": ["a", "b"]}}}
    pl.DataFrame({"who": [None, None], "age": [None, None], "ward": [None, None]}).write_parquet(tmp_path / "t.parquet")
    release = equinoise.synthesize(tmp_path / "t.parquet", schema, epsilon=1, rows=2)
    assert release.mechanism.total_people == 0
    assert release.rows.schema == {"age": pl.Int64, "ward": pl.String}


def test_bins_of_ones_own_go_with_a_number_of_people():
    frame = pl.DataFrame({"pay": [10.0, 20.0, 30.0] * 40})
    asked = {"bounds": {"pay": (0, 90)}, "people": 120, "epsilon": 1, "rows": 3}
    made = equinoise.synthesize(frame, bins=7, **asked).mechanism
    assert made.grid.shape == (7,)
    assert equinoise.plan(bins=7, **asked).grid.shape == (7,)
    own = {"columns": {"pay": {"bounds": [0, 90], "bins": 7}}}
    with pytest.raises(equinoise.BadInput, match="left out where every column has categories or bins of its own"):
        equinoise.synthesize(frame, own, bins=7, people=120, epsilon=1, rows=3)
