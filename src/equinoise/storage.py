"""The saved file: one SQLite database with the mechanism, which never changes, and its ledger.

It holds the histogram, so it is as secret as the data and only its owner may read it.
"""

from __future__ import annotations

import hashlib
import math
import sqlite3
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from equinoise import ledger
from equinoise.draws import MOST, MOST_DRAWS
from equinoise.errors import BadInput
from equinoise.files import write_whole
from equinoise.grid import MOST_BINS, Axis, Ints
from equinoise.joint_noise import MOST_AXES, MOST_CELLS, weight_bits
from equinoise.noise import MOST_SCALES

APPLICATION_ID = 0x45514E53
FORMAT = 1


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, frozen=True)


class AxisDocument(_Strict):
    """An axis of the grid."""

    name: str
    low: float
    high: float
    bins: int = Field(ge=2, le=MOST_BINS)
    padding: float = Field(ge=0)

    @model_validator(mode="after")
    def _is_an_axis(self) -> AxisDocument:
        if not self.low < self.high:
            raise ValueError("bounds")
        Axis(**self.model_dump()).check_resolvable()
        return self


class SettingsDocument(_Strict):
    """What was asked for: how the rows were counted, and the procedure."""

    column: str | list[str] | None = None
    per_axis: bool = False
    public_bounds: bool
    scales: str | list[float] | dict[str, list[float]] = "wide"
    utility: str = Field("kl", pattern=r"^(kl|js|tv|wasserstein|moments:([1-9]|10))$")
    missing: Literal["refuse", "drop"] = "refuse"
    outside: Literal["refuse", "clip"] = "refuse"
    padding_epsilon: float = 1.0
    percentile: float = 0.9
    own_start: bool = False
    guarantee: Literal["fixed-noise", "end-to-end", "worst-case"] = "fixed-noise"
    unit: str | None = None
    unit_rows: Literal["all", "one"] = "all"
    epsilon: float | None = None
    noise: str | None = None
    draws: int | None = None
    delta: float = 0.0
    renyi: float | None = None
    solver: str | None = None
    time_limit: float | None = None
    generations: int | None = None
    restarts: int | None = None
    seed: int | None = None


class SolverDocument(_Strict):
    """How the profile was found."""

    model_config = ConfigDict(extra="allow", strict=True, allow_inf_nan=False, frozen=True)

    name: Literal["best-response", "genetic", "optimal"]
    equilibrium: bool
    rounds: int = Field(ge=0)
    seconds: float = Field(ge=0)

    @model_validator(mode="after")
    def _says_what_it_should(self) -> SolverDocument:
        extra = self.model_extra or {}
        wanted = {"best-response": {"restarts"}, "optimal": {"gap", "lower_bound"}, "genetic": {"generations"}}
        if not all(isinstance(extra.get(key), int | float) for key in wanted[self.name]):
            raise ValueError("solver")
        return self


class BudgetDocument(_Strict):
    """What all draws together may cost."""

    epsilon: float = Field(gt=0)
    delta: float = Field(gt=0, lt=1)


class MeasuredDocument(_Strict):
    """The loss with the noise worked out again, and what was asked for."""

    worst: float = Field(ge=0)
    target: float = Field(gt=0)

    @model_validator(mode="after")
    def _within(self) -> MeasuredDocument:
        if self.worst > self.target:
            raise ValueError("measured")
        return self


class Document(_Strict):
    """What the saved mechanisms of all tiers share."""

    axes: list[AxisDocument] = Field(min_length=1, max_length=MOST_AXES)
    epsilon: float = Field(gt=0)
    draws: int = Field(ge=1, le=MOST_DRAWS)
    budget: BudgetDocument | None = None
    settings: SettingsDocument


class ProfileDocument(Document):
    """All of a mechanism of the game but its scales and its weights."""

    tier: Literal["fixed-noise", "end-to-end"] = "fixed-noise"
    noise: Literal["laplace", "gaussian", "geometric", "staircase", "uniform-mixture"]
    cells: list[Annotated[int, Field(ge=0)]] = Field(min_length=1)
    scale_indices: list[Annotated[int, Field(ge=0)]]
    people: list[Annotated[int, Field(gt=0)]]
    delta: float = Field(0.0, ge=0, lt=1)
    order: float | None = Field(None, gt=1)
    measured: MeasuredDocument | None = None
    solver: SolverDocument

    def check_groups(self, scales: int, places: list[Any] | None = None) -> bool:
        """Whether the lists belong together, on a grid and with so many scales; ``places`` are bags, if not cells."""
        groups = list(zip(self.cells if places is None else places, self.scale_indices, strict=True))
        return (
            len(groups) == len(self.people)
            and groups == sorted(set(groups))
            and max(self.cells) < math.prod(axis.bins for axis in self.axes)
            and max(self.scale_indices) < scales
            and sum(self.people) <= MOST
            and [self.delta > 0, self.order is not None, self.budget is not None, self.measured is not None].count(True)
            <= 1
            and (self.tier == "end-to-end") == (self.measured is not None)
            and self.settings.guarantee == self.tier
            and (self.delta == 0 or self.draws == 1)
        )


