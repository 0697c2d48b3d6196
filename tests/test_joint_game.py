import math

import numpy as np
import polars as pl
import pytest
from conftest import small_game
from hypothesis import assume, given
from hypothesis import strategies as st
from joint_oracle import dense_payoff, dense_weights, joint_game, per_person

import equinoise
from benchmarks.joint import joint_game as players_game
from equinoise.errors import BadInput
from equinoise.grid import Axis, Grid
from equinoise.joint_noise import check_size, joint_scales, make_joint_kernel, weight_bits
from equinoise.joint_utility import named_jointly
from equinoise.procedure import Procedure
from equinoise.solvers.best_response import best_response, rounds, starts
from equinoise.solvers.joint_starts import local_profile

SHAPES = [(2, 2), (3, 2), (4, 3), (2, 2, 2), (3, 1, 2)]
epsilons = st.sampled_from([0.05, 0.2, 0.5, 1.0, 2.0])
scale_sets = st.sampled_from(
    [[0.01, 0.2, 3.0], [0.05, 0.5], [0.3, 1.0, 2.0, 5.0], [(0.01, 0.1, 0.1), (0.1, 0.01, 0.3), (3.0, 3.0, 3.0)]]
)
utilities = st.sampled_from(["kl", "js", "tv"])


@st.composite
def games(draw, utility=utilities):
    shape = draw(st.sampled_from(SHAPES))
    size = math.prod(shape)
    counts = draw(st.lists(st.integers(0, 4), min_size=size, max_size=size).filter(lambda n: sum(n) >= 2))
    scales = [s[: len(shape)] if isinstance(s, tuple) else s for s in draw(scale_sets)]
    return joint_game(np.reshape(counts, shape), scales, draw(epsilons), draw(utility))


def random_profile(game, seed):
    random = np.random.default_rng(seed)
    return random.multinomial(game.histogram.counts, np.full(game.choices, 1 / game.choices))


@given(games(), st.integers(0, 99))
def test_sums_rows_payoff_and_losses_are_those_of_the_game_laid_out(game, seed):
    profile = random_profile(game, seed)
    cells, scales = per_person(game, profile)
    dense = dense_weights(game)
    everyone = dense[scales, cells].sum(axis=0).astype(float)
    np.testing.assert_allclose(game.sums(profile), everyone, rtol=1e-14)
    np.testing.assert_allclose(game.output(profile).sum(), 1)
    protected, utility = dense_payoff(game, cells, scales)
    payoff = game.payoff(profile)
    assert payoff.protected == protected
    assert payoff.utility == pytest.approx(utility, abs=1e-12)
    positions, chosen = game.groups(profile)
    rows = dense[chosen, game.histogram.cells[positions]].astype(float)
    n = game.people
    reached = everyone > 0
    with np.errstate(divide="ignore"):
        ratio = (everyone / n)[reached] / ((everyone - rows)[:, reached] / (n - 1))
        np.testing.assert_allclose(game.losses(profile), np.abs(np.log(ratio)).max(axis=1), rtol=1e-9, atol=1e-12)
    factors = game.factors(profile)
    for group in range(len(chosen)):
        row = np.ones(1, dtype=np.int64)
        for axis in factors:
            row = np.kron(row, axis[group])
        np.testing.assert_array_equal(row, dense[chosen[group], game.histogram.cells[positions[group]]])
        assert row.sum() == game.kernel.total


@given(games(), st.integers(0, 99))
def test_equilibrium_check_and_best_responses_agree_with_trying_every_move_of_every_person(game, seed):
    profile = random_profile(game, seed)
    cells, scales = per_person(game, profile)
    now = dense_payoff(game, cells, scales)
    stable = True
    for person in range(len(cells)):
        values = []
        for choice in range(game.choices):
            moved = scales.copy()
            moved[person] = choice
            values.append(dense_payoff(game, cells, moved))
        gains = [(protected - now[0], utility - now[1]) for protected, utility in values]
        assume(all(abs(gain[1]) > 1e-10 or abs(gain[1]) < 1e-13 for gain in gains))
        stable &= not any(gain[0] > 0 or (gain[0] == 0 and gain[1] > 1e-11) for gain in gains)
        position = int(np.searchsorted(game.histogram.cells, cells[person]))
        best = values[game.best_response(profile, position, int(scales[person]))]
        assert best[0] == max(value[0] for value in values)
        assert best[1] >= max(value[1] for value in values if value[0] == best[0]) - 1e-10
    assert game.is_equilibrium(profile) == stable


