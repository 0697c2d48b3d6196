import itertools
import math
import time

import numpy as np
import pytest
from highspy import Highs
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks import optimal as optimal_benchmark
from equinoise.errors import BadInput
from equinoise.game.equilibrium import is_equilibrium
from equinoise.solvers.best_response import best_response
from equinoise.solvers.optimal import optimal
from equinoise.solvers.optimal.linear_program import Program
from equinoise.solvers.optimal.nodes import Node
from equinoise.solvers.optimal.objective import Objective
from equinoise.solvers.optimal.swaps import improve_by_swaps
from tests.helpers.games import bag_game, height_game, joint_game, small_game

counts = st.lists(st.integers(0, 3), min_size=2, max_size=5).filter(lambda n: 2 <= sum(n) <= 7)
utilities = st.sampled_from(["kl", "js", "tv", "wasserstein", "moments:2"])
conditions = st.sampled_from(
    [{}, {"delta": 0.2}, {"delta": 0.05}, {"delta": 1e-3}, {"order": 1.5}, {"order": 3.0}, {"order": 20.0}]
)
EPSILONS = (0.05, 0.3, 0.7, 1.0, 2.0, 4.0)
scale_sets = st.sampled_from([[0.02, 0.2, 3.0], [0.05, 0.5], [0.1, 0.4, 1.5]])


def splits(people, choices):
    """Every way to give people scales."""
    for cuts in itertools.combinations(range(people + choices - 1), choices - 1):
        edges = [-1, *cuts, people + choices - 1]
        yield [b - a - 1 for a, b in itertools.pairwise(edges)]


def every_profile(game):
    for rows in itertools.product(*(list(splits(n, game.scales)) for n in game.players.people.tolist())):
        yield np.array(rows, dtype=np.int64)


def protecting_profiles(game):
    return [p for p in every_profile(game) if game.unprotected(p) == 0]


@st.composite
def games(draw, epsilons=EPSILONS):
    """Of every kind, utility and condition, so small that all profiles can be looked at."""
    settings = draw(scale_sets), draw(st.sampled_from(epsilons)), draw(utilities)
    condition = draw(conditions)
    kind = draw(st.sampled_from(["column", "joint", "bags", "joint bags"]))
    if kind == "column":
        return small_game(draw(counts), *settings, **condition)
    if kind == "joint":
        people = draw(st.lists(st.integers(0, 2), min_size=6, max_size=6).filter(lambda n: 2 <= sum(n) <= 6))
        return joint_game(np.reshape(people, (2, 3)), *settings, **condition)
    bags = draw(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=3), min_size=2, max_size=4))
    people = draw(st.lists(st.integers(1, 2), min_size=len(bags), max_size=len(bags)))
    return bag_game(bags, people, 4 if kind == "bags" else (2, 2), *settings, **condition)


def best_by_enumeration(game):
    """The least divergence of all profiles that protect everyone."""
    return min((game.divergence(p) for p in protecting_profiles(game)), default=math.inf)


@settings(max_examples=150)
@given(games())
def test_brute_force_agrees(game):
    best = best_by_enumeration(game)
    found = optimal(game, time_limit=10)
    if math.isinf(best):
        assert found.protected < game.people
        return
    assert found.settings["lower_bound"] <= best + 1e-12
    assert found.protected == game.people
    assert best <= found.divergence + 1e-12
    assert found.settings["proven"]  # in so small a game, whatever the condition leaves open can be looked at
    assert found.divergence - best <= max(1e-4, 0.01 * found.divergence)


@pytest.mark.parametrize(
    ("counts", "noise", "scales", "epsilon", "utility"),
    [
        ([2, 0, 3, 1, 3], "staircase", [0.01, 0.17320508075688776, 3.0], 0.28069078341412695, "tv"),
        ([0, 1, 0, 24, 4], "staircase", [0.1187792213, 0.1318649206, 2.56556993], 0.12252845838, "kl"),
        ([1, 22], "uniform-mixture", [0.025, 0.2738612787525831, 3.0], 0.2751701781690414, "js"),
        ([0, 1, 1, 0, 0, 0], "staircase", [1 / 120, 3.0], 7.023408789171824, "js"),
    ],
)
def test_games_whose_optimum_was_once_missed(counts, noise, scales, epsilon, utility):
    game = small_game(counts, scales, epsilon, noise=noise, utility=utility)
    found = optimal(game, time_limit=60)
    assert found.settings["proven"]
    assert found.divergence <= best_by_enumeration(game) + 1e-4


