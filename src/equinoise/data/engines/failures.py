"""What an engine says of rows that it cannot read, in one sentence for a person."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from equinoise.errors import BadInput, EquinoiseError


@contextmanager
def explain_failures(source: str, *, is_text: bool) -> Iterator[None]:
    """Turn whatever an engine raises into one sentence: engines have classes of their own for what they cannot do.
    ``source`` is what to call the rows."""
    try:
        yield
    except (EquinoiseError, MemoryError):
        raise
    except Exception as error:
        text = str(error)
        if re.search(r"KeyboardInterrupt|Query interrupted|INTERRUPT Error", text):  # DuckDB makes an error of Ctrl-C
            raise KeyboardInterrupt from None
        quoted = re.search(r"BadInput: (.+)", text)  # ours, quoted by an engine in another language
        if quoted is not None:
            raise BadInput(quoted[1].strip()) from None
        if "No module named 'equinoise'" in text:
            raise BadInput(
                "The engine's workers read text files with Equinoise, and do not have it: install it there too, in the "
                "same version."
            ) from None
        raise unreadable(source, error, is_text=is_text) from None


def unreadable(source: str, error: Exception, *, is_text: bool = True) -> BadInput:
    """The error for rows that an engine or polars could not read."""
    text = str(error).strip() or type(error).__name__
    if "empty CSV" in text:
        return BadInput(f"{source} has nothing but blank lines.")
    if not is_text:
        return BadInput(f"{source} could not be read, and may be damaged: {_cause(text)}")
    if "utf8" in text.lower() or "utf-8" in text.lower():
        return BadInput(f"{source} is not UTF-8 text. Save it as UTF-8 and try again.")
    if "more fields than" in text:
        return BadInput(
            f"{source} has rows with more fields than its header. Quote values that contain the separator, or remove "
            "the extra fields. If another mark separates them, name it with --separator (in Python, separator=)."
        )
    if "CSV malformed" in text or 'could not parse `"' in text:
        return open_quotes(source)
    return BadInput(f"{source} could not be read: {_cause(text)}")


def open_quotes(source: str) -> BadInput:
    """The error for quotes that make other rows part of a field."""
    return BadInput(
        f"{source} has quotes that are not closed, or quotes inside a field. Put such fields in quotes, and write the "
        "quotes within them twice."
    )


def _cause(text: str) -> str:
    causes = [line for line in text.splitlines() if line.startswith("Caused by: ")]  # of what Java throws
    return [text, *causes][-1].removeprefix("Caused by: ").splitlines()[0][:120]
