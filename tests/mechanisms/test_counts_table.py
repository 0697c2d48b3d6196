"""Noisy counts, paid for once: what their certificate and their budget ask for beside the noise."""

import json
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from pydantic import ValidationError

import equinoise
from equinoise import PromiseNotMet
from equinoise.mechanisms.counts_table import noise_is_likely, whole_weights
from equinoise.mechanisms.saved_file import DOCUMENT
from equinoise.privacy.accounting import Budget
from equinoise.synthesis.noisy_counts import noise_law
from tests.helpers.private_tables import paid_once

PEOPLE = {"age": [20, 30, 30, 40, 40, 40, 60, 80] * 20, "who": [f"p{i // 2}" for i in range(160)]}
SCHEMA = {"unit": "who", "columns": {"age": {"bounds": [0, 100], "bins": 10}}}


@pytest.fixture(scope="module")
def made():
    """Of 80 people with two rows each."""
    return paid_once(pl.DataFrame(PEOPLE), SCHEMA, epsilon=0.5, rows_per_person=2)


def refused(mechanism):
    with pytest.raises(PromiseNotMet) as told:
        mechanism.sample(1)
    return str(told.value)


def changed(made, **fields):
    """A copy with other fields; the estimate, which takes a moment, is worked out again where it would be another."""
    copy = replace(made, ledger=None, **fields)
    if not {"noisy", "law"} & set(fields):
        copy.__dict__["_estimated"] = made._estimated
    return copy


def test_it_holds_as_it_is(made):
    assert made.certificate().holds
    assert made.within_budget
    assert made.law == noise_law(0.5, 2)
    assert (changed(made).sample(3)["age"] >= 0).all()
    assert not np.array_equal(made.noisy, made.histogram)
    assert made.rows_alike == max(1, made.noisy.sum())


def test_weights_must_be_those_of_the_estimate(made):
    assert "not those of" in refused(changed(made, weights=np.roll(made.weights, 3)))
    assert "not those of" in refused(changed(made, weights=whole_weights(made.histogram + 1.0)))
    assert "not those of" in refused(changed(made, noisy=np.roll(made.noisy, 3)))


def test_the_noise_must_be_for_as_many_rows_as_a_person_has(made):
    assert "more rows" in refused(changed(made, rows_per_person=1))
    assert "too small" in refused(changed(made, rows_per_person=3))
    assert "too small" in refused(changed(made, law=noise_law(0.5, 1)))


def test_what_was_paid_is_what_was_asked_for(made):
    for fields in ({"budget": Budget(0.4, 0.0)}, {"budget": Budget(0.5, 1e-9)}, {"budget": None}, {"draws": 5}):
        assert "more than the budget" in refused(changed(made, **fields))


def test_every_cell_has_a_weight():
    weights = whole_weights(np.array([0.0, 1e-30, 5.0]))
    assert weights.min() == 1
    assert weights[2] == 2**45 + 1


def test_an_audit_sees_noise_of_another_size(made):
    noise = np.random.default_rng(3).laplace(0, made.law.scale, 10).round().astype(int)
    assert noise_is_likely(noise, made.law)
    assert not noise_is_likely(np.zeros(30, dtype=np.int64), noise_law(0.01, 2))
    assert not noise_is_likely(30 * noise, made.law)
    assert changed(made, noisy=made.noisy).weights_as_named
    far = changed(made, noisy=made.noisy + 10**6)
    far.__dict__["_weights_follow"] = True
    assert not far.weights_as_named


ONE = {"begins": [0, 1], "cells": [3], "times": [2], "people": [5]}


@pytest.mark.parametrize(
    ("changes", "good"),
    [
        (ONE, True),
        (ONE | {"times": [3]}, False),
        (ONE | {"begins": [0, 2], "cells": [3, 4], "times": [1, 1]}, True),
        (ONE | {"begins": [0, 2], "cells": [3, 3], "times": [1, 1]}, False),
        (ONE | {"begins": [0, 2], "cells": [4, 3], "times": [1, 1]}, False),
        (ONE | {"cells": [10]}, False),
        (ONE | {"delta": 1e-9}, False),
        (ONE | {"order": 2.0}, False),
        (ONE | {"settings": {"public_bounds": False}}, False),
    ],
)
def test_what_a_file_may_say_of_people(made, changes, good):
    document = json.loads(made._document())
    for name, value in changes.items():
        document[name] = {**document[name], **value} if isinstance(value, dict) else value
    with nullcontext() if good else pytest.raises(ValidationError):
        DOCUMENT.validate_json(json.dumps(document))


def test_only_so_many_rows_of_a_person_are_in_a_table():
    """Where more were counted, the certificate would refuse the table, as its noise is not for them."""
    ages = pl.DataFrame({"age": [10, 50, 90] * 40, "who": [f"p{i // 3}" for i in range(120)]})
    for most in (1, 2):
        release = equinoise.synthesize(ages, SCHEMA, epsilon=1, method="pay-once", rows=1, rows_per_person=most)
        assert (release.made.total_people, release.made.total_rows) == (40, 40 * most)
        assert release.made.counted.sizes.tolist() == [most]


@pytest.mark.parametrize("rule", ["missing", "outside"])
def test_refusals_are_said_to_be_outside_the_promise(made, rule):
    said = "is refused is outside the promise"
    assert said not in str(made.promise)
    grid = replace(made.grid, axes=(replace(made.grid.axes[0], **{rule: "refuse"}),))
    assert said in str(changed(made, grid=grid, noisy=made.noisy).promise)
