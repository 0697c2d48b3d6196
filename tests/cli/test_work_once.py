"""What costs time is worked out once: by counting calls."""

from collections import Counter
from dataclasses import replace

import pytest
from click.testing import CliRunner

import equinoise
from equinoise.cli.main import cli
from equinoise.game import equilibrium
from equinoise.game.game import Game
from equinoise.mechanisms import envelope_table, profile_weights, quantities
from equinoise.solvers import best_response
from tests.helpers.mechanism_of_every_kind import MECHANISM_KINDS, PEOPLE, make_mechanism, mechanism

PARTS = {
    (profile_weights, "certify"): "certificate",
    (envelope_table, "certify_envelope"): "certificate",
    (profile_weights, "losses"): "losses",
    (envelope_table, "each_without_one"): "losses",
    (profile_weights.ProfileWeights, "_added_up"): "sums",
    (quantities, "metrics"): "metrics",
    (quantities, "distances"): "metrics",
}


def watch(monkeypatch, parts):
    """Counts the calls of each part from now on."""
    calls = Counter()
    for (owner, name), part in parts.items():
        plain = getattr(owner, name)

        def counted(*given, plain=plain, part=part, **named):
            calls[part] += 1
            return plain(*given, **named)

        monkeypatch.setattr(owner, name, counted)
    return calls


COMMANDS = {
    "show": {"certificate": 1, "sums": 1},
    "audit": {"certificate": 1, "sums": 1, "losses": 1},
    "audit --json": {"certificate": 1, "sums": 1, "losses": 1},
    "report --figure losses --out a.svg": {"certificate": 1, "sums": 1, "losses": 1},
    "report --out a.html --public": {"certificate": 1},
    "report --out a.html": {"certificate": 1, "sums": 1, "losses": 1, "metrics": 3},
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("kind", MECHANISM_KINDS)
def test_a_saved_mechanism_is_certified_and_added_up_once(tmp_path, monkeypatch, kind, command):
    monkeypatch.chdir(tmp_path)
    replace(mechanism(kind), ledger=None).save(tmp_path / "a.eq")
    for tier in (equinoise.PerInstance, envelope_table.EnvelopeTable):  # other epsilons are other games
        monkeypatch.setattr(tier, "kl_at", lambda *given, **named: None)
    calls = watch(monkeypatch, PARTS)
    name, *options = command.split()
    done = CliRunner().invoke(cli, [name, "a.eq", *options])
    assert done.exit_code == 0, done.output
    wanted = dict(COMMANDS[command])
    if kind == "differential-privacy":
        wanted.pop("sums", None)
    assert calls == wanted


@pytest.mark.parametrize("kind", [kind for kind in MECHANISM_KINDS if kind != "differential-privacy"])
def test_a_solution_is_looked_at_once_on_its_way_to_a_file(tmp_path, monkeypatch, kind):
    parts = {(Game, name): name for name in ("sums", "losses", "divergence", "kl")}
    parts[equilibrium, "is_equilibrium"] = "is_equilibrium"
    calls = watch(monkeypatch, {**PARTS, **parts})
    solve = best_response.solve

    def forgotten(*given, **named):
        found = solve(*given, **named)
        calls.clear()
        return found

    monkeypatch.setattr(best_response, "solve", forgotten)
    made = make_mechanism(kind, PEOPLE)
    made.save(tmp_path / "a.eq")
    made.summary()
    wanted = Counter({"certificate": 1, "losses": 1, "metrics": 3})  # its own, and of two other methods
    assert calls == wanted | Counter({"sums": 2})  # of the game, for who is protected, and of the mechanism
