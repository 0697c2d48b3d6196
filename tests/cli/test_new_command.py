"""A command is added by its module and a line in the list of commands."""

import pytest

from equinoise import choices


@pytest.fixture
def toy(monkeypatch):
    monkeypatch.setitem(choices.COMMANDS, "toy", "tests.cli.toy")


@pytest.mark.usefixtures("toy")
def test_a_command_in_the_list_is_in_the_help_and_runs(run):
    status, out, _ = run("--help")
    assert status == 0
    assert "toy " in out
    assert "Say what it was given." in out
    assert run("toy", "hello") == (0, "hello\n", "")
    assert run("toy")[2] == "Error: Missing argument 'WORD'. See 'equinoise toy --help'.\n"


def test_without_it_there_is_none(run):
    status, _, err = run("toy", "hello")
    assert (status, err) == (2, "Error: No such command 'toy'. See 'equinoise --help'.\n")
