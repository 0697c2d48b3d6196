"""The pages with proofs name code and tests that are there; and what they say, tried on small cases."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from benchmarks.proof_readers import read_cost, read_envelope, read_pay_once, without_a_range

ROOT = Path(__file__).parents[2]
PROOFS = sorted((ROOT / "docs").glob("proof-*.md"))
NAMED = re.compile(r"`([a-z_]+)\.([A-Za-z_]+(?:\.[a-z_]+)?)`")


@cache
def defined(path: Path) -> set[str]:
    """Functions, classes, methods and constants of a module; methods and fields with their class, too."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            names |= {f"{node.name}.{each.name}" for each in node.body if isinstance(each, ast.FunctionDef)}
        if isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return names


def unknown(text: str) -> list[str]:
    """Code and tests that a page names and that are nowhere."""
    code: dict[str, set[str]] = {}
    for path in (ROOT / "src" / "equinoise").rglob("*.py"):
        code.setdefault(path.stem, set()).update(defined(path))
    tests = set().union(*(defined(path) for path in (ROOT / "tests").rglob("test_*.py")))
    named = [f"{module}.{name}" for module, name in NAMED.findall(text) if name not in code.get(module, set())]
    return named + [name for name in re.findall(r"`(test_\w+)`", text) if name not in tests]


@pytest.mark.parametrize("page", PROOFS, ids=lambda path: path.stem)
def test_code_and_tests_of_every_step_are_there(page):
    text = page.read_text()
    rows = [line.split("|")[1:-1] for line in text.splitlines() if re.match(r"\| .*`test_", line)]
    assert len(rows) > 5
    for step, code, bug, test in rows:
        assert step.strip()
        assert NAMED.search(code), code
        assert bug.strip()
        assert "`test_" in test
    assert unknown(text) == []


def test_code_and_tests_that_are_nowhere_would_be_found():
    text = (
        "`envelope.public_rule` `envelope.private_rule` `magic.rule` `test_nothing_of_the_kind` `base.Mechanism.sample`"
    )
    assert unknown(text) == ["envelope.private_rule", "magic.rule", "test_nothing_of_the_kind"]


def test_small_cases_break_no_step_and_would_without_what_it_needs():
    assert not any(read_envelope(3, 300)[0].values())
    assert read_envelope(3, 300, without=3)[0]["step 4"] > 0
    failures, closest = read_cost(3, 100)
    assert not any(failures.values())
    assert closest > 0.99
    assert without_a_range(10) == 10
    assert not any(read_pay_once().values())
