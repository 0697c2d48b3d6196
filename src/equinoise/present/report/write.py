"""Writing the page, or one of its figures, to a file."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from equinoise.analysis.audit import Audit
from equinoise.atomic_write import check_writable, write_whole
from equinoise.errors import BadInput, PromiseNotMet
from equinoise.formatting import join_or
from equinoise.mechanisms.base import Mechanism
from equinoise.present.charts import check_picture, write_picture
from equinoise.present.figures import FIGURES, make_figure
from equinoise.present.figures.cost import promised_cost
from equinoise.present.report.pages import omissions, private_page, public_page

PUBLIC_FIGURES = ("cost",)

Tell = Callable[[str], None]
"""Hears what is being worked out."""


def check_report(path: Path, figure: str | None, *, public: bool) -> None:
    """Refuse what cannot be written, before any work."""
    suffix = path.suffix.lower()
    if figure is None and suffix != ".html":
        why = "for a picture, name it with --figure" if suffix in {".png", ".svg"} else "the report is one HTML page"
        raise BadInput(f"{str(path)!r} must end in .html: {why}.")
    if figure is not None:
        if figure not in FIGURES:
            raise BadInput(f"There is no figure {figure!r}. Ask for {join_or(FIGURES)}.")
        check_picture(path, (".png", ".svg"))
        if public and figure not in PUBLIC_FIGURES:
            raise BadInput(
                f"The figure {figure!r} is worked out from the data, so it cannot be public. Ask for "
                f"{join_or(PUBLIC_FIGURES)}, or leave out --public."
            )


def write_report(
    mechanism: Mechanism,
    path: str | Path,
    *,
    figure: str | None = None,
    public: bool = False,
    force: bool = False,
    rows: Any = None,
    now: datetime | None = None,
    tell: Tell = lambda note: None,
) -> dict[str, Any]:
    """The page of a mechanism, which is checked once more, or one ``figure``: for its owner alone, with ``rows`` that
    were drawn if there are any, or public.

    Returns what was written, as JSON has it."""
    path = Path(path)
    check_report(path, figure, public=public)
    check_writable(path, mechanism.ledger.path, force=force)
    check_audit(mechanism, tell)
    if figure is None:
        now = now or datetime.now(UTC)
        page = public_page(mechanism, now) if public else private_page(mechanism, now, tell, rows)
        figures = page.figures
        write_whole(path, [page.html().encode()], mode=0o644 if public else 0o600, force=force)
    else:
        figures = [promised_cost(mechanism) if public else make_figure(figure, mechanism, tell)]
        write_picture(figures[0], path, force=force)
    return {
        "file": str(path),
        "public": public,
        "figures": [each.name for each in figures],
        "left_out": omissions(mechanism) if public else [],
        "promise": str(mechanism.promise.public() if public else mechanism.promise),
    }


def check_audit(mechanism: Mechanism, tell: Tell) -> None:
    """Refuse a mechanism unless all that an audit looks at is as it should be."""
    tell("Checking the certificate")
    releases = mechanism.ledger.releases
    audit = Audit(mechanism, mechanism.certificate(), releases, mechanism.weights_as_named, None)
    if not audit.passed:
        raise PromiseNotMet(
            "The mechanism does not pass its audit, so there is nothing to report. 'equinoise audit' says why."
        )
