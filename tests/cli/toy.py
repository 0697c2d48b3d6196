"""A command that a test adds."""

import click


@click.command("toy", short_help="Say what it was given.")
@click.argument("word")
def command(word):
    """Say WORD."""
    click.echo(word)
