"""Best-response dynamics: everyone in turn takes their best scale, until nobody wants to move.

Every move raises the shared payoff, so the dynamics end, and they end at an equilibrium (or, which is reported, after
100,000 rounds). The order is explicit: cells ascending (or as given), within a cell scales ascending as they were when
the cell's turn began. People move one at a time unless a cell has more than 4,096. Then as many of a group follow
the first one's best response at once as lower the divergence most. It still ends only when no single person wants to
move, and neither a round nor the number of rounds grows with the people. (That would zigzag along kinks; so with such
utilities, and on joint grids, people move in blocks instead, which shrink by four whenever no block moves, down to
single people.)
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from itertools import chain

import numpy as np

from equinoise.errors import check, is_whole
from equinoise.game import Game
from equinoise.grid import Ints
from equinoise.joint_game import JointGame
from equinoise.solvers.joint_starts import joint_starts
from equinoise.solvers.solution import AnyGame, G, Round, Solution
from equinoise.solvers.unit_starts import unit_starts
from equinoise.unit_game import UnitGame
from equinoise.utility import LINEAR

Play = Callable[[Ints, Ints, int], int]
"""Plays one round on a profile, in an order, in blocks of so many people; gives the number of moves."""

RESTARTS = 8
SINGLES_UP_TO = 4096
BLOCKS_PER_CELL = 256
PATIENCE = 50
"""Rounds with blocks of one size, after which larger ones are tried again: small steps along a kink would take ages."""
MOST_ROUNDS = 100_000


def rounds(game: AnyGame, start: Ints, order: Ints | None = None, *, restart: int = 0) -> Iterator[Round]:
    """Play round after round from a start; the last one yielded has no move left in it."""
    profile = game.check_profile(start)
    order = game.occupied if order is None else np.asarray(order, dtype=np.int64)
    play = players(game)
    most = int(game.histogram.counts.max())
    largest = block = 1 if most <= SINGLES_UP_TO or follows(game) else most // BLOCKS_PER_CELL
    alike = 0
    for number in range(1, MOST_ROUNDS + 1):
        moves = play(profile, order, block)
        yield Round(restart, number, moves, profile.copy())
        if moves == 0:
            if block == 1:
                return
            block, alike = max(1, block // 4), 0
        elif (alike := alike + 1) == PATIENCE:
            block, alike = min(4 * block, largest), 0


def follows(game: AnyGame) -> bool:
    """Whether as many people as gain follow the first one: where there are many, one axis and no kinks."""
    smooth = isinstance(game, Game) and game.closeness.kind != LINEAR
    return smooth and int(game.histogram.counts.max()) > SINGLES_UP_TO


def compile_for(game: AnyGame) -> None:
    """Compile what plays the rounds: on the first run ever that takes a while, which is not solving."""
    name = {JointGame: "joint_moves", UnitGame: "unit_moves"}.get(type(game), "moves")
    import_module(f"equinoise.solvers.{name}")


def players(game: AnyGame) -> Play:
    """How a round of this game is played."""
    if isinstance(game, JointGame):
        return playing_jointly(game)
    return playing_units(game) if isinstance(game, UnitGame) else playing(game)


def playing(game: Game) -> Play:
    """How a round is played on one axis."""
    from equinoise.solvers.moves import play_round

    counts = game.histogram.counts.astype(np.float64)
    features = game.features if game.closeness.kind == LINEAR else game.rows
    witness = np.zeros((len(counts), len(game.kernel.scales)), dtype=np.int64)

    def play(profile: Ints, order: Ints, block: int) -> int:
        sums = game.sums(profile)
        gaps = game.closeness.features @ (counts - sums / game.kernel.total)
        moves = play_round(
            game.closeness.kind, game.rows, features, profile, order, game.occupied, counts,
            float(game.kernel.total), sums, gaps, game.condition.kind, game.condition.parameters,
            witness, game.excess(sums), game.tolerance, block, follows(game),
        )  # fmt: skip
        return int(moves)

    return play


def playing_jointly(game: JointGame) -> Play:
    """How a round is played on a joint grid."""
    from equinoise.solvers.joint_moves import play_round

    kernel, condition = game.kernel, game.condition
    shape = np.array(kernel.shape, dtype=np.int64)
    rows = np.concatenate([weights.ravel() for weights in kernel.weights]).astype(np.float64)
    begins = np.cumsum([0] + [weights.size for weights in kernel.weights[:-1]]).astype(np.int64)
    ones, twos = np.divmod(game.histogram.cells, math.prod(kernel.shape[kernel.split :]))

    def play(profile: Ints, order: Ints, block: int) -> int:
        sums = game.sums(profile)
        moves = play_round(
            game.closeness.kind, rows, begins, shape, game.bins, kernel.split, ones, twos, profile, order,
            game.counts, float(kernel.total), sums, condition.upper, condition.lower,
            game.excess(sums), game.tolerance, block,
        )  # fmt: skip
        return int(moves)

    return play


def playing_units(game: UnitGame) -> Play:
    """How a round is played by people with several rows."""
    from equinoise.solvers.unit_moves import play_round

    upper, lower = game.limits
    watched, occupied = np.flatnonzero(lower > 0), np.flatnonzero(game.counts)

    def play(profile: Ints, order: Ints, block: int) -> int:
        sums = game.sums(profile)
        moves = play_round(
            game.rows, upper, lower, profile, order, watched, occupied, game.counts, sums,
            game.excess(sums), game.tolerance, block,
        )  # fmt: skip
        return int(moves)

    return play


def starts(game: AnyGame, restarts: int, seed: int) -> Iterator[tuple[Ints, Ints]]:
    """Start and order of every restart.

    The first is everyone at the largest scale, cells ascending, if that protects everyone: then so does its end.
    The others are seeded random profiles visited in seeded random order (on joint grids and for people with several
    rows, see ``joint_starts`` and ``unit_starts``).
    """
    if isinstance(game, JointGame):
        yield from joint_starts(game, restarts, seed)
        return
    if isinstance(game, UnitGame):
        yield from unit_starts(game, restarts, seed)
        return
    largest = game.largest_scale_profile()
    protecting = game.payoff(largest).protected == game.people
    if protecting:
        yield largest, game.occupied
    choices = len(game.kernel.scales)
    for restart in range(int(protecting), restarts):
        random = np.random.default_rng([seed, restart])
        profile = random.multinomial(game.histogram.counts, np.full(choices, 1 / choices))
        yield profile, random.permutation(game.occupied)


def best_response(
    game: G,
    *,
    restarts: int = RESTARTS,
    seed: int = 0,
    start: Ints | None = None,
    known: Ints | None = None,
    progress: Callable[[Round], None] | None = None,
) -> Solution[G]:
    """The best end of ``restarts`` runs: most people protected, then the smallest divergence, then the earliest.

    A given ``start`` replaces all others; a profile ``known`` to be good gets one more run. ``progress`` sees every
    round. For a utility other than KL one more run starts from KL's best end: the other curves are flat or kinked
    where KL leads on, and nobody alone gets across.
    """
    check(is_whole(restarts, 1, 10**6), "restarts", "a whole number from 1 to 1000000", restarts)
    check(is_whole(seed, 0, 2**64), "seed", "a whole number from 0 to 2^64", seed)
    compile_for(game)

    began = time.perf_counter()
    played = 0
    best: tuple[tuple[int, float], int, Ints] | None = None
    least_epsilon = float(game.losses(game.largest_scale_profile()).max())
    runs = starts(game, restarts, seed) if start is None else iter([(start, game.occupied)])
    if start is None and game.utility != "kl":
        first = best_response(replace(game, utility="kl"), restarts=restarts, seed=seed, progress=progress)
        played = first.rounds
        runs = chain(runs, [(first.profile, game.occupied)])
    if known is not None:
        runs = chain(runs, [(known, game.occupied)])
    many = (restarts + (game.utility != "kl") if start is None else 1) + (known is not None)
    big = isinstance(game, JointGame)  # there, a round or a check may take minutes
    for restart, (profile, order) in enumerate(runs):
        if big and progress is not None:
            progress(Round(restart, 0, 0, profile, f"Run {restart + 1} of {many} begins", restart / many))
        least_epsilon = min(least_epsilon, float(game.losses(game.check_profile(profile)).max()))
        for state in rounds(game, profile, order, restart=restart):
            played += 1
            if progress is not None:
                progress(replace(state, done=restart / many))
        end = state.profile
        least_epsilon = min(least_epsilon, float(game.losses(end).max()))
        payoff = game.payoff(end)
        rank = (-payoff.protected, game.divergence(end))
        if best is None or rank < best[0]:
            best = (rank, restart, end)
    assert best is not None
    _, winner, end = best
    if big and progress is not None:
        progress(Round(winner, 0, 0, end, "Checking that nobody wants to move"))
    return Solution(
        game=game,
        profile=end,
        name="best-response",
        equilibrium=game.is_equilibrium(end),
        rounds=played,
        seconds=time.perf_counter() - began,
        least_epsilon=least_epsilon,
        settings={
            "restarts": int(restarts),
            "seed": int(seed),
            "best_restart": winner,
        },
    )
