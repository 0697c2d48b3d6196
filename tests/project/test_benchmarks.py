"""The parts of `make bench` at a size that takes a moment, so that they cannot rot. Nothing here is timed."""

import numpy as np
import pytest

from benchmarks import (
    bench_counting,
    bench_draws,
    bench_growth,
    bench_names,
    bench_plain,
    bench_schema,
    bench_solvers,
    bench_start,
    bench_tables,
    counting_side,
    growth,
    plain,
    run,
    schema_side,
)
from benchmarks.measuring import Goal, Part, at_least, at_most, holds, machine, side_by_side


def reached(part, words):
    """Whether the goals whose name has these words were reached, and there are some."""
    found = [goal.reached for goal in part.goals if words in goal.what]
    return bool(found) and all(found)


def test_the_plain_transcription_ends_where_best_response_does(monkeypatch):
    """In full, and on a share of its steps."""
    part = bench_plain.measure(people=(60,), repeats=1)
    assert reached(part, "the same equilibrium")
    monkeypatch.setattr(bench_plain, "WHOLE_UP_TO", 59)
    part = bench_plain.measure(people=(60,), steps=30, repeats=1)
    assert reached(part, "the same equilibrium")
    assert "60 of" in part.lines[-1]


def test_a_share_of_the_steps_notices_another_end():
    """Neither an end that people would leave nor another first round passes."""
    game = bench_plain.game_of(60)
    states = bench_plain.played(game)
    assert bench_plain.share(game, states, 60)[1]
    start = game.largest_scale_profile()
    assert not np.array_equal(start, states[-1].profile)
    elsewhere = type(states[-1])(0, 1, 0, start)
    assert not bench_plain.share(game, [*states[:-1], elsewhere], 60)[1]
    assert not bench_plain.share(game, [elsewhere, *states[1:], states[-1]], 60)[1]


def test_plain_players_move_as_whole_dynamics_do():
    game = bench_plain.game_of(40)
    players = plain.Everyone(game, game.largest_scale_profile())
    rounds = 1
    while any(list(players.round())):
        rounds += 1
    profile, number = plain.best_response_dynamics(game, game.largest_scale_profile())
    assert rounds == number
    assert np.array_equal(players.profile, profile)


def test_solvers():
    part = bench_solvers.measure(epsilons=(2.0,), generations=2, repeats=1)
    assert reached(part, "optimal proven")
    assert len(part.lines) == 1 + 3 + 3


def test_counting_is_the_same_on_every_side():
    part = bench_counting.measure(rows=3000, repeats=1)
    assert reached(part, "the same counts")
    assert len(part.lines) == 1 + 3 + len(counting_side.NEEDED)


def test_counting_would_notice_other_counts():
    one = {"seconds": 1.0, "processor": 1.0, "peak": 2**20, "counts": [1, 2]}
    told = {side: [one] for side in counting_side.NEEDED}
    assert all(goal.reached for goal in bench_counting.report(told, 3, 1).goals)
    told["duckdb", "ours"] = [{**one, "seconds": 1.4, "processor": 1.4, "peak": 2**31, "counts": [2, 1]}]
    missed = [goal.what for goal in bench_counting.report(told, 3, 1).goals if not goal.reached]
    assert [what.split(", ")[-1].split(" of all")[0] for what in missed] == [
        "by the clock", "of the processor", "peak memory", "the same counts",
    ]  # fmt: skip


def test_counting_by_a_schema_is_the_same_on_every_side():
    part = bench_schema.measure(rows=3000, repeats=1)
    assert reached(part, "the same counts")
    assert len(part.lines) == 1 + 3 + 12
    one = {"seconds": 1.0, "processor": 1.0, "peak": 2**20, "counts": [1, 2]}
    told = {(case, *side): [one] for case in schema_side.CASES for side in schema_side.SIDES}
    assert all(goal.reached for goal in bench_schema.report(told, 3, 1).goals)
    told["five", "duckdb", "ours"] = [{**one, "seconds": 1.6, "processor": 1.4, "counts": [2, 1]}]
    assert [goal.reached for goal in bench_schema.report(told, 3, 1).goals].count(False) == 2


def test_looking_for_names_that_repeat():
    part = bench_names.measure(rows=3000, text_rows=2000, repeats=1, engines=("duckdb",))
    assert reached(part, "repeated names are pointed out")
    assert reached(part, "peak memory")
    assert len(part.lines) == 1 + 3 + 6
    assert len(part.goals) == 3 + 3 + 1


