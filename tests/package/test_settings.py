"""The table of settings: what is made from it agrees with it, and with the code that takes the settings."""

import dataclasses
import inspect
import subprocess
import sys
import typing
from pathlib import Path

import pytest

import equinoise
from docs_build import settings as page
from equinoise.analysis.compare import compare
from equinoise.choices import SEPARATOR_MARKS, SOLVERS, is_utility, load
from equinoise.cli.main import all_commands
from equinoise.data.schema import Schema
from equinoise.errors import BadInput
from equinoise.mechanisms.document import check_saved
from equinoise.present.command_line import command_line
from equinoise.settings import SAME_ROWS, SETTINGS, check_setting, check_settings, option_of
from equinoise.solvers.best_response import RESTARTS
from equinoise.solvers.genetic import GENERATIONS
from equinoise.solvers.optimal import TIME_LIMIT
from equinoise.solvers.procedure import Procedure

VERBS = {"optimize": equinoise.optimize, "synthesize": equinoise.synthesize, "plan": equinoise.plan, "compare": compare}
NO_SETTINGS = {"data", "start", "progress", "genetic", "save", "force", "book", "purpose", "not_private"}
OTHERWISE = {
    ("compare", "epsilon"), ("compare", "rows"), ("compare", "time_limit"), ("plan", "people"),
}  # fmt: skip
"""Settings that a command has otherwise than the table."""

OF_THEIR_OWN = {
    ("answer", "schema"), ("cost", "draws"), ("cost", "delta"), ("schema", "column"), ("schema", "epsilon"),
    ("book create", "epsilon"), ("book create", "delta"),
}  # fmt: skip
"""Options that are called like a setting and are none."""


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_takes_the_settings_of_the_table_with_its_defaults(verb):
    parameters = inspect.signature(VERBS[verb]).parameters
    taken = {name for name, setting in SETTINGS.items() if verb in setting.commands}
    names = {"epsilon" if name == "epsilons" else name for name in parameters if name not in NO_SETTINGS}
    assert names == taken
    for name in taken:
        if not SETTINGS[name].required and (verb, name) not in OTHERWISE:
            assert parameters[name].default == SETTINGS[name].default, name


def literals(hint):
    """Every value that a type lists, however deep."""
    if typing.get_origin(hint) is typing.Literal:
        return set(typing.get_args(hint))
    return set().union(*map(literals, typing.get_args(hint)))


CHOICES = {name: set(setting.offers) for name, setting in SETTINGS.items() if setting.offers} | {
    "rows": {SAME_ROWS},
    "separator": {*SEPARATOR_MARKS, *SEPARATOR_MARKS.values()},
    "utility": {name for name in ["kl", "js", "tv", "wasserstein", *(f"moments:{n}" for n in range(-1, 99))]
                if is_utility(name)},
}  # fmt: skip


MORE = [equinoise.audit, equinoise.private_bounds, equinoise.write_losses]


@pytest.mark.parametrize("verb", [*VERBS.values(), *MORE], ids=lambda verb: verb.__name__)
def test_types_list_what_the_table_offers(verb):
    hints, known = verb.__annotations__, inspect.unwrap(verb).__globals__
    taken = [name for name in CHOICES if name in hints and (name, verb) != ("rows", compare)]
    assert taken
    for name in taken:
        assert literals(eval(hints[name], known)) == CHOICES[name], name


@pytest.mark.parametrize("verb", [*VERBS.values(), *MORE[:2]], ids=lambda verb: verb.__name__)
def test_help_begins_with_an_example(verb):
    summary, example = inspect.getdoc(verb).split("\n\n")[:2]
    assert summary.endswith(".")
    assert example.startswith(">>> ")


@pytest.mark.parametrize("verb", VERBS)
def test_data_schema_and_column_need_no_names(verb):
    parameters = inspect.signature(VERBS[verb]).parameters.values()
    unnamed = [each.name for each in parameters if each.kind is not inspect.Parameter.KEYWORD_ONLY]
    assert unnamed == ["data", "schema", "column"][verb == "plan" :]


def test_a_procedure_has_settings_alone_with_the_same_defaults():
    for field in dataclasses.fields(Procedure):
        required = field.default is dataclasses.MISSING
        assert (None if required else field.default) == SETTINGS[field.name].default, field.name


def test_what_solvers_take_where_nothing_is_given_is_told():
    told = [float(SETTINGS[name].usual) for name in ("restarts", "generations", "time_limit")]
    assert told == [RESTARTS, GENERATIONS, TIME_LIMIT]


@pytest.mark.parametrize("name", all_commands())
def test_a_command_takes_the_options_of_the_table(name):
    options = {option.opts[0]: option for option in all_commands()[name].params}
    for setting, told in SETTINGS.items():
        if name not in told.commands:
            assert option_of(setting) not in options or (name, setting) in OF_THEIR_OWN
        elif (name, setting) not in OTHERWISE:
            option = options[option_of(setting)]
            assert option.name == setting
            assert option.help.startswith(told.help)
            assert option.required == told.required