def plain_dynamics(game, start, most_rounds=200):
    """One person at a time, the game's own (numpy) best response each time."""
    profile = start.copy()
    for number in range(1, most_rounds + 1):
        moved = False
        for position in range(len(profile)):
            for scale, waiting in enumerate(profile[position].copy().tolist()):
                for _ in range(waiting):
                    best = game.best_response(profile, position, scale)
                    if best == scale:
                        break
                    profile[position, scale] -= 1
                    profile[position, best] += 1
                    moved = True
        if not moved:
            return profile, number
    raise RuntimeError("no equilibrium")


@given(games(), st.integers(0, 99))
def test_compiled_rounds_reach_the_plain_dynamics_equilibrium(game, seed):
    for start in (game.largest_scale_profile(), random_profile(game, seed), local_profile(game, 2.0)):
        *_, last = rounds(game, start)
        expected, number = plain_dynamics(game, start)
        np.testing.assert_array_equal(last.profile, expected)
        assert last.number == number
        assert game.is_equilibrium(last.profile)


@given(games(), st.integers(0, 99))
def test_every_round_raises_the_payoff_and_nobody_is_lost(game, seed):
    before = game.payoff(start := random_profile(game, seed))
    for state in rounds(game, start):
        game.check_profile(state.profile)
        after = game.payoff(state.profile)
        gained = (after.protected, after.utility) > (before.protected, before.utility)
        assert gained if state.moves else after == before
        before = after


@given(
    st.lists(st.integers(0, 4), min_size=2, max_size=7).filter(lambda n: sum(n) >= 2),
    st.sampled_from([[0.01, 0.2, 3.0], [0.05, 0.5], [0.3, 1.0, 2.0, 5.0]]), epsilons, utilities, st.integers(0, 99),
)  # fmt: skip
def test_a_joint_game_with_one_axis_is_the_game_on_one_axis(counts, scales, epsilon, utility, seed):
    one, joint = small_game(counts, scales, epsilon, utility=utility), joint_game(counts, scales, epsilon, utility)
    assert joint.kernel.total == one.kernel.total
    np.testing.assert_array_equal(joint.kernel.weights[0], one.kernel.weights)
    start = random_profile(joint, seed)
    full = np.zeros((len(counts), len(scales)), dtype=np.int64)
    full[joint.histogram.cells] = start
    np.testing.assert_allclose(joint.losses(start), one.losses(full), rtol=1e-12)
    assert joint.divergence(start) == pytest.approx(one.divergence(full), abs=1e-14)
    assert joint.payoff(start).protected == one.payoff(full).protected
    assert joint.is_equilibrium(start) == one.is_equilibrium(full)
    *_, ours = rounds(joint, start)
    *_, theirs = rounds(one, full)
    np.testing.assert_array_equal(ours.profile, theirs.profile[joint.histogram.cells])
    assert ours.number == theirs.number


def test_cancellation_at_huge_counts_loses_nobody():
    for people, scales, epsilon in (
        ([[712966203441, 0], [0, 2]], [0.001, 8.03], 0.6931471804794771),
        ([[10**12, 0, 0], [0, 3, 1]], [0.002, 0.5, 9.0], 0.5),
        ([[10**12, 1], [10**6, 3]], [0.001, 0.01, 4.0], 0.4054651081081644),
    ):
        game = joint_game(people, scales, epsilon)
        for start in (game.largest_scale_profile(), random_profile(game, 1)):
            protected = game.payoff(start).protected
            for number, state in enumerate(rounds(game, start), 1):
                assert game.payoff(state.profile).protected >= protected
                protected = game.payoff(state.profile).protected
                assert number < 3000
            assert game.is_equilibrium(state.profile)


