"""How much of the data was counted, in words for its custodian: rows left out, values moved, columns not used."""

from __future__ import annotations

from collections.abc import Sequence

from equinoise.data.coverage import Coverage
from equinoise.formatting import join_and, percent, printable

MOST_COLUMNS = 5
"""So many columns are named in a sentence; JSON has all."""


def coverage_sentences(coverage: Coverage | None) -> list[str]:
    """What of the data was left out, moved or not used, where anything was: as secret as the data."""
    if coverage is None:
        return []
    c, found = coverage, []
    if c.rows_left_out:
        people = ""
        if c.unit is not None and c.people_left_out:
            people = f" and all rows of {c.people_left_out:,} {'person' if c.people_left_out == 1 else 'people'}"
        share = percent(c.rows_left_out / c.rows)
        found.append(f"Left out: {c.rows_left_out:,} of {c.rows:,} rows ({share}){people}, by column: {_reasons(c)}.")
    if c.clipped:
        moved = [f"{many:,} of {_quoted(name)}" for name, many in _most_first(c.clipped)]
        found.append(f"Values moved to the nearer bound, by column: {_some(moved)}.")
    if c.columns_left_out:
        found.append(f"Columns of the data that are not used: {_some(list(map(_quoted, c.columns_left_out)))}.")
    return found


def _reasons(coverage: Coverage) -> str:
    """Why rows were left out, by column; a row that has several reasons is told in each."""
    rows = {name: coverage.missing.get(name, 0) + coverage.unknown.get(name, 0) for name in coverage.missing}
    rows |= {name: many + coverage.missing.get(name, 0) for name, many in coverage.unknown.items()}
    told = [f"{_quoted(coverage.unit)} (the unit) {coverage.without_unit:,} missing"] if coverage.without_unit else []
    for name, _ in _most_first(rows):
        kinds = {"missing": coverage.missing, "of unknown categories": coverage.unknown}
        told.append(f"{_quoted(name)} {join_and(f'{of[name]:,} {kind}' for kind, of in kinds.items() if name in of)}")
    return _some(told)


def _most_first(figures: dict[str, int]) -> list[tuple[str, int]]:
    return sorted(figures.items(), key=lambda figure: -figure[1])


def _some(parts: Sequence[str]) -> str:
    """The first of them, and how many more there are."""
    more = [f"{len(parts) - MOST_COLUMNS:,} more"] if len(parts) > MOST_COLUMNS else []
    return "; ".join([*parts[:MOST_COLUMNS], *more])


def _quoted(name: str | None) -> str:
    return f"'{printable(str(name))}'"
