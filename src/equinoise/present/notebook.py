"""How mechanisms and solutions show themselves in notebooks: a short table, and pictures on request."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from equinoise.errors import BadInput

if TYPE_CHECKING:
    from equinoise.mechanisms.base import Mechanism


class Shown(ABC):
    """What can be looked at. Pictures are Altair charts; each is worked out from the data and as secret as the data."""

    @abstractmethod
    def _shown_mechanism(self) -> Mechanism:
        """What the pictures are of."""

    def _repr_html_(self) -> str:
        from equinoise.present.figures.summary import summary_html

        return summary_html(self)  # type: ignore[arg-type]

    def __repr__(self) -> str:
        """One line, where there is no HTML: all of it would be a page of numbers."""
        from equinoise.present.figures.summary import in_short

        return f"<{in_short(self)}>"  # type: ignore[arg-type]

    def plot_distribution(self) -> Any:
        """Original and released distribution, with the Laplace mechanism's."""
        return self._plot("distribution")

    def plot_noise(self) -> Any:
        """Average noise of the people in each bin."""
        return self._plot("noise")

    def plot_losses(self) -> Any:
        """The worst and the average loss of one draw of the people in each bin."""
        return self._plot("losses")

    def plot_cost(self) -> Any:
        """What draws cost together, as there are more of them."""
        return self._plot("cost")

    def _plot(self, name: str) -> Any:
        from equinoise.present.figures import make_figure

        made = make_figure(name, self._shown_mechanism())
        if isinstance(made, str):
            raise BadInput(made)
        return made.chart
