"""Private rows of tables about people, certified: with differential privacy, or with noise chosen by a game.

Two calls make a mechanism: :func:`optimize` plays the game, :func:`synthesize` is differential privacy without one.
Everything else supports them. Names load on first use, so that importing the package (and the command line's
``--help``) costs nothing.
"""

TYPE_CHECKING = False  # as in typing, which would take its time: Ctrl-C before the command line begins is Python's
if TYPE_CHECKING:
    from typing import Any

    from equinoise.analysis.answers.answer import Answer as Answer
    from equinoise.analysis.answers.ask import Answers as Answers
    from equinoise.analysis.audit import Audit as Audit
    from equinoise.analysis.audit import audit as audit
    from equinoise.analysis.compare import Comparison as Comparison
    from equinoise.analysis.compare import compare as compare
    from equinoise.analysis.release import Release as Release
    from equinoise.analysis.row_losses import write_losses as write_losses
    from equinoise.data.axis import Axis as Axis
    from equinoise.data.category_axis import CategoryAxis as CategoryAxis
    from equinoise.data.grid import Grid as Grid
    from equinoise.data.grid import Histogram as Histogram
    from equinoise.data.schema import Column as Column
    from equinoise.data.schema import Schema as Schema
    from equinoise.errors import BadInput as BadInput
    from equinoise.errors import BudgetSpent as BudgetSpent
    from equinoise.errors import EquinoiseError as EquinoiseError
    from equinoise.errors import EquinoiseWarning as EquinoiseWarning
    from equinoise.errors import NotPublicWarning as NotPublicWarning
    from equinoise.errors import PromiseNotMet as PromiseNotMet
    from equinoise.errors import SeveralRowsWarning as SeveralRowsWarning
    from equinoise.errors import WeakPromiseWarning as WeakPromiseWarning
    from equinoise.game.game import Game as Game
    from equinoise.mechanisms.base import Mechanism as Mechanism
    from equinoise.mechanisms.book import Book as Book
    from equinoise.mechanisms.per_instance import PerInstance as PerInstance
    from equinoise.mechanisms.private_table import PrivateTable as PrivateTable
    from equinoise.privacy.certificate import Certificate as Certificate
    from equinoise.privacy.certificate import certify as certify
    from equinoise.privacy.promise import Promise as Promise
    from equinoise.solvers.best_response import best_response as best_response
    from equinoise.solvers.solution import Solution as Solution
    from equinoise.synthesis.plan import Plan as Plan
    from equinoise.verbs.optimize import optimize as optimize
    from equinoise.verbs.plan import plan as plan
    from equinoise.verbs.private_bounds import private_bounds as private_bounds
    from equinoise.verbs.synthesize import synthesize as synthesize

__version__ = "0.1.0"

_HOMES = {
    "Answer": "analysis.answers.answer",
    "Answers": "analysis.answers.ask",
    "Audit": "analysis.audit",
    "Axis": "data.axis",
    "BadInput": "errors",
    "Book": "mechanisms.book",
    "BudgetSpent": "errors",
    "CategoryAxis": "data.category_axis",
    "Certificate": "privacy.certificate",
    "Column": "data.schema",
    "Comparison": "analysis.compare",
    "EquinoiseError": "errors",
    "EquinoiseWarning": "errors",
    "PerInstance": "mechanisms.per_instance",
    "Plan": "synthesis.plan",
    "Game": "game.game",
    "Grid": "data.grid",
    "Histogram": "data.grid",
    "Mechanism": "mechanisms.base",
    "NotPublicWarning": "errors",
    "Promise": "privacy.promise",
    "PromiseNotMet": "errors",
    "Release": "analysis.release",
    "Schema": "data.schema",
    "SeveralRowsWarning": "errors",
    "Solution": "solvers.solution",
    "WeakPromiseWarning": "errors",
    "PrivateTable": "mechanisms.private_table",
    "audit": "analysis.audit",
    "best_response": "solvers.best_response",
    "certify": "privacy.certificate",
    "compare": "analysis.compare",
    "optimize": "verbs.optimize",
    "plan": "verbs.plan",
    "private_bounds": "verbs.private_bounds",
    "synthesize": "verbs.synthesize",
    "write_losses": "analysis.row_losses",
}

__all__ = [
    "Answer", "Answers", "Audit", "Axis", "BadInput", "Book", "BudgetSpent", "CategoryAxis", "Certificate", "Column",
    "Comparison", "EquinoiseError", "EquinoiseWarning", "Game", "Grid", "Histogram", "Mechanism", "NotPublicWarning",
    "PerInstance", "Plan", "PrivateTable", "Promise", "PromiseNotMet", "Release", "Schema", "SeveralRowsWarning",
    "Solution", "WeakPromiseWarning", "audit", "best_response", "certify", "compare", "optimize", "plan",
    "private_bounds",    "synthesize", "write_losses",
]  # fmt: skip


def __getattr__(name: str) -> "Any":
    if name in _HOMES:
        from importlib import import_module

        if _HOMES[name] != "errors":
            import_module("equinoise.present.notebook")  # what mechanisms and solutions show of themselves
        return getattr(import_module(f"equinoise.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'equinoise' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, *(name for name in globals() if name.startswith("__"))]
