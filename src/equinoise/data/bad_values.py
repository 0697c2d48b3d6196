"""Values that cannot be counted as they are: text, missing, infinite or outside the bounds. They are refused, unless
the rules say to drop or to clip them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import narwhals as nw
import numpy as np

from equinoise.data.grid import Axis, Ints
from equinoise.data.number_marks import hint_about
from equinoise.data.rows import Rows
from equinoise.data.text_fields import IS_TEXT, RAW
from equinoise.errors import BadInput
from equinoise.formatting import format_number
from equinoise.settings import check_settings

MISSING, INFINITE, BELOW, ABOVE, TEXT = -1, -2, -3, -4, -5
"""Codes of rows that fall in no bin: what is wrong with their value."""


@dataclass(frozen=True)
class Rules:
    """What to do with rows that have a bad value in any column. ``missing`` (also for infinite values): ``refuse`` all
    rows, or ``drop`` those. ``outside`` the bounds: ``refuse``, or ``clip`` to the nearer bound."""

    missing: str = "refuse"
    outside: str = "refuse"

    def __post_init__(self) -> None:
        check_settings(vars(self))

    def refusal(self, codes: Ints) -> str | None:
        """What these rules refuse among the codes of one column, in a few words."""
        if (codes == TEXT).any():
            return "text"
        if self.missing == "refuse" and np.isin(codes, [MISSING, INFINITE]).any():
            return "missing or infinite values"
        outside = self.outside == "refuse" and np.isin(codes, [BELOW, ABOVE]).any()
        return "values outside the bounds" if outside else None


def refuse_bad_values(
    rows: Rows, axes: Sequence[Axis], columns: Sequence[int], codes: Ints, times: Ints, rules: Rules
) -> None:
    """Refuse combinations of codes (combinations x axes) and how many rows have each, where a rule says so. Axis i is
    of the column with the number ``columns[i]``."""
    for i, (axis, number) in enumerate(zip(axes, columns, strict=True)):
        column = rows.columns[number]
        absent, infinite, below, above, text = (
            int(times[codes[:, i] == code].sum()) for code in (MISSING, INFINITE, BELOW, ABOVE, TEXT)
        )
        if text:
            refuse_text(rows, number)
        if absent + infinite and rules.missing == "refuse":
            raise BadInput(
                f"Column {column!r} has {_many(absent, 'missing ')} and {_many(infinite, 'infinite ')}. Leave those "
                "rows out with --missing drop (in Python, missing='drop'), or fill them in."
            )
        if below + above and rules.outside == "refuse":
            raise BadInput(
                f"Column {column!r} has {_many(below)} below {format_number(axis.low)} and {_many(above)} above "
                f"{format_number(axis.high)}. Move those values to the nearer bound with --outside clip (in Python, "
                "outside='clip'), or widen the bounds, if you would have without knowing this."
            )


def _many(n: int, kind: str = "") -> str:
    return f"{n:,} {kind}value{'' if n == 1 else 's'}"


def refuse_text(rows: Rows, number: int) -> None:
    """Say how many rows hold text instead of a number, with one of them, if there are any."""
    if not rows.from_text:
        return
    raw = nw.col(f"{RAW} {number}").min().alias("example")
    text = rows.collect(rows.frame.filter(nw.col(f"{IS_TEXT} {number}")).select(raw, nw.len().alias("rows")))
    if text["rows"][0]:
        example = str(text["example"][0])
        hint = hint_about(example, rows.decimal)
        what = "text or dates, not numbers," if hint is None else "no plain numbers"
        raise BadInput(
            f"Column {rows.columns[number]!r} holds {what} in {text['rows'][0]:,} "
            f"row{'' if text['rows'][0] == 1 else 's'}, such as {example[:40]!r}. "
            f"{hint or 'Convert or remove them first.'}"
        )
