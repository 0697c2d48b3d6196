"""How much of the data was counted: rows that a schema leaves out, values that it moves to a bound, other columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equinoise.data.codes import ABOVE, BELOW, INFINITE, MISSING, UNKNOWN
from equinoise.data.grid import AnyAxis, Ints


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """How many ``rows`` the data has, and how many of them, and of the people in them, were left out. It is for the
    custodian alone: as secret as the data.

    By column, where there are any: rows in which the value is ``missing`` or infinite, or of an ``unknown`` category
    (in both columns, if two are); and values of rows that count which were ``clipped`` to a bound. Of people with
    several rows, told by the ``unit``, those are left out who have no row left, and rows ``without_unit`` are nobody's.
    """

    rows: int
    rows_left_out: int = 0
    people_left_out: int = 0
    missing: dict[str, int] = field(default_factory=dict)
    unknown: dict[str, int] = field(default_factory=dict)
    clipped: dict[str, int] = field(default_factory=dict)
    unit: str | None = None
    without_unit: int = 0
    columns_left_out: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The fields, as JSON shows them."""
        return {**asdict(self), "columns_left_out": list(self.columns_left_out)}


def coverage_of(axes: Sequence[AnyAxis], codes: Ints, times: Ints, usable: NDArray[np.bool_], **more: Any) -> Coverage:
    """The coverage of combinations of codes (combinations x axes), of how many rows have each, and of which are
    counted; ``more`` are the figures that codes do not tell."""
    left_out = int(times[~usable].sum())
    found: dict[str, dict[str, int]] = {"missing": {}, "unknown": {}, "clipped": {}}
    for axis, column in zip(axes, codes.T, strict=True):
        told = {
            "missing": np.isin(column, [MISSING, INFINITE]) & (axis.missing != "category"),
            "unknown": column == UNKNOWN,
            "clipped": np.isin(column, [BELOW, ABOVE]) & usable,
        }
        for name, where in told.items():
            if many := int(times[where].sum()):
                found[name][axis.name] = many
    return Coverage(rows=int(times.sum()), rows_left_out=left_out, **{"people_left_out": left_out, **found, **more})
