"""Waiting for what others do in their own time: processes, servers, browsers."""

import time

SECONDS = 180
"""Far longer than anything takes: a wait that fails is a fault, not a slow machine."""


def wait_until(what, true, *about):
    """Until ``true`` of what it is about."""
    end = time.monotonic() + SECONDS
    while not true(*about):
        assert time.monotonic() < end, f"waited too long for {what}"
        time.sleep(0.02)
