"""Writing the page, or one of its figures, to a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from equinoise.analysis.audit import Audit
from equinoise.atomic_write import check_writable, write_whole
from equinoise.errors import BadInput, PromiseNotMet
from equinoise.formatting import one_of
from equinoise.mechanisms.base import Mechanism
from equinoise.present.charts import check_picture, write_picture
from equinoise.present.figures import FIGURES, make_figure
from equinoise.present.figures.cost import promised_cost
from equinoise.present.report.omissions import omissions
from equinoise.present.report.pages import private_page, public_page

PUBLIC_FIGURES = ("cost",)

Tell = Callable[[str], None]
"""Hears what is being worked out."""


@dataclass(frozen=True)
class Report:
    """What was written."""

    path: Path
    public: bool
    figures: tuple[str, ...]
    left_out: tuple[str, ...]
    promise: str

    def to_json(self) -> dict[str, Any]:
        """What was written, as JSON has it."""
        fields = asdict(self)
        return {"file": str(fields.pop("path")), **fields}


def check_report(path: Path, figure: str | None, *, public: bool) -> None:
    """Refuse what cannot be written, before any work."""
    suffix = path.suffix.lower()
    if figure is None and suffix != ".html":
        why = "for a picture, name it with --figure" if suffix in {".png", ".svg"} else "the report is one HTML page"
        raise BadInput(f"{str(path)!r} must end in .html: {why}.")
    if figure is not None:
        if figure not in FIGURES:
            raise BadInput(f"There is no figure {figure!r}. Ask for {one_of(FIGURES)}.")
        check_picture(path, (".png", ".svg"))
        if public and figure not in PUBLIC_FIGURES:
            raise BadInput(
                f"The figure {figure!r} is worked out from the data, so it cannot be public. Ask for "
                f"{one_of(PUBLIC_FIGURES)}, or leave out "
                "--public."
            )


def write_report(
    mechanism: Mechanism,
    path: str | Path,
    *,
    public: bool = False,
    force: bool = False,
    now: datetime | None = None,
    tell: Tell = lambda note: None,
) -> Report:
    """The page of a mechanism, which is checked once more: private and for its owner alone, or public."""
    path = Path(path)
    check_report(path, None, public=public)
    check_writable(path, mechanism.ledger.path, force=force)
    fresh, now = require_audit(mechanism, tell), now or datetime.now(UTC)
    page = public_page(fresh, now) if public else private_page(fresh, now, tell)
    write_whole(path, [page.html().encode()], mode=0o644 if public else 0o600, force=force)
    return _report(fresh, path, public, tuple(figure.name for figure in page.figures))


def write_figure(
    mechanism: Mechanism,
    name: str,
    path: str | Path,
    *,
    public: bool = False,
    force: bool = False,
    tell: Tell = lambda note: None,
) -> Report:
    """One figure as a picture."""
    path = Path(path)
    check_report(path, name, public=public)
    check_writable(path, mechanism.ledger.path, force=force)
    fresh = require_audit(mechanism, tell)
    figure = promised_cost(fresh) if public else make_figure(name, fresh, tell)
    write_picture(figure, path, force=force)
    return _report(fresh, path, public, (name,))


def _report(mechanism: Mechanism, path: Path, public: bool, figures: tuple[str, ...]) -> Report:
    promise = str(mechanism.promise.public() if public else mechanism.promise)
    return Report(path, public, figures, tuple(omissions(mechanism)) if public else (), promise)


def require_audit(mechanism: Mechanism, tell: Tell) -> Mechanism:
    """The mechanism, if all that an audit looks at is as it should be; it cannot change, so its certificate stays."""
    tell("Checking the certificate")
    releases = mechanism.ledger.releases
    found = Audit(mechanism, mechanism.certificate(), releases, mechanism.weights_as_named, None)
    if not found.passed:
        raise PromiseNotMet(
            "The mechanism does not pass its audit, so there is nothing to report. 'equinoise audit' says why."
        )
    return mechanism