@settings(max_examples=100)
@given(games(), st.randoms(use_true_random=False))
def test_no_row_of_the_program_cuts_off_a_profile_that_protects_everyone(game, random):
    """Down a random path of nodes that contain a protecting profile: whatever rows were added there and beside it,
    the program with that profile's fractions is at most its divergence."""
    profiles = protecting_profiles(game)
    if not profiles:
        return
    profile = random.choice(profiles)
    program = Program(game)
    people = profile.ravel()
    assert (program.demand[people > 0] <= (people @ program.weights) * (1 + 1e-12)).all()
    assert program.divergence(people / program.people) == pytest.approx(game.divergence(profile), abs=1e-9)
    path, node = [program.root], program.root
    for _ in range(6):
        first = random.randrange(program.types) * program.choices
        pairs = range(first, first + program.choices)
        among = random.choice([pairs, range(len(program.people))])
        group = tuple(sorted(random.sample(among, random.randint(1, len(among) - 1 or 1))))
        pair = random.choice(pairs)
        whole = random.randint(0, int(people[pair]))
        parts = [node.avoiding(group), node.using(group)]
        if not people[list(group)].any():
            parts.reverse()
        parts += [node.with_least(pair, whole), node.with_most(pair, int(people[pair]) + whole)]
        total = int(people[list(group)].sum())
        parts += [node.with_total(group, random.randint(0, total), math.inf), node.with_total(group, 0, total + whole)]
        for part in parts:
            if part is not None:
                tightened(program, part)
        path += parts[1:]
        node = random.choice(parts[1:])
    for node in path:
        fixed = Node(program.choices, people.astype(float), people.astype(float), node.used, node.totals)
        program.enter(fixed)
        bound = program.solve(later())
        assert bound is not None
        assert bound <= game.divergence(profile) + 1e-6


@pytest.mark.parametrize("utility", ["kl", "js", "tv"])
@given(at=st.floats(1e-6, 30), s=st.floats(1e-9, 30), further=st.floats(0, 30))
def test_tangents_touch_the_curve_and_stay_below_it_by_their_lift(utility, at, s, further):
    objective = Objective(small_game([3, 0, 1], [0.1, 1.0], 1.0, utility))
    a, b = objective.curve.tangents(np.array(at))
    here, there, beyond = objective.curve.cost(np.array([at, s, s + further]))
    assert a - b * at == pytest.approx(here, abs=1e-9)
    assert a - b * s <= there + 1e-9
    assert a - b * (s + further) + objective.lift(np.array(s), np.array(at)) <= beyond + 1e-9
    assert objective.unit.tolist() == [3, 1]


@pytest.mark.parametrize("utility", ["js", "tv"])
def test_other_utilities_are_bounded_on_real_people(heights, utility):
    game = height_game("wide", 2.0, values=heights, utility=utility)
    found = optimal(game, time_limit=8)
    assert found.protected == 1844
    assert found.equilibrium
    assert found.divergence <= best_response(game, restarts=8).divergence
    assert 0 < found.settings["lower_bound"] <= found.divergence


def later(seconds=10.0):
    return time.perf_counter() + seconds


def tightened(program, node):
    program.enter(node)
    for _ in range(6):
        found = program.solve(later())
        if found in (None, math.inf) or program.tighten(1e-6) == 0:
            break
    program.drop_slack_constraints()


def two_at_a_time(game, profile):
    program = Program(game)
    shape = (program.types, program.choices, -1)
    return improve_by_swaps(game, program.weights.reshape(shape), program.demand.reshape(shape), profile, later())


@given(games((1.0, 2.0, 4.0)), st.integers(0, 10**6))
def test_swaps_keep_everyone_protected_and_never_raise_the_divergence(game, pick):
    profiles = protecting_profiles(game)
    if not profiles:
        return
    profile = profiles[pick % len(profiles)]
    end = two_at_a_time(game, profile)
    assert game.unprotected(end) == 0
    assert game.divergence(end) <= game.divergence(profile) + 1e-12


def test_two_people_move_where_one_would_not(heights):
    game = height_game("wide", 0.3, values=heights)
    found = best_response(game, restarts=1)
    assert is_equilibrium(game, found.profile)
    assert game.divergence(two_at_a_time(game, found.profile)) < found.kl - 1e-5


@pytest.mark.parametrize(("epsilon", "kl"), [(1.0, 0.00095), (2.0, 0.00035), (4.0, 0.00015), (8.0, 0.00015)])
def test_heights_are_solved_and_proven(heights, epsilon, kl):
    game = height_game("wide", epsilon, values=heights)
    found = optimal(game, time_limit=60)
    assert found.settings["proven"]
    assert found.settings["gap"] <= max(1e-4, 0.01 * found.kl)
    assert found.kl <= kl
    assert found.kl <= best_response(game, restarts=8).kl
    assert found.protected == 1844
    assert found.equilibrium


def test_the_hardest_heights_are_solved_and_proven_given_time(heights):
    found = optimal(height_game("wide", 0.3, values=heights), time_limit=120)
    assert found.settings["proven"]
    assert found.kl < 0.00255


def test_it_is_repeatable(heights):
    game = height_game("wide", 1.0, values=heights)
    first, second = optimal(game, seed=3), optimal(game, seed=3)
    assert np.array_equal(first.profile, second.profile)
    assert first.settings == second.settings


