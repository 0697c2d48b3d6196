"""Columns of categories, and bins of the missing, in the game: kernels, the theorem, equilibria, the certificate."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import equinoise
from benchmarks import plain
from equinoise.choices import NOISES
from equinoise.data.category_axis import CategoryAxis
from equinoise.data.grid import Axis, Grid
from equinoise.game.equilibrium import is_equilibrium
from equinoise.game.game import Game
from equinoise.game.kernel import make_kernel
from equinoise.game.noise import noise_mass
from equinoise.game.theorem import always_protecting_scale, self_protecting_scale
from equinoise.solvers.best_response import best_response
from tests.helpers.drawn_games import epsilons, random_profile
from tests.helpers.games import people_in

COUNTS = st.lists(st.integers(0, 6), min_size=2, max_size=6).filter(lambda n: sum(n) >= 2)
AXES = {
    "categories": (CategoryAxis("w", ("a", "b", "c")),),
    "numbers and missing": (Axis("x", 0.0, 1.0, 5, missing="category"),),
    "numbers x categories": (Axis("x", 0.0, 1.0, 4), CategoryAxis("w", ("a", "b", "c"), missing="category")),
    "categories x missing x categories": (
        CategoryAxis("v", (True, False)), Axis("x", 0.0, 1.0, 3, missing="category"), CategoryAxis("w", (1, 2, 3)),
    ),
}  # fmt: skip


def game_of(axes, counts, scales, epsilon, noise="laplace"):
    grid = Grid(axes)
    choices = tuple((scale,) * len(axes) for scale in scales)
    kernel = make_kernel(noise, choices, grid.shape, None, grid.categories)
    return Game(people_in(grid, counts), kernel, epsilon)


def of_categories(counts, scales, epsilon):
    names = tuple(range(len(counts)))
    return game_of((CategoryAxis("w", names),), counts, scales, epsilon)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("scale", [0.05, 0.7, 30.0])
def test_who_leaves_a_category_comes_out_in_any_other_alike(noise, scale):
    mass = noise_mass(noise, scale, 4, categories=4)
    away = math.exp(-1 / scale)
    expected = np.full((4, 4), away) + (1 - away) * np.eye(4)
    assert mass == pytest.approx(expected / (1 + 3 * away), rel=1e-12)


@pytest.mark.parametrize("noise", NOISES)
def test_who_leaves_the_bin_of_the_missing_comes_out_anywhere_among_the_numbers(noise):
    scale, away = 0.4, math.exp(-1 / 0.4)
    mass = noise_mass(noise, scale, 6, categories=1)
    assert mass[:5, :5] * (1 + away) == pytest.approx(noise_mass(noise, scale, 5), rel=1e-12)
    assert mass[:5, 5] == pytest.approx(away / (1 + away), rel=1e-12)
    assert mass[5] == pytest.approx(np.array([away / 5] * 5 + [1.0]) / (1 + away), rel=1e-12)


@given(COUNTS, epsilons)
def test_from_the_always_protecting_scale_on_every_profile_protects_everyone(counts, epsilon):
    b = always_protecting_scale(sum(counts), epsilon)
    game = of_categories(counts, [b * 1.0001, 1.3 * b, math.inf], epsilon)
    for seed in range(5):
        assert game.payoff(random_profile(game, seed)).protected == game.people


def test_below_the_always_protecting_scale_somebody_can_be_unprotected():
    """One person alone in a category and many in the other: the theorem's worst case, where it is nearly tight."""
    b = always_protecting_scale(21, 0.5)
    game = of_categories([20, 1], [0.9 * b, math.inf], 0.5)
    assert game.payoff(game.profile_of(np.zeros(2, dtype=np.int64))).protected == 20


@given(COUNTS, epsilons)
def test_from_the_self_protecting_scale_on_infinite_scale_protects_a_person(counts, epsilon):
    b = self_protecting_scale(sum(counts), epsilon, len(counts))
    if math.isinf(b):
        assert (sum(counts) - 1) * math.expm1(epsilon) <= 1
        return
    game = of_categories(counts, [b * 1.0001, 1.3 * b, math.inf], epsilon)
    profile = random_profile(game, 1)
    _, scales = game.groups(profile)
    for loss, scale in zip(game.losses(profile), scales, strict=True):
        assert scale != 2 or loss <= epsilon


@pytest.mark.parametrize("kind", AXES)
@settings(max_examples=12, deadline=None)
@given(st.data())
def test_ends_of_best_response_are_equilibria_person_by_person(kind, data):
    """Against the plain algorithm, which works the whole payoff out again for every person and scale."""
    axes = AXES[kind]
    cells = math.prod(axis.bins for axis in axes)
    counts = data.draw(st.lists(st.integers(0, 3), min_size=cells, max_size=cells).filter(lambda n: sum(n) >= 2))
    game = game_of(axes, counts, [0.05, 0.4, 3.0, math.inf], data.draw(epsilons))
    solution = best_response(game, restarts=2, seed=data.draw(st.integers(0, 9)))
    assert is_equilibrium(game, solution.profile)
    everyone = plain.Everyone(game, solution.profile)
    now = everyone.value(everyone.scales)
    assert now[0] == solution.protected
    for person in range(game.people):
        best = max(everyone.values(person))
        assert best[0] <= now[0]
        assert best[0] < now[0] or best[1] <= now[1] + 1e-9


@pytest.mark.parametrize("kind", AXES)
def test_the_certificate_is_the_definition_in_fractions(kind):
    axes = AXES[kind]
    random = np.random.default_rng(4)
    rows = {axis.name: random.integers(0, axis.bins, 60) for axis in axes}
    columns, data = {}, {}
    for axis in axes:
        if isinstance(axis, CategoryAxis):
            columns[axis.name] = {"categories": list(axis.names), "missing": axis.missing}
            data[axis.name] = [None if b >= len(axis.names) else axis.names[b] for b in rows[axis.name].tolist()]
        else:
            columns[axis.name] = {"bounds": [0.0, 1.0], "bins": axis.number_bins, "missing": axis.missing}
            middles = axis.midpoints()
            data[axis.name] = [None if b >= axis.number_bins else float(middles[b]) for b in rows[axis.name].tolist()]
    import polars as pl

    made = equinoise.optimize(pl.DataFrame(data, strict=False), {"columns": columns}, epsilon=1.5, restarts=2)
    assert made.certificate().holds
    weights = [np.ones(1, dtype=object)] * len(made.people)
    for factor in made.factors:
        weights = [np.outer(w, f.astype(object)).ravel() for w, f in zip(weights, factor, strict=True)]
    people, total = made.people.tolist(), math.prod(made.totals)
    sums = sum(n * w for n, w in zip(people, weights, strict=True))
    n, worst = sum(people), Fraction(0)
    for mine in weights:
        with_, without = [Fraction(int(s), n * total) for s in sums], sums - mine
        ratios = [a / Fraction(int(b), (n - 1) * total) for a, b in zip(with_, without, strict=True)]
        worst = max(worst, *ratios, *(1 / ratio for ratio in ratios))
    assert math.log(worst) == pytest.approx(made.worst_loss, rel=1e-9)
    assert worst <= made.certificate().bound
    drawn = made.sample(1).row(0)
    assert len(drawn) == len(axes)