@pytest.mark.parametrize("name", SETTINGS)
def test_defaults_and_names_that_are_offered_are_accepted(name):
    setting = SETTINGS[name]
    offered = [value for value in setting.offers if not value.endswith(":")]
    for value in [*offered, *([] if setting.default is None else [setting.default])]:
        check_setting(name, value)
    if setting.checks:
        with pytest.raises(BadInput, match=f"The '{name}' parameter must be "):
            check_setting(name, object())


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"epsilon": 0}, "The 'epsilon' parameter must be a finite number of at least 1e-09. Got 0 instead."),
        ({"epsilon": None}, "The 'epsilon' parameter must be a finite number of at least 1e-09. Got None instead."),
        ({"delta": 1e-10}, "The 'delta' parameter must be 0 or at least 1e-09. Got 1e-10 instead."),
        ({"delta": None}, "The 'delta' parameter must be a number from 0 to below 1. Got None instead."),
        ({"draws": True}, "The 'draws' parameter must be a whole number from 1 to 1000000000. Got True instead."),
        ({"order": 2, "delta": 0.1}, "The 'delta' parameter must be left out with a Renyi order. Got 0.1 instead."),
        (
            {"order": 2, "epsilon": 1e-7},
            "The 'epsilon' parameter must be at least 1e-06 with a Renyi order. Got 1e-07 instead.",
        ),
        (
            {"time_limit": 3, "solver": "genetic"},
            "The 'time_limit' parameter must be left out unless the solver is 'optimal'. Got 3 instead.",
        ),
        (
            {"generations": 3},
            "The 'generations' parameter must be left out unless the solver is 'genetic'. Got 3 instead.",
        ),
        (
            {"restarts": 3, "solver": "genetic"},
            "The 'restarts' parameter must be left out with the genetic solver. Got 3 instead.",
        ),
        ({"unit_rows": "one"}, "The 'unit_rows' parameter must be left out without a unit. Got 'one' instead."),
        (
            {"utility": "moments:11"},
            "The 'utility' parameter must be 'kl', 'js', 'tv', 'wasserstein' or 'moments:N' with N from 1 to 10. "
            "Got 'moments:11' instead.",
        ),
        ({"seed": -1}, "The 'seed' parameter must be a whole number from 0 to 2^64. Got -1 instead."),
    ],
    ids=str,
)
def test_a_value_that_cannot_be_is_refused_in_the_one_wording(values, sentence):
    with pytest.raises(BadInput) as refusal:
        check_settings(values)
    assert str(refusal.value) == sentence


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"public_bounds": 1},
        {"public_bounds": True, "renyi": 2.0},
        {"public_bounds": True, "engine": "polars"},
        {"public_bounds": True, "scales": [float("nan")]},
        {"public_bounds": True, "scales": {"a": [True]}},
        {"public_bounds": True, "column": [1]},
        {"public_bounds": True, "percentile": 2},
    ],
    ids=str,
)
def test_a_file_may_tell_saved_settings_alone_with_values_that_can_be(values):
    with pytest.raises(ValueError, match=r"settings|must be|compliant"):
        check_saved(values)
    told = {"public_bounds": True, "column": ["a", "b"], "scales": {"a": [1.0], "b": [2.0]}, "order": None}
    assert check_saved(told) is told


def test_a_command_leaves_out_defaults_and_what_its_verb_does_not_take():
    values = {"epsilon": 1.0, "draws": 1, "scales": [1.5, 20.0], "scale_per_column": True, "base": "BASE", "unit": None}
    schema = Schema.from_options(["a", "b c"], {"a": (0.0, 1.5)}, {"a": 0.5})
    found = command_line("optimize", "my data", schema, values, "x.eq")
    assert found == (
        "equinoise optimize 'my data' --column a --column 'b c' --bounds a 0 1.5 --step a 0.5 --epsilon 1 "
        "--scales 1.5,20 --scale-per-column --out x.eq"
    )
    assert "--base BASE" in command_line("synthesize", "d", schema, values, "x.eq")


def test_a_command_names_a_file_of_the_schema_where_options_cannot_say_it():
    columns = {"a": {"categories": ["x", "y"]}, "b": {"categories": ["x, y", "z"]}}
    said = command_line("optimize", "d", Schema.of({"columns": {"a": columns["a"]}}), {}, "x.eq")
    assert said == "equinoise optimize d --column a --categories a x,y --out x.eq"
    odd = [columns["b"], {"categories": [1, 2]}, {"bounds": [0, 1], "missing": "drop"}]
    for other in odd:
        said = command_line("optimize", "d", Schema.of({"columns": {"a": columns["a"], "b": other}}), {}, "x.eq")
        assert said == "equinoise optimize d --schema SCHEMA.toml --out x.eq"


def test_the_page_is_what_the_table_says():
    assert Path("docs/settings.md").read_text() == page.page()


def test_solvers_declare_settings_that_are_in_the_table():
    declared = {
        name: load(SOLVERS, solver).SETTINGS[name] for solver in SOLVERS for name in load(SOLVERS, solver).SETTINGS
    }
    assert set(declared) == {name for name, setting in SETTINGS.items() if setting.of_solver}
    assert {name: f"{default:g}" for name, default in declared.items()} == {n: SETTINGS[n].usual for n in declared}


def test_the_table_loads_nothing_heavy():
    code = "import sys, equinoise.settings; print([m for m in ('numpy', 'click', 'pydantic') if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"


@pytest.mark.parametrize("value", [["kl"], {"a": [1]}, b"kl", 1j, object()], ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("name", ["utility", "noise", "solver", "engine", "missing", "outside", "unit_rows", "epsilon"])
def test_a_value_of_any_type_is_refused_in_words(name, value):
    with pytest.raises(BadInput, match=f"The '{name}' parameter must be"):
        check_setting(name, value)
