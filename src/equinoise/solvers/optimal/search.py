"""Branch and bound on who uses what, and the search for profiles beside it."""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable

import numpy as np

from equinoise.data.grid import Floats, Ints
from equinoise.game.game import Game
from equinoise.game.utility import label
from equinoise.solvers.best_response import run_to_end, starts
from equinoise.solvers.optimal.branching import Branching, split_off, split_people
from equinoise.solvers.optimal.linear_program import Program
from equinoise.solvers.optimal.nodes import Node
from equinoise.solvers.optimal.restricted import best_fractions, best_people, round_people
from equinoise.solvers.optimal.swaps import improve_by_swaps, perturb
from equinoise.solvers.solution import Round, Solution

TARGET = (1e-4, 0.01)
"""The gap to reach: the larger of an absolute one and a share of KL."""

SOLVER_ERROR = 1e-6
"""Taken off every bound: HiGHS keeps its constraints to 1e-7, in floating point."""

ROOT_ROUNDS, ROUNDS = 60, 4
"""Linear programs solved at the first node, and at the others, at most."""
FOLLOWED = 0.5
"""How much of what is to be closed is searched downwards first."""
NEARLY = 1.1
"""Profiles within this factor of the best are worth a search for swaps."""
STARTS, ATTEMPTS = 20, 60
"""Before most of the search: starts of best response in all. Then and at the end: failed attempts in turn to improve
the best profile."""
ROOT_STALLS = 5
"""Linear programs in turn that raise the first node's bound hardly, before it is left."""
MOST_UNSOLVED = 100
"""Nodes that are split although HiGHS could not solve them; more keep their bound."""
STALLED = 2e-6
"""A bound that rises by less than this is left for the splits to raise."""


