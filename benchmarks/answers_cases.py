"""The populations that answers from noisy counts are tried on: laws over many values, and grids for them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from benchmarks.pay_cases import COLUMNS, data, players, whole
from equinoise.data.grid import Axis, CategoryAxis

CHOSEN_ON = (
    "normal laws of two widths, an exponential, a log-normal and a uniform law, without steps, in 40 and 100 bins"
)

WARDS = CategoryAxis("ward", ("elective", "emergency", "day"))
WARD_SHARES = np.array([0.5, 0.3, 0.2])


@dataclass(frozen=True, eq=False)
class Population:
    """How likely every value is in every ward (wards by values); without wards there is one."""

    axis: Axis
    values: np.ndarray
    chances: np.ndarray

    @cached_property
    def bins(self):
        return np.array([self.axis.cell_of(value) for value in self.values.tolist()])

    @cached_property
    def axes(self):
        return (self.axis,) if len(self.chances) == 1 else (self.axis, WARDS)

    def counts(self, rng, people):
        """People per cell, sampled anew, and in all wards together the sums that other methods need."""
        drawn = rng.multinomial(people, self.chances.ravel()).reshape(self.chances.shape)
        by_bin = np.stack([np.bincount(self.bins, weights=ward, minlength=self.axis.bins) for ward in drawn], axis=1)
        cells = np.rint(by_bin).astype(np.int64)
        return (cells if len(self.axes) > 1 else cells[:, 0]), float(drawn.sum(axis=0) @ self.values)

    def mean(self, ward=None):
        p = self._of(ward)
        return float(p @ self.values)

    def deviation(self, ward=None):
        p = self._of(ward)
        return float(np.sqrt(p @ (self.values - self.mean(ward)) ** 2))

    def quantile(self, q):
        p = self._of(None)
        return float(self.values[np.searchsorted(np.cumsum(p), q - 1e-12)])

    def _of(self, ward):
        p = self.chances.sum(axis=0) if ward is None else self.chances[ward]
        return p / p.sum()


def _population(axis, values, law, shift=0.0):
    """One law, or with a shift one for every ward, each a little higher than the one before."""
    if not shift:
        return Population(axis, values, law(values)[None] / law(values).sum())
    laws = np.array([law(np.clip(values - shift * ward, axis.low, None)) for ward in range(3)])
    return Population(axis, values, laws / laws.sum(axis=1, keepdims=True) * WARD_SHARES[:, None])


def _smooth(x):
    """Ages of adults in years, as a fraction."""
    return (x - 18) ** 1.4 * (100 - x) ** 2.2 + 1e-9


def _skewed(x):
    """Incomes in thousands, a gamma law."""
    return (x + 0.5) ** 0.8 * np.exp(-x / 18)


def _heaped(x):
    """Whole years, more than half of them rounded to tens or fives."""
    smooth = np.exp(-((x - 43) ** 2) / 2 / 17**2)
    return smooth * np.where(x % 10 == 0, 8.0, np.where(x % 5 == 0, 3.5, 1.0))


def _one_end(x):
    """Hours in tenths, three in four a multiple of ten: at the lower ends of some bins."""
    tenths = np.rint(x * 10).astype(int)
    smooth = np.exp(-((x - 38) ** 2) / 2 / 14**2)
    return smooth * np.where(tenths % 100 == 0, 300.0, 1.0)


def simulated(shift=0.0):
    """The populations by name; with a ``shift`` (of the range) in three wards."""
    found = {}
    fine = np.linspace(18, 100, 8201)[:-1] + 0.005
    money = np.linspace(0, 200, 10_001)[:-1] + 0.01
    years, tenths = np.arange(100.0), np.arange(1000) / 10
    for bins in (40, 100):
        found[f"smooth, {bins} bins"] = (Axis("x", 18.0, 100.0, bins), fine, _smooth)
        found[f"skewed, {bins} bins"] = (Axis("x", 0.0, 200.0, bins), money, _skewed)
    found["heaped, 100 bins of a step"] = (whole("x", 0, 99), years, _heaped)
    found["heaped, 50 bins of 2 steps"] = (whole("x", 0, 99, 50), years, _heaped)
    found["heaps at one end, 40 bins"] = (Axis("x", 0.0, 100.0, 40), tenths, _one_end)
    return {name: _population(*case, shift * (case[0].high - case[0].low)) for name, case in found.items()}


def real_columns():
    """The values of real columns as populations, with how many people they were."""
    everyone = players()
    columns = [("players", axis, everyone) for axis in (whole("height", 140, 230), whole("weight", 40, 160))]
    columns += [(name, axis, data(name)) for name, axis in COLUMNS]
    for name, axis, rows in columns:
        inside = np.clip(rows[axis.name].to_numpy().astype(float), axis.low, axis.high)
        values, people = np.unique(inside, return_counts=True)
        yield f"{name}: {axis.name}", Population(axis, values, people[None] / people.sum()), min(len(inside), 2000)
