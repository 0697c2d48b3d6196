"""Best-response dynamics: everyone in turn takes their best scale, until nobody wants to move.

Every move raises the shared payoff, so the dynamics end, and they end at an equilibrium (or, which is reported, after
100,000 rounds). The order is explicit: types ascending (or as given), within a type scales ascending as they were when
its turn began. People move one at a time unless a type has more than 4,096. Then as many of a group follow
the first one's best response at once as lower the divergence most. It still ends only when no single person wants to
move, and neither a round nor the number of rounds grows with the people. (That would zigzag along kinks; so with such
utilities people move in blocks instead, which shrink by four whenever no block moves, down to single people.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import numpy as np

from equinoise.data.grid import Ints
from equinoise.game.game import Game
from equinoise.game.utilities import LINEAR
from equinoise.privacy.loss import EPSILON_CAP
from equinoise.solvers.solution import Round, tell

SINGLES_UP_TO = 4096
BLOCKS_PER_TYPE = 256
PATIENT_ROUNDS = 50
"""Rounds with blocks of one size, after which larger ones are tried again: small steps along a kink would take ages."""
MOST_ROUNDS = 100_000

Play = Callable[[Ints, int], tuple[int, int]]
"""Plays one round in an order, in blocks of so many people; gives the moves, and the people unprotected after them."""


def rounds(game: Game, start: Ints, order: Ints | None = None, *, run: int = 0) -> Iterator[Round]:
    """Play round after round from a start; the last one yielded has no move left in it."""
    profile = game.check_profile(start)
    order = np.arange(game.players.types) if order is None else np.asarray(order, dtype=np.int64)
    play = make_round(game, profile)
    most = int(game.players.people.max())
    largest = block = 1 if most <= SINGLES_UP_TO or moves_in_bulk(game) else most // BLOCKS_PER_TYPE
    alike = 0
    for number in range(1, MOST_ROUNDS + 1):
        moves, unprotected = play(order, block)
        yield Round(run, number, moves, profile.copy(), unprotected=unprotected)
        if moves == 0:
            if block == 1:
                return
            block, alike = max(1, block // 4), 0
        elif (alike := alike + 1) == PATIENT_ROUNDS:
            block, alike = min(4 * block, largest), 0


def moves_in_bulk(game: Game) -> bool:
    """Whether as many people as gain follow the first one: where there are many, and no kinks."""
    return not game.closeness.kinked and int(game.players.people.max()) > SINGLES_UP_TO


def import_loops(progress: Callable[[Round], None] | None = None) -> None:
    """Import what plays the rounds, which is not solving; say so where it will be compiled, as that takes a while."""
    loop = import_module("equinoise.solvers.best_response.loop").play_round
    if not loop.signatures and not any(Path(loop.stats.cache_path).glob("loop.play_round*.nbi")):
        tell(progress, "Compiling the solver, for the first run alone")


def make_round(game: Game, profile: Ints) -> Play:
    """How rounds of this game are played on a profile, which they change.

    S is kept from round to round, and added up anew once it has halved somewhere: what was rounded off stays small.
    """
    from equinoise.solvers.best_response.access import Aim, Buffers, Limits, State
    from equinoise.solvers.best_response.loop import play_round

    condition, players = game.condition, game.players
    with np.errstate(divide="ignore"):
        limits = Limits(
            condition.kind, players.grid.cells, 1 / condition.upper, 1 / condition.lower,
            bool((condition.lower > 0).any()), players.sizes, game.total_rows, min(game.epsilon, EPSILON_CAP),
            condition.limit, game.order or 0.0,
        )  # fmt: skip
    linear = game.closeness.kind == LINEAR
    features = game.features if linear else np.zeros((1, 1, 0))
    total = float(game.kernel.total)
    aim = Aim(
        game.closeness.kind, players.counts, players.occupied, total, features, players.homes, game.tolerance
    )  # fmt: skip
    cells, occupied, choices = players.grid.cells, len(players.occupied), game.scales
    buffers = Buffers(
        np.empty(cells), np.empty(cells), np.empty(cells), np.empty(cells), np.empty((choices, occupied)),
        np.empty(choices), np.empty(choices, dtype=np.int64),
    )  # fmt: skip
    table = np.zeros((players.types, choices), dtype=np.int64)
    witness = np.repeat(players.occupied[players.homes][:, None], choices, axis=1)
    stale, exact = np.zeros(cells, dtype=np.int64), np.zeros(cells, dtype=np.int64)
    extremes = np.empty((3, cells))
    slopes = np.empty(features.shape[2] if linear else occupied)

    sums = game.sums(profile)
    added_up, low = sums.copy(), np.zeros(cells)
    gaps = np.zeros(features.shape[2])
    state = State(
        profile, table, witness, sums, sums.copy(), low, exact, extremes[0], extremes[1], extremes[2],
        stale, sums[players.occupied], gaps, slopes,
    )  # fmt: skip
    bulk = moves_in_bulk(game)

    def play(order: Ints, block: int) -> tuple[int, int]:
        if (sums < added_up / 2).any():
            sums[:] = state.high[:] = added_up[:] = game.sums(profile)
            low[:], exact[:], state.near[:] = 0, 0, sums[players.occupied]
        if linear:
            gaps[:] = game.gaps(profile)
        excess = game.excess(profile, sums)
        moves, unprotected = play_round(game.store, limits, aim, state, buffers, order, excess, block, bulk)
        return int(moves), int(unprotected)

    return play
