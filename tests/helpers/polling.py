"""Polls what processes, servers and browsers do in their own time, until it is done."""

import time

MOST_SECONDS = 180
"""Far longer than anything takes: a wait that fails is a fault, not a slow machine."""


def wait_until(what, condition, *arguments):
    """Return when ``condition(*arguments)`` is true; fail with the name of what was waited for if it never is."""
    end = time.monotonic() + MOST_SECONDS
    while not condition(*arguments):
        assert time.monotonic() < end, f"waited too long for {what}"
        time.sleep(0.02)
