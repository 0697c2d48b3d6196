"""A person's privacy loss in one draw, and how conditions on it are told apart."""

from __future__ import annotations

import numpy as np

from equinoise.data.grid import Floats, Ints

MARGIN = 2.0**-40
"""How much stricter than needed the game's floating-point condition is, so that rounding in the solver can
never let through what the exact certificate would refuse."""

EPSILON_CAP = 64.0
"""A loss within 64 is within any larger epsilon; e^64 keeps every number in range."""


PURE, APPROXIMATE, RENYI = 0, 1, 2


def losses(rows: Floats, sums: Floats, people: int, sizes: Ints | None = None) -> Floats:
    """Loss of one person with each kernel row: max over x of abs ln( (S/N) / ((S - W)/(N - 1)) ).

    Infinite where only that person can come out (S = W > 0); a cell that nobody reaches costs nothing. With ``sizes``,
    each row is the sum of a person's so many, ``people`` counts rows, and all of that person's are removed.
    """
    return np.asarray(np.abs(log_ratios(rows, sums, people, sizes)).max(axis=1))


def log_ratios(rows: Floats, sums: Floats, people: int, sizes: Ints | None = None) -> Floats:
    """ln(P/Q) in every cell, for one person with each row."""
    share = np.divide(rows, sums, out=np.zeros_like(rows), where=sums > 0)
    gone = 1 / people if sizes is None else sizes[:, None] / people
    with np.errstate(divide="ignore"):
        ratios = np.log1p(-gone) - np.log1p(-np.minimum(share, 1.0))
    ratios[:, sums <= 0] = 0.0
    return np.asarray(ratios)


QUANTILES = (0.5, 0.9, 0.99, 1.0)
"""Shares of the people whose losses are shown."""


def quantiles(losses: Floats, people: Ints, shares: tuple[float, ...] = QUANTILES) -> dict[str, float]:
    """The loss that a share of the people stays within, for each share; ``people[g]`` of them have ``losses[g]``."""
    if len(losses) == 0:
        return {f"{share:g}": 0.0 for share in shares}
    order = np.argsort(losses, kind="stable")
    reached = np.cumsum(people[order])
    ranks = [max(1, -(-round(share * 10**6) * int(reached[-1]) // 10**6)) for share in shares]
    at = np.searchsorted(reached, ranks)
    return {f"{share:g}": float(losses[order[i]]) for share, i in zip(shares, at, strict=True)}
