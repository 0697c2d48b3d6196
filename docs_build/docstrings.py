"""What docstrings are for `help()` and what a page needs differ in two things; griffe asks here for each of them."""

from __future__ import annotations

import re
from typing import Any

import griffe

ROLE = re.compile(r":(?:func|class|meth|mod|attr|data):(?=`)")
SESSION = re.compile(r"(?:^>>>.*\n?(?:^(?!\s*$).*\n?)*)+", re.MULTILINE)


def for_page(text: str) -> str:
    """Without the roles in front of names, and with sessions as code."""
    return SESSION.sub(lambda found: f"```pycon\n{found[0].rstrip()}\n```\n", ROLE.sub("", text))


class ForPages(griffe.Extension):
    """Applies it to every docstring."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called once for every module, class, function and attribute."""
        if obj.docstring is not None:
            obj.docstring.value = for_page(obj.docstring.value)
