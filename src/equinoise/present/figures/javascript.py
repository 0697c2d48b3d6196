"""What draws figures in a browser: Vega, Vega-Lite and Vega-Embed in one piece, from a wheel and not from the web."""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from typing import Any


@cache
def javascript() -> str:
    """The script, fit to stand in a page. Making it takes a second or two, once."""
    alt: Any = import_module("altair")
    converter: Any = import_module("vl_convert")
    schema = ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])
    return str(converter.javascript_bundle(vl_version=schema)).replace("</script", "<\\/script")


if __name__ == "__main__":
    sys.stdout.buffer.write(javascript().encode())
