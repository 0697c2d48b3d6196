"""The planted bugs: every line that a list names is there, and a bug that no test notices is told."""

import textwrap
from itertools import combinations

import pytest

from mutants.__main__ import ROOT, main
from mutants.lists import Mutant, problems, read_lists, tenth

CODE = """
def double(number):
    if number > 100:
        number += 0
    return 2 * number


def half(number):
    return number / 2
"""

TESTS = """
from code_of_two import double, half


def test_double():
    assert double(2) == 4
    assert double(101) == 202
"""

LIST = """
[[file]]
path = "src/code_of_two.py"
tests = ["tests/test_two.py"]

[[file.mutant]]
name = "triple"
line = 'return 2 * number'
becomes = 'return 3 * number'
"""

UNNOTICED = """
[[file.mutant]]
name = "a third"
line = 'return number / 2'
becomes = 'return number / 3'
"""

HARMLESS = """
[[file.mutant]]
name = "nothing less"
line = 'number += 0'
becomes = 'number -= 0'
harmless = "nothing is taken off"
"""

NO_IMPORT = """
[[file.mutant]]
name = "another name"
line = 'def half(number):'
becomes = 'def halve(number):'
"""


def project(folder, listed):
    for name, text in {"src/code_of_two.py": CODE, "tests/test_two.py": TESTS, "mutants/all.toml": listed}.items():
        path = folder / name
        path.parent.mkdir()
        path.write_text(textwrap.dedent(text))
    (folder / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    return folder


@pytest.fixture(autouse=True)
def _load_little(monkeypatch):
    monkeypatch.setattr("mutants.trial.LOADED", ("pytest",))


@pytest.fixture
def tried(tmp_path, capsys):
    """Tries a list of mutants: the exit code, and what was printed."""

    def run(listed, *arguments):
        return main([*arguments, "--workers", "1"], project(tmp_path, listed)), capsys.readouterr().out

    return run


def test_every_line_and_test_that_is_named_is_there():
    mutants = read_lists(ROOT / "mutants")
    assert list(problems(mutants, ROOT)) == []
    assert len(mutants) >= 150


def test_bugs_that_are_noticed_or_harmless_are_fine(tried):
    code, said = tried(LIST + HARMLESS)
    assert code == 0
    assert "tests/test_two.py::test_double: triple" in said
    assert "2 mutants: 1 noticed, 1 harmless." in said


def test_a_bug_that_no_test_notices_is_told_and_so_are_other_mistakes(tried):
    code, said = tried(LIST + 'harmless = "so they say"' + UNNOTICED + NO_IMPORT)
    assert code == 1
    assert "return number / 3" in said
    for end in ("1 SURVIVED", "1 NOTICED, THOUGH CALLED HARMLESS", "1 BADLY WRITTEN"):
        assert end in said.splitlines()[-1]


@pytest.mark.parametrize(
    ("listed", "said"),
    [
        (LIST + UNNOTICED.replace("number / 2", "gone"), "there 0 times"),
        (LIST.replace("return 2 * number", "def double(number):"), "no Python"),
        (LIST.replace("3 * number", "2 * number  # the same"), "means the same"),
        (LIST.replace("test_two.py", "test_two.py::test_triple"), "there is no test"),
        (LIST + UNNOTICED.replace("a third", "triple"), "the name of 2"),
        (LIST.replace("code_of_two", "code_of_three"), "there is no file"),
    ],
)
def test_lists_that_are_wrong_fail_before_anything_is_tried(tried, listed, said):
    code, printed = tried(listed)
    assert code == 1
    assert said in printed
    assert "1 mistakes" in printed


def test_tests_that_fail_without_a_bug_show_nothing(tmp_path, capsys):
    folder = project(tmp_path, LIST)
    (folder / "tests/test_two.py").write_text("def test_wrong():\n    raise AssertionError\n")
    assert main(["--workers", "1"], folder) == 1
    assert "on the code as it is" in capsys.readouterr().out


def test_another_commit_takes_another_tenth():
    mutants = [Mutant(str(number), "a", "b", "c", ("d",)) for number in range(101)]
    tenths = [{one.name for one in tenth(mutants, commit)} for commit in ("1", "2", "3")]
    assert all(len(names) == 11 for names in tenths)
    assert all(one != other for one, other in combinations(tenths, 2))
    assert tenth(mutants, "1") == tenth(mutants, "1")
