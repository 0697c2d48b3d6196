"""The public interface: exactly the names of ``__all__``, and the docs use no others."""

import ast
import json
import pickle
import re
import subprocess
import sys
from pathlib import Path

import pytest

import equinoise

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_all_is_the_public_interface():
    code = "import equinoise; print([name for name in dir(equinoise) if not name.startswith('_')])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert ast.literal_eval(shown) == sorted(equinoise.__all__)
    assert set(equinoise.__all__) == {
        "Answer", "Answers", "Audit", "Axis", "BadInput", "Book", "BudgetSpent", "CategoryAxis", "Certificate",
        "Column", "Comparison",
        "EquinoiseError", "EquinoiseWarning", "Game", "Grid", "Histogram", "Mechanism", "NotPublicWarning",
        "PerInstance", "Plan", "PrivateTable", "Promise", "Release",
        "PromiseNotMet", "Schema", "SeveralRowsWarning", "Solution", "WeakPromiseWarning", "audit", "best_response",
        "certify", "compare", "optimize", "plan", "private_bounds", "synthesize", "write_losses",
    }  # fmt: skip
    for name in equinoise.__all__:
        assert getattr(equinoise, name).__name__ == name
        assert getattr(equinoise, name).__module__.startswith("equinoise.")
        assert getattr(equinoise, name).__doc__
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        equinoise.nothing  # noqa: B018


def code_of(page):
    if page.suffix == ".ipynb":
        cells = json.loads(page.read_text())["cells"]
        return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    return re.findall(r"^```python\n(.*?)^```", page.read_text(), flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", [*PAGES, ROOT / "docs" / "example.ipynb"], ids=lambda page: page.name)
def test_the_docs_use_public_names_alone(page):
    for code in code_of(page):
        lines = [line for line in code.splitlines() if not line.startswith(("%", "!"))]
        for node in ast.walk(ast.parse("\n".join(lines))):
            if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "equinoise":
                assert node.module == "equinoise"
                assert {alias.name for alias in node.names} <= set(equinoise.__all__)
            if isinstance(node, ast.Import):
                assert not any(alias.name.startswith("equinoise.") for alias in node.names)


def test_every_error_is_in_the_tree_that_the_docstring_draws():
    errors = {name: value for name, value in vars(equinoise.errors).items() if isinstance(value, type)}
    mine = {name: value for name, value in errors.items() if value.__module__ == "equinoise.errors"}
    tree = re.findall(r"^( *)([A-Z]\w+)", equinoise.errors.__doc__, flags=re.MULTILINE)
    drawn = {}
    for indent, name in tree:
        if name in mine:
            drawn[name] = len(indent) // 2
    assert set(drawn) == set(mine)
    depths = {
        name: sum(base.__module__ == "equinoise.errors" for base in value.__mro__) for name, value in mine.items()
    }
    assert {name: depth - min(drawn.values()) + 1 for name, depth in drawn.items()} == depths
    assert set(mine) <= set(equinoise.__all__)


@pytest.mark.parametrize("error", [equinoise.BadInput("no"), equinoise.BudgetSpent("spent")])
def test_errors_can_be_pickled(error):
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
