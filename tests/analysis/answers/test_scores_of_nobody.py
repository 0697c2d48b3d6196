"""Scores where nobody is and there is next to no noise."""

import numpy as np
import polars as pl

from equinoise.analysis.answers.scores import Score
from equinoise.present.true_answers import true_answers
from tests.helpers.private_tables import paid_once


def test_a_score_without_people_and_noise_is_a_number():
    none = np.zeros(3)
    assert np.isfinite(Score(none, none, none, none, none, none, 0.0).most(0.025)).all()


def test_answers_about_nobody_at_a_large_epsilon_are_answers():
    """No warning of a library is left to be printed: here, each is an error."""
    nobody = pl.DataFrame({"a": pl.Series([], dtype=pl.String)})
    table = paid_once(nobody, {"columns": {"a": {"categories": ["x", "y"], "missing": "drop"}}}, epsilon=1000)
    for answer in true_answers(table):
        assert answer.to_json()
