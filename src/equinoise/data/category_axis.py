"""A column of categories, a public list; values to categories and back."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import asdict, dataclass
from datetime import datetime, time
from decimal import Decimal
from functools import cached_property
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from equinoise.data.axis import MISSING_LABEL, picture_label
from equinoise.data.codes import MISSING, UNKNOWN, is_absent

Category = str | int | bool

TRUTH_WORDS = {"true", "false"}
WHOLE = re.compile(r"([+-]?[0-9]+)(?:\.0*)?")
"""Ways to write a whole number, where the categories are such: 1, 01, +1, 1.0."""

FLOAT_OF_WHOLE = re.compile(r"(0|-?[1-9][0-9]*)\.0+")
"""A whole number that became a float on its way into a text file, as those of pandas do beside a missing one."""

MOST_EXACT, MOST_WHOLE = 2**53, 2**64
EXACT = range(1 - MOST_EXACT, MOST_EXACT)
"""Floats from the first on do not tell all whole numbers apart; no category is as large as the second."""


@dataclass(frozen=True)
class CategoryAxis:
    """A column of categories: a public list, whose order says nothing. Where ``missing`` is ``category``, the last bin
    is for those who have none. Any two categories are the whole range, 1, apart."""

    name: str
    names: tuple[Category, ...]
    missing: str = "refuse"
    outside: str = "refuse"

    kind: ClassVar[str] = "category"
    number_bins: ClassVar[int] = 0
    range: ClassVar[float] = 1.0
    reach: ClassVar[float] = 1.0

    @property
    def label(self) -> str:
        """The name as a picture or a page shows it, whatever letters it has."""
        return picture_label(self.name)

    @property
    def bins(self) -> int:
        """How many categories there are, with that of the missing."""
        return len(self.names) + (self.missing == "category")

    @property
    def categories(self) -> int:
        """All bins: none has an order."""
        return self.bins

    def check_resolvable(self) -> None:
        """Nothing to refuse: names are exact."""

    @cached_property
    def _bins(self) -> dict[str, int]:
        """The bin of every category, by the one text that stands for it."""
        return {self._key(str(name)): number for number, name in enumerate(self.names)}

    @cached_property
    def _form(self) -> str:
        """What the categories are: ``truth`` (yes/no values, or the two words for them), ``whole`` numbers or
        ``text``."""
        words = [str(name).lower() for name in self.names]
        if all(word in TRUTH_WORDS for word in words) and len(set(words)) == len(words):
            return "truth"
        return "text" if isinstance(self.names[0], str) else "whole"

    def _key(self, text: str) -> str:
        """The text that stands for a category, of one of the ways to write it."""
        plain = plain_text(text)
        if self._form == "truth":
            return plain.lower()
        written = WHOLE.fullmatch(plain)
        surely = self._form == "whole" and written is not None and _is_sure(written)
        return str(int(written[1])) if surely and written is not None else plain

    def code_of(self, value: Any) -> int:
        """The bin of a value, or what is wrong with it; the same for the same value, whatever type it comes in.

        Texts are compared in Unicode's composed form, without blanks around them; letters that differ in case are
        different, but in the words for yes and no. A number is a category only if it is whole, and a yes/no value only
        one of the words: 1 is not true, and True is not 1.
        """
        if is_absent(value):
            return MISSING
        if isinstance(value, bool | np.bool_):
            return self._bins.get(str(bool(value)).lower(), UNKNOWN)
        if isinstance(value, Real | Decimal):
            whole = _whole(value)
            return UNKNOWN if whole is None else self._bins.get(str(whole), UNKNOWN)
        if isinstance(value, datetime | time | bytes):  # text files have no one way to write these
            return UNKNOWN
        key = self._key(str(value))
        made_float = FLOAT_OF_WHOLE.fullmatch(key)
        if key not in self._bins and made_float is not None and _is_sure(made_float):
            key = made_float[1]
        return self._bins.get(key, UNKNOWN)

    def bin_label(self, bin: int) -> str:
        """A category as people read it."""
        if bin >= len(self.names):
            return MISSING_LABEL
        name = self.names[bin]
        return str(name).lower() if isinstance(name, bool) else str(name)

    def to_json(self) -> dict[str, Any]:
        """The fields, as JSON shows them."""
        return {"kind": self.kind, **asdict(self), "names": list(self.names)}


def plain_text(text: str) -> str:
    """A text as it is compared: in Unicode's composed form, without blanks around it."""
    return unicodedata.normalize("NFC", text).strip()


def _is_sure(written: re.Match[str]) -> bool:
    """Whether a text is no float that may stand for several whole numbers."""
    digits = written[1].lstrip("+-0")
    return written[0] == written[1] or len(digits) < len(str(MOST_EXACT)) or int(written[1]) in EXACT


def _whole(number: Any) -> int | None:
    """A number as the whole number that it surely is, or None. Large floats stand for several."""
    most = MOST_WHOLE if isinstance(number, Integral | Decimal) else MOST_EXACT
    if not -most < number < most or number != int(number):
        return None
    return int(number)