class FixedNoiseDocument(ProfileDocument):
    """One column."""

    axes: list[AxisDocument] = Field(min_length=1, max_length=1)
    scales: list[Annotated[float, Field(gt=0)]] = Field(min_length=1, max_length=MOST_SCALES)
    weight_total: Literal[4294967296]

    @model_validator(mode="after")
    def _fits(self) -> FixedNoiseDocument:
        if not self.check_groups(len(self.scales)) or self.scales != sorted(self.scales):
            raise ValueError("groups")
        return self


class UnitDocument(ProfileDocument):
    """One column, people with several rows: ``bags`` has the cells, and how often, of a person of every group."""

    axes: list[AxisDocument] = Field(min_length=1, max_length=1)
    scales: list[Annotated[float, Field(gt=0)]] = Field(min_length=1, max_length=MOST_SCALES)
    weight_total: Literal[4294967296]
    bags: list[list[Annotated[list[Annotated[int, Field(ge=0, lt=MOST)]], Field(min_length=2, max_length=2)]]]

    @model_validator(mode="after")
    def _fits(self) -> UnitDocument:
        plain = self.tier == "fixed-noise" and self.delta == 0 and self.order is None and self.measured is None
        cells, sizes = [[cell for cell, _ in bag] for bag in self.bags], [sum(m for _, m in bag) for bag in self.bags]
        fit = (
            plain
            and self.settings.unit is not None
            and self.settings.unit_rows == "all"
            and len(self.bags) == len(self.people)
            and sum(n * rows for n, rows in zip(self.people, sizes, strict=True)) <= MOST
            and max(sizes) * self.weight_total <= MOST
            and all(here and here == sorted(set(here)) and here[-1] < self.axes[0].bins for here in cells)
            and all(times > 0 for bag in self.bags for _, times in bag)
            and self.cells == [here[0] for here in cells]
            and self.check_groups(len(self.scales), [tuple(map(tuple, bag)) for bag in self.bags])
            and self.scales == sorted(self.scales)
        )
        if not fit:
            raise ValueError("groups")
        return self


class JointDocument(ProfileDocument):
    """Several columns: ``scales`` has one scale per column for every choice."""

    axes: list[AxisDocument] = Field(min_length=2, max_length=MOST_AXES)
    scales: list[list[Annotated[float, Field(gt=0)]]] = Field(min_length=1, max_length=MOST_SCALES)
    weight_total: int

    @model_validator(mode="after")
    def _fits(self) -> JointDocument:
        columns = len(self.axes)
        plain = self.tier == "fixed-noise" and self.delta == 0 and self.order is None and self.measured is None
        fit = (
            plain
            and self.check_groups(len(self.scales))
            and all(len(choice) == columns for choice in self.scales)
            and len({axis.name for axis in self.axes}) == columns
            and math.prod(axis.bins for axis in self.axes) <= MOST_CELLS
            and self.weight_total == 2 ** (weight_bits(columns) * columns)
        )
        if not fit:
            raise ValueError("groups")
        return self


class RuleDocument(_Strict):
    """The parameters of monotone weights."""

    unit: int = Field(ge=1)
    near: list[Annotated[int, Field(ge=0)]] = Field(min_length=1)
    cap: int = Field(ge=0)
    floors: list[Annotated[int, Field(ge=1)]]
    factor: int = Field(ge=1)


class WeightsDocument(_Strict):
    """How the weights were found."""

    name: Literal["monotone-weights"]


class WorstCaseDocument(Document):
    """All of a mechanism of the worst-case tier."""

    axes: list[AxisDocument] = Field(min_length=1, max_length=1)
    tier: Literal["worst-case"]
    counts: list[Annotated[int, Field(ge=0, lt=MOST)]] = Field(min_length=1)
    rule: RuleDocument
    weights: list[Annotated[int, Field(ge=1)]]
    base: list[Annotated[float, Field(ge=0)]] | None = None
    solver: WeightsDocument

    @model_validator(mode="after")
    def _cells_fit(self) -> WorstCaseDocument:
        axis = Axis(**self.axes[0].model_dump())
        cells = axis.cell_of(axis.high) + 1 - axis.cell_of(axis.low)
        base = self.counts if self.base is None else self.base
        lengths = {len(self.counts), len(self.rule.floors), len(self.weights), len(base)}
        if lengths != {cells} or sum(self.counts) < 1 or not self.settings.public_bounds:
            raise ValueError("cells")
        return self


