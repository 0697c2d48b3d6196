"""The fixed-noise tier: a profile of the game, frozen, with the rows of integers that everyone draws from."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Self

import numpy as np

from equinoise.accounting import Accountant, Budget
from equinoise.certificate import Certificate, certify
from equinoise.documents import ProfileDocument
from equinoise.draws import RandomBytes, check_draws, draw_rows
from equinoise.errors import BadInput, at_most
from equinoise.game import Game, Players
from equinoise.game.condition import Condition
from equinoise.grid import Floats, Ints
from equinoise.joint_noise import AxisScales, make_joint_kernel, products, weight_bits
from equinoise.mechanism import DELTA, SECRET_SIZE, Mechanism, check_costs, within
from equinoise.metrics import distances
from equinoise.privacy import losses
from equinoise.solvers import Solution

AT_ONCE = 2**22
"""Weights laid out at once."""

MOST_LAID_OUT = 2**26
"""Weights that are ever laid out: half a gigabyte, and some copies of it."""


@dataclass(frozen=True)
class Measured:
    """The worst loss of anyone in this dataset with the noise worked out again without them, and what was asked for."""

    worst: float
    target: float


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class FixedNoise(Mechanism):
    """Groups of interchangeable people: the cells of their rows, their scale, how many they are, their kernel rows.

    Group g has the entries from ``begins[g]`` to before ``begins[g + 1]``: a person of it has ``times[e]`` rows in
    ``cells[e]``, each of which comes out by the products of the integers ``factors[d][e]`` of every axis d. Where
    everyone has one row, there is one entry a group. ``scales`` has one scale per axis for every choice, in units of
    the padded ranges.

    ``epsilon`` is for one draw, with ``delta`` or as the Renyi divergence of an ``order``. With a loss that was also
    ``measured`` end to end, the tier is ``end-to-end``; the certificate is of ``epsilon`` all the same.
    """

    composed = "each person's own loss distribution composed, in floating point, losses rounded upwards"

    noise: str
    scales: AxisScales
    scale_indices: Ints
    people: Ints
    begins: Ints
    cells: Ints
    times: Ints
    factors: tuple[Ints, ...]
    delta: float = 0.0
    order: float | None = None
    measured: Measured | None = None

    @property
    def tier(self) -> str:
        """How strong the promise is."""
        return "fixed-noise" if self.measured is None else "end-to-end"

    def __post_init__(self) -> None:
        for name in ("scale_indices", "people", "begins", "cells", "times"):
            object.__setattr__(self, name, _frozen(getattr(self, name)))
        object.__setattr__(self, "factors", tuple(map(_frozen, self.factors)))
        kinds = (self.delta > 0) + (self.order is not None) + (self.budget is not None) + (self.measured is not None)
        if kinds > 1 or (self.delta > 0 and self.draws > 1):
            raise BadInput(
                "A mechanism has a delta (for one draw), a Renyi order, a budget or a measured loss, not two of them."
            )
        super().__post_init__()

    @classmethod
    def from_solution(
        cls,
        solution: Solution,
        *,
        draws: int = 1,
        budget: Budget | None = None,
        measured: Measured | None = None,
        settings: dict[str, Any] | None = None,
    ) -> Self:
        """Freeze a solution, if the certificate holds for it and its draws are within the budget."""
        check_draws(draws)
        made = cls.unchecked(solution, draws=int(draws), budget=budget, measured=measured, settings=settings)
        made._require_certificate()
        return made

    @classmethod
    def unchecked(cls, solution: Solution, *, settings: dict[str, Any] | None = None, **asked: Any) -> Self:
        """A mechanism whether or not its certificate holds, to look at: if not, nothing can be drawn from it."""
        game, players = solution.game, solution.game.players
        types, scales = game.groups(solution.profile)
        begins, entries = players.entries(types)
        bins = players.grid.bins_of(players.cells)
        return cls(
            grid=players.grid,
            noise=game.kernel.noise,
            scales=game.kernel.scales,
            epsilon=float(game.epsilon),
            scale_indices=scales,
            people=solution.profile[types, scales],
            begins=begins,
            cells=players.cells[entries],
            times=players.times[entries],
            factors=game.kernel.rows_of(np.repeat(scales, np.diff(begins)), bins[entries]),
            delta=game.delta,
            order=game.order,
            settings=settings or {"public_bounds": False},
            solver=solution.summary(),
            **{"draws": 1, **asked},
        )

    @classmethod
    def from_document(cls, document: ProfileDocument, weights: Ints, shared: dict[str, Any]) -> Self:
        """As saved; whether it is certified is another question."""
        entries = np.array([entry for bag in document.bags for entry in bag], dtype=np.int64).reshape(-1, 2)
        bins = [axis.bins for axis in document.axes]
        return cls(
            noise=document.noise,
            scales=tuple(tuple(choice) for choice in document.scales),
            scale_indices=np.array(document.scale_indices, dtype=np.int64),
            people=np.array(document.people, dtype=np.int64),
            begins=np.cumsum([0, *map(len, document.bags)]),
            cells=entries[:, 0],
            times=entries[:, 1],
            factors=tuple(np.split(weights, np.cumsum(bins)[:-1], axis=1)),
            delta=document.delta,
            order=document.order,
            measured=None if document.measured is None else Measured(**document.measured.model_dump()),
            solver=document.solver.model_dump(),
            **shared,
        )

    def _own(self) -> dict[str, Any]:
        return {
            "noise": self.noise,
            "scales": [list(choice) for choice in self.scales],
            "bags": [[list(entry) for entry in bag] for bag in self.bags],
            "scale_indices": self.scale_indices.tolist(),
            "people": self.people.tolist(),
            **self._conditions(),
        }

    def _conditions(self) -> dict[str, Any]:
        measured = None if self.measured is None else vars(self.measured)
        return {"delta": self.delta, "order": self.order, "measured": measured}

    def _blob(self) -> Ints:
        return np.concatenate(self.factors, axis=1)

    @cached_property
    def bags(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """For each group the cells of a person's rows, and how many are in each."""
        entries = list(zip(self.cells.tolist(), self.times.tolist(), strict=True))
        return tuple(tuple(entries[first:last]) for first, last in pairwise(self.begins.tolist()))

    @cached_property
    def owners(self) -> Ints:
        """The group of every entry."""
        return np.repeat(np.arange(len(self.people)), np.diff(self.begins))

    @cached_property
    def sizes(self) -> Ints:
        """Rows of one person of each group."""
        return np.add.reduceat(self.times, self.begins[:-1])

    @property
    def single(self) -> bool:
        """Whether everyone has one row."""
        return bool((self.sizes == 1).all())

    @property
    def totals(self) -> tuple[int, ...]:
        """What every row of integers sums to, axis by axis."""
        return (2 ** weight_bits(len(self.factors)),) * len(self.factors)

    @property
    def weight_total(self) -> int:
        """What the products of a row sum to."""
        return math.prod(self.totals)

    @property
    def total_rows(self) -> int:
        """R, the rows of everyone."""
        return int(self.people @ self.sizes)

    @cached_property
    def players(self) -> Players:
        """The people, by the cells of their rows, whatever their scale."""
        people: dict[tuple[tuple[int, int], ...], int] = {}
        for bag, many in zip(self.bags, self.people.tolist(), strict=True):
            people[bag] = people.get(bag, 0) + many
        bags = sorted(people)
        return Players.in_bags(self.grid, bags, np.array([people[bag] for bag in bags], dtype=np.int64))

    def game(self, epsilon: float | None = None) -> Game:
        """The game with these people, noise, scales and utility, at this epsilon of one draw or another one."""
        kernel = make_joint_kernel(self.noise, self.scales, self.grid.shape, self.grid.bins_of(self.cells))
        utility, one = self.settings.get("utility", "kl"), self.epsilon if epsilon is None else epsilon
        return Game(self.players, kernel, one, utility, self.delta, self.order)

    def laid_out(self, kind: type = np.float64) -> Iterator[tuple[slice, Any]]:
        """Some groups at a time, and the weights of one person of each, over all cells."""
        size = max(1, AT_ONCE // self.grid.cells)
        for first in range(0, len(self.people), size):
            groups = slice(first, first + size)
            begins = self.begins[first : first + size + 1]
            entries = slice(int(begins[0]), int(begins[-1]))
            product: Any = self.times[entries, None].astype(kind) * products([rows[entries] for rows in self.factors])
            yield groups, np.add.reduceat(product, begins[:-1] - begins[0], axis=0)

    def _draw(self, n: int, source: RandomBytes) -> Iterator[Ints]:
        rows = draw_rows(self.people[self.owners] * self.times, self.factors, self.totals, n, source)
        return rows if len(self.factors) > 1 else (bins[:, 0] for bins in rows)

    def _values(self, drawn: Ints) -> Floats:
        if len(self.factors) == 1:
            return self.grid.axis.midpoints()[drawn]
        return np.stack([axis.midpoints()[drawn[:, d]] for d, axis in enumerate(self.grid.axes)], axis=1)

    @cached_property
    def _certificate(self) -> Certificate:
        return certify(
            self.people, self.factors, self.totals, self.epsilon, self.delta, self.order,
            owners=self.owners, times=self.times,
        )  # fmt: skip

    @cached_property
    def accountant(self) -> Accountant:
        """What many draws cost each group; here everyone's weights are laid out over all cells."""
        groups, cells = len(self.people), self.grid.cells
        if groups * cells > MOST_LAID_OUT:
            raise BadInput(
                f"What many draws cost needs {groups:,} groups x {cells:,} cells = {groups * cells:,} weights at once, "
                f"and {MOST_LAID_OUT:,} are possible. Use fewer bins or scales, or leave out delta."
            )
        whole = np.int64 if int(self.sizes.max()) * self.weight_total < 2**63 else object
        return Accountant(self.people, np.concatenate([rows for _, rows in self.laid_out(whole)]), self.sizes)

    @cached_property
    def within_budget(self) -> bool:
        """Whether all draws that are allowed together stay within the budget, if there is one."""
        return self.budget is None or self.accountant.within_budget(self.budget, self.draws)

    def cost(self, draws: int) -> float:
        """What so many draws cost together: within the budget's delta, or without one by adding up."""
        if self.measured is not None:
            return draws * self.target
        if self.budget is None or draws == 0:
            return draws * self.epsilon
        return self.accountant.worst(draws, self.budget.delta)

    @property
    def qualifier(self) -> str:
        """A delta, or the order of a Renyi divergence."""
        if self.order is not None:
            return f"Renyi divergence of order {self.order:g}"
        return f"delta = {at_most(self.delta)}" if self.delta > 0 else super().qualifier

    def promised_cost(self, draws: int) -> float:
        """What is promised of so many draws by what is public alone: with a budget, no less than all of them cost."""
        return draws * self.target if self.budget is None else self.budget.epsilon

    def declared(self, draws: int, *, public: bool = False) -> str:
        """What so many draws cost together, as the standard sentence says it; ``public``, what is promised of them."""
        cost = self.promised_cost(draws) if public else self.cost(draws)
        if self.budget is not None:
            return f"cost {within(cost, self.budget.delta)} together ({self.composed})"
        if self.delta > 0:
            return f"cost {within(cost, self.delta)}"
        how = "basic composition" if self.order is None else f"Renyi divergences of order {self.order:g} add up"
        return f"declared to cost {draws:,} x {at_most(self.target)} = {at_most(cost)} together ({how})"

    def costs(self, draws: Sequence[int], delta: float | None = None, *, tight: bool = True) -> list[dict[str, float]]:
        """How the cost grows: for each number of draws the worst and the median person's, and what adding up gives.

        ``delta`` is the budget's or the condition's, or 1e-6, if left out. The median is of quick upper bounds, and
        unless ``tight`` so is the worst.
        """
        check_costs(draws, delta)
        if self.measured is not None:  # a measured loss has no distribution to compose: it adds up
            worst = self.measured.worst
            names = ("worst", "median", "added_up")
            return [{"draws": many, "delta": 0.0, **dict.fromkeys(names, many * worst)} for many in draws]
        chosen = delta if delta is not None else self.budget.delta if self.budget else self.delta or DELTA
        found = []
        for many in draws:
            quick = self.accountant.bounds(many, chosen)
            order = np.argsort(quick, kind="stable")
            middle = order[int(np.searchsorted(np.cumsum(self.people[order]), (self.total_people + 1) // 2))]
            found.append(
                {
                    "draws": many,
                    "delta": chosen,
                    "worst": self.accountant.worst(many, chosen) if tight else float(quick.max()),
                    "median": float(quick[middle]),
                    "added_up": many * self.worst_loss,
                }
            )
        return found

    @cached_property
    def histogram(self) -> Ints:
        """Rows per cell: people, where everyone has one."""
        counts = np.zeros(self.grid.cells, dtype=np.int64)
        np.add.at(counts, self.cells, self.people[self.owners] * self.times)
        return counts

    @property
    def original(self) -> Floats:
        """p: the distribution of the rows over the cells."""
        return self.histogram / self.total_rows

    @property
    def output(self) -> Floats:
        """q: the distribution of one draw over the cells."""
        return self._sums / (float(self.total_rows) * self.weight_total)

    @cached_property
    def _sums(self) -> Floats:
        sums = np.zeros(self.grid.cells)
        for groups, rows in self.laid_out():
            sums += self.people[groups].astype(np.float64) @ rows
        return sums

    def groups(self) -> tuple[Ints, Ints]:
        """Groups of interchangeable people: the (lowest) cell they are in, and how many they are."""
        return self.cells[self.begins[:-1]], self.people

    def placed(self) -> tuple[Ints, Ints]:
        """A cell and a group for every cell that people of a group have rows in."""
        return self.cells, self.owners

    @cached_property
    def _losses(self) -> Floats:
        parts = self.laid_out()
        return np.concatenate([losses(rows, self._sums, self.total_rows, self.sizes[groups]) for groups, rows in parts])

    def losses(self) -> Floats:
        """Loss of one draw for a person of each group, all of whose rows are removed."""
        return self._losses

    @cached_property
    def protected(self) -> int:
        """People who are within what is promised of one draw."""
        condition, found = Condition(self.epsilon, self.sizes, self.total_rows, self.delta, self.order), 0
        everyone = np.arange(len(self.people))
        for groups, rows in self.laid_out():
            within = condition.divergences(rows, self._sums, everyone[groups]) <= (self.delta or self.epsilon)
            found += int(self.people[groups][within].sum())
        return found

    def metrics(self) -> dict[str, Any]:
        """How close the output is to the original; with several columns jointly, column by column, and relations."""
        return distances(self.original, self.output, self.grid.axes)

    @property
    def target(self) -> float:
        """The epsilon that was asked for."""
        return self.epsilon if self.measured is None else self.measured.target

    def _one_draw(self, *, public: bool) -> str:
        who = "each person" if public else f"each of the {self.total_people:,} people"
        if self.measured is not None:
            worst = self.measured.target if public else self.measured.worst
            return (
                f"End-to-end tier, measured for this dataset: for {who} in it, the "
                f"privacy loss of one draw is {within(worst, 0)} (asked for: "
                f"{at_most(self.measured.target)}), between the data with them and with that one person removed, the "
                f"noise worked out again without them ({SECRET_SIZE})."
            )
        if self.order is not None:
            loss = f"the Renyi divergence of order {self.order:g} of one draw is at most {at_most(self.epsilon)}"
        elif public and self.budget is not None:  # how much of it one draw may cost was worked out from the data
            loss = f"the privacy loss of one draw is {within(self.budget.epsilon, self.budget.delta)}"
        else:
            loss = f"the privacy loss of one draw is {within(self.epsilon, self.delta)}"
        unit = self.settings.get("unit") if self.settings.get("unit_rows") != "one" else None
        many = "" if public else f", {self.total_rows:,} rows in all"
        rows = "" if unit is None else f" (rows with the same {unit!r} are one person's{many})"
        removed = "that one person removed" if unit is None else "all rows of that one person removed"
        return (
            f"Fixed-noise tier: for {who} in this dataset{rows}, {loss}, between the data "
            f"with them and with {removed}, everyone else's noise held fixed ({SECRET_SIZE})."
        )

    def _caveat(self, *, public: bool) -> str:
        if self.measured is not None:
            fixed = f" With everyone else's noise fixed, {at_most(self.epsilon)} is certified."
            return (
                " This is a measurement and not differential privacy: other datasets, and people who are not in this "
                f"one, are promised nothing.{'' if public else fixed}"
            )
        return (
            " This is per-instance and not differential privacy: without that person the game would have chosen other "
            "noise, and people who are not in the data are promised nothing."
        )

    def _asked(self) -> dict[str, Any]:
        return {**super()._asked(), **self._conditions()}

    def _shown(self) -> dict[str, Any]:
        groups = zip(self.bags, self.scale_indices.tolist(), self.people.tolist(), strict=True)
        return {
            "noise": self.noise,
            "scales": [list(choice) for choice in self.scales],
            "weight_totals": list(self.totals),
            "profile": [
                {"rows": [{"cell": cell, "rows": times} for cell, times in bag], "scale": scale, "people": people}
                for bag, scale, people in groups
            ],
            "weights": [rows.tolist() for rows in self.factors],
        }

    def summary(self) -> dict[str, Any]:
        """What was reached and at what cost, without the mechanism itself."""
        return {**super().summary(), "rows": self.total_rows}

    def scale_names(self) -> list[str]:
        """Every choice of scales in data units, as people read it."""
        return [
            " x ".join(f"{scale * axis.range:.3g}" for scale, axis in zip(choice, self.grid.axes, strict=True))
            for choice in self.scales
        ]


def _frozen(array: Any) -> Ints:
    """Whole numbers that nobody can change."""
    kept = np.array(array, dtype=np.int64)
    kept.setflags(write=False)
    return kept
