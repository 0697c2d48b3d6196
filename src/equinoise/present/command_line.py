"""The command that makes a mechanism again, as reports and the local page show it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from equinoise.data.schema import Schema
from equinoise.formatting import format_number, shell_quote
from equinoise.settings import SETTINGS, option_of


def command_line(verb: str, source: str, schema: Schema, values: Mapping[str, Any], out: str) -> str:
    """The command that makes a mechanism by a schema and settings, as a shell reads it; what options cannot say is in a
    file of the schema. Bounds that were read off the data are left out.

    Settings at their defaults are left out, and so are those that only Python can give.
    """
    words = ["equinoise", verb, source, *_schema_words(schema)]
    for name, setting in SETTINGS.items():
        value = values.get(name)
        if name != "column" and verb in setting.commands and not isinstance(value, Mapping):
            words += [] if value is None or value == setting.default else _option_words(name, value)
    return shell_quote([*words, *(["--save", out, "--out", "rows.csv"] if verb == "synthesize" else ["--out", out])])


def _schema_words(schema: Schema) -> list[str]:
    """The options of columns, or a file, if their rules or bins differ or a name has a comma."""
    shared = {(column.missing, column.outside and column.outside.replace("drop", "clip")) for column in schema.columns}
    bins = {column.bins for column in schema.columns if column.categories is None}
    odd = any("," in str(name) or str(name) != str(name).strip() for c in schema.columns for name in c.categories or ())
    codes = any(not isinstance(name, str) for column in schema.columns for name in column.categories or ())
    if len(shared) > 1 or len(bins) > 1 or odd or codes:
        return ["--schema", "SCHEMA.toml"]
    words = [word for column in schema.columns for word in ("--column", column.name)]
    for column in schema.columns:
        if column.bounds is not None and not column.peeked:
            words += ["--bounds", column.name, *map(_as_word, column.bounds)]
        if column.step is not None and not column.is_date:
            words += ["--step", column.name, _as_word(column.step)]
        if column.categories is not None:
            words += ["--categories", column.name, ",".join(map(str, column.categories))]
    (rules,) = shared
    told = [("--missing", rules[0]), ("--outside", rules[1]), *(("--bins", str(number)) for number in bins if number)]
    return [*words, *(word for option, rule in told if rule is not None for word in (option, rule))]


def _as_word(value: Any) -> str:
    return format_number(value) if isinstance(value, int | float) else str(value)


def _option_words(name: str, value: Any) -> list[str]:
    if value is True:
        return [option_of(name)]
    parts = value if isinstance(value, list) else [value]
    return [option_of(name), ",".join(format_number(part) if isinstance(part, float) else str(part) for part in parts)]