class Search:
    """Branch and bound: the node of the least bound is split, until none can hold a profile better by the target."""

    def __init__(
        self,
        game: Game,
        start: Solution,
        deadline: float,
        progress: Callable[[Round], None] | None,
        target: tuple[float, float] | None = None,
    ) -> None:
        self.game, self.deadline, self.progress = game, deadline, progress
        self.target = TARGET if target is None else target
        self.program = Program(game)
        shape = (game.players.types, game.scales, -1)
        self.weights, self.demand = self.program.weights.reshape(shape), self.program.demand.reshape(shape)
        self.branching = Branching(self.program)
        self.best, self.value = start.profile, math.inf
        if game.unprotected(start.profile) == 0:
            self.value = start.divergence
        self.bound, self.rounds = 0.0, 0
        self.next_node: tuple[float, Node] | None = (0.0, self.program.root)
        self.last_perturbed: Ints | None = None  # the best profile whose neighbours were looked at
        self.open_nodes: list[tuple[float, int, Node]] = []
        self.settled_bound = math.inf  # the least bound of the nodes that are not split any more
        self.unsolved = 0  # nodes that HiGHS could not solve, and were split all the same
        self.impossible = False  # whether it is proven that no profile protects everyone

    @property
    def seconds_left(self) -> float:
        """Seconds until the deadline."""
        return self.deadline - time.perf_counter()

    @property
    def target_bound(self) -> float:
        """A node of this bound need not be split: no profile in it is better by the target."""
        if math.isinf(self.value):
            return math.inf
        return self.value - max(self.target[0], self.target[1] * self.value) + SOLVER_ERROR

    @property
    def closed(self) -> bool:
        """Whether the gap between bound and best profile is within the target."""
        return self.bound >= self.target_bound

    def run(self) -> None:
        """Split node after node until the gap is closed or time is up."""
        while self.next_node is not None and not self.closed and self.seconds_left > 0:
            self.step()
        finished = self.next_node is None and not self.open_nodes
        self.impossible = finished and math.isinf(min(self.settled_bound, self.value))

    def step(self) -> None:
        """Split one node, the first being that of all profiles."""
        assert self.next_node is not None
        self.next_node = self._split(*self.next_node)
        if self.next_node is None and self.open_nodes:
            bound, _, node = heapq.heappop(self.open_nodes)
            self.next_node = bound, node
        self._report()

    def _split(self, bound: float, node: Node) -> tuple[float, Node] | None:
        """Bound a node and split it if need be; the part to go on with, if not the one of the least bound.

        To go on with the part that is most like the solution leads down to profiles, which is what closes nodes. It is
        done in the lower part of what is to be closed; going on above would rarely lead anywhere.
        """
        found = self._bound(node)
        bound = bound if found is None else max(bound, found)
        parts: list[Node] = []
        following = None
        if found is not None and bound < self.target_bound:
            fractions, people = self.program.fractions, self.program.people
            if self.rounds == 0:
                self._offer(fractions)
                self._offer(self.best.ravel() / people)
            parts = self.branching.split(bound, self.target_bound - bound, self.deadline)
            if parts and bound <= self.bound + FOLLOWED * (self.target_bound - self.bound):
                following = bound, parts.pop()
            if not self.branching.unprotected:
                self._offer(fractions)
            if not parts and following is None:
                whole = round_people(self.program, fractions)
                parts = split_people(node, fractions, people)
                if not parts and not self._protects(whole):  # the demands are met, but not all that is asked for
                    parts = split_off(node, whole, people)
                    bound = bound if parts else math.inf
        elif found is None and 0 < self.rounds and self.unsolved < MOST_UNSOLVED and self.seconds_left > 0:
            self.unsolved += 1
            parts = split_off(node, self.best, self.program.people)
        for number, part in enumerate(parts):
            heapq.heappush(self.open_nodes, (bound, 2 * self.rounds + number, part))
        if following is None and not parts:
            self.settled_bound = min(self.settled_bound, bound)
        least = min(self.settled_bound, *(entry[0] for entry in self.open_nodes[:1]), bound if following else math.inf)
        if least < math.inf:
            self.bound = max(self.bound, least)
        return following

    def _bound(self, node: Node) -> float | None:
        """A lower bound on all profiles of a node, by programs of more and more constraints; None if unsolved."""
        program, bound, last = self.program, None, -math.inf
        program.drop_slack_constraints()
        program.enter(node)
        root, slow = self.rounds == 0, 0
        for number in range(ROOT_ROUNDS if root else ROUNDS):
            found = program.solve(self.deadline)
            if found is None:
                return bound
            bound = found if bound is None else max(bound, found)
            slow = slow + 1 if found - last < STALLED else 0
            stalled = number > 1 and slow >= (ROOT_STALLS if root else 1)
            if bound >= self.target_bound or stalled or program.tighten(1e-6 if root else 2e-6) == 0:
                break
            last = found
        return bound

    def _offer(self, fractions: Floats) -> None:
        """Fractions made whole, and the best use of the pairs that have more than so many people; the best is kept."""
        program = self.program
        self._keep(round_people(program, fractions))
        for least in (0.5, 0.1):
            polished = best_fractions(program, np.flatnonzero(fractions * program.people > least), self.deadline)
            if polished is None:
                continue
            if program.divergence(polished) < self.value:
                self._keep(round_people(program, polished))
                whole = best_people(program, polished, self.deadline)
                if whole is not None:
                    self._keep(whole)
            return

    def _keep(self, profile: Ints, order: Ints | None = None) -> None:
        """Improve a profile, and keep it if it protects everyone and is the best so far."""
        end = run_to_end(self.game, profile, order)
        if self._protects(end) and self.game.divergence(end) < NEARLY * self.value:
            end = improve_by_swaps(self.game, self.weights, self.demand, end, self.deadline)
        if self._protects(end) and self.game.divergence(end) < self.value:
            self.best, self.value = end, self.game.divergence(end)

    def _protects(self, profile: Ints) -> bool:
        return self.game.unprotected(profile) == 0

    def polish(self, restarts: int, seed: int) -> None:
        """Improve the first profile, by more starts of best response and from its neighbours."""
        self._keep(self.best)
        for profile, order in starts(self.game, STARTS, seed, since=restarts):
            if self.seconds_left > 0:
                self._keep(profile, order)
        self.perturb(seed)

    def perturb(self, seed: int) -> None:
        """Change the best profile a little at random and improve it again, until so many attempts in turn failed."""
        random, failed = np.random.default_rng(seed), 0
        if self.last_perturbed is self.best:
            return
        while failed < ATTEMPTS and self.seconds_left > 0:
            before = self.best
            self._keep(perturb(before, random))
            failed = failed + 1 if self.best is before else 0
        self.last_perturbed = self.best

    def _report(self) -> None:
        self.rounds += 1
        if self.progress is not None:
            note = f"Proving: {label(self.game.utility)} {self.value:.6f}, at least {self.bound:.6f}"
            self.progress(Round(0, self.rounds, 0, self.best, note, left=max(self.seconds_left, 0.0)))