@pytest.mark.parametrize(
    ("columns", "bins", "per_axis"),
    [(("height", "weight"), 31, False), (("height", "weight"), 21, True), (("height", "weight", "age"), 21, False)],
)
def test_real_people_end_at_a_checked_equilibrium_with_everyone_protected(columns, bins, per_axis):
    game = players_game(columns, bins, 1.0, per_axis=per_axis)
    one, three = best_response(game, restarts=1), best_response(game, restarts=3)
    for solution in (one, three):
        assert solution.equilibrium
        assert solution.protected == game.people
        assert solution.worst_loss <= 1.0
    assert three.kl < one.kl / 2  # from below, ends are far better
    again = best_response(game, restarts=3)
    np.testing.assert_array_equal(three.profile, again.profile)


def test_other_utilities_are_never_served_worse_than_by_asking_for_kl():
    kl = best_response(players_game(("height", "weight"), 21, 2.0), restarts=2)
    for utility in ("js", "tv"):
        game = players_game(("height", "weight"), 21, 2.0, utility=utility)
        solution = best_response(game, restarts=2)
        assert solution.equilibrium
        assert game.divergence(solution.profile) <= game.divergence(kl.profile)


@given(games(), st.integers(0, 99))
def test_slopes_bound_what_a_move_gains(game, seed):
    profile = random_profile(game, seed)
    near = game.near(game.sums(profile))
    change = np.random.default_rng(seed).uniform(-0.9, 2.0, len(near)) * near
    gain = game.closeness.gain(game.counts, near, change)
    assert gain <= game.closeness.slopes(game.counts, near) @ change + 1e-9
    fallen = game.closeness.divergence(game.counts, near) - game.closeness.divergence(game.counts, near + change)
    assert gain == pytest.approx(fallen * game.people, abs=1e-9)


def test_starts_are_the_largest_scale_then_local_profiles():
    game = players_game(("height", "weight"), 21, 2.0)
    first, second, third = starts(game, 3, 0)
    np.testing.assert_array_equal(first[0], game.largest_scale_profile())
    np.testing.assert_array_equal(second[0], local_profile(game, 6.0))
    assert (third[0] != second[0]).any()
    assert sorted(second[1].tolist()) == game.occupied.tolist()


def test_rows_of_every_axis_sum_to_a_power_of_two_and_products_stay_exact_as_floats():
    for axes in range(2, 7):
        kernel = make_joint_kernel("laplace", ((0.05,) * axes, (2.0,) * axes), (3,) * axes)
        assert kernel.total == 2 ** (weight_bits(axes) * axes) <= 2**52
        for weights in kernel.weights:
            assert (weights.sum(axis=2) == 2 ** weight_bits(axes)).all()
    assert weight_bits(1) == 32


def axes(*bins):
    return Grid(tuple(Axis.padded(f"c{i}", 0, 10.0 ** (i + 1), bins=b) for i, b in enumerate(bins)))


def test_scales_are_the_same_choice_on_every_axis_or_every_combination():
    grid = axes(51, 101)
    wide = joint_scales("wide", grid, 1.0)
    assert len(wide) == 8
    assert wide[0] == pytest.approx((1 / 1020, 1 / 2020))
    assert wide[-1] == pytest.approx((3, 3))
    every = joint_scales("wide", grid, 1.0, per_axis=True)
    assert len(every) == 64 == len(set(every))
    assert every[-1] == pytest.approx((3, 3))
    assert len(joint_scales("wide", axes(5, 5, 5), 1.0, per_axis=True)) == 64
    assert len(joint_scales("paper", grid, 1.0)) == 5
    listed = joint_scales({"c0": [5.0, 1.0], "c1": [20.0, 10.0]}, grid, 1.0)
    ranges = [axis.range for axis in grid.axes]
    assert listed == ((1 / ranges[0], 10 / ranges[1]), (5 / ranges[0], 20 / ranges[1]))


