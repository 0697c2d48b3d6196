"""The command line begins here, whichever way it is called: Ctrl-C counts from the first import on."""

import sys


def main() -> None:
    """Run the command line."""
    try:
        from equinoise.cli import main as run
    except KeyboardInterrupt:
        said = "Stopped. Nothing more was written."
        print(f"Error: {said}", file=sys.stderr)
        if "--json" in sys.argv[1:]:
            print(f'{{"error": "{said}", "status": 130}}')
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
