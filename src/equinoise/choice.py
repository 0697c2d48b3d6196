"""The end-to-end tier: a setting of the game whose measured loss is within epsilon, looked for in a public list.

Equilibria jump when a person leaves, and the jump is what an observer may see. Games with one start and two scales jump
least. Which setting is enough depends on the data, so the choice of it is a part of the procedure and is measured with
it: it is run again, from the beginning, for every neighbour. What is not measured is the last step, to release or to
refuse, which comes after: a test of that test would need one, too, and so on for ever.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from equinoise.end_to_end import EndToEnd, Output, Progress, measure, output_of, pure_loss, solved, tell
from equinoise.errors import BadInput, PromiseNotMet, at_most, check
from equinoise.game import Players
from equinoise.game.condition import Condition
from equinoise.grid import Axis
from equinoise.procedure import Procedure
from equinoise.solvers import Solution

SHARE = 0.95
"""Of the epsilon that a game is listed with, at which it is played: the rest is for the moves of others."""

GAMES = ((4.0, 0.05), (0.5, 0.5), (0.3, 0.5), (0.2, 0.5), (0.1, 0.5), (0.05, 0.7), (0.02, 1.0), (0.01, 1.4))
"""An epsilon and the smaller of two scales, in bins. Found on real columns to jump less than others: the list is short,
because whatever can be chosen by one dataset and not by its neighbour costs more than it brings."""

LARGE = 3.0
"""The larger scale, in padded ranges."""

ALIKE = (1.4, 2.0, 2.8, 4.0, 5.6, 8.0)
"""One scale for everyone, in bins: nothing is left to choose but whether that protects everyone."""


def inner(procedure: Procedure, axis: Axis) -> tuple[Procedure, ...]:
    """The public list for a procedure, the closest first: games of one start and two scales at an epsilon of at most
    the one asked for, then one scale for everyone."""
    once = replace(procedure, epsilon=SHARE * procedure.epsilon, restarts=1)
    games = [
        replace(once, epsilon=SHARE * epsilon, scales=[small * axis.width, LARGE * axis.range])
        for epsilon, small in GAMES
        if epsilon <= procedure.epsilon
    ]
    return (*games, *(replace(once, scales=[width * axis.width]) for width in ALIKE))


@dataclass(frozen=True, eq=False)
class Chosen:
    """What was chosen, and the loss that was measured for the whole choice."""

    solution: Solution
    procedure: Procedure
    end_to_end: EndToEnd


@dataclass(eq=False)
class Choice:
    """For one dataset after another, the first setting of the list with which nobody's measured loss is above epsilon.

    What is worked out once is remembered: neighbours have neighbours in common.
    """

    procedure: Procedure
    outputs: dict[tuple[bytes, int], Output | None] = field(default_factory=dict)
    choices: dict[bytes, int | None] = field(default_factory=dict)
    suspects: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        asked = self.procedure
        check(asked.solver == "best-response", "solver", "'best-response' with the end-to-end guarantee", asked.solver)
        if asked.delta > 0 or asked.renyi is not None:
            raise BadInput("The end-to-end guarantee is for a pure epsilon: leave out delta and the Renyi order.")
        if asked.restarts is not None or asked.scales != "wide":
            raise BadInput("The end-to-end guarantee chooses scales and starts itself: leave out scales and restarts.")

    def setting(self, players: Players) -> int | None:
        """The place in the list of the one that is chosen; None if there is none."""
        key = _key(players)
        if key not in self.choices:
            settings = range(len(inner(self.procedure, players.grid.axis)))
            self.choices[key] = next((i for i in settings if self._within(players, i)), None)
        return self.choices[key]

    def outcome(self, players: Players) -> Output | None:
        """What the whole choice releases; None where it refuses."""
        setting = self.setting(players)
        return None if setting is None else self._output(players, setting)

    def solution(self, players: Players) -> Solution | None:
        """The profile behind it."""
        setting = self.setting(players)
        return None if setting is None else solved(inner(self.procedure, players.grid.axis)[setting], players)

    def _within(self, players: Players, setting: int) -> bool:
        """Whether nobody's loss under a setting is above epsilon; the first that is settles it."""
        full = self._output(players, setting)
        if full is None:
            return False
        for cell, smaller in self._neighbours(players):
            other = self._output(smaller, setting)
            if other is None or pure_loss(full, other) > self.procedure.epsilon:
                self.suspects = [cell, *(suspect for suspect in self.suspects if suspect != cell)]
                return False
        return True

    def _neighbours(self, players: Players) -> Iterator[tuple[int, Players]]:
        """In an order that finds losses above epsilon soon: where there were some before, then the rarest people."""
        cells = players.cells.tolist()
        rarest = [cells[i] for i in np.argsort(players.people, kind="stable").tolist()]
        order = [cell for cell in dict.fromkeys([*self.suspects, *rarest]) if cell in cells]
        return ((cell, players.without_one(cells.index(cell))) for cell in order)

    def _output(self, players: Players, setting: int) -> Output | None:
        key = _key(players), setting
        if key not in self.outputs:
            found = solved(inner(self.procedure, players.grid.axis)[setting], players)
            self.outputs[key] = None if found is None else output_of(found)
        return self.outputs[key]


def _key(players: Players) -> bytes:
    return players.cells.tobytes() + players.people.tobytes()


def choose(procedure: Procedure, players: Players, *, progress: Progress | None = None) -> Chosen:
    """The chosen setting for this dataset and its solution, if the loss of the whole choice, run again for every
    neighbour, is within epsilon for everyone."""
    choice = Choice(procedure)
    tell(progress, "Looking for a setting")
    setting, settings = choice.setting(players), inner(procedure, players.grid.axis)
    solution = choice.solution(players)
    if setting is None or solution is None:
        raise PromiseNotMet(
            f"None of the {len(settings)} settings tried keeps everyone within {at_most(procedure.epsilon)} end to "
            "end, measured for this dataset. Ask for a larger epsilon, or for the worst-case guarantee.",
            settings=len(settings),
        )
    condition = Condition(float(procedure.epsilon), players.sizes, players.total_rows)
    measured = measure(choice.outcome, players, condition, progress=progress)
    if measured.above > 0:
        raise PromiseNotMet(
            f"No setting was found that keeps everyone within {at_most(procedure.epsilon)} end to end. The closest one "
            f"that does by itself is not chosen without some person, and so the worst loss measured for this dataset "
            f"is {at_most(measured.worst)}, with {measured.above:,} of {players.total_people:,} people above. Ask for "
            "another epsilon, or for the worst-case guarantee.",
            worst=measured.worst if np.isfinite(measured.worst) else None,
            people_above_target=measured.above,
            people=players.total_people,
        )
    return Chosen(solution, settings[setting], measured)
