"""A process that runs tests again and again, each time in a fork of itself that has everything loaded but the package.

It reads a line of JSON for every run (``tests``, ``options``, ``seconds``, the file for the ``output``, and the folder
``compiled``) and writes one back: pytest's exit code, or null after so many seconds. It imports nothing of this folder.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import time
import traceback
from contextlib import suppress
from typing import Any


def run(request: dict[str, Any]) -> int | None:
    """Run tests in a fork."""
    child = os.fork()
    if child == 0:
        _run_here(request)
    until = time.monotonic() + request["seconds"]
    while time.monotonic() < until:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def _run_here(request: dict[str, Any]) -> None:
    code = 3  # pytest's own for an error of its own
    try:
        os.setsid()
        output = os.open(request["output"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for file, own in ((os.open(os.devnull, os.O_RDONLY), 0), (output, 1), (output, 2)):
            os.dup2(file, own)
        os.environ["NUMBA_CACHE_DIR"] = request["compiled"]
        if "numba" in sys.modules:
            sys.modules["numba"].config.reload_config()
        import pytest

        code = int(pytest.main([*request["options"], *request["tests"]]))
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


def main() -> None:
    """Load the modules that are named, and answer requests until there are no more."""
    for name in sys.argv[1:]:
        with suppress(ImportError):
            importlib.import_module(name)
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
