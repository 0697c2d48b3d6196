"""Another user of the same computer is kept out, where the system tells."""

import os
import socket
import sys
from pathlib import Path

import pytest

from equinoise.explore import guard
from equinoise.explore import socket_owner as peers
from tests.helpers.explore_server import Visitor, running_server

ROW = "   7: {address}:{port:04X} 0100007F:22D5 01 00000000:00000000 00:00000000 00000000 {user:5} 0 587547 1 0 100 0 0"


@pytest.fixture
def write_socket_table(tmp_path, monkeypatch):
    """Writes the tables of connections as Linux does, for a client at port 40000."""
    monkeypatch.setattr(peers, "TABLES", (tmp_path / "none", tmp_path / "tcp"))
    monkeypatch.setattr(sys, "byteorder", "little")

    def write(user, address="0100007F", port=40_000):
        (tmp_path / "tcp").write_text("  sl  local_address ...\n" + ROW.format(user=user, address=address, port=port))

    return write


@pytest.mark.parametrize(("user", "other"), [(1000, False), (0, False), (1001, True)])
@pytest.mark.parametrize("address", ["0100007F", "0000000000000000FFFF00000100007F"])
def test_only_us_and_root(write_socket_table, monkeypatch, user, other, address):
    write_socket_table(user, address)
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    assert peers.user_id(("127.0.0.1", 40_000), 0x22D5) == user
    assert peers.is_another_user(("127.0.0.1", 40_000), 0x22D5) is other
    assert peers.user_id(("127.0.0.2", 40_000), 0x22D5) is None
    assert peers.user_id(("127.0.0.1", 40_001), 0x22D5) is None
    assert peers.user_id(("127.0.0.1", 40_000), 0x22D6) is None


def test_where_nobody_knows_the_token_decides(tmp_path, monkeypatch):
    monkeypatch.setattr(peers, "TABLES", (tmp_path / "none",))
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    assert not peers.is_another_user(("127.0.0.1", 40_000), 8917)
    assert not peers.is_another_user(None, 8917)


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="only Linux tells")
def test_the_system_s_own_table_tells_us():
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        assert peers.user_id(client.getsockname(), server.getsockname()[1]) == os.getuid()


def test_another_user_is_refused_even_with_the_token(tmp_path, monkeypatch):
    with running_server(tmp_path) as explorer:
        seen = []
        monkeypatch.setattr(guard, "is_another_user", lambda client, port: seen.append((client[0], port)) or True)
        status, headers, body = Visitor(explorer).ask("GET", f"/?token={explorer.guard.token}")
        assert status == 403
        assert b"Another user of this computer" in body
        assert "set-cookie" not in headers
        assert seen == [("127.0.0.1", explorer.port)]
        monkeypatch.setattr(guard, "is_another_user", lambda client, port: False)
        assert Visitor(explorer).enter() == 200  # it has not been used up
