"""``python -m equinoise``: the command line."""

from equinoise.cli import main

if __name__ == "__main__":
    main()
