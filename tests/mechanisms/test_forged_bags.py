"""Saved files of people with several rows that someone has edited: no command believes them."""

import json
from contextlib import nullcontext

import polars as pl
import pytest
from pydantic import ValidationError

import equinoise
from equinoise.mechanisms.saved_file import DOCUMENT
from tests.helpers.forged_files import forge

VISITS = pl.DataFrame({"who": [f"p{i % 20}" for i in range(60)], "x": [float(i * 37 % 101) for i in range(60)]})
ASKED = {"column": "x", "bounds": (0, 100), "epsilon": 1, "bins": 41}


def more_rows(document):
    document["bags"][0][0][1] = 2**62 - 1


def many_people(document):
    document["people"][0] = 2**61


def too_many(document):
    document["bags"][0] = [[0, 2**61], [1, 2**61], [2, 2**61]]


def too_many_of_one_person(document):
    document["bags"][0][0][1] = 2**30 + 1


def out_of_range(document):
    document["bags"][-1] = [[41, 1]]


def other_size(document):
    document["bags"][0][0][1] += 1


def one_row(document):
    document["settings"]["unit_rows"] = "one"


def no_unit(document):
    document["settings"]["unit"] = None


def fewer_bags(document):
    document["bags"].pop()


def no_bags(document):
    document["bags"] = [[] for _ in document["bags"]]


@pytest.mark.parametrize(
    "change",
    [
        more_rows,
        many_people,
        too_many,
        too_many_of_one_person,
        out_of_range,
        other_size,
        one_row,
        no_unit,
        fewer_bags,
        no_bags,
    ],
)
def test_forged_bags_are_refused(folder, run, change):
    made = equinoise.optimize(VISITS, unit="who", **ASKED)
    assert not made.members.single
    made.save("a.eq")
    forge(folder / "a.eq", change)
    for command in (("show",), ("sample",), ("cost",)):
        code, _, err = run(command[0], "a.eq", *command[1:])
        assert (code, "damaged" in err or "tampered" in err) == (2, True)
    code, _, err = run("audit", "a.eq")
    assert (code, "unexpected" in err) in {(1, False), (2, False)}


def test_bags_that_moved_are_found_by_an_audit(folder, run):
    equinoise.optimize(VISITS, unit="who", **{**ASKED, "bounds": (0, 110)}).save("a.eq")

    def moved(document):
        document["bags"][-1][-1][0] += 1

    forge(folder / "a.eq", moved)
    code, out, _ = run("audit", "a.eq", "--json")
    assert (code, json.loads(out)["same_kernel"]) == (1, False)


@pytest.fixture(scope="module")
def document():
    """What a file says of a mechanism of people with several rows."""
    return equinoise.optimize(VISITS, unit="who", restarts=1, **ASKED)._document()


@pytest.mark.parametrize(
    ("change", "good"),
    [
        (lambda said: None, True),
        (lambda said: said["bags"][0].__setitem__(0, [0, 0]), False),
        (lambda said: said["bags"][0].__setitem__(0, [0, -1]), False),
        (lambda said: said["bags"][0].__setitem__(0, [-1, 1]), False),
        (lambda said: said["scale_indices"].__setitem__(-1, len(said["scales"]) - 1), True),
        (lambda said: said["scale_indices"].__setitem__(-1, len(said["scales"])), False),
        (lambda said: said["settings"].pop("public_bounds"), False),
        (lambda said: said["settings"].update(notes="x"), False),
        (lambda said: said["settings"].update(engine="polars"), False),
    ],
)
def test_what_a_file_may_say_of_rows_scales_and_settings(document, change, good):
    said = json.loads(document)
    change(said)
    with nullcontext() if good else pytest.raises(ValidationError):
        DOCUMENT.validate_json(json.dumps(said))