def error(highs):
    raise RuntimeError("HiGHS is out of order")


def nothing(highs):
    return None


@pytest.mark.parametrize("broken", [error, nothing])
def test_without_highs_it_is_best_response(heights, monkeypatch, broken):
    monkeypatch.setattr(Highs, "run", broken)
    game = height_game("wide", 2.0, values=heights)
    found = optimal(game, time_limit=10, restarts=2)
    assert found.protected == 1844
    assert found.kl <= best_response(game, restarts=2).kl
    assert found.settings["lower_bound"] == 0


def test_highs_may_fail_on_the_way(heights, monkeypatch):
    """Nodes without solution keep the bound of the node that they are part of."""
    solve, calls = Program.solve, itertools.count()
    monkeypatch.setattr(Program, "solve", lambda *given: None if next(calls) % 7 == 6 else solve(*given))
    found = optimal(height_game("wide", 4.0, values=heights), time_limit=20)
    assert found.protected == 1844
    assert 0 <= found.settings["lower_bound"] < found.kl < 0.0003


def test_ctrl_c_gives_the_best_so_far(heights):
    def interrupt(state):
        if "Proving" in (state.note or "") and state.number == 3:
            raise KeyboardInterrupt

    found = optimal(height_game("wide", 0.3, values=heights), progress=interrupt)
    assert found.protected == 1844
    assert 0.0019 < found.settings["lower_bound"] < found.kl
    assert not found.settings["proven"]


def test_out_of_time_it_says_how_far_it_got(heights):
    found = optimal(height_game("wide", 0.1, values=heights), time_limit=0.5)
    assert not found.settings["proven"]
    assert 0 <= found.settings["lower_bound"] < found.kl
    assert found.settings["gap"] == pytest.approx(found.kl - found.settings["lower_bound"])
    assert found.protected == 1844


def test_one_scale_leaves_nothing_to_choose():
    game = small_game([3, 2, 4], [1.5], 2.0)
    found = optimal(game, time_limit=5)
    assert found.settings["proven"]
    assert np.array_equal(found.profile, game.largest_scale_profile())


def test_a_billion_people(heights):
    """Where a person is a trace of a cell, the bound is still one."""
    game = height_game("wide", 1.0, times=10**6, values=heights)
    found = optimal(game, time_limit=4, restarts=1)
    assert found.protected == game.people
    assert found.settings["lower_bound"] <= found.kl <= best_response(game, restarts=1).kl


def test_a_time_limit_must_be_positive():
    with pytest.raises(BadInput, match="'time_limit' parameter"):
        optimal(small_game([2, 2], [0.1, 1.0], 1.0), time_limit=0)


def test_too_large_a_program_is_refused_wherever_people_are():
    together = np.zeros((60, 60), dtype=np.int64)
    together[3, 4] = 3600
    for people in (np.ones((60, 60), dtype=np.int64), together):
        with pytest.raises(BadInput, match="3,600 kinds of people x 3 scales x 3,600 cells"):
            optimal(joint_game(people, [0.1, 1.0, 3.0], 1.0))


@pytest.mark.parametrize(
    ("utility", "condition"),
    [
        ("kl", {"delta": 1e-4}),
        ("js", {"order": 2.0}),
        ("wasserstein", {}),
        ("moments:3", {"delta": 1e-4}),
        ("kl", {"epsilon": 5e-4}),  # below ln(N/(N - 1)), where the other side of the condition binds too
    ],
)
def test_every_condition_and_utility_is_bounded_on_real_people(heights, utility, condition):
    settings = {"epsilon": 2.0, "utility": utility, **condition}
    game = height_game("wide", values=heights, **settings)
    found = optimal(game, time_limit=5, restarts=2)
    plain = best_response(game, restarts=2)
    assert (found.game.unprotected(found.profile), found.divergence) <= (
        game.people - plain.protected,
        plain.divergence + 1e-15,
    )
    assert 0 <= found.settings["lower_bound"] <= found.divergence


def test_a_known_profile_is_where_the_search_begins():
    game = small_game([3, 1, 0, 2, 1], [0.02, 0.2, 3.0], 1.0)
    best = min(protecting_profiles(game), key=game.divergence)
    random = optimal(game, restarts=1, seed=5, time_limit=1e-9)
    found = optimal(game, restarts=1, seed=5, time_limit=1e-9, known=best)
    assert found.divergence == pytest.approx(game.divergence(best), abs=1e-12)
    assert found.divergence < random.divergence - 1e-6


def test_height_and_weight_get_closer_than_by_best_response_and_a_bound():
    game = optimal_benchmark.joint_game(12, 1.0)
    found = optimal(game, time_limit=6)
    assert found.protected == 1844
    assert found.kl <= best_response(game, restarts=20).kl
    assert 0.002 < found.settings["lower_bound"] <= found.kl
