"""Pictures of one mechanism, of a comparison and of an audit, each with its words and the table behind it.

One file a figure. The report, notebooks and the local page share them. Importing this package is cheap: Altair loads
with the first figure.
"""

from equinoise.present.figures.figure import Figure
from equinoise.present.figures.make import FIGURES, make_figure

__all__ = ["FIGURES", "Figure", "make_figure"]
