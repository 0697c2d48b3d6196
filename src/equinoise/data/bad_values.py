"""Values that cannot be counted as they are: text, missing, infinite, outside the bounds, unknown categories. They are
refused, unless the rules of their column say otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np

from equinoise.data.codes import ABOVE, BELOW, INFINITE, MISSING, TEXT, UNKNOWN
from equinoise.data.grid import AnyAxis, Axis, CategoryAxis, Ints
from equinoise.data.number_marks import hint_about
from equinoise.data.rows import Rows
from equinoise.data.text_fields import IS_TEXT, RAW
from equinoise.errors import BadInput

NAMES_SHOWN = 3


def refusal(axis: AnyAxis, codes: Ints) -> str | None:
    """What the rules of an axis refuse among codes of it, in a few words."""
    if (codes == TEXT).any():
        return "text"
    if axis.missing == "refuse" and np.isin(codes, [MISSING, INFINITE]).any():
        return "missing or infinite values"
    if axis.outside == "refuse" and np.isin(codes, [BELOW, ABOVE, UNKNOWN]).any():
        return "unknown categories" if isinstance(axis, CategoryAxis) else "values outside the bounds"
    return None


def refuse_bad_values(rows: Rows, axes: Sequence[AnyAxis], codes: Ints, times: Ints, groups: Any) -> None:
    """Refuse combinations of codes (combinations x axes) and how many rows have each, where a rule says so. ``groups``
    has the values of the combinations where they are not codes."""
    for i, axis in enumerate(axes):
        absent, infinite, below, above, text, unknown = (
            int(times[codes[:, i] == code].sum()) for code in (MISSING, INFINITE, BELOW, ABOVE, TEXT, UNKNOWN)
        )
        if text:
            if axis.name in rows.columns:
                refuse_text(rows, rows.columns.index(axis.name))
            example = _some_values(groups, i, codes, TEXT)[0]
            raise BadInput(
                f"Column {axis.name!r} holds no dates in {_many(text, 'row')}, such as {str(example)[:40]!r}. Write "
                "dates as 2024-12-31."
            )
        if absent + infinite and axis.missing == "refuse":
            raise BadInput(
                f"Column {axis.name!r} has {_many(absent, 'missing value')} and {_many(infinite, 'infinite value')}. "
                "Leave those rows out with --missing drop, or give them a place of their own with --missing category "
                "(in Python, missing=), or fill them in."
            )
        if below + above and axis.outside == "refuse":
            assert isinstance(axis, Axis)
            raise BadInput(
                f"Column {axis.name!r} has {_many(below, 'value')} below {axis.value_label(axis.low)} and "
                f"{_many(above, 'value')} above {axis.value_label(axis.high)}. Move those values to the nearer bound "
                "with --outside clip (in Python, outside='clip'), or widen the bounds, if you would have without "
                "knowing this."
            )
        if unknown and axis.outside == "refuse":
            names = _some_values(groups, i, codes, UNKNOWN)
            categories, them = ("categories", "them") if len(names) > 1 else ("category", "it")
            raise BadInput(
                f"Column {axis.name!r} has {_many(unknown, 'row')} of {len(names):,} {categories} that the schema does "
                f"not list: {_listed(names)}. List {them}, or leave those "
                'rows out with --outside clip (in a schema, outside = "drop").'
            )


def _some_values(groups: Any, i: int, codes: Ints, code: int) -> list[Any]:
    """The different values that have a code on an axis, as texts, sorted."""
    values = groups[f"code {i}"].to_list()
    return sorted({str(values[place]) for place in np.flatnonzero(codes[:, i] == code).tolist()})


def _listed(names: list[Any]) -> str:
    more = f" and {len(names) - NAMES_SHOWN:,} more" if len(names) > NAMES_SHOWN else ""
    return ", ".join(repr(str(name)[:40]) for name in names[:NAMES_SHOWN]) + more


def _many(n: int, kind: str) -> str:
    return f"{n:,} {kind}{'' if n == 1 else 's'}"


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
            f"{hint or 'List its categories (--categories, or in a schema), or convert or remove them first.'}"
        )
