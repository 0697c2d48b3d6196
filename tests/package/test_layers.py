"""The shape of the package: layers that point one way, no cycle of any kind, nothing longer than a few screens."""

import ast
import re
from pathlib import Path

import pytest

import equinoise

ROOT = Path(equinoise.__file__).parent

LAYERS = [
    {"versions", "formatting", "errors", "atomic_write", "choices", "display", "setting", "settings", "check"},
    {"data"},
    {"privacy"},
    {"game"},
    {"statistics"},
    {"solvers"},
    {"synthesis"},
    {"mechanisms"},
    {"analysis"},
    {"present"},
    {"verbs"},
    {"explore", "experiments"},
    {"cli"},
    {"__main__"},
]
"""Lowest first. A module imports from its own layer and from lower ones, inside functions and for types too."""


def name_of(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in ROOT.rglob("*.py")}
TREES = {name: ast.parse(path.read_text()) for name, path in MODULES.items()}


def imports(tree):
    """Every module of the package that a module imports, also late, for types, or by a string."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            if node.module.split(".")[0] == "equinoise":
                inside = node.module.removeprefix("equinoise").lstrip(".")
                for alias in node.names:
                    whole = f"{inside}.{alias.name}".lstrip(".")
                    yield whole if whole in MODULES else inside
        elif isinstance(node, ast.Import):
            yield from (a.name.removeprefix("equinoise.") for a in node.names if a.name.startswith("equinoise."))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            named = re.fullmatch(r"equinoise\.([\w.]+)", node.value)
            if named and named[1] in MODULES:
                yield named[1]


LONGEST = {"check": 350}
"""Lines of a module that is one file on purpose: outsiders copy it."""

LISTS = {"choices", ""}
"""Names modules by strings for others to load: the lists of choices, and the package itself for its public names."""

GRAPH = {name: set(imports(tree)) - {name} for name, tree in TREES.items() if name not in LISTS}


def layer(name):
    top = name.split(".")[0]
    return next(number for number, names in enumerate(LAYERS) if top in names)


def test_every_module_is_in_a_layer_and_few_are_at_the_top():
    for name in GRAPH:
        layer(name)
    assert len(list(ROOT.glob("*.py"))) <= 12


@pytest.mark.parametrize("name", GRAPH)
def test_imports_point_to_the_same_layer_or_a_lower_one(name):
    assert [other for other in sorted(GRAPH[name]) if other and layer(other) > layer(name)] == []


def test_no_imports_are_circular():
    done, path = set(), []

    def visit(name):
        assert name not in path, " -> ".join([*path[path.index(name) :], name])
        if name not in done:
            path.append(name)
            for other in sorted(GRAPH.get(name, ())):
                visit(other)
            path.pop()
            done.add(name)

    for name in GRAPH:
        visit(name)


@pytest.mark.parametrize("name", MODULES)
def test_modules_and_functions_fit_a_screen_or_some(name):
    assert len(MODULES[name].read_text().splitlines()) <= LONGEST.get(name, 300)
    for node in ast.walk(TREES[name]):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno - node.lineno < 60, node.name
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
            assert not (ast.get_docstring(node) or "").startswith("The same")


def test_the_tests_have_a_folder_for_every_layer():
    folders = {path.name for path in Path(__file__).parents[1].iterdir() if path.is_dir()}
    assert {path.name for path in ROOT.iterdir() if (path / "__init__.py").exists()} <= folders