@pytest.mark.parametrize(
    ("scales", "per_axis", "message"),
    [
        ("adaptive", False, "'scales' parameter"),
        ({"c0": [1.0]}, False, "none for column 'c1'"),
        ([1.0, 2.0], False, "a list for every column"),
        ({"c0": [1.0], "c1": [1.0, 2.0]}, False, "the same number"),
        ({"c0": list(range(1, 10)), "c1": list(range(1, 9))}, True, "at most 64 combinations"),
    ],
)
def test_bad_scales_are_refused(scales, per_axis, message):
    with pytest.raises(BadInput, match=message):
        joint_scales(scales, axes(5, 7), 1.0, per_axis=per_axis)


def test_too_many_cells_are_refused_with_the_number_and_the_bins_that_fit():
    with pytest.raises(BadInput, match=r"301 x 301 x 301 = 27,270,901 cells .* at most 161 bins"):
        check_size((301, 301, 301), 8)
    check_size((161, 161, 161), 8)
    with pytest.raises(BadInput, match=r"4,000 x 4,000 = 16,000,000 cells .* at most 2,048 bins"):
        check_size((4000, 4000), 8)
    check_size((2048, 2048), 8)
    with pytest.raises(BadInput, match="at most 724 bins"):
        check_size((2048, 2048), 64)
    with pytest.raises(BadInput, match="at most 6 columns"):
        check_size((2,) * 7, 8)


def test_bad_games_and_profiles_are_refused():
    with pytest.raises(BadInput, match="two people"):
        joint_game([[1, 0], [0, 0]], [0.1], 1.0)
    with pytest.raises(BadInput, match="'epsilon' parameter"):
        joint_game([[1, 1], [0, 0]], [0.1], -1.0)
    with pytest.raises(BadInput, match="'utility' parameter"):
        joint_game([[1, 1], [0, 0]], [0.1], 1.0, "wasserstein")
    game = joint_game([[1, 1], [0, 0]], [0.1, 1.0], 1.0)
    for bad in ([[1, 0]], [[1, 0], [0, 0]], [[2, -1], [1, 0]], [[1.0, 0.0], [1.0, 0.0]]):
        with pytest.raises(BadInput, match="profile"):
            game.check_profile(np.array(bad))
    assert named_jointly("tv", 10).ceiling == 1


def test_hours_are_refused_by_public_settings_alone():
    grid = Grid(tuple(Axis.padded(name, 0, 100, bins=2000) for name in "ab"))
    Procedure(1).check_grid(grid)
    with pytest.raises(BadInput, match="take hours, however few people there are") as refused:
        Procedure(1, restarts=10_000).check_grid(grid)
    assert "10,000 runs on 4,000,000 cells with 8 scales" in str(refused.value)
    most, bins = 1_562, 790
    assert f"at most {most:,} runs" in str(refused.value)
    assert f"at most {bins} bins" in str(refused.value)
    Procedure(1, restarts=most).check_grid(grid)
    small = Grid(tuple(Axis.padded(name, 0, 100, bins=bins) for name in "ab"))
    Procedure(1, restarts=10_000).check_grid(small)


def test_what_a_joint_game_is_at_is_told_before_and_after_its_rounds():
    heard = []
    people = np.random.default_rng(3).uniform(0, 100, (60, 2))
    equinoise.optimize(
        pl.DataFrame(people, schema=["a", "b"]), column=["a", "b"], bounds={"a": (0, 100), "b": (0, 100)}, epsilon=2,
        bins=9, restarts=2, progress=heard.append,
    )  # fmt: skip
    notes = [state.note for state in heard if state.note]
    assert notes == ["Run 1 of 2 begins", "Run 2 of 2 begins", "Checking that nobody wants to move"]
