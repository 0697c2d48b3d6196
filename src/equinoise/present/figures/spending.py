"""What the mechanisms in a book cost together, one after the other, against its limit."""

from __future__ import annotations

from typing import Any

from equinoise.formatting import at_most, format_number
from equinoise.mechanisms.book import Book
from equinoise.mechanisms.book_events import spending_after_each
from equinoise.present.book_words import book_verdict
from equinoise.present.figures import theme
from equinoise.present.figures.encodings import Legend, altair, chart_of, level, tip
from equinoise.present.figures.figure import Figure
from equinoise.privacy.book_cost import ADDING_UP, ZCDP

MOST_POINTS = 400
"""Of a line; in between mechanisms are left out."""

ROOM = 1.25
"""Of the limit: how high the chart is. Of the two ways one may be far above the limit."""

LOOKS = {
    ADDING_UP: (theme.COLOURS[theme.RELEASED], "circle"),
    ZCDP: (theme.COLOURS[theme.LAPLACE], "diamond"),
}


def spending_figure(book: Book) -> Figure:
    """Epsilon of all mechanisms that count, after each of them, by every way of adding their costs; the limit is
    dashed. Nothing in it comes from data: not even which charges were given back."""
    limit, steps = book.limit, list(spending_after_each(book.entries))
    stride = -(-len(steps) // MOST_POINTS) or 1
    kept = [number for number in range(1, len(steps) + 1) if number % stride == 0 or number == len(steps)]
    points, rows = (
        [{"mechanisms": 0, "way": way, "epsilon": 0.0} for way in LOOKS if way == ADDING_UP or limit.delta],
        [],
    )
    for number in kept:
        entry, spending = steps[number - 1]
        spent = {total.how: total.epsilon for total in spending.totals(limit.delta)}
        points += [{"mechanisms": number, "way": way, "epsilon": epsilon} for way, epsilon in spent.items()]
        rows.append((number, entry.charge.at, *(at_most(spent[way]) if way in spent else "" for way in LOOKS)))
    delta = f" and delta {at_most(limit.delta)}" if limit.delta else ""
    caption = (
        f"The dashed line is the limit, epsilon {format_number(limit.epsilon)}{delta}; of the ways in which costs are "
        "put together, one has to stay below it."
    )
    return Figure(
        "spending", "What all mechanisms in a book cost together", caption, book_verdict(book),
        (_chart(points, limit.epsilon),), ("mechanisms", "when", *LOOKS), rows, public=True,
    )  # fmt: skip


def _chart(points: list[dict[str, Any]], limit: float) -> Any:
    alt = altair()
    there, last = {point["way"] for point in points}, max(point["mechanisms"] for point in points)
    legend = Legend("way", {way: look for way, look in LOOKS.items() if way in there})
    base = chart_of(points).encode(
        x=alt.X("mechanisms:Q", title="mechanisms")
        .scale(domain=[0, last + 0.5], nice=False)
        .axis(grid=False, tickMinStep=1, format=","),
        y=alt.Y("epsilon:Q", title="epsilon together").scale(domain=[0, ROOM * limit], nice=False),
        **legend.colour,
        tooltip=["way:N", tip("mechanisms", form=","), tip("epsilon")],
    )
    lines = base.mark_line(interpolate="step-after", strokeWidth=2, clip=True).add_params(legend.choice)
    marks = base.mark_point(filled=True, size=40, clip=True).encode(**legend.shape)
    return alt.layer(lines, marks, level(limit)).properties(height=theme.HEIGHT)
