"""Figures as files: PNG, SVG or a page that needs no network, by the file's ending."""

from __future__ import annotations

from pathlib import Path

from equinoise.analysis.audit import Audit
from equinoise.analysis.compare import Comparison
from equinoise.atomic_write import write_whole
from equinoise.errors import BadInput
from equinoise.mechanisms.base import Mechanism
from equinoise.present.figures.comparison import comparison_figure
from equinoise.present.figures.cost import cost
from equinoise.present.figures.end_to_end import end_to_end_figure
from equinoise.present.figures.figure import Figure
from equinoise.present.page import figure_page


def check_picture(path: Path, endings: tuple[str, ...] = (".png", ".svg", ".html")) -> None:
    """Refuse a name whose ending does not say which kind of picture it is."""
    if path.suffix.lower() not in endings:
        *most, last = endings
        raise BadInput(f"{str(path)!r} must end in {', '.join(most)} or {last}, so that it is clear what to draw.")


def write_picture(figure: Figure, path: str | Path, *, force: bool = False) -> None:
    """Save a figure to a file; unless it is public, only its owner can read it."""
    path = Path(path)
    check_picture(path)
    suffix = path.suffix.lower()
    if suffix == ".png":
        content = figure.png()
    else:
        content = (figure.svg() if suffix == ".svg" else figure_page(figure).html()).encode()
    write_whole(path, [content], mode=0o644 if figure.public else 0o600, force=force)


def plot_comparison(comparison: Comparison, path: str | Path, *, force: bool = False) -> None:
    """Save the picture of a comparison: KL against epsilon, method by method."""
    write_picture(comparison_figure(comparison), path, force=force)


def plot_end_to_end(audit: Audit, path: str | Path, *, force: bool = False) -> None:
    """Save the picture of an end-to-end audit: the loss of a person of each bin."""
    write_picture(end_to_end_figure(audit), path, force=force)


def plot_costs(mechanism: Mechanism, costs: list[dict[str, float]], path: str | Path, *, force: bool = False) -> None:
    """Save the picture of what draws cost together."""
    write_picture(cost(mechanism, costs=costs), path, force=force)
