"""The look of every figure, in one place: colours that all eyes tell apart, on light and on dark ground."""

from __future__ import annotations

from typing import Any, NamedTuple

ORIGINAL, RELEASED, LAPLACE = "original", "released", "Laplace mechanism"

COLOURS = {ORIGINAL: "#8c8c8c", RELEASED: "#0a7cc1", LAPLACE: "#d55e00"}
"""Blue, vermilion and grey, which people with any colour vision tell apart. Each has a contrast of at least 3 to 1 both
on white and on the dark ground, so that a figure need not be drawn twice; lines differ by dashes, too."""


class Look(NamedTuple):
    """What a method is called in legends, its colour, and the shape of its points."""

    name: str
    colour: str
    shape: str


METHODS = {
    "best-response": Look("best response (game)", COLOURS[RELEASED], "circle"),
    "optimal": Look("optimal (game)", "#8060d8", "circle"),
    "genetic": Look("genetic (game)", "#1397a8", "circle"),
    "laplace": Look("Laplace", COLOURS[LAPLACE], "square"),
    "bounded-laplace": Look("bounded Laplace", "#b08300", "square"),
    "staircase": Look("staircase", "#a85a32", "square"),
    "additive-smoothing": Look("additive smoothing", "#c76a9f", "triangle-up"),
    "bounded-smoothing": Look("bounded smoothing", "#a8478f", "triangle-up"),
    "envelope": Look("envelope", "#6b8a1e", "triangle-up"),
    "dp-histogram": Look("DP histogram (OpenDP)", "#009871", "diamond"),
    "pay-once": Look("noisy counts, estimated", "#2f6fd0", "diamond"),
    "aim": Look("AIM (OpenDP)", "#c4513f", "diamond"),
    "mst": Look("MST (OpenDP)", "#8a7a1f", "diamond"),
}
"""Methods that are compared. The shape tells the promise, so that a colour need only differ within a shape."""

HEAT = "viridis"
"""For maps: even to the eye, and in grey as well."""

LIGHT = {"ground": "#ffffff", "ink": "#1b1f24", "faint": "#57606a", "grid": "#e3e6ea"}
DARK = {"ground": "#14171c", "ink": "#e8ebef", "faint": "#a5adb8", "grid": "#30363d"}
PAGE = {name: f"var(--{name})" for name in LIGHT}
"""On a page that draws SVG, the style sheet decides, also when it is printed."""

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"

WIDTH, HEIGHT = 620, 300
"""Of one chart, in pixels."""

ABOVE = {"orient": "top", "columnPadding": 16, "labelLimit": 0}
"""Where legends are, also in notebooks: beside a chart they are cut off where letters are wider than was measured."""


def config(look: dict[str, str]) -> dict[str, Any]:
    """Vega-Lite's configuration for LIGHT, DARK or PAGE."""
    title = {"color": look["ink"], "subtitleColor": look["faint"], "subtitleFontSize": 12, "anchor": "start"}
    narrow = {"columns": {"expr": "width < 400 ? 1 : 0"}} if look is PAGE else {}  # on a phone, one below the other
    wide = {"expr": "width"} if look is PAGE else WIDTH  # a column's name may be longer than a phone is wide
    return {
        "background": look["ground"] if look is not PAGE else "transparent",
        "font": FONT,
        "view": {"stroke": None},
        "title": title,
        "header": {"labelColor": look["ink"], "labelFontSize": 12, "labelFontWeight": "bold"},
        "axis": {
            "labelColor": look["ink"],
            "titleColor": look["ink"],
            "titleFontWeight": "normal",
            "domainColor": look["faint"],
            "tickColor": look["faint"],
            "gridColor": look["grid"],
            "labelFontSize": 11,
            "titleFontSize": 12,
        },
        "axisX": {"titleLimit": wide, "labelOverlap": "greedy", "labelSeparation": 8},
        "axisY": {"titleLimit": HEIGHT},
        "legend": {"labelColor": look["ink"], "titleColor": look["ink"], "orient": "top", "labelFontSize": 12,
                   "labelLimit": 0, "titleFontWeight": "normal", "symbolStrokeWidth": 2.5, **narrow},
        "rule": {"color": look["ink"]},
        "text": {"color": look["ink"]},
    }  # fmt: skip


def recolour_rules(looks: dict[str, str], prefix: str = "") -> str:
    """Style rules that give a picture that was drawn in LIGHT other colours, ``looks``, wherever it is shown."""
    return "".join(
        f'{prefix}[{part}="{light}"]{{{part}:{looks[name]}}}'
        for name, light in LIGHT.items()
        for part in ("fill", "stroke")
    )