def digest_of(document: str, weights: bytes) -> str:
    """What the ledger and a reader recognize a mechanism by."""
    return hashlib.sha256(document.encode() + b"\0" + weights).hexdigest()


def _tier(document: Any) -> str:
    if not isinstance(document, dict):
        return "fixed-noise"
    if document.get("tier") == "worst-case":
        return "worst-case"
    axes = document.get("axes")
    if "bags" in document:
        return "units"
    return "joint" if isinstance(axes, list) and len(axes) > 1 else "fixed-noise"


AnyDocument = FixedNoiseDocument | UnitDocument | JointDocument | WorstCaseDocument

_DOCUMENT: TypeAdapter[AnyDocument] = TypeAdapter(
    Annotated[
        Annotated[FixedNoiseDocument, Tag("fixed-noise")]
        | Annotated[UnitDocument, Tag("units")]
        | Annotated[JointDocument, Tag("joint")]
        | Annotated[WorstCaseDocument, Tag("worst-case")],
        Discriminator(_tier),
    ]
)


def write(path: Path, document: str, weights: Ints, releases: tuple[ledger.Release, ...], *, force: bool) -> None:
    """Write a new saved file, whole or not at all, readable by its owner alone."""
    _settle_journal(path, force=force)
    blob = _pack(weights)
    digest = digest_of(document, blob)
    database = sqlite3.connect(":memory:", isolation_level=None)
    try:
        database.executescript(
            f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {FORMAT};"
            "CREATE TABLE mechanism (key TEXT PRIMARY KEY, value BLOB NOT NULL);" + ledger.SCHEMA
        )
        database.executemany(
            "INSERT INTO mechanism VALUES (?, ?)",
            [("document", document), ("weights", zlib.compress(blob, 9)), ("digest", digest)],
        )
        ledger.insert(database, digest, releases)
        content = database.serialize()
    finally:
        database.close()
    write_whole(path, [content], mode=0o600, force=force)


def read(path: Path) -> tuple[AnyDocument, Ints, str]:
    """The document, the weights and the digest of a saved file, checked as far as can be without maths."""
    with ledger.connect(path) as database:
        if database.execute("PRAGMA application_id").fetchone() != (APPLICATION_ID,):
            raise BadInput(f"The file {str(path)!r} was not saved by Equinoise.")
        (version,) = database.execute("PRAGMA user_version").fetchone()
        if FORMAT < version < 1000:
            raise BadInput(
                f"The file {str(path)!r} has format {version}; this version of Equinoise reads format {FORMAT}. "
                "Upgrade Equinoise."
            )
        if version != FORMAT:
            raise BadInput(f"The file {str(path)!r} is damaged: it has no format.")
        stored = dict(database.execute("SELECT key, value FROM mechanism").fetchall())
        try:
            text, digest = str(stored["document"]), str(stored["digest"])
            blob = zlib.decompress(stored["weights"])
        except (KeyError, TypeError, zlib.error):
            raise BadInput(f"The file {str(path)!r} is damaged: parts of the mechanism are missing.") from None
        if digest_of(text, blob) != digest:
            raise BadInput(f"The file {str(path)!r} is damaged or has been changed: its digest does not match.")
        try:
            document = _DOCUMENT.validate_json(text)
        except ValidationError as error:
            where = ".".join(str(part) for part in error.errors()[0]["loc"]) or "document"
            raise BadInput(f"The file {str(path)!r} is damaged: {where} is not as it should be.") from None
        groups = len(document.people) if isinstance(document, ProfileDocument) else 0
        bins = sum(axis.bins for axis in document.axes)
        if len(blob) != 8 * groups * bins:
            raise BadInput(f"The file {str(path)!r} is damaged: its weights are not as they should be.")
        if sum(release.draws for release in ledger.read(database, digest)) > document.draws:
            raise BadInput(f"The file {str(path)!r} has been changed: more was released than it allows.")
        return document, np.frombuffer(blob, dtype="<i8").reshape(groups, bins), digest


def _settle_journal(path: Path, *, force: bool) -> None:
    """A journal that an interrupted release left behind would be played into a new file of the same name."""
    left_over = [p for p in (path.with_name(path.name + end) for end in ("-journal", "-wal", "-shm")) if p.exists()]
    if left_over and not force:
        raise BadInput(
            f"The file {str(left_over[0])!r} is left over from an interrupted release of another mechanism. "
            "Name another file, or replace it with --force (in Python, force=True)."
        )
    if left_over and path.exists():
        with suppress(BadInput), ledger.connect(path, to_write=True):
            pass  # opening it finishes or undoes the interrupted release
    for journal in left_over:
        journal.unlink(missing_ok=True)


def pack_digest(document: str, weights: Ints) -> str:
    """The digest that a mechanism will have once saved."""
    return digest_of(document, _pack(weights))


def _pack(weights: Ints) -> bytes:
    return weights.astype("<i8").tobytes()
