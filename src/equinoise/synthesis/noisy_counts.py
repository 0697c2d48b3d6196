"""Noisy counts: people per cell with discrete Laplace noise, pure differential privacy for the whole table at once.

A person has at most m rows, so adding or removing one moves the counts by at most m in L1. Every cell gets noise k of
its own with

    P(k) = (1 - a)/(1 + a) a^|k|,   a = e^(-1/scale),   k any whole number.

Moving the counts by m in L1 changes the probability of any noisy table by at most the factor e^(m/scale). So all cells
together cost m/scale, whatever is made of them afterwards. The scale is a float, and is taken as the fraction that it
is, here and by OpenDP, which draws exactly from the system's random source. It is the least float with
scale * epsilon >= m in fractions, so the loss m/scale is never above epsilon: neither the float nor the decimal that it
was written as, so that ten times 0.1 add up to 1. Noisy counts that would leave 64 bits are
held at the ends, which costs nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from equinoise.data.grid import Ints
from equinoise.errors import EquinoiseError, check, is_number, is_whole
from equinoise.formatting import printable

LEAST_EPSILON, MOST_EPSILON = 1e-9, 1e3
MOST_PEOPLE = 10**15
"""In a cell: far enough from the ends of 64 bits for any noise that can be asked for."""

MOST_ROWS = 10**6


@dataclass(frozen=True)
class NoiseLaw:
    """The law of the noise on every cell: discrete Laplace of this ``scale``, for at most ``rows`` rows a person."""

    scale: float
    rows: int

    @property
    def exact_loss(self) -> Fraction:
        """What all noisy counts together cost one person: m/scale."""
        return Fraction(self.rows) / Fraction(self.scale)

    @property
    def loss(self) -> float:
        """The least float that is not below the exact loss."""
        found = float(self.exact_loss)
        return found if Fraction(found) >= self.exact_loss else math.nextafter(found, math.inf)

    @property
    def variance(self) -> float:
        """Of the noise on one cell: 2 a / (1 - a)^2 = 1 / (2 sinh(1/(2 scale))^2)."""
        half = 1 / (2 * self.scale)
        return 0.0 if half > 350 else 1 / (2 * math.sinh(half) ** 2)


def noise_law(epsilon: float, rows: int = 1) -> NoiseLaw:
    """The least noise that costs at most ``epsilon`` where a person has at most ``rows`` rows."""
    usable = is_number(epsilon) and LEAST_EPSILON <= epsilon <= MOST_EPSILON
    check(usable, "epsilon", f"a number from {LEAST_EPSILON:g} to {MOST_EPSILON:g}", epsilon)
    check(is_whole(rows, 1, MOST_ROWS), "rows", f"a whole number from 1 to {MOST_ROWS:,}", rows)
    target = min(Fraction(float(epsilon)), Fraction(repr(float(epsilon))))
    scale = float(Fraction(int(rows)) / target)  # the nearest float: at most one step from the least that will do
    if Fraction(scale) * target < rows:
        scale = math.nextafter(scale, math.inf)
    return NoiseLaw(scale, int(rows))


def noisy_counts(counts: Ints, law: NoiseLaw) -> Ints:
    """People per cell (flat, whole numbers) with noise added to each: whole numbers, also below zero."""
    people = np.asarray(counts)
    whole = people.ndim == 1 and people.dtype.kind in "iu" and people.size > 0
    check(whole, "counts", "one row of whole numbers, one for every cell", _kind(people))
    check(0 <= int(people.min()), "counts", "whole numbers from 0 on", int(people.min()))
    check(int(people.max()) <= MOST_PEOPLE, "counts", f"at most {MOST_PEOPLE:,} in a cell", int(people.max()))
    try:
        return np.asarray(_measurement(law)(people.astype(np.int64)), dtype=np.int64)
    except ImportError:
        raise
    except Exception as error:  # whatever it is, nothing may be released: OpenDP has errors of several families
        said = " ".join(printable(str(error)).split())[:200].rstrip(".")
        raise EquinoiseError(
            f"OpenDP could not draw the noise ({said}). No noisy counts were made. Try again, or with another epsilon."
        ) from error


def _kind(values: Any) -> str:
    return f"{values.ndim} dimensions of {values.dtype}, {values.size:,} numbers"


def _measurement(law: NoiseLaw) -> Any:
    """OpenDP's noise on whole numbers. Its own bound of the loss must agree with ours, to its rounding upwards."""
    import opendp.prelude as dp

    dp.enable_features("contrib")  # where OpenDP keeps what has a proof but no outside review of it yet
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    made: Any = dp.m.make_laplace(*space, scale=law.scale)
    told = Fraction(float(made.map(law.rows)))
    if not law.exact_loss <= told <= law.exact_loss * (1 + Fraction(1, 10**12)):
        raise ValueError(f"its loss of {float(told)!r} is not the {law.loss!r} that this scale has")
    return made
