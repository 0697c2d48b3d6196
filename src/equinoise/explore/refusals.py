"""What is said when something is not done: the sentence that the command line would print."""

from __future__ import annotations

import unicodedata
from typing import Any

from equinoise.errors import BadInput, EquinoiseError, PromiseNotMet


def refusal(error: Exception) -> dict[str, Any]:
    """The sentence and the exit status that the command line would end with; never a traceback."""
    if isinstance(error, EquinoiseError):
        return {"sentence": str(error), "status": 1 if isinstance(error, PromiseNotMet) else 2}
    if isinstance(error, MemoryError):
        return {"sentence": "There is not enough memory. Use fewer bins or scales.", "status": 2}
    return {"sentence": f"Something unexpected went wrong ({type(error).__name__}). Please report it.", "status": 2}


def check_name(name: object) -> str:
    """A plain name ending in .eq, in the folder where the command was started and nowhere else."""
    name = unicodedata.normalize("NFC", name) if isinstance(name, str) else name  # an accent is no letter of its own
    good = (
        isinstance(name, str)
        and name.endswith(".eq")
        and name[0].isalnum()
        and len(name.encode(errors="replace")) <= 100
        and all(letter.isalnum() or letter in " ._-" for letter in name)
    )
    if not good:
        raise BadInput(
            "A file's name here is letters, digits, spaces, dots, dashes and underscores (at most 100 bytes), begins "
            f"with a letter or a digit and ends in .eq, such as pay.eq. Got {str(name)[:60]!r} instead."
        )
    assert isinstance(name, str)
    return name
