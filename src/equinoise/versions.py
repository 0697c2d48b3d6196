"""The versions of the package and of everything else that decides what comes out."""

from __future__ import annotations

from equinoise import __version__

PACKAGES = ("numpy", "numba", "polars", "highspy", "pygad", "altair", "vl-convert-python")


def versions(*more: str) -> dict[str, str]:
    """Versions as installed now, of more packages too, and the machine's architecture."""
    import platform
    from importlib.metadata import PackageNotFoundError, version

    found = {"equinoise": __version__, "Python": platform.python_version(), "machine": platform.machine()}
    for package in (*PACKAGES, *more):
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # an installation without metadata
            found[package] = "unknown"
    return found
