"""A file of noisy counts for anybody to use: the counts, the grid that they are of, and the law of their noise.

Whoever reads it needs nothing else. Its digest is of all that it says, so that damage and careless edits are noticed.
That is no signature: whoever edits the file on purpose can also make the digest anew.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from equinoise.atomic_write import write_whole
from equinoise.data.bounds_cost import bounds_setting, rounded
from equinoise.data.grid import Axis, Grid, Ints
from equinoise.data.make_grid import make_grid
from equinoise.data.read_players import with_usual_rules
from equinoise.data.schema import Schema
from equinoise.data.schema_checks import printed
from equinoise.errors import BadInput, is_whole
from equinoise.formatting import printable
from equinoise.mechanisms.counts_table import CountsTable
from equinoise.mechanisms.private_table import check_private_grid
from equinoise.privacy.promise import Neighbours, Promise
from equinoise.settings import PRIVATE_RULES
from equinoise.synthesis.noisy_counts import NoiseLaw, noise_law

FORMAT = 2
MOST_BYTES = 2**28
"""Of a file: more than the counts of the largest grid take."""

START = b'{"equinoise_counts":'
"""How a file begins."""

NUMBERS = 2**63
"""Counts are from minus this to below it."""


@dataclass(frozen=True, eq=False)
class PublishedCounts:
    """Noisy ``counts`` (cells of the grid, the last column's bins fastest) and all that is said of them: nothing else
    was worked out from the data."""

    epsilon: float
    schema: Schema
    law: NoiseLaw
    counts: Ints

    @classmethod
    def of(cls, mechanism: CountsTable) -> PublishedCounts:
        """Those of a mechanism."""
        return cls(mechanism.epsilon, mechanism.schema, mechanism.law, mechanism.noisy)

    @cached_property
    def grid(self) -> Grid:
        """The cells that the schema makes."""
        return make_grid(with_usual_rules(self.schema, PRIVATE_RULES))

    @property
    def bounds_epsilon(self) -> float:
        """What finding the bounds cost, beside the ``epsilon`` of the counts."""
        return bounds_setting(self.schema).get("bounds_epsilon", 0.0)

    @property
    def promise(self) -> Promise:
        """What is promised of the counts, and so of all that is made of them."""
        unit = self.schema.unit
        return Promise(
            neighbours=Neighbours.PERSON_ADDED_OR_REMOVED,
            epsilon=rounded(printed(self.epsilon) + printed(self.bounds_epsilon), up=True),
            draws=None,
            bounds_epsilon=self.bounds_epsilon,
            unit=unit,
            most_rows=None if unit is None else self.law.rows,
            refuses=any("refuse" in (axis.missing, axis.outside) for axis in self.grid.axes),
        )

    def to_json(self) -> dict[str, Any]:
        """What the file says, its digest last."""
        said = {
            "equinoise_counts": FORMAT,
            "promise": self.promise.in_one_line,
            "epsilon": self.epsilon,
            "bounds_epsilon": self.bounds_epsilon,
            "noise": {
                "law": "discrete Laplace: k has a probability proportional to exp(-abs(k)/scale), in every cell on its "
                "own",
                "scale": self.law.scale,
                "rows_per_person": self.law.rows,
            },
            "unit": self.schema.unit,
            "schema": self.schema.to_json(),
            "columns": [
                {"name": axis.name, "kind": "number" if isinstance(axis, Axis) else "category",
                 "bins": [axis.bin_label(bin) for bin in range(axis.bins)]}
                for axis in self.grid.axes
            ],
            "order": "the last column's bins run fastest",
            "counts": self.counts.tolist(),
        }  # fmt: skip
        return {**said, "digest": digest_of(said)}


def digest_of(said: dict[str, Any]) -> str:
    """The digest of what a file says, however its text is laid out: 64 letters."""
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def publish_counts(mechanism: CountsTable, path: Path, *, force: bool = False) -> None:
    """Write them as JSON, to a file that anyone may read."""
    write_whole(path, [json.dumps(PublishedCounts.of(mechanism).to_json()).encode()], mode=0o644, force=force)


def read_counts(path: Path) -> PublishedCounts:
    """The noisy counts of a file, refused unless it is whole, nothing in it was changed, and all that it says agrees:
    the schema with the bins, the noise with epsilon, the counts with the grid."""
    name = repr(str(path))
    said = _read_json(path, name)
    if not isinstance(said, dict) or "equinoise_counts" not in said:
        raise BadInput(f"The file {name} has no noisy counts: it was not written by --publish-counts of Equinoise.")
    _check_format(said["equinoise_counts"], name)
    digest = said.pop("digest", None)
    if digest != digest_of(said):
        raise BadInput(f"The file {name} is damaged or has been changed: its digest does not match.")
    try:
        found = _counts_of(said)
        agrees = found.to_json() == {**said, "digest": digest}
    except (BadInput, KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        why = f" ({str(error).rstrip('.')})" if isinstance(error, BadInput) else ""
        raise BadInput(f"The file {name} has been changed: what it says cannot be{why}.") from None
    if not agrees:
        raise BadInput(f"The file {name} has been changed: what it says does not agree with its schema.")
    return found


def _read_json(path: Path, name: str) -> Any:
    """What a file holds as JSON, each key once and without numbers that JSON does not have."""
    if path.is_dir():
        raise BadInput(f"{name} is a folder, not a file of noisy counts.")
    try:
        with path.open("rb") as file:
            text = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise BadInput(f"There is no file {name}.") from None
    except OSError as error:
        raise BadInput(f"The file {name} cannot be read: {error.strerror or error}.") from None
    if not text.strip():
        raise BadInput(f"The file {name} is empty.")
    try:
        if len(text) > MOST_BYTES:
            raise ValueError("too long")
        return json.loads(text.decode(), parse_constant=_refuse, object_pairs_hook=_each_once)
    except (ValueError, RecursionError):
        raise BadInput(f"The file {name} is no file of noisy counts, or is damaged: it is not whole JSON.") from None


def _refuse(word: str) -> NoReturn:
    raise ValueError(word)


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found


def _check_format(number: Any, name: str) -> None:
    if not is_whole(number, 1, 10**9):
        raise BadInput(f"The file {name} is damaged: its format is {printable(repr(number)[:40])}.")
    if number != FORMAT:
        remedy = "Upgrade Equinoise" if number > FORMAT else "Ask for a new file, or answer from the saved mechanism"
        raise BadInput(
            f"The file {name} has format {number} of noisy counts; this version of Equinoise reads format {FORMAT}. "
            f"{remedy}."
        )


def _counts_of(said: dict[str, Any]) -> PublishedCounts:
    """The counts as they are said to be; raises whatever comes of values that cannot be."""
    law = noise_law(said["epsilon"], said["noise"]["rows_per_person"])
    if said["noise"]["scale"] != law.scale:
        raise BadInput("the scale of the noise is not that of epsilon and rows_per_person")
    found = PublishedCounts(said["epsilon"], _schema_of(said), law, np.zeros(0, dtype=np.int64))
    found.schema.check_complete()
    check_private_grid(found.grid)
    counts = said["counts"]
    if not isinstance(counts, list) or len(counts) != found.grid.cells:
        raise BadInput(f"there must be {found.grid.cells:,} counts, one for every cell")
    if not all(type(count) is int and -NUMBERS <= count < NUMBERS for count in counts):
        raise BadInput("counts must be whole numbers of 64 bits")
    return PublishedCounts(found.epsilon, found.schema, law, np.array(counts, dtype=np.int64))


def _schema_of(said: dict[str, Any]) -> Schema:
    """The schema as :meth:`Schema.to_json` has it, texts for dates, with the columns in the order that the file lists
    them in: the keys of JSON have none."""
    columns = {}
    for name in [column["name"] for column in said["columns"]]:
        column = said["schema"]["columns"][name]
        bounds = column.get("bounds", ())
        dates = len(bounds) > 0 and all(isinstance(end, str) for end in bounds)
        columns[name] = {**column, "bounds": [date.fromisoformat(end) for end in bounds]} if dates else column
    return Schema.of({**said["schema"], "columns": columns})
