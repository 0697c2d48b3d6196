"""Which user of this computer is at the other end of a connection, where the system tells (Linux).

Whoever starts a browser with an address shows it to everyone who may list processes, the token with it.
"""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))


def is_another_user(client: tuple[str, int] | None, port: int) -> bool:
    """Whether somebody else than us (or root, who may read everything anyway) asks at our port."""
    if client is None or not hasattr(os, "getuid") or os.getuid() == 0:
        return False
    return user_id(client, port) not in {None, 0, os.getuid()}


def user_id(client: tuple[str, int], port: int) -> int | None:
    """The number of the user whose connection it is, or None if nobody knows."""
    host = int.from_bytes(socket.inet_aton(client[0]), sys.byteorder)
    theirs, ours = f"{host:08X}:{client[1]:04X}", f":{port:04X}"
    for table in TABLES:
        try:
            lines = table.read_text().splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            fields = line.split()
            if fields[1].endswith(theirs) and fields[2].endswith(ours):
                return int(fields[7])
    return None
