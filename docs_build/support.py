"""What goes with what, as a table: asked of the code that refuses.

python -m docs_build.support > docs/support.md
"""

from __future__ import annotations

from equinoise.choices import SOLVERS
from equinoise.solvers.procedure import supports
from equinoise.solvers.solution import Request

HEAD = """# What goes with what

For whoever wants to know before trying. Every kind of data (one column or several, one row a person or several with
`--unit`) is one game, so every solver, utility and condition takes all of them; what is left out has a reason. Refusals
come before the data is read and depend on settings alone. This page is written by `python -m docs_build.support >
docs/support.md`, which asks the code, and a test compares them.
"""

ASKED = {
    "one column": Request(),
    "several columns": Request(columns=2),
    "several rows a person (`--unit`)": Request(several_rows=True),
    "several columns and several rows": Request(columns=2, several_rows=True),
    "`--delta` for one draw": Request(condition="delta"),
    "`--order`": Request(condition="renyi"),
    "`--draws` within a budget (`--delta`)": Request(budget=True),
    "`--utility js`": Request(utility="js"),
    "`--utility tv`": Request(utility="tv"),
    "`--utility wasserstein`": Request(utility="wasserstein"),
    "`--utility moments:N`": Request(utility="moments"),
    "`--scales adaptive`": Request(adaptive=True),
    "`--scale-per-column`": Request(columns=2, scale_per_column=True),
    "`--scale-per-column --scales adaptive`": Request(columns=2, scale_per_column=True, adaptive=True),
    "a start of one's own (`start=`)": Request(own_start=True),
    "a start of one's own with adaptive scales": Request(own_start=True, adaptive=True),
}

TAIL = """
`synthesize` has no game: it takes any schema, and of several rows of a person at most `--rows-per-person`. `compare`
takes one row a person, or `--unit-rows one`, as what the game is compared with is for one row a person. `explore` takes
what both verbs take, and plays with best response. Two more refusals are for size: the genetic solver keeps a gene for
each person and takes at most 100,000, and the optimal solver looks at types x scales x cells, at most 2^25 in all.
Where that solver does not close its gap in time, it says how large it is.
"""


def page() -> str:
    """The whole page."""
    reasons: list[str] = []
    lines = [
        HEAD,
        f"| asked for | {' | '.join(f'`{solver}`' for solver in SOLVERS)} |",
        f"| --- |{' --- |' * len(SOLVERS)}",
    ]
    for name, request in ASKED.items():
        cells = []
        for solver in SOLVERS:
            reason = supports(solver, request)
            if reason is not None and reason not in reasons:
                reasons.append(reason)
            cells.append("yes" if reason is None else f"no ({reasons.index(reason) + 1})")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    lines += ["", *(f"{number}. {reason}" for number, reason in enumerate(reasons, 1))]
    return "\n".join(lines) + "\n" + TAIL


if __name__ == "__main__":
    print(page(), end="")
