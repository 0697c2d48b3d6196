"""Hypothesis strategies: small games of every kind of data, and profiles of them."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st

from equinoise.game.row_store import make_store
from tests.helpers.games import bag_game, joint_game, small_game

ONE, COLUMNS, ROWS, BOTH = "one column", "several columns", "several rows", "several columns and rows"
KINDS = (ONE, COLUMNS, ROWS, BOTH)
SHAPES = [(2, 2), (3, 2), (4, 3), (2, 2, 2), (3, 1, 2)]

counts = st.lists(st.integers(0, 4), min_size=2, max_size=6).filter(lambda n: sum(n) >= 2)
epsilons = st.sampled_from([0.05, 0.2, 0.5, 1.0, 2.0])
scale_sets = st.sampled_from([[0.01, 0.2, 3.0], [0.05, 0.5], [0.1, 0.1000001, math.inf], [0.3, 1.0, 2.0, 5.0]])
own_scales = st.just([(0.01, 0.1, 0.1), (0.1, 0.01, 0.3), (3.0, 3.0, 3.0)])
UTILITIES = ("kl", "js", "tv")
EVERY_UTILITY = (*UTILITIES, "wasserstein", "moments:3")
CONDITIONS = ({}, {"delta": 0.02}, {"delta": 0.3}, {"order": 2.0}, {"order": 30.0})


@st.composite
def games(draw, kinds=KINDS, utilities=("kl",), conditions=({},), scales=None, epsilon=epsilons, people=4):
    """A game of some kind of data, its rows laid out or multiplied out."""
    kind = draw(st.sampled_from(kinds))
    shape = draw(st.sampled_from(SHAPES)) if kind in {COLUMNS, BOTH} else (draw(st.integers(2, 6)),)
    offered = scale_sets if len(shape) == 1 else st.one_of(scale_sets, own_scales)
    chosen = [s[: len(shape)] if isinstance(s, tuple) else s for s in draw(offered if scales is None else scales)]
    asked = {"epsilon": draw(epsilon), "utility": draw(st.sampled_from(utilities))}
    asked |= draw(st.sampled_from(conditions))
    cells, several = math.prod(shape), st.integers(0, people)
    if kind in {ROWS, BOTH}:
        bag = st.lists(st.integers(0, cells - 1), min_size=1, max_size=4)
        bags = draw(st.lists(bag, min_size=1, max_size=6))
        many = draw(st.lists(several, min_size=len(bags), max_size=len(bags)).filter(lambda n: sum(n) >= 2))
        game = bag_game(bags, many, shape, chosen, **asked)
    else:
        many = draw(st.lists(several, min_size=cells, max_size=cells).filter(lambda n: sum(n) >= 2))
        make = small_game if kind == ONE else joint_game
        game = make(np.reshape(many, shape), chosen, **asked)
    return multiplied_out(game) if draw(st.booleans()) else game


def multiplied_out(game):
    """The game with rows that are made when they are needed, as if it were a large one."""
    game.__dict__["store"] = make_store(game.players, game.kernel, most=0)
    return game


def random_profile(game, seed):
    return np.random.default_rng(seed).multinomial(game.players.people, np.full(game.scales, 1 / game.scales))


def moves_of(profile):
    """Every (type, scale, other scale) that someone could move by."""
    types, used = np.nonzero(profile)
    return [
        (i, v, w) for i, v in zip(types.tolist(), used.tolist(), strict=True) for w in range(profile.shape[1]) if w != v
    ]


def moved(profile, i, old, new, people=1):
    """The profile after a move."""
    after = profile.copy()
    after[i, old] -= people
    after[i, new] += people
    return after
