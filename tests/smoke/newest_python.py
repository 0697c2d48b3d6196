"""Prints the newest Python on this computer that Equinoise may run on: of those on the path, and of pyenv's."""

import os
import subprocess
import sys
from pathlib import Path

OLDEST = (3, 11)


def candidates():
    """Commands that may be a Python; some are stand-ins that cannot run."""
    folders = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    folders += sorted(pyenv.glob("versions/*/bin"))
    return [sys.executable, *(str(found) for folder in folders for found in sorted(folder.glob("python3.[0-9]*")))]


def version_of(command):
    """Its version, if it runs and is a released one that has what virtual environments need."""
    asks = (
        "import sys, ensurepip, venv; v = sys.version_info; v.releaselevel == 'final' and print(*v[:3], sys.executable)"
    )
    try:
        done = subprocess.run([command, "-c", asks], capture_output=True, text=True, timeout=20, check=True)
        *numbers, path = done.stdout.strip().split(" ", 3)
        return (*map(int, numbers),), path
    except (OSError, ValueError, subprocess.SubprocessError):
        return (0, 0, 0), command


def newest():
    """The newest of them."""
    plain = {name for name in candidates() if not name.endswith("-config")}
    return max(version_of(name) for name in plain)


if __name__ == "__main__":
    version, path = newest()
    if version[:2] < OLDEST:
        sys.exit("There is no Python 3.11 or newer here.")
    print(path)
