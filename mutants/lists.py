"""The lists of mutants: reading them, and what is wrong with them."""

from __future__ import annotations

import ast
import hashlib
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

FILE_KEYS = {"path", "tests", "compiled", "mutant"}
MUTANT_KEYS = {"name", "line", "becomes", "within", "tests", "harmless"}


@dataclass(frozen=True)
class Mutant:
    """One line of a file and what it becomes; ``harmless`` says why no test notices, if none does."""

    name: str
    path: str
    line: str
    becomes: str
    tests: tuple[str, ...]
    within: str | None = None
    harmless: str | None = None
    compiled: bool = False

    def places(self, text: str) -> list[int]:
        """The numbers of the lines of a file that are the named one."""
        lines = text.split("\n")
        spans = [(1, len(lines))] if self.within is None else _spans(text, self.within)
        return [
            number
            for first, last in spans
            for number in range(first, last + 1)
            if lines[number - 1].strip() == self.line.strip()
        ]

    def planted(self, text: str) -> str:
        """The file with the bug."""
        (number,) = self.places(text)
        lines = text.split("\n")
        old = lines[number - 1]
        lines[number - 1] = old[: len(old) - len(old.lstrip())] + self.becomes.strip()
        return "\n".join(lines)


def _spans(text: str, name: str) -> list[tuple[int, int]]:
    """First and last lines of the functions and classes of a name."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, kinds) and node.name == name]
    return [(node.lineno, node.end_lineno or node.lineno) for node in nodes]


def read_lists(folder: Path) -> list[Mutant]:
    """The mutants of all lists in a folder."""
    found = []
    for path in sorted(folder.glob("*.toml")):
        for file in tomllib.loads(path.read_text())["file"]:
            _refuse_unknown(path, file, FILE_KEYS)
            for one in file["mutant"]:
                _refuse_unknown(path, one, MUTANT_KEYS)
                tests = one.get("tests", file.get("tests", []))
                rest = {key: value for key, value in one.items() if key != "tests"}
                found.append(
                    Mutant(path=file["path"], tests=tuple(tests), compiled=file.get("compiled", False), **rest)
                )
    return found


def _refuse_unknown(path: Path, table: dict[str, object], known: set[str]) -> None:
    if not set(table) <= known:
        raise SystemExit(f"{path.name} has the unknown keys {sorted(set(table) - known)}.")


def problems(mutants: Sequence[Mutant], root: Path) -> Iterator[str]:
    """What is wrong with the lists, by the files as they are: a sentence each."""
    for name, many in Counter(mutant.name for mutant in mutants).items():
        if many > 1:
            yield f"{name!r} is the name of {many} mutants."
    for mutant in mutants:
        path = root / mutant.path
        if not path.is_file():
            yield f"{mutant.name!r}: there is no file {mutant.path}."
            continue
        text = path.read_text()
        places = mutant.places(text)
        if len(places) != 1:
            yield f"{mutant.name!r}: its line is there {len(places)} times in {mutant.path}: {mutant.line.strip()}"
        elif _tokens(mutant.line) == _tokens(mutant.becomes):
            yield f"{mutant.name!r}: its new line means the same as the old one."
        elif not _is_python(mutant.planted(text)):
            yield f"{mutant.name!r}: its new line is no Python."
        if not mutant.tests:
            yield f"{mutant.name!r} names no test."
        yield from (f"{mutant.name!r}: there is no test {test}." for test in mutant.tests if not _has_test(root, test))


def _tokens(line: str) -> list[str]:
    """What a line, maybe one of several that belong together, consists of besides comments and blanks."""
    found = []
    with suppress(tokenize.TokenError, SyntaxError):
        for token in tokenize.generate_tokens(StringIO(line.strip()).readline):
            found += [token.string] if token.type != tokenize.COMMENT and token.string.strip() else []
    return found


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def _has_test(root: Path, test: str) -> bool:
    file, _, name = test.partition("::")
    if not (root / file).exists():
        return False
    return not name or f"def {name.partition('[')[0]}(" in (root / file).read_text()


def tenth(mutants: Sequence[Mutant], commit: str) -> list[Mutant]:
    """A tenth of the mutants, rounded up: other ones for every commit, the same ones for the same."""
    chosen = sorted(mutants, key=lambda mutant: hashlib.sha256(f"{commit} {mutant.name}".encode()).digest())
    names = {mutant.name for mutant in chosen[: -(-len(chosen) // 10)]}
    return [mutant for mutant in mutants if mutant.name in names]
