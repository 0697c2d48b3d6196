"""What a page gets done: results, cancelling, several tabs, saving."""

import json
import multiprocessing
import os
import stat

import pytest

import equinoise
from equinoise.explore import tabs
from tests.helpers.explore_server import (
    LONG_REQUEST,
    PAY,
    Visitor,
    pay_file,
    pay_opening,
    pids_at_work,
    running_server,
    three_columns,
)
from tests.helpers.polling import wait_until


@pytest.fixture
def server_folder(explorer):
    """The folder in which the server saves files."""
    return explorer.tabs.folder


def gone(pid):
    """Whether a process has ended (or only waits to be counted as such)."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def begin_long(visitor, tab):
    """Something that takes a while, once its worker is at it."""
    connection = visitor.connect("POST", "/solve", {"tab": tab, "look": True, "settings": LONG_REQUEST})
    answer = connection.getresponse()
    assert json.loads(answer.readline())["kind"] == "plan"
    assert json.loads(answer.readline())["kind"] == "note"
    return connection, answer


def test_facts_tell_what_is_public_alone(visitor):
    found = json.loads(visitor.ask("GET", "/facts")[2])
    assert found["columns"] == [{"name": "pay", "included": True, "kind": "numbers", "bounds": [0, 100], "bins": 51}]
    assert "people" not in found
    assert (found["names"], found["unit"]) == (["pay"], None)
    assert found["methods"] == ["envelope", "pay-once", "aim"]


def test_a_result_has_all_that_the_page_shows(visitor):
    found = visitor.solve(verb="optimize", epsilon=1.0)
    kinds = [message["kind"] for message in found if message["kind"] != "note"]
    assert kinds == ["plan", "result", *["figure"] * 4, "drawn", "figure", "done"]
    names = [message["figure"]["name"] for message in found if message["kind"] == "figure"]
    assert names == ["distribution", "noise", "losses", "cost", "cost"]
    result = next(message for message in found if message["kind"] == "result")
    assert result["in_full"].startswith("Per-instance: for each of the 300 people")
    assert "--bins 51 --epsilon 1" in found[0]["command"]


def test_plan_only_reads_nothing_of_the_data(tmp_path, monkeypatch):
    path = pay_file(tmp_path)
    with running_server(tmp_path, pay_opening(tmp_path)) as running:
        path.unlink()  # whoever looks at it now is refused
        guest = Visitor(running)
        guest.enter()
        found = guest.solve(look=False, epsilon=1.0, rows=200, people=300)
        assert [message["kind"] for message in found if message["kind"] != "note"] == ["plan", "done"]
        plan = next(message for message in found if message["kind"] == "plan")
        assert plan["sentence"].startswith("Plan: pay-once")
        assert plan["too_small"] is False
        looked = guest.solve(look=True, epsilon=1.0, rows=200, people=300)
        assert looked[-1]["kind"] == "refused"
        assert "pay.csv" in looked[-1]["sentence"]


def test_without_data_the_plan_is_all_there_is(tmp_path):
    from equinoise.data.read_players import columns_asked_for
    from equinoise.explore.source import Opening, Source

    with running_server(tmp_path, Opening.of(Source(), columns_asked_for(PAY, None, None))) as running:
        guest = Visitor(running)
        guest.enter()
        assert guest.solve(look=False, epsilon=1.0, rows=2, people=300)[-1]["kind"] == "done"
        assert "there is the plan alone" in guest.solve(look=True, epsilon=1.0, rows=2)[-1]["sentence"]
        assert "there is the plan alone" in guest.publish()[-1]["sentence"]
        assert [path.name for path in tmp_path.iterdir()] == []


def test_data_is_counted_once_for_all_tabs_and_settings(tmp_path):
    path = pay_file(tmp_path)
    with running_server(tmp_path, pay_opening(tmp_path)) as running:
        guest = Visitor(running)
        guest.enter()
        guest.result("one", epsilon=1.0)
        path.unlink()
        assert guest.result("two", epsilon=0.5)["number"] == 2  # by what was counted for another tab
        other = {"columns": {"pay": {"bounds": [0, 100], "bins": 21}}}
        assert guest.solve(verb="optimize", schema=other, epsilon=1.0)[-1]["kind"] == "refused"


def test_numbers_move_with_epsilon(visitor):
    facts = [dict(fact[:2] for fact in visitor.result(epsilon=epsilon)["facts"]) for epsilon in (0.1, 1.0)]
    kl = [float(fact["KL from the original"]) for fact in facts]
    assert kl[0] > kl[1]


def test_refusals_are_the_command_line_s(visitor, explorer):
    (found,) = [m for m in visitor.solve(verb="optimize", epsilon=1e-5) if m["kind"] == "refused"]
    with pytest.raises(equinoise.PromiseNotMet) as theirs:
        equinoise.optimize(explorer.tabs._source.data, PAY, epsilon=1e-5)
    mine, both = (said.split("The least epsilon")[0] for said in (found["sentence"], str(theirs.value)))
    assert mine == both  # how near the least epsilon is known depends on the time there was
    assert "The least epsilon" in found["sentence"]
    assert found["status"] == 1
    assert visitor.solve(epsilon=-1)[-1]["status"] == 2


def test_rows_are_made_as_synthesize_makes_them(visitor, server_folder):
    *_, published, done = visitor.publish("my rows.csv", counts=True, rows=30, people=300)
    assert done["kind"] == "done"
    assert published["kind"] == "published"
    assert published["sentence"] == (
        "my rows.csv has 30 rows, which may be published, and so may my rows.counts.json. my rows.eq is as secret as "
        "the data."
    )
    rows = (server_folder / "my rows.csv").read_text().splitlines()
    assert (rows[0], len(rows)) == ("pay", 31)
    assert [row for (row,) in published["rows"]["rows"]] == rows[1:11]
    assert published["commands"] == ["equinoise report 'my rows.eq' --out report.html",
                                     "equinoise answer 'my rows.counts.json' mean:pay"]  # fmt: skip
    modes = {name: stat.S_IMODE((server_folder / name).stat().st_mode) for name in ("my rows.csv", "my rows.eq")}
    assert modes == {"my rows.csv": 0o644, "my rows.eq": 0o600}
    made = equinoise.Mechanism.open(server_folder / "my rows.eq")
    assert (made.method, made.settings["people"], made.settings["rows"]) == ("pay-once", 300, 30)
    assert equinoise.Release.open(server_folder / "my rows.counts.json").counts.epsilon == 1.0


@pytest.mark.parametrize("taken", ["r.csv", "r.eq", "r.counts.json"])
def test_making_rows_replaces_nothing(visitor, server_folder, taken):
    (server_folder / taken).write_text("kept")
    before = sorted(server_folder.iterdir())
    refused = visitor.publish("r.csv", counts=True)[-1]
    assert refused["kind"] == "refused"
    assert "exists. Choose another name" in refused["sentence"]
    assert sorted(server_folder.iterdir()) == before
    assert (server_folder / taken).read_text() == "kept"
    (server_folder / taken).unlink()


def test_only_paid_once_there_are_counts_to_publish(visitor, server_folder):
    refused = visitor.publish("no.csv", counts=True, method="envelope")[-1]
    assert "Only the method pay-once has noisy counts" in refused["sentence"]
    assert visitor.publish("no.csv", verb="optimize", epsilon=1)[-1]["kind"] == "refused"
    assert not (server_folder / "no.csv").exists()


def test_rows_are_made_to_the_end_though_the_browser_leaves(visitor, explorer, server_folder):
    settings = {"schema": PAY, "epsilon": 1.0, "rows": 20, "people": 300}
    body = {"tab": "leaving", "name": "left behind.csv", "counts": False, "settings": settings}
    connection = visitor.connect("POST", "/publish", body)
    answer = connection.getresponse()
    answer.readline()
    answer.close()
    connection.close()
    wait_until("the rows to be there", (server_folder / "left behind.csv").exists)
    wait_until("the tab to be idle", lambda: pids_at_work(explorer) == [])


def test_the_schema_is_saved_as_a_file_of_it(visitor, server_folder):
    sent = {"columns": {"day": {"bounds": ["2024-01-01", "2024-12-31"]}, "ward": {"categories": ["a", "b"]}}}
    status, _, body = visitor.ask("POST", "/schema", {"name": "mine.toml", "schema": sent})
    assert (status, json.loads(body)) == (200, {"kind": "saved", "name": "mine.toml"})
    saved = equinoise.Schema.open(server_folder / "mine.toml")
    assert saved.to_json() == sent
    for name, schema, sentence in (
        ("mine.toml", sent, "exists"), ("mine.eq", sent, "ends in .toml"), ("../up.toml", sent, "ends in .toml"),
        ("x.toml", {"columns": {"day": {"bounds": [3, 1]}}}, "the lower one first"), ("x.toml", 3, "JSON object"),
    ):  # fmt: skip
        status, _, body = visitor.ask("POST", "/schema", {"name": name, "schema": schema})
        assert status == 400
        assert sentence in json.loads(body)["sentence"]


def test_a_new_request_of_a_tab_ends_the_one_before(explorer, visitor):
    connection, answer = begin_long(visitor, "busy")
    (pid,) = pids_at_work(explorer)
    assert visitor.result("busy", epsilon=1.0)
    assert json.loads(answer.read().splitlines()[-1])["kind"] == "cancelled"
    connection.close()
    wait_until("the worker to end", lambda: gone(pid))


def test_a_browser_that_goes_away_ends_its_work(explorer, visitor):
    connection, answer = begin_long(visitor, "left")
    (pid,) = pids_at_work(explorer)
    connection.close()
    answer.close()
    wait_until("the worker to end", lambda: gone(pid))
    wait_until("the tab to be idle", lambda: pids_at_work(explorer) == [])
    assert visitor.result("left", epsilon=1.0)  # and it can come back


def test_two_tabs_do_not_disturb_each_other(explorer, visitor, server_folder):
    connection, answer = begin_long(visitor, "slow")
    (pid,) = pids_at_work(explorer)
    first, second = visitor.result("left tab", epsilon=1.0), visitor.result("right tab", epsilon=0.5)
    assert not gone(pid)
    assert visitor.save(first["number"], "left.eq", "left tab")[0] == "saved"
    assert visitor.save(second["number"], "right.eq", "right tab")[0] == "saved"
    assert equinoise.Mechanism.open(server_folder / "left.eq").epsilon == 1.0
    assert equinoise.Mechanism.open(server_folder / "right.eq").epsilon == 0.5
    connection.close()
    answer.close()
    wait_until("the worker to end", lambda: gone(pid))


def test_a_worker_that_dies_is_replaced(explorer, visitor):
    visitor.result("fragile", epsilon=1.0)
    explorer.tabs._workers["fragile"].process.kill()
    wait_until("the worker to end", lambda: not explorer.tabs._workers["fragile"].process.is_alive())
    assert "no longer at hand" in visitor.save(1, "x.eq", "fragile")[1]["sentence"]
    assert visitor.result("fragile", epsilon=1.0)


def test_tabs_that_nobody_uses_make_room(explorer, visitor):
    for number in range(tabs.MOST_TABS + 3):
        assert visitor.solve(f"tab {number}", epsilon=-1)[-1]["kind"] == "refused"
    assert len(explorer.tabs._workers) <= tabs.MOST_TABS
    assert f"tab {tabs.MOST_TABS + 2}" in explorer.tabs._workers


def test_too_many_tabs_at_work_are_refused(explorer, visitor, monkeypatch):
    monkeypatch.setattr(tabs, "MOST_TABS", 1)
    connection, answer = begin_long(visitor, "one")
    (found,) = visitor.solve("two", epsilon=1.0)
    assert found["sentence"] == "1 tabs are at work already. Close some, or wait."
    connection.close()
    answer.close()
    wait_until("the tab to be idle", lambda: pids_at_work(explorer) == [])


def test_tabs_that_begin_at_once_are_as_many_at_most(explorer, visitor, monkeypatch):
    monkeypatch.setattr(tabs, "MOST_TABS", 2)
    asked = [{"tab": f"many {n}", "look": True, "settings": LONG_REQUEST} for n in range(6)]
    begun = [visitor.connect("POST", "/solve", body) for body in asked]
    answers = [connection.getresponse() for connection in begun]
    first = [json.loads(answer.readline()) for answer in answers]
    refused = [found["sentence"] for found in first if found["kind"] == "refused"]
    assert refused == ["2 tabs are at work already. Close some, or wait."] * 4
    assert len(pids_at_work(explorer)) == 2
    for opened in (*begun, *answers):
        opened.close()
    wait_until("the tabs to be idle", lambda: pids_at_work(explorer) == [])
    assert visitor.result("many 1", epsilon=1.0)  # there is room again


def test_reports_are_made_a_few_at_a_time(visitor, monkeypatch):
    monkeypatch.setattr(tabs, "MOST_REPORTS", 2)
    number = visitor.result(epsilon=0.7)["number"]
    assert visitor.save(number, "asked-for-often.eq")[0] == "saved"
    begun = [visitor.connect("GET", "/report/asked-for-often.eq") for _ in range(5)]
    answers = [connection.getresponse() for connection in begun]
    assert sorted(answer.status for answer in answers) == [200, 200, 400, 400, 400]
    said = {json.loads(answer.read())["sentence"] for answer in answers if answer.status == 400}
    assert said == {"2 reports are being made already. Wait for one of them."}
    for opened in (*begun, *answers):
        opened.close()


def test_a_saved_mechanism_is_optimize_s_and_private(visitor, server_folder):
    number = visitor.result(epsilon=0.7, draws=5)["number"]
    kind, found = visitor.save(number, "my pay.eq")
    assert (kind, found["name"]) == ("saved", "my pay.eq")
    assert found["commands"] == ["equinoise audit 'my pay.eq'", "equinoise sample 'my pay.eq' -n 1"]
    path = server_folder / "my pay.eq"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    saved = equinoise.Mechanism.open(path)
    assert (saved.epsilon, saved.draws, saved.ledger.spent) == (0.7, 5, 0)
    assert saved.settings["column"] == "pay"
    assert len(saved.sample(5)) == 5
    with pytest.raises(equinoise.BudgetSpent):
        saved.sample(1)


def test_nothing_is_replaced(visitor, server_folder):
    (server_folder / "there.eq").write_bytes(b"kept")
    os.symlink(server_folder / "nowhere", server_folder / "link.eq")
    number = visitor.result(epsilon=1.0)["number"]
    for name in ("there.eq", "link.eq"):
        kind, found = visitor.save(number, name)
        assert kind == "refused"
        assert found["sentence"] == f"The file '{name}' exists. Choose another name: nothing is replaced from here."
    assert (server_folder / "there.eq").read_bytes() == b"kept"
    assert not (server_folder / "nowhere").exists()
    assert visitor.save(number, "free.eq")[0] == "saved"


def test_a_mechanism_is_saved_once(visitor):
    number = visitor.result(epsilon=1.0)["number"]
    assert visitor.save(number, "once.eq")[0] == "saved"
    kind, found = visitor.save(number, "twice.eq")
    assert kind == "refused"
    assert "is saved as" in found["sentence"]


@pytest.mark.parametrize(
    "name",
    ["../up.eq", "/tmp/root.eq", "a/b.eq", "..\\up.eq", ".hidden.eq", ".eq", "pay.csv", "pay", "", "a\0.eq", "a\n.eq",
     "x" * 100 + ".eq", "-n.eq", "~.eq", "pay.eq/", None, 3, ["a.eq"], "a\ud800.eq"],
)  # fmt: skip
def test_only_plain_names_are_written(visitor, server_folder, name):
    number = visitor.result(epsilon=1.0)["number"]
    before = sorted(server_folder.iterdir())
    kind, found = visitor.save(number, name)
    assert kind == "refused"
    assert "ends in .eq, such as pay.eq" in found["sentence"]
    assert sorted(server_folder.iterdir()) == before


def test_only_what_is_shown_can_be_saved(visitor):
    old = visitor.result(epsilon=1.0)["number"]
    new = visitor.result(epsilon=0.5)["number"]
    for number, tab in ((old, "one"), (new, "another"), (0, "one")):
        kind, found = visitor.save(number, "old.eq", tab)
        assert kind == "refused"
        assert "no longer at hand" in found["sentence"]
    assert "'number' parameter" in visitor.save("1", "old.eq")[1]["sentence"]


def test_what_is_not_worked_out_cannot_be_saved(visitor):
    connection, answer = begin_long(visitor, "early")
    assert "not worked out to the end" in visitor.save(1, "early.eq", "early")[1]["sentence"]
    connection.close()
    answer.close()


def test_a_folder_that_cannot_be_written(tmp_path):
    with running_server(tmp_path / "missing", pay_opening(tmp_path)) as other:
        guest = Visitor(other)
        guest.enter()
        kind, found = guest.save(guest.result(epsilon=1.0)["number"], "x.eq")
        assert kind == "refused"
        assert "cannot be written" in found["sentence"]
        assert guest.publish()[-1]["kind"] == "refused"


def test_the_report_of_a_saved_mechanism(visitor):
    number = visitor.result(epsilon=0.7)["number"]
    assert visitor.save(number, "told.eq")[0] == "saved"
    status, headers, body = visitor.ask("GET", "/report/told.eq", headers={"Accept": "text/html"})
    assert status == 200
    page = body.decode()
    assert "for each of the 300 people in this dataset, the privacy loss of one draw is at most 0.7" in page
    assert "Contains private data" in page
    policy = headers["content-security-policy"]
    assert policy.startswith("sandbox allow-scripts")  # it cannot ask this server for anything
    assert "default-src 'none'" in policy
    assert "allow-same-origin" not in policy


@pytest.mark.parametrize("name", ["none.eq", "..%2fup.eq", "pay.csv", "damaged.eq"])
def test_no_report_of_anything_else(visitor, server_folder, name):
    (server_folder / "damaged.eq").write_bytes(b"no mechanism")
    status, _, body = visitor.ask("GET", f"/report/{name}")
    assert status in {400, 404, 409}
    assert json.loads(body)["sentence"]


def test_a_browser_that_does_not_wait_for_a_report_ends_it(explorer, visitor):
    number = visitor.result(epsilon=0.7)["number"]
    assert visitor.save(number, "slow.eq")[0] == "saved"
    before = set(multiprocessing.active_children())
    connection = visitor.connect("GET", "/report/slow.eq")
    wait_until("the report to begin", lambda: set(multiprocessing.active_children()) > before)
    connection.close()
    wait_until("the report's worker to end", lambda: set(multiprocessing.active_children()) <= before)


def test_several_columns_with_categories_by_both_verbs(tmp_path):
    from equinoise.data.read_players import columns_asked_for
    from equinoise.explore.source import Opening, Source

    path, schema = three_columns(tmp_path)
    with running_server(tmp_path, Opening.of(Source(path), columns_asked_for(schema, None, None))) as running:
        guest = Visitor(running)
        guest.enter()
        dropping = {"columns": {name: {**column, "missing": "drop"} for name, column in schema["columns"].items()}}
        messages = guest.solve(verb="optimize", epsilon=3.0, schema=dropping)
        kinds = [message["kind"] for message in messages if message["kind"] != "note"]
        assert kinds == ["plan", "result", *["figure"] * 5, "drawn", "figure", "done"]
        played = next(message for message in messages if message["kind"] == "result")
        assert played["left_out"][0] == "Left out: 2 of 300 rows (0.667 %), by column: 'ward' 2 missing."
        assert guest.save(played["number"], "three.eq")[0] == "saved"
        assert equinoise.Mechanism.open(tmp_path / "three.eq").sample(1).shape == (1, 3)
        status, _, body = guest.ask("GET", "/report/three.eq", headers={"Accept": "text/html"})
        assert status == 200
        assert "Private draws of" in body.decode()
        private = guest.solve(epsilon=2.0, rows=3, schema=schema)
        assert private[-1]["kind"] == "done"
        result = next(message for message in private if message["kind"] == "result")
        assert result["promise"].startswith("Differential privacy with epsilon 2")
        assert result["left_out"][0] == "Left out: 2 of 300 rows (0.667 %), by column: 'ward' 2 missing."
        *_, published, _ = guest.publish("of three.csv", schema=schema, people=300, rows=3)
        assert published["rows"]["header"] == ["pay", "tall", "ward"]
