"""Models of columns by OpenDP's AIM and MST: what is proven of them, how noisy they are, and how close."""

import itertools

import numpy as np
import pytest
from scipy import stats

from equinoise.errors import BadInput
from equinoise.synthesis import opendp_models
from equinoise.synthesis.opendp_filter import ModelRequest, check_parts, whole_measurement
from equinoise.synthesis.opendp_models import counts_of_columns, make_model

SIZES = (4, 3, 2)
MEASURES = [(1.0, 0.0), (0.3, 0.0), (1.0, 1e-6), (0.3, 1e-9)]


def rows_of(people, seed=1):
    """Bins of three columns: the second follows the first, the third goes its own way."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 4, people)
    return np.stack([first, np.minimum(first, 2), rng.integers(0, 2, people)], axis=1)


def exact(people=20_000):
    bins = rows_of(people)
    return counts_of_columns(bins, np.ones(people, dtype=np.int64), SIZES)


def rho_epsilon(rho, delta):
    """An upper bound of epsilon by Renyi divergences of many orders (Canonne, Kamath, Steinke 2020): another route."""
    orders = 1 + np.geomspace(1e-3, 1e6, 200_001)
    bounds = rho * orders + np.log(1 / delta) / (orders - 1) + np.log1p(-1 / orders) - np.log(orders) / (orders - 1)
    return float(bounds.min())


@pytest.mark.parametrize(("epsilon", "delta"), MEASURES)
@pytest.mark.parametrize("rows", [1, 7])
def test_the_map_of_the_whole_is_what_was_asked_for_and_never_more(epsilon, delta, rows):
    whole = whole_measurement(ModelRequest(SIZES, epsilon, delta, rows))
    assert epsilon * (1 - 1e-8) <= whole.epsilon <= epsilon
    assert set(whole.distance.values()) == {rows}
    assert whole.measurement.map(whole.distance) == whole.budget
    if delta:
        assert rho_epsilon(whole.budget, delta) == pytest.approx(epsilon, rel=0.01)
        assert rho_epsilon(whole.budget * 1.05, delta) > epsilon


@pytest.mark.parametrize(("epsilon", "delta"), MEASURES)
def test_the_filter_refuses_what_would_cost_more(epsilon, delta):
    parts, request = check_parts(), ModelRequest(SIZES, epsilon, delta, 2)
    whole = whole_measurement(request)
    queries = whole.measurement(opendp_models._exact(exact(100), request))
    cliques = [("000", "001"), ("002",)]
    share = opendp_models._within(whole, cliques, whole.budget * 0.6, parts)
    assert whole.budget * 0.6 * (1 - 1e-5) <= share.map(whole.distance) <= whole.budget * 0.6
    queries(share)
    assert queries.privacy_loss(whole.distance) <= whole.budget * 0.6
    with pytest.raises(Exception, match=r"(?i)filter|budget|privacy loss"):
        queries(share)


def log_likelihood_p(noise, scale, gaussian):
    """How likely noise as large as this, or as small, is by the law, in its mean size."""
    k = np.arange(-4000, 4001)
    law = np.exp(-(k**2) / (2 * scale**2)) if gaussian else np.exp(-np.abs(k) / scale)
    law /= law.sum()
    size = k**2 if gaussian else np.abs(k)
    mean, variance = law @ size, law @ size**2 - (law @ size) ** 2
    z = (np.mean(np.abs(noise) ** (2 if gaussian else 1)) - mean) / np.sqrt(variance / len(noise))
    return 2 * stats.norm.sf(abs(z))


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.0), (1.0, 1e-6)])
def test_noise_is_as_wide_as_the_law_says_and_no_other(epsilon, delta):
    """Two marginals share the budget: scale 2 m / epsilon, or m / sqrt(rho), for m rows a person."""
    parts, request = check_parts(), ModelRequest((400, 300), epsilon, delta, 3)
    whole = whole_measurement(request)
    zero = {columns: np.zeros([request.sizes[c] for c in columns], dtype=np.int64) for columns in ((0,), (1,), (0, 1))}
    table = opendp_models._exact(zero, request)
    made = opendp_models._within(whole, [("000", "001"), ("001",)], whole.budget, parts)
    noise = np.concatenate([np.asarray(part.noisy_measurement).ravel() for part in made(table)])
    scale = 2 * 3 / epsilon if not delta else 3 / np.sqrt(whole.budget)
    assert len(noise) == 120_300
    assert log_likelihood_p(noise, scale, delta > 0) > 1e-9
    assert log_likelihood_p(noise, scale * 1.05, delta > 0) < 1e-9
    assert log_likelihood_p(noise, scale / 1.05, delta > 0) < 1e-9


@pytest.mark.parametrize("algorithm", ["aim", "mst"])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_what_goes_together_in_the_data_does_in_the_model(algorithm, delta):
    counts = exact()
    model = make_model(counts, ModelRequest(SIZES, 1.0, delta, 1, algorithm))
    assert model.epsilon <= 1
    assert model.delta == delta
    assert model.rows == pytest.approx(20_000, rel=0.02)
    joint = model.joint().reshape(SIZES)
    assert joint.sum() == pytest.approx(1)
    for columns in [(0,), (1,), (2,), *itertools.combinations(range(3), 2)]:
        left = tuple(set(range(3)) - set(columns))
        np.testing.assert_allclose(model.marginal(columns), joint.sum(axis=left), atol=1e-9)
        assert np.abs(model.marginal(columns) - counts(columns) / 20_000).sum() / 2 < 0.02


def test_the_tables_are_the_fitted_distribution_itself(monkeypatch):
    """Column by column, against Private-PGM's own joint distribution, on columns that make a loop."""
    fitted = {}
    real = opendp_models._conditional_tables

    def keep(model, request, parts):
        fitted["joint"] = np.asarray(model.project(request.names).values, dtype=float)
        return real(model, request, parts)

    def loop(whole, queries, request, parts):
        pairs = [("000", "001"), ("001", "002"), ("002", "003"), ("000", "003")]
        measured = queries(opendp_models._within(whole, pairs, whole.budget, parts))
        return opendp_models._fit(measured, request, parts)

    monkeypatch.setattr(opendp_models, "_conditional_tables", keep)
    monkeypatch.setitem(opendp_models._LOOPS, "aim", loop)
    sizes = (3, 2, 4, 2)
    rng = np.random.default_rng(4)
    bins = np.stack([rng.integers(0, size, 500) for size in sizes], axis=1)
    model = make_model(counts_of_columns(bins, np.ones(500, dtype=np.int64), sizes), ModelRequest(sizes, 1.0))
    assert max(len(table.parents) for table in model.tables) == 2
    np.testing.assert_allclose(model.joint().reshape(sizes), fitted["joint"] / fitted["joint"].sum(), atol=1e-9)


def test_counts_that_are_none_and_budgets_for_nothing_are_refused():
    request = ModelRequest(SIZES, 1.0)
    with pytest.raises(BadInput, match="whole numbers from 0 on"):
        make_model(lambda columns: np.full([SIZES[column] for column in columns], -1), request)
    for settings in ({"epsilon": 0.0}, {"delta": 1.0}, {"rows_per_person": 0}, {"algorithm": "best"}):
        with pytest.raises(BadInput, match=next(iter(settings))):
            ModelRequest(SIZES, **{"epsilon": 1.0, **settings})
