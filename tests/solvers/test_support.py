"""What goes with what: the page is what the code says, and what the code says is what happens."""

import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import equinoise
from docs_build import support
from equinoise.choices import SOLVERS
from equinoise.solvers.procedure import Procedure, supports
from tests.helpers.games import bare_grid, people_in

RANDOM = np.random.default_rng(3)
PEOPLE = pl.DataFrame(
    {
        "who": [f"p{i % 60}" for i in range(120)],
        "a": RANDOM.normal(50, 10, 120).clip(0, 100),
        "b": RANDOM.normal(30, 5, 120).clip(0, 60),
    }
)
KINDS = {
    "one column": {"column": "a", "bounds": (0, 100)},
    "several columns": {"column": ["a", "b"], "bounds": {"a": (0, 100), "b": (0, 60)}},
    "several rows": {"column": "a", "bounds": (0, 100), "unit": "who"},
    "both": {"column": ["a", "b"], "bounds": {"a": (0, 100), "b": (0, 60)}, "unit": "who"},
}
ASKED = {
    "pure": {},
    "delta": {"delta": 1e-3},
    "renyi": {"order": 3.0},
    "budget": {"draws": 3, "delta": 1e-5},
    "js": {"utility": "js"},
    "tv": {"utility": "tv"},
    "wasserstein": {"utility": "wasserstein"},
    "moments": {"utility": "moments:2"},
    "adaptive": {"scales": "adaptive"},
}
SHORT = {"best-response": {"restarts": 1}, "genetic": {"generations": 2}, "optimal": {"restarts": 1, "time_limit": 0.2}}


def test_the_page_is_what_the_code_says():
    assert Path("docs/support.md").read_text() == support.page()


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_takes_every_kind_of_data_utility_and_condition(solver, kind, asked):
    settings = {"epsilon": 4.0, "solver": solver, **SHORT[solver], **ASKED[asked]}
    data = KINDS[kind]
    columns = len(data["bounds"]) if isinstance(data["column"], list) else 1
    request = Procedure(**settings).request(columns, several_rows="unit" in data)
    assert supports(solver, request) is None
    made = equinoise.optimize(PEOPLE, bins=9, **data, **settings)
    assert made.certificate().holds
    assert made.protected == made.total_people == (60 if "unit" in data else 120)
    assert made.sample(1).shape == (1, columns)


FEW = {"a": RANDOM.uniform(0, 100, 24), "b": RANDOM.uniform(0, 60, 24)}
NOBODY = pl.DataFrame({**FEW, "who": range(24)})
SOMEBODY = pl.DataFrame({**FEW, "who": [0, 0, *range(2, 24)]})
SETTINGS = [
    *({"solver": solver, **SHORT[solver], **ASKED[asked]} for solver in SOLVERS for asked in ASKED),
    *({"solver": solver, **SHORT[solver], **more} for solver in SOLVERS for more in (
        {"delta": 0.2}, {"utility": "js", "delta": 1e-3}, {"utility": "tv", "order": 2.0}, {"noise": "gaussian"},
        {"scales": "adaptive", "delta": 1e-3}, {"scales": "paper"}, {"draws": 2}, {"draws": 2, "order": 4.0},
        {"utility": "wasserstein", "draws": 2, "delta": 1e-4},
    )),
    {"unit_rows": "one"},
]  # fmt: skip


def outcome(verb, frame, settings):
    """Whether it is accepted or, word by word, why not; and the kinds of warnings."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            found = verb(frame, epsilon=8.0, bins=13, **settings).promise.kind
        except equinoise.BadInput as error:
            found = str(error)
    return found, {warning.category for warning in seen}


@pytest.mark.parametrize("number", range(len(SETTINGS)))
@pytest.mark.parametrize("kind", ["several rows", "both"])
def test_the_same_settings_fare_alike_whether_or_not_anybody_has_two_rows(kind, number):
    settings = {**KINDS[kind], **SETTINGS[number]}
    assert outcome(equinoise.optimize, NOBODY, settings) == outcome(equinoise.optimize, SOMEBODY, settings)


@pytest.mark.parametrize("rows_per_person", [1, 2])
@pytest.mark.parametrize("kind", ["several rows", "both"])
def test_differential_privacy_fares_alike_whether_or_not_anybody_has_two_rows(kind, rows_per_person):
    settings = {**KINDS[kind], "rows_per_person": rows_per_person, "rows": 2}
    assert outcome(equinoise.synthesize, NOBODY, settings) == outcome(equinoise.synthesize, SOMEBODY, settings)


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_begins_from_a_start_of_ones_own_unless_scales_adapt(solver):
    players = people_in(bare_grid([9]), [4, 0, 9, 17, 30, 22, 9, 3, 1])
    best = Procedure(1.0, solver="optimal").solve(players)
    short = {"epsilon": 1.0, "solver": solver, **SHORT[solver]}
    found = Procedure(**short).solve(players, start=best.profile)
    assert found.protected == 95
    assert found.divergence <= best.divergence + 1e-12
    with pytest.raises(equinoise.BadInput, match="Leave out one of the two"):
        equinoise.optimize("no-such-file.csv", **KINDS["one column"], **short, scales="adaptive", start=best.profile)
