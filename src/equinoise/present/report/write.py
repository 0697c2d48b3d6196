"""Writing the page, or one of its figures, to a file."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from equinoise.analysis.audit import Audit
from equinoise.atomic_write import check_writable, write_whole
from equinoise.errors import BadInput, PromiseNotMet
from equinoise.formatting import one_of
from equinoise.mechanisms.base import Mechanism
from equinoise.present.figures import FIGURES, make_figure
from equinoise.present.figures.again import Tell
from equinoise.present.figures.cost import promised_cost
from equinoise.present.report.content import private_page, public_page
from equinoise.present.report.left_out import left_out

PUBLIC_FIGURES = ("cost",)


@dataclass(frozen=True)
class Report:
    """What was written."""

    path: Path
    public: bool
    figures: tuple[str, ...]
    left_out: tuple[str, ...]
    promise: str

    def to_json(self) -> dict[str, Any]:
        """What was written, as JSON shows it."""
        return {
            "file": str(self.path),
            "public": self.public,
            "figures": list(self.figures),
            "left_out": list(self.left_out),
            "promise": self.promise,
        }


def check_report(path: Path, figure: str | None, *, public: bool) -> None:
    """Refuse what cannot be written, before any work."""
    suffix = path.suffix.lower()
    if figure is None and suffix != ".html":
        why = "for a picture, name it with --figure" if suffix in {".png", ".svg"} else "the report is one HTML page"
        raise BadInput(f"{str(path)!r} must end in .html: {why}.")
    if figure is not None:
        if figure not in FIGURES:
            raise BadInput(f"There is no figure {figure!r}. Ask for {one_of(FIGURES)}.")
        if suffix not in {".png", ".svg"}:
            raise BadInput(f"{str(path)!r} must end in .png or .svg, so that it is clear what to draw.")
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
    fresh, now = checked(mechanism, tell), now or datetime.now(UTC)
    page = public_page(fresh, now) if public else private_page(fresh, now, tell)
    write_whole(path, [page.html().encode()], mode=0o644 if public else 0o600, force=force)
    drawn = tuple(section.name for section in page.sections if section.figure is not None)
    return _told(fresh, path, public, drawn)


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
    fresh = checked(mechanism, tell)
    figure = promised_cost(fresh) if public else make_figure(name, fresh, tell)
    if isinstance(figure, str):
        raise BadInput(f"There is no figure {name!r} here. {figure}")
    write_whole(path, [figure.picture(path.suffix.lower())], mode=0o644 if public else 0o600, force=force)
    return _told(fresh, path, public, (name,))


def _told(mechanism: Mechanism, path: Path, public: bool, figures: tuple[str, ...]) -> Report:
    promise = str(mechanism.promise.public() if public else mechanism.promise)
    return Report(path, public, figures, tuple(left_out(mechanism)) if public else (), promise)


def checked(mechanism: Mechanism, tell: Tell) -> Mechanism:
    """The mechanism, if all that an audit looks at is as it should be. It cannot change, so its certificate is kept."""
    tell("Checking the certificate")
    releases = mechanism.ledger.releases
    found = Audit(mechanism, mechanism.certificate(), releases, mechanism.weights_as_named, None)
    if not found.passed:
        raise PromiseNotMet(
            "The mechanism does not pass its audit, so there is nothing to report. 'equinoise audit' says why."
        )
    return mechanism
