"""What notebooks show of an object: views that the edge of the package adds, so that the core imports nothing of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

VIEWS: dict[str, Callable[..., Any]] = {}
"""Filled by :mod:`equinoise.present.notebook`, which the package loads with its first public name."""


class NotebookDisplay:
    """What can be looked at. Figures show themselves without a network; ``.chart`` is the Altair chart, ``.save(path)``
    a file. Each is worked out from the data and as secret as the data."""

    def _repr_html_(self) -> str:
        return str(VIEWS["html"](self))

    def __repr__(self) -> str:
        """One line, where there is no HTML: all of it would be a page of numbers."""
        return f"<{VIEWS['line'](self)}>" if VIEWS else object.__repr__(self)

    def plot_distribution(self) -> Any:
        """Original and released distribution, with the Laplace mechanism's."""
        return VIEWS["plot"](self, "distribution")

    def plot_noise(self) -> Any:
        """Average noise of the people in each bin."""
        return VIEWS["plot"](self, "noise")

    def plot_losses(self) -> Any:
        """The worst and the average loss of one draw of the people in each bin."""
        return VIEWS["plot"](self, "losses")

    def plot_cost(self) -> Any:
        """What draws cost together, as there are more of them."""
        return VIEWS["plot"](self, "cost")
