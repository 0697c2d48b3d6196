"""Runs a command beside a PostgreSQL server of its own, and ends the server whatever comes of it.

Called as ``python -m tests.helpers.postgresql_server COMMAND...``. The server is on a free loopback port, in a new
folder, and its address is in EQUINOISE_TEST_SERVER. The server does not run as root: then it is the user's postgres.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path


def newest_programs():
    """The folder of the newest server's programs."""
    return max(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))


@contextmanager
def running_server():
    """A server that ends when this does; its address."""
    folder = Path(tempfile.mkdtemp(prefix="postgresql"))
    as_server = []
    if os.getuid() == 0:
        shutil.chown(folder, "postgres")
        as_server = ["runuser", "-u", "postgres", "--"]
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    programs, data = newest_programs(), folder / "data"

    def run(*words):
        subprocess.run([*as_server, *words], check=True, stdout=subprocess.DEVNULL, cwd=folder)

    run(programs / "initdb", "-D", data, "-U", "postgres", "--auth=trust")
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder} -c max_connections=50"
    control = [programs / "pg_ctl", "-D", data, "-w"]
    run(*control, "-o", options, "-l", folder / "log", "start")
    try:
        yield f"postgresql://postgres@127.0.0.1:{port}"
    finally:
        run(*control, "-m", "immediate", "stop")
        shutil.rmtree(folder)


def main(command):
    with running_server() as server:
        return subprocess.run(command, env={**os.environ, "EQUINOISE_TEST_SERVER": server}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
