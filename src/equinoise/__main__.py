"""The command line begins here, whichever way it is called: Ctrl-C counts from the first import on.

Nothing is imported above :func:`main`, and next to nothing by the package itself: what comes before is Python's own.
"""


def main() -> None:
    """Run the command line. Its matrices are small: threads of linear algebra would only wait for each other."""
    try:
        import os

        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        from equinoise.cli.main import main as run

        run()
    except KeyboardInterrupt:
        stop()
    except SystemExit:
        ignore_interrupts()  # all is said; Python still takes a moment to end
        raise


def ignore_interrupts() -> None:
    """From here on, Ctrl-C changes nothing."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)


def stop() -> None:
    """The end that Ctrl-C leads to."""
    import sys

    ignore_interrupts()
    said = "Stopped. Nothing more was written."
    print(f"Error: {said}", file=sys.stderr)
    if "--json" in sys.argv[1:]:
        print(f'{{"error": "{said}", "status": 130}}')
    sys.exit(130)


if __name__ == "__main__":
    main()
