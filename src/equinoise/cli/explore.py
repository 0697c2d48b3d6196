"""``equinoise explore``: a page on this computer for choosing epsilon and the other settings."""

from __future__ import annotations

import sys
from contextlib import closing, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from equinoise.cli.options import FILE_PATH, parse_columns, setting_options
from equinoise.errors import BadInput
from equinoise.formatting import printable

PAGE_IS_SECRET = "The page shows private data. Its address opens one browser, once. Ctrl-C ends it."
EXIT = "Exit status: 0 ended by Ctrl-C; 2 bad input, or the port is in use."


@click.command("explore", epilog=EXIT, short_help="Try settings on a page on this computer.")
@click.argument("data", type=FILE_PATH)
@setting_options(
    "explore",
    bins={
        "type": str,
        "default": None,
        "help": "Numbers of bins to choose among on the page, all counted in the same pass.  [default: "
        "26,51,101,201,401; with several columns fewer]",
    },
)
@click.option("--port", type=int, default=0, show_default=True, help="Of the page; 0 is any free one.")
@click.option("--browser/--no-browser", default=True, help="Open the page in a browser.  [default: --browser]")
@click.option("--json", "as_json", is_flag=True, help="Print the address in one JSON object on stdout.")
def command(
    data: Path, bins: str | None, port: int, browser: bool, as_json: bool, **counting: Any,
) -> None:  # fmt: skip
    """Count a column of DATA, or several, once, then try settings on a page: what each gives, and what it costs.

    The page is served on this computer alone (127.0.0.1). The address that is printed holds a token that opens one
    browser, once. Mechanisms that are saved go to the folder where this was started. Ctrl-C ends it.

    \b
    Examples:
      equinoise explore pay.csv --column pay --bounds pay 0 4000
      equinoise explore 'parts/*.parquet' --bounds pay 0 4000 --engine duckdb --port 8800 --no-browser
      equinoise explore people.csv --bounds height 120 230 --bounds weight 30 200 --bins 26,51
    """
    if find_spec("starlette") is None or find_spec("uvicorn") is None:
        raise BadInput("The page needs a small web server: pip install 'equinoise[explore]'.")
    from equinoise.explore.counts import count_columns
    from equinoise.explore.server import Explorer, open_socket
    from equinoise.explore.worker import end_preloaded, preload
    from equinoise.present import terminal

    parse_columns(counting)
    with closing(open_socket(port)) as opened:
        preload()
        with terminal.task_progress("Counting"):
            numbers = None if bins is None else _whole_numbers(bins)
            counted = count_columns(data, bins=numbers, **counting)
        for warning in counted.warnings:
            click.echo(f"Warning: {printable(warning)}", err=True)
        explorer = Explorer(counted, opened, folder=Path.cwd())

        def ready() -> None:
            if as_json:
                terminal.print_json({"address": explorer.address, "port": explorer.port, "people": counted.people})
            else:
                click.echo(explorer.address)
            sys.stdout.flush()
            click.echo(f"{counted.people:,} people counted. {PAGE_IS_SECRET}", err=True)
            if browser:
                _open_browser(explorer.address)

        with suppress(KeyboardInterrupt):
            explorer.serve_page(ready)
        end_preloaded()
    click.echo("Ended.", err=True)


def _open_browser(address: str) -> None:
    """In the background: some browsers keep the command that opened them waiting."""
    import threading
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()


def _whole_numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise BadInput(f"--bins must be whole numbers such as 51,101, with commas. Got {text[:60]!r}.") from None