def test_looking_would_notice_that_it_takes_longer():
    one = {"seconds": 1.0, "peak": 2**20, "told": False}
    sides = {side: [one] for side in bench_names.SIDES} | {"looked at": [{**one, "told": True}]}
    assert all(goal.reached for goal in bench_names.report({("parquet", 3, "polars"): sides}, 3, 3, 1).goals)
    sides["looked at"] = [{"seconds": 1.4, "peak": 2**31, "told": False}]
    missed = [
        goal.what for goal in bench_names.report({("parquet", 3, "polars"): sides}, 3, 3, 1).goals if not goal.reached
    ]
    assert len(missed) == 4


def test_a_file_of_several_row_groups(tmp_path, monkeypatch):
    import pyarrow.parquet as pq

    monkeypatch.setattr(bench_counting, "ROW_GROUP", 7)
    bench_counting.make_file(tmp_path / "rows.parquet", 20)
    made = pq.ParquetFile(tmp_path / "rows.parquet")
    assert (made.metadata.num_row_groups, made.metadata.num_rows) == (3, 20)
    sides = [
        counting_side.numpy_alone(tmp_path / "rows.parquet"),
        counting_side.ours("polars", tmp_path / "rows.parquet"),
    ]
    assert np.array_equal(*sides)


def test_draws():
    part = bench_draws.measure(n=500, repeats=1)
    assert len(part.goals) == 2
    assert len(part.lines) == 1 + 3 + 4


def test_growth():
    part = bench_growth.measure(
        people=(10**3, 10**4, 10**5), bins=(51, 201, 301), scales=(5, 8), joint_bins=(11, 21), asked=(), repeats=1
    )
    assert reached(part, "all ends are checked equilibria")
    assert sorted(part.pages) == ["growth.md"]
    assert {"## People", "## Bins", "## Scales", "## Two axes"} <= set(part.pages["growth.md"].splitlines())


def test_growth_of_the_whole_command():
    lines, goals = bench_growth.commands(((("heights",), 51), (("height", "weight"), 11)))
    assert len(lines) == 3 + 2
    assert all(goal.reached for goal in goals)


def test_exponents():
    assert growth.exponent([10, 100, 1000], [3.0, 300.0, 30000.0]) == pytest.approx(2)


def test_merged_goals_name_what_is_no_equilibrium():
    goals = [at_most("time", 2, 1.0), holds("bins", True), holds("people", False)]
    found = bench_growth.merged(goals)
    assert [goal.reached for goal in found] == [True, False]
    assert "people" in found[1].what


def test_start():
    assert len(bench_start.measure(repeats=1, few=1).goals) == 1


def test_tables():
    part = bench_tables.measure(methods=("pay-once",), many=(200,), growth=(100, 200), repeats=1, bins=4, fine=12)
    assert [goal.goal for goal in part.goals] == ["at most 10 s", "at most 10 s", "at most 2 times", "at most 60 s"]
    assert "| pay-once | 200 |" in "\n".join(part.lines)


def test_sides_take_turns_and_medians_are_of_each():
    clock, order = iter(range(100)), []
    sides = {name: lambda name=name: order.append(name) or name for name in "ab"}
    times, results = side_by_side(sides, 3, lambda: float(next(clock)))
    assert order == list("ababab")
    assert (times, results) == ({"a": 1.0, "b": 1.0}, {"a": "a", "b": "b"})


def test_goals_are_judged_by_their_figure():
    assert [at_least("", 10, figure).reached for figure in (9.99, 10)] == [False, True]
    assert [at_most("", 1.3, figure).reached for figure in (1.3, 1.31)] == [True, False]
    assert at_most("", 1.3, 1.304).measured == "1.30 times"


@pytest.mark.parametrize("good", [True, False])
def test_a_whole_run_writes_its_pages_and_a_missed_goal_is_its_status(tmp_path, monkeypatch, capsys, good):
    made = Part("Made up", ["words"], [Goal("speed", "at least 2", "3", good)], {"more.md": "more\n"})
    monkeypatch.setattr(run, "PARTS", {"made": lambda: made})
    assert run.main([], tmp_path) == (0 if good else 1)
    written = (tmp_path / "results.md").read_text()
    assert f"| speed | at least 2 | 3 | {'yes' if good else '**no**'} |" in written
    assert (tmp_path / "more.md").read_text() == "more\n"
    assert capsys.readouterr().out.strip() == f"{written}\nmore"


def test_named_parts_are_only_printed(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(run, "PARTS", {"made": lambda: Part("Made up", ["words"], [])})
    assert run.main(["made"], tmp_path) == 0
    assert list(tmp_path.iterdir()) == []
    assert run.main(["nothing"], tmp_path) == 2
    assert "no part 'nothing'. Name some of made" in capsys.readouterr().err


def test_the_machine_is_described_without_its_name():
    import platform

    assert "cores" in machine()
    assert (platform.node() or "?") not in machine()
