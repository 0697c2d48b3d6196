"""What closeness can mean: one module a utility, listed in ``choices.UTILITIES``.

Each declares its ``LABEL`` in words, its ``ceiling(cells)``, the divergence on so many cells at which the utility is 0,
and a divergence of one of two kinds:

- linear features: ``features(bins)``, a table features x bins for one column. The divergence is the sum of absolute
  differences between the features of p and those of q, averaged over the columns. With ``NUMBERS``, a range, the
  utility is asked for as ``name:N``, and N is the second argument. This kind is open: a module is all it takes.
- a sum over cells: all that :class:`Curve` lists. Its arithmetic is also compiled into best response, which tells these
  utilities apart by ``KIND``. One more needs a number here, and its lines in ``cell_drop`` and ``slope`` of
  :mod:`equinoise.solvers.best_response.gain`.
"""

from __future__ import annotations

from typing import Protocol

from equinoise.data.grid import Floats

KL, JS, TV, LINEAR = 0, 1, 2, 3


class Curve(Protocol):
    """A divergence that is a sum over the occupied cells, convex in q. n are rows, s = R q, both in those cells.

    Elsewhere p is zero. KL does not look there, and the parts of Jensen-Shannon and total variation are linear in q,
    whose mass outside is what is not inside.
    """

    KIND: int
    KINKED: bool

    def divergence(self, n: Floats, s: Floats) -> float:
        """D(p, q), in the utility's unit."""

    def gain(self, n: Floats, s: Floats, change: Floats) -> float:
        """R times the fall of the divergence when s changes: from the change itself, so that one person shows."""

    def cost(self, s: Floats) -> Floats:
        """What each cell adds to the divergence, as a share of its p, where s times its own rows come out."""

    def tangents(self, at: Floats) -> tuple[Floats, Floats]:
        """cost(s) >= a - b s for every s, with equality at one point: (a, b). b is how fast the cost falls there."""
