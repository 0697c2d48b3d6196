"""Options of commands: those of settings, made from the table, those that several commands share, and their text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any, TypeVar

import click

from equinoise.errors import BadInput
from equinoise.setting import Setting
from equinoise.settings import SETTINGS, option_of

EPILOG = "Exit status: 0 done; 1 the promise could not be met; 2 bad input; 130 stopped."
FILE_PATH = click.Path(path_type=Path)
ALL_STATISTICS = "Print all statistics, the certificate and the whole promise."
PICTURE = "A .png, .svg or .html file for a picture. As secret as the data."

Command = TypeVar("Command", bound=Callable[..., Any])
Completion = Callable[[click.Context, click.Parameter, str], list[str]]

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object on stdout and nothing else there."
)


def setting_options(command: str, **changes: dict[str, Any]) -> Callable[[Command], Command]:
    """Options of all settings that a command takes; ``changes`` are what it has otherwise, as click names it."""

    def decorate(function: Command) -> Command:
        for name, setting in reversed(SETTINGS.items()):
            if command in setting.commands:
                parameters = {"name": name, **_parameters(setting), **changes.get(name, {})}
                function = click.option(option_of(name), parameters.pop("name"), **parameters)(function)
        return function

    return decorate


def _parameters(setting: Setting) -> dict[str, Any]:
    usual = f"  [default: {setting.usual}]" if setting.usual else ""
    found: dict[str, Any] = {"help": setting.help + usual, "metavar": setting.metavar, "multiple": setting.multiple}
    if setting.kind is bool:
        return {**found, "is_flag": True}
    if setting.default is not None:
        found |= {"default": setting.default, "show_default": True}
    if setting.offers:
        found["shell_complete"] = offering(*setting.offers)
    kinds: dict[type, Any] = {
        tuple: (str, *(EACH[name] for name in setting.each)), list: _scales, Path: FILE_PATH, object: _count
    }  # fmt: skip
    return {**found, "type": kinds.get(setting.kind, setting.kind), "required": setting.required}


def offering(*names: str) -> Completion:
    """For a shell that completes: the names that a value may have. Whether it has one is checked by the library."""
    return lambda context, parameter, begun: [name for name in names if name.startswith(begun)]


def output_options(option: str, *, help: str, required: bool = False, force: str = "") -> Callable[[Command], Command]:
    """The file that a command writes, whether it may replace one, and --json."""

    def decorate(function: Command) -> Command:
        replacing = click.option("--force", is_flag=True, help=force or f"Replace {option} if it exists.")
        writing = click.option(option, type=FILE_PATH, required=required, help=help)
        return writing(replacing(json_option(function)))

    return decorate


def verbose_option(help: str) -> Callable[[Command], Command]:
    """Print all there is, as ``help`` says, instead of one screen."""
    return click.option("--verbose", is_flag=True, help=help)


def book_options(function: Command) -> Command:
    """The book that is charged, and for what."""
    purpose = click.option("--purpose", help="For what, as the book will list it.")
    usual = "  [default: EQUINOISE_BOOK, or none]"
    book = click.option("--book", metavar="BOOK", help=f"A book to charge: a file, or postgresql://...{usual}")
    return book(purpose(function))


def check_plot(plot: Path | None, *inputs: Path | None, force: bool) -> None:
    """Refuse a picture that could not be written, before the work."""
    from equinoise.atomic_write import check_writable
    from equinoise.present import charts

    if plot is not None:
        charts.check_picture(plot)
        check_writable(plot, *inputs, force=force)


def _limit(value: str) -> float | date:
    """A number or a date of --bounds. Who forgets the column is told of all three."""
    try:
        return float(value)
    except ValueError:
        with suppress(ValueError):
            return date.fromisoformat(value)
        raise click.BadParameter(
            f"{value!r} is neither a number nor a date. Give a column and its two limits, such as pay 0 4000."
        ) from None


def _step(value: str) -> float:
    """The number of --step."""
    try:
        return float(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is not a number. Give a column and its step, such as age 1.") from None


def _names(value: str) -> tuple[str, ...]:
    """The categories of --categories."""
    return tuple(name.strip() for name in value.split(","))


EACH = {"bound": _limit, "number": _step, "names": _names}
"""How each value of an option that begins with a column's name is read."""


def parse_columns(settings: dict[str, Any]) -> None:
    """Make values by column of the options that name one, and of --column what the library takes."""
    for name, setting in SETTINGS.items():
        if setting.kind is tuple and name in settings:
            settings[name] = _by_column(option_of(name), settings[name], settings["column"]) or None
    names = [*settings["column"]]
    settings["column"] = names if len(names) > 1 else names[0] if names else None


def _by_column(option: str, given: Sequence[tuple[Any, ...]], columns: Sequence[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, *values in given:
        if name in found:
            raise BadInput(f"Give {option} once for column {name!r}.")
        if columns and name not in columns:
            raise BadInput(f"{option} names column {name!r}, but --column is {', '.join(map(repr, columns))}.")
        found[name] = values[0] if len(values) == 1 else tuple(values)
    return found


def _scales(text: str) -> str | list[float]:
    """The name of a set of scales, or numbers."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        return text  # refused where the names are known


def _count(text: str) -> str | int:
    """A whole number, or a word that stands for one."""
    try:
        return int(text)
    except ValueError:
        return text  # refused where the words are known


def parse_numbers(text: str, option: str, such_as: str) -> list[float]:
    """Numbers with commas between them."""
    if not text.strip():
        raise BadInput(f"{option} is empty. Give numbers separated by commas, such as {such_as}.")
    numbers = []
    for part in text.split(","):
        try:
            numbers.append(float(part))
        except ValueError:
            raise BadInput(
                f"{option} must be numbers separated by commas, such as {such_as}. Got {part.strip()[:40]!r} among "
                "them."
            ) from None
    return numbers
