"""``equinoise explore``: a page on this computer for the plan, the settings and the schema, and for making rows."""

from __future__ import annotations

import sys
from contextlib import closing, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from equinoise.cli.options import FILE_PATH, parse_columns, setting_options
from equinoise.errors import BadInput

PAGE_IS_SECRET = (
    "Until 'Plan only' is switched off, the page shows nothing of the data. Its address opens one browser, once. "
    "Ctrl-C ends it."
)
EXIT = "Exit status: 0 ended by Ctrl-C; 2 bad input, or the port is in use."


@click.command("explore", epilog=EXIT, short_help="Plan and try settings on a page on this computer.")
@click.argument("data", type=FILE_PATH, required=False)
@setting_options("explore")
@click.option("--port", type=int, default=0, show_default=True, help="Of the page; 0 is any free one.")
@click.option("--browser/--no-browser", default=True, help="Open the page in a browser.  [default: --browser]")
@click.option("--json", "as_json", is_flag=True, help="Print the address in one JSON object on stdout.")
def command(data: Path | None, port: int, browser: bool, as_json: bool, **settings: Any) -> None:
    """Plan a release of DATA on a page, fill in its schema, and make rows; or try the game.

    The page begins with the plan, which needs no data; only with 'Plan only' switched off is the data counted and
    shown. Without DATA there is the plan alone, of a --schema. It is served on this computer alone (127.0.0.1). The
    address that is printed holds a token that opens one browser, once. Files are written to the folder where this was
    started. Ctrl-C ends it.

    \b
    Examples:
      equinoise explore people.csv --schema people.toml
      equinoise explore pay.csv --bounds pay 0 4000
      equinoise explore --schema people.toml
      equinoise explore 'parts/*.parquet' --engine duckdb --port 8800 --no-browser
    """
    if find_spec("starlette") is None or find_spec("uvicorn") is None:
        raise BadInput("The page needs a small web server: pip install 'equinoise[explore]'.")
    from equinoise.data.read_players import columns_asked_for
    from equinoise.explore.server import Explorer, open_socket
    from equinoise.explore.source import Opening, Source
    from equinoise.explore.worker import end_preloaded, preload
    from equinoise.present import terminal

    parse_columns(settings)
    read = {name: settings.pop(name) for name in ("engine", "engine_address", "separator", "decimal")}
    with closing(open_socket(port)) as opened:
        opening = Opening.of(Source(data, **read), columns_asked_for(**settings, complete=False))
        preload()
        explorer = Explorer(opening, opened, folder=Path.cwd())

        def ready() -> None:
            if as_json:
                terminal.print_json({"address": explorer.address, "port": explorer.port})
            else:
                click.echo(explorer.address)
            sys.stdout.flush()
            click.echo(PAGE_IS_SECRET, err=True)
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
