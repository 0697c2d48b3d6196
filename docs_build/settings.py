"""Every setting as a table: read off the table that the code has.

python -m docs_build.settings > docs/settings.md
"""

from __future__ import annotations

from equinoise.formatting import format_number, join_or
from equinoise.settings import SETTINGS, Setting, in_words, option_of, solvers_with

HEAD = """# Every setting

For whoever looks for an option or a keyword. A setting has one name: `unit_rows` in Python and in saved files,
`--unit-rows` on the command line. What goes with what is [another table](support.md). This page is written by
`python -m docs_build.settings > docs/settings.md`, which reads the table of the code, and a test compares them.

| setting | option | meaning | default | must be | taken by |
| --- | --- | --- | --- | --- | --- |
"""

TAIL = """
`compare` takes several of `--epsilon` and `--noise` (in Python `epsilons=` and a list), 20 seconds per epsilon as its
`--time-limit` and a number of `--rows`, 1 if left out. In Python, `bounds` is a pair or a dict of pairs by column, and
`base` a list of numbers. What is no setting (`--out`, `start=` and the like) is in [the guide](guide.md).
"""


def page() -> str:
    """The whole page."""
    return HEAD + "\n".join(map(_row, SETTINGS, SETTINGS.values())) + "\n" + TAIL


def _row(name: str, setting: Setting) -> str:
    option = f"`{option_of(name)}`" if setting.commands else "told by files alone"
    commands = ", ".join(f"`{command}`" for command in setting.commands)
    rules = [in_words(must_be) for _, must_be in (*setting.checks, *setting.needs)]
    if setting.of_solver:
        rules.append(f"left out unless the solver is {join_or(solvers_with(name))}")
    return f"| `{name}` | {option} | {setting.help} | {_default(setting)} | {'; '.join(rules)} | {commands} |"


def _default(setting: Setting) -> str:
    if setting.required:
        return "required"
    if setting.default is None:
        return setting.usual or "none"
    if isinstance(setting.default, bool):
        return "no"
    return f"`{setting.default}`" if isinstance(setting.default, str) else format_number(setting.default)


if __name__ == "__main__":
    print(page(), end="")
