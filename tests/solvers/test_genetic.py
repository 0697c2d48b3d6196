import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equinoise.errors import BadInput, PromiseNotMet
from equinoise.game.equilibrium import is_equilibrium
from equinoise.solvers import genetic as module
from equinoise.solvers.genetic import Population, genetic
from tests.helpers.drawn_games import CONDITIONS, EVERY_UTILITY, KINDS, games
from tests.helpers.games import bag_game, joint_game, small_game


@given(games(KINDS, EVERY_UTILITY, CONDITIONS), st.integers(0, 99))
def test_fitness_of_a_population_is_the_payoff_of_each_chromosome(game, seed):
    population = Population(game)
    genes = np.random.default_rng(seed).integers(0, game.scales, (5, game.people))
    for fitness, chromosome in zip(population.payoffs(genes), genes, strict=True):
        profile = game.check_profile(population.profile(chromosome))
        assert fitness == pytest.approx(game.payoff(profile).value, abs=1e-9)
        np.testing.assert_array_equal(population.profile(population.genes(profile)), profile)


SCALES = [0.01, 0.05, 0.3, 3.0]
GAMES = {
    "one column": lambda: small_game([1, 5, 20, 40, 20, 5, 2], SCALES, 1.0),
    "several columns": lambda: joint_game([[1, 5, 20], [3, 40, 20], [0, 5, 2]], SCALES, 1.0),
    "several rows": lambda: bag_game([[0, 1], [1], [1, 1, 2], [3], [4, 5]], [5, 20, 30, 20, 5], 7, SCALES, 1.0),
    "both": lambda: bag_game([[0, 1], [1], [1, 1, 2], [3], [4, 5]], [5, 20, 30, 20, 5], (3, 2), SCALES, 1.0),
}


@pytest.mark.parametrize("kind", GAMES)
def test_it_gets_better_and_repeats_with_the_seed(kind):
    game, seen = GAMES[kind](), []
    few, many = genetic(game, generations=2), genetic(game, generations=40, progress=seen.append)
    assert many.game.payoff(many.profile).value > few.game.payoff(few.profile).value
    np.testing.assert_array_equal(many.profile, genetic(game, generations=40).profile)
    assert [state.number for state in seen] == list(range(1, many.rounds + 1))
    assert many.equilibrium == is_equilibrium(game, many.profile)


def test_it_stops_when_nothing_gets_better(monkeypatch):
    monkeypatch.setattr(module, "PATIENT_GENERATIONS", 5)
    solution = genetic(small_game([1, 2], [0.1, 1.0], 1.0), generations=500)
    assert solution.rounds < 30
    assert solution.equilibrium


@pytest.mark.parametrize("failure", [ValueError("no fitness"), SystemExit(-1)])
def test_a_failing_pygad_is_a_sentence(monkeypatch, capfd, failure):
    def fail(*_):
        raise failure

    monkeypatch.setattr(Population, "payoffs", fail)
    with pytest.raises(PromiseNotMet, match="failed inside PyGAD"):
        genetic(small_game([1, 2], [0.1, 1.0], 1.0), generations=2)
    assert capfd.readouterr() == ("", "")


def test_too_many_people_are_refused():
    with pytest.raises(BadInput, match="at most 100,000 people"):
        genetic(small_game([100_000, 1], [0.1, 1.0], 1.0))
