"""Rows about how close a draw is to the data, beside one draw of other methods: for pages and the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from equinoise.formatting import at_most, printable, three_digits
from equinoise.mechanisms.base import Mechanism
from equinoise.present.wording import METRIC_NAMES, draws_in_words

DISTANCE_HEADER = ("this mechanism", "smoothed counts", "Laplace mechanism")

OTHER_METHODS = (
    "Smoothed counts: one draw with differential privacy. Laplace mechanism: noise on every value, as in the paper."
)


def distance_title(mechanism: Mechanism) -> str:
    """At which epsilon the distances are held against each other."""
    budget = mechanism.budget
    of_all = "" if budget is None else (
        f" a draw ({at_most(budget.epsilon)} for all {draws_in_words(mechanism.draws)}, {mechanism.promise.qualifier})"
    )  # fmt: skip
    return f"Distance from the original, at epsilon {at_most(mechanism.epsilon)}{of_all}"


def distance_rows(mechanism: Mechanism) -> Iterator[tuple[str, str, str, str]]:
    """The name of each distance, and its value for every method of the header, as text."""
    methods = [mechanism.metrics(), mechanism.smoothing(), mechanism.baseline()]
    for key, name in METRIC_NAMES.items():
        if all(method.get(key) is not None for method in methods):
            a, b, c = (three_digits(method[key]) for method in methods)
            yield name, a, b, c
    for column, own in methods[0].get("columns", {}).items():
        for key in ("kl", "tv", "wasserstein"):
            if key in own:
                a, b, c = (three_digits(method["columns"][column][key]) for method in methods)
                yield f"{METRIC_NAMES[key]}, {printable(column)} alone", a, b, c
