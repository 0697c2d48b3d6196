"""The local page in a real browser: whole releases of both verbs, what it shows and what it does not."""

import json
import signal
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest
from playwright.sync_api import expect

from tests.browser.conftest import (
    PHONE,
    WIDE,
    entered,
    fact_value,
    keep,
    look_at_the_data,
    no_complaints,
    open_page,
    play_the_game,
    record_answers,
    running_command,
    wait_for_result,
)
from tests.helpers.polling import wait_until

GAME_FIGURES = ("distribution", "noise", "losses", "cost")


def plan_for(page, people, rows):
    """Say how many people and rows, and wait for the plan."""
    page.locator("#people").fill(str(people))
    page.locator("#rows").fill(str(rows))
    wait_for_result(page)


def test_rows_are_made_to_publish(page, run, folder):
    assert page.locator("h1").inner_text() == "Plan a release"
    assert page.locator("#source").inner_text() == "From wage.csv."
    assert page.get_by_label("Rows to publish").is_checked()
    assert page.locator("#plan-sentence").inner_text().startswith("Say about how many people there are")
    plan_for(page, 935, 30)
    assert page.locator("#plan-sentence").inner_text().startswith("Plan: pay-once")
    assert page.locator("#plan-tables table").count() == 2
    page.locator("#slider").focus()
    for _ in range(6):
        page.keyboard.press("ArrowLeft")
    assert page.locator("#epsilon").input_value() == "0.5"
    assert page.locator("#slider").get_attribute("aria-valuetext") == "0.5"
    wait_for_result(page)
    assert "--epsilon 0.5 --rows 30 --people 935" in page.locator("#command").inner_text()

    look_at_the_data(page)
    assert page.locator("#promise").inner_text().startswith("Differential privacy with epsilon 0.5 for everything")
    assert "an example, drawn for this page alone" in page.locator("#example").inner_text()
    page.get_by_label("Publish the noisy counts, too").check()
    told = keep(page, "release.csv", "Make")
    assert "release.csv has 30 rows, which may be published, and so may release.counts.json" in told
    assert "release.eq is as secret as the data" in told

    with page.expect_popup() as opened:
        page.get_by_role("link", name="Open the report").click()
    report = opened.value
    report.wait_for_load_state()
    assert "Differential privacy with epsilon" in report.locator("body").inner_text()
    assert report.evaluate("window.origin") == "null"  # in a sandbox: it cannot ask the server for anything

    wages = pl.read_csv(folder / "release.csv")["wage"]
    assert len(wages) == 30
    assert wages.is_between(0, 4000).all()
    first = page.locator("#notice td").all_inner_texts()
    assert list(map(float, first)) == wages[:10].to_list()
    status, out, _ = run("audit", "release.eq", "--data", "wage.csv", "--json")
    assert status == 0, out
    for next_command in page.locator("#notice pre").inner_text().splitlines():
        assert run(*next_command.split()[1:])[0] == 0
    command = page.locator("#command").inner_text().replace("mechanism.eq", "same.eq").replace("rows.csv", "same.csv")
    assert run(*command.split()[1:])[0] == 0
    ours, theirs = (json.loads(run("show", name, "--json")[1]) for name in ("release.eq", "same.eq"))
    unlike = {"method", "plan"}  # whoever wants the counts has asked for the method that has them
    ours["settings"], theirs["settings"] = (
        {name: value for name, value in each["settings"].items() if name not in unlike} for each in (ours, theirs)
    )
    assert ours["settings"] == theirs["settings"]
    assert ours["epsilon"] == theirs["epsilon"] == 0.5


def test_the_game_is_played_and_saved(page, run):
    page.get_by_label("The paper’s game").check()
    wait_for_result(page)
    assert page.locator("#plan-sentence").inner_text().endswith("so nothing can be said of it without data.")
    assert page.locator("#save").is_disabled()
    look_at_the_data(page)
    assert page.locator("#promise").inner_text().startswith("Each person in this dataset has a loss of at most 1 ")
    assert fact_value(page, "people protected") == "935"
    before = float(fact_value(page, "KL from the original"))
    page.get_by_label("Epsilon: the loss").fill("0.5")
    wait_for_result(page)
    assert float(fact_value(page, "KL from the original")) > before
    assert float(fact_value(page, "worst loss of one draw")) <= 0.5

    told = keep(page, "game.eq", "Save")
    assert told.startswith("Saved game.eq. It holds the histogram and is as secret as the data.")
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Open the report").click()
    opened.value.wait_for_selector("svg.marks")
    status, out, _ = run("audit", "game.eq", "--data", "wage.csv", "--json")
    assert status == 0
    assert json.loads(out)["people"] == 935
    command = page.locator("#command").inner_text().replace("mechanism.eq", "same-game.eq")
    assert run(*command.split()[1:])[0] == 0
    ours, theirs = (json.loads(run("show", name, "--json")[1]) for name in ("game.eq", "same-game.eq"))
    assert ours["profile"] == theirs["profile"]
    assert len(json.loads(run("sample", "game.eq", "-n", 1, "--json")[1])["rows"]) == 1
    assert run("sample", "game.eq", "-n", 1)[0] == 1  # spent


def test_nothing_of_the_data_is_shown_or_sent_until_that_is_asked_for(men_context, men_explorer, folder):
    page = men_context.new_page()
    bodies = record_answers(page)
    page.goto(men_explorer.home)
    wait_for_result(page)
    assert page.get_by_label("Plan only").is_checked()
    assert page.locator("#band").inner_text() == "Plan only. Nothing on this page comes from a value of the data."
    leak = page.locator("#leak")
    assert "depend on it, and are themselves a leak. To publish, choose them by the plan." in leak.inner_text()
    men = pl.read_csv(folder / "men.csv")
    values = {*map(str, men["wage"]), *men["hired"], *men["household"]}
    page.get_by_label("The paper’s game").check()
    wait_for_result(page)
    page.get_by_label("Rows to publish").check()
    page.locator("#people").fill("935")
    wait_for_result(page)
    keep(page, "unseen.csv", "Make")  # rows that may be published are shown; the report of the data is not at hand
    assert page.locator("#report").count() == 0
    mind = page.get_by_text("rows have only 748 different values")  # of households, which is a warning
    assert mind.is_hidden()
    page.get_by_text("What to mind, which says something of the data").click()
    assert mind.is_visible()
    page.locator("#name").fill("unseen.csv")
    page.get_by_role("button", name="Make", exact=True).click()
    expect(page.locator("#notice")).to_contain_text("exists. Choose another name")
    kinds = {json.loads(line)["kind"] for url, body in bodies if "/solve" in url for line in body.splitlines()}
    assert kinds <= {"note", "plan", "done", "cancelled"}
    assert any("/facts" in url for url, _ in bodies)
    everything = "".join(body for url, body in bodies if "/files/" not in url) + page.content()
    assert [value for value in values if value in everything] == []
    assert page.locator("#shown").is_hidden()
    assert page.locator("figure:visible").count() == 0

    look_at_the_data(page)
    assert page.locator("#band").inner_text().startswith("Contains private data.")
    assert leak.is_visible()
    assert page.locator("#shown").is_visible()
    page.get_by_label("Plan only").check()  # and away it goes
    assert page.locator("#shown").is_hidden()
    page.close()


def test_without_data_there_is_the_plan_alone(browser, folder):
    with (
        running_command(folder, "--schema", "men.toml") as running,
        entered(browser, running) as context,
        no_complaints(context, running.port),
    ):
        page = open_page(context, running)
        assert page.locator("#source").inner_text() == "No data was named, so there is the plan alone."
        only = page.get_by_label("Plan only")
        assert only.is_checked()
        assert only.is_disabled()
        for verb in ("The paper’s game", "Rows to publish"):
            page.get_by_label(verb).check()
            wait_for_result(page)
            assert page.locator("#save").is_disabled()
        assert page.locator("#command").inner_text().startswith("equinoise synthesize DATA --column wage")


@pytest.fixture(scope="module")
def blank_explorer(folder):
    """The command for a file of which nothing was said, running."""
    with running_command(folder, "men.csv") as running:
        yield running


@pytest.fixture(scope="module")
def blank_browser(browser, blank_explorer):
    with entered(browser, blank_explorer) as opened:
        yield opened


@pytest.fixture
def blank_page(blank_browser, blank_explorer):
    """The page of that file, in which everything is still to be filled in."""
    with no_complaints(blank_browser, blank_explorer.port):
        page = blank_browser.new_page()
        page.goto(blank_explorer.home)
        page.wait_for_selector("#refused:not([hidden])")
        yield page
        page.close()


def column(page, name):
    """The fields of a column, by its name."""
    return page.locator("fieldset.column", has=page.get_by_role("checkbox", name=name, exact=True))


def take(page, name, **fields):
    """Tick a column and write into its fields."""
    card = column(page, name)
    card.get_by_role("checkbox").check()
    for label, value in fields.items():
        place = card.get_by_label(label.replace("_", " "))
        if label in {"Kind", "missing_values", "values_outside"}:
            place.select_option(label=value)
        else:
            place.fill(value)
    return card


def test_a_schema_is_filled_in_and_saved(blank_page, run, folder):
    page = blank_page
    assert page.locator("#refused").inner_text().startswith("Tick the columns to take, and fill in what is public")
    boxes = page.locator("fieldset.column").get_by_role("checkbox")
    assert boxes.count() == 5
    assert not any(box.is_checked() for box in boxes.all())
    take(page, "wage", Kind="number", **{"from": "0", "to": "4000"}, step="10", bins="10")
    region = take(page, "region", Kind="category", categories="Northmark\nSouthhaven\n\n Overseas ")
    region.get_by_label("missing values").select_option(label="a category of its own")
    assert region.get_by_label("from").is_hidden()
    assert region.get_by_label("values outside").locator("option").all_inner_texts()[0] == "usual: drop"
    hired = take(page, "hired", Kind="date")
    assert hired.get_by_label("from").get_attribute("placeholder") == "2024-01-01"
    hired.get_by_label("from").fill("2024-01-01")
    hired.get_by_label("to").fill("2024-12-31")
    hired.get_by_label("bins").fill("6")
    assert not column(page, "hours").locator(".fields").is_visible()  # left out
    wait_for_result(page)
    assert "men.csv --schema SCHEMA.toml --epsilon 1 " in page.locator("#command").inner_text()

    page.locator("#schema-name").fill("mine.toml")
    page.get_by_role("button", name="Save the schema").click()
    expect(page.locator("#schema-saved")).to_have_text("Saved mine.toml.")
    saved = (folder / "mine.toml").read_text()
    assert "hours" not in saved
    assert "2024-12-31" in saved
    status, out, err = run("plan", "--schema", "mine.toml", "--people", 900, "--rows", 100, "--epsilon", 2)
    assert (status, err) == (0, err)
    assert "Plan: " in out
    page.get_by_role("button", name="Save the schema").click()
    expect(page.locator("#schema-saved")).to_contain_text("exists")


def test_rows_of_one_person_share_a_unit(blank_page, folder):
    page = blank_page
    take(page, "hours", **{"from": "0", "to": "100"}, step="1")
    each = page.get_by_label("and so many of them count")
    assert each.is_hidden()
    page.get_by_label("Rows of one person share").select_option("household")
    each.fill("2")
    wait_for_result(page)
    assert "--unit household" in page.locator("#command").inner_text()
    assert "--rows-per-person 2" in page.locator("#command").inner_text()
    page.locator("#schema-name").fill("households.toml")
    page.get_by_role("button", name="Save the schema").click()
    expect(page.locator("#schema-saved")).to_have_text("Saved households.toml.")
    assert 'unit = "household"' in (folder / "households.toml").read_text()
    keep(page, "households.csv", "Make")
    assert pl.read_csv(folder / "households.csv").columns == ["hours"]


@pytest.mark.parametrize(
    ("kind", "fields", "sentence"),
    [
        ("number", {"from": "100", "to": "0"}, "the lower one first"),
        ("number", {"from": "0", "to": "much"}, "much"),
        ("number", {}, "bounds"),
        ("number", {"from": "0", "to": "100", "step": "-1"}, "step"),
        ("number", {"from": "0", "to": "100", "bins": "many"}, "bins"),
        ("date", {"from": "2024-13-01", "to": "2024-12-31"}, "2024-13-01"),
        ("category", {"categories": "one\none"}, "one"),
        ("category", {"categories": ""}, "categories"),
    ],
)
def test_bad_schemas_are_refused_in_the_servers_words(blank_page, folder, kind, fields, sentence):
    page = blank_page
    answers = record_answers(page)
    take(page, "hours", Kind=kind, **fields)
    told = page.locator("#refused")
    expect(told).to_contain_text(sentence)
    last = json.loads(answers[-1][1].splitlines()[-1])
    assert (last["kind"], last["status"], last["sentence"]) == ("refused", 2, told.inner_text())
    assert page.locator("#save").is_disabled()
    if {"from", "step"} & set(fields):  # the same in a file; what is blank may be saved, to be filled in later
        page.locator("#schema-name").fill("bad.toml")
        page.get_by_role("button", name="Save the schema").click()
        expect(page.locator("#schema-saved")).to_contain_text(sentence)
        assert not (folder / "bad.toml").exists()


@pytest.fixture(scope="module")
def men_explorer(folder):
    """The command for three columns, one of them of categories, running."""
    with running_command(folder, "men.csv", "--schema", "men.toml") as running:
        yield running


@pytest.fixture(scope="module")
def men_browser(browser, men_explorer):
    with entered(browser, men_explorer) as opened:
        yield opened


@pytest.fixture
def men_context(men_browser, men_explorer):
    """A browser for its pages; the test fails if one of them complains."""
    with no_complaints(men_browser, men_explorer.port):
        yield men_browser
        for page in men_browser.pages:
            page.close()


@pytest.fixture
def men_page(men_context, men_explorer):
    return open_page(men_context, men_explorer)


def charts(page, figure):
    """How many charts of a figure are drawn."""
    return page.locator(f"#figure-{figure}:visible .chart svg").count()


def test_several_columns_and_categories_in_both_verbs(men_page, run, folder):
    page = men_page
    look_at_the_data(page)
    assert [charts(page, figure) for figure in ("distribution", "map", *GAME_FIGURES[1:])] == [3, 2, 0, 0, 0]
    told = page.locator("#statistics td:first-child").all_inner_texts()
    assert {"wage: mean", "region: Northmark", "region: Overseas", "hours: median"} <= set(told)
    keep(page, "three.csv", "Make")
    made = pl.read_csv(folder / "three.csv")
    assert made.columns == ["wage", "region", "hours"]
    assert set(made["region"]) <= {"Northmark", "Southhaven", "Overseas"}
    page.get_by_role("button", name="Close").click()
    assert page.locator("#notice").is_hidden()

    page.get_by_label("The paper’s game").check()
    wait_for_result(page)
    assert [charts(page, figure) for figure in ("distribution", "map", *GAME_FIGURES[1:])] == [3, 2, 3, 3, 1]
    together, wage = float(fact_value(page, "KL from the original")), float(fact_value(page, "KL of 'wage' alone"))
    assert 0 < wage <= together
    assert {"Northmark", "Southhaven"} <= set(page.locator("#figure-noise svg text").all_text_contents())
    column(page, "hours").get_by_role("checkbox").uncheck()
    wait_for_result(page)
    assert "hours" not in page.locator("#command").inner_text()
    assert [charts(page, figure) for figure in ("distribution", "map", *GAME_FIGURES[1:])] == [2, 0, 2, 2, 1]
    keep(page, "two.eq", "Save")
    status, out, _ = run("audit", "two.eq", "--data", "men.csv", "--json")
    assert status == 0
    assert json.loads(out)["people"] == 935
    for name in ("wage", "region"):
        column(page, name).get_by_role("checkbox").uncheck()
    expect(page.locator("#refused")).to_contain_text("Tick the columns to take")


def test_progress_of_a_slow_plan_is_shown_and_the_plan_can_be_left(men_page):
    page = men_page
    for name in ("wage", "hours"):
        column(page, name).get_by_label("bins").fill("")
    page.locator("#people").fill("900")
    expect(page.locator("#progress")).to_be_visible()
    expect(page.locator("#status")).to_contain_text("Working … ")
    assert page.locator("#results").get_attribute("aria-busy") == "true"
    page.locator("#people").fill("")
    wait_for_result(page)
    assert page.locator("#progress").is_hidden()
    assert page.locator("#plan-sentence").inner_text().startswith("Say about how many people")


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_what_was_written_is_told_where_the_eye_is(page, size):
    page.set_viewport_size(size)
    look_at_the_data(page)
    for number, where in enumerate(("0", "document.body.scrollHeight")):
        page.locator("#name").fill(f"seen-{size['width']}-{number}.csv")
        page.evaluate(f"window.scrollTo(0, {where})")
        page.evaluate("document.getElementById('save').click()")  # which a keyboard does without scrolling
        page.wait_for_selector("#notice pre")
        for part in ("#notice strong", "#notice td"):
            expect(page.locator(part).first).to_be_in_viewport()
        box = page.locator("#notice").bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= size["height"]
        assert page.locator("#notice td").count() == 10
        page.locator("#notice-close").scroll_into_view_if_needed()
        page.get_by_role("button", name="Close").click()


def test_charts_and_numbers_move_with_every_setting(page):
    play_the_game(page)

    def looks():
        return {figure: page.locator(f"#figure-{figure} .chart").inner_html() for figure in GAME_FIGURES}

    before = looks()
    column(page, "wage").get_by_label("bins").fill("51")
    wait_for_result(page)
    between = looks()
    page.get_by_label("Noise scales").select_option("paper")
    wait_for_result(page)
    after = looks()
    assert all(before[figure] != between[figure] != after[figure] for figure in GAME_FIGURES)
    promised = page.locator("#promise").inner_text()
    page.get_by_label("Epsilon: the loss").fill("3")
    wait_for_result(page)
    assert page.locator("#promise").inner_text() != promised
    assert "--bins 51 --epsilon 3 --scales paper" in page.locator("#command").inner_text()


def test_a_refusal_is_the_command_line_s_sentence(page, run):
    play_the_game(page)
    page.set_viewport_size(PHONE)
    page.get_by_label("Epsilon: the loss").fill("1e-5")
    expect(page.locator("#refused")).to_be_in_viewport()
    status, _, err = run("optimize", "wage.csv", "--bounds", "wage", 0, 4000, "--epsilon", "1e-5", "--out", "no.eq")
    assert status == 1
    ours, theirs = page.locator("#refused").inner_text(), err.splitlines()[-1].removeprefix("Error: ")
    assert ours.split(" The least epsilon")[0] == theirs.split(" The least epsilon")[0]  # found as far as time allows
    assert page.locator("#promise").is_hidden()
    assert page.locator("#save").is_disabled()
    page.get_by_label("Epsilon: the loss").fill("")
    expect(page.locator("#refused")).to_have_text("Give a number for epsilon.")
    page.get_by_label("Epsilon: the loss").fill("-1")
    status, _, err = run("optimize", "wage.csv", "--bounds", "wage", 0, 4000, "--epsilon", "-1", "--out", "no.eq")
    assert status == 2
    expect(page.locator("#refused")).to_contain_text(err.splitlines()[-1].removeprefix("Error: --epsilon"))
    page.get_by_label("Epsilon: the loss").fill("1")
    wait_for_result(page)
    assert page.locator("#refused").is_hidden()


def ask_for_long_work(page):
    """Many draws within one budget, on a fine grid with scales that adapt."""
    column(page, "wage").get_by_label("bins").fill("401")
    page.get_by_label("Noise scales", exact=True).select_option("adaptive")
    page.get_by_label("Delta", exact=True).fill("1e-6")
    page.get_by_label("Draws allowed").fill("500")
    expect(page.locator("#status")).to_contain_text("Working … ")


def test_work_can_be_left(page):
    play_the_game(page)
    ask_for_long_work(page)
    page.get_by_label("Plan only").check()
    wait_for_result(page)
    assert page.locator("#shown").is_hidden()
    assert page.locator("#save").is_disabled()


def processes(group):
    """Of a session that are running or sleeping."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if fields[2] == str(group) and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return set(found)


def test_a_tab_that_is_closed_mid_way_ends_its_work(page, context, explorer):
    before = processes(explorer.process.pid)
    other = open_page(context, explorer)
    play_the_game(other)
    ask_for_long_work(other)
    own = processes(explorer.process.pid) - before
    assert own
    other.close()
    wait_until("its worker to end", lambda: not own & processes(explorer.process.pid))
    assert page.locator("#plan").is_visible()


def test_two_tabs_show_their_own(page, context, explorer):
    other = context.new_page()
    other.goto(explorer.address)  # the token is used, but the cookie is there
    wait_for_result(other)
    assert "token" not in other.url
    look_at_the_data(other)
    other.get_by_label("Epsilon: the loss").fill("0.25")
    wait_for_result(other)
    assert "epsilon 0.25 " in other.locator("#promise").inner_text()
    assert page.locator("#shown").is_hidden()  # the switch of one tab is no switch of another
    assert "--epsilon 1 " in page.locator("#command").inner_text()
    for tab, name in ((page, "one.csv"), (other, "other.csv")):
        keep(tab, name, "Make")


def test_only_the_last_of_many_moves_is_shown(page):
    look_at_the_data(page)
    for epsilon in ("0.9", "0.8", "0.7", "0.6", "0.31"):
        page.get_by_label("Epsilon: the loss").fill(epsilon)
        page.wait_for_timeout(150)
    wait_for_result(page)
    assert "epsilon 0.31 " in page.locator("#promise").inner_text()
    page.wait_for_timeout(500)
    assert "epsilon 0.31 " in page.locator("#promise").inner_text()


def test_another_browser_is_refused(page, browser, explorer):
    other = browser.new_context()
    stranger = other.new_page()
    answer = stranger.goto(explorer.address)
    assert answer.status == 403
    assert "has been used" in stranger.locator("body").inner_text()
    wrong = explorer.address[:-4] + "AAAA"
    for address in (wrong, explorer.home, f"http://127.0.0.1:{explorer.port}/"):
        assert stranger.goto(address).status in {401, 403}
    other.close()


def test_everything_can_be_reached_by_keyboard_and_has_a_name(page):
    page.get_by_label("Rows to publish").focus()
    reached = []
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id"))
    publishing = {
        "plan-only",
        "slider",
        "epsilon",
        "rows",
        "people",
        "same",
        "method",
        "delta",
        "name",
        "save",
        "counts",
    }
    schema = {f"column-0-{field}" for field in ("in", "kind", "low", "high", "step", "bins", "missing", "outside")}
    assert publishing | schema | {"unit", "schema-name", "command"} <= set(reached)
    page.get_by_label("The paper’s game").check()
    wait_for_result(page)
    page.get_by_label("The paper’s game").focus()
    reached = []
    for _ in range(12):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id"))
    assert {"epsilon", "draws", "scales", "delta", "name"} <= set(reached)
    nameless = page.evaluate(
        """[...document.querySelectorAll("input, select, textarea, button")].filter((each) =>
            !each.labels?.length && !each.ariaLabel && !each.textContent.trim()).map((each) => each.id)"""
    )
    assert nameless == []
    page.locator("#epsilon").focus()
    page.keyboard.press("Enter")
    assert page.locator("#notice").is_hidden()  # Enter in a setting writes nothing


def test_numbers_are_behind_every_figure(page):
    play_the_game(page)
    for figure in GAME_FIGURES:
        details = page.locator(f"#figure-{figure} details")
        details.locator("summary").click()
        expect(details.locator("tbody tr").nth(3)).to_be_visible()  # the table comes after the click
    released = page.locator("#figure-distribution td:nth-child(4)").all_inner_texts()
    assert sum(map(float, released)) == pytest.approx(1, abs=1e-3)


def test_hovering_tells_the_numbers(page):
    look_at_the_data(page)
    page.locator("#figure-distribution svg").scroll_into_view_if_needed()
    box = page.locator("#figure-distribution svg").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_selector("#tip:not([hidden])")
    assert "released: " in page.locator("#tip").inner_text()


def test_what_is_there_is_not_replaced(page, folder):
    for name in ("there.csv", "taken.eq"):
        (folder / name).write_text("kept")
    up = ("../up.csv", "begins with a letter")
    for name, sentence in (("there.csv", "exists. Choose"), ("taken.csv", "exists. Choose"), up):
        page.locator("#name").fill(name)
        page.get_by_role("button", name="Make", exact=True).click()
        expect(page.locator("#notice")).to_contain_text(sentence)
        expect(page.locator("#notice")).to_be_in_viewport()
    assert [(folder / name).read_text() for name in ("there.csv", "taken.eq")] == ["kept", "kept"]
    assert not (folder / "taken.csv").exists()
    assert not (folder.parent / "up.csv").exists()


def test_the_first_visit_and_the_end(browser, folder):
    with running_command(folder) as own, closing(browser.new_context()) as context:
        with no_complaints(context, own.port):
            page = context.new_page()
            page.goto(own.address)
            wait_for_result(page)
            assert own.address.partition("token=")[2] not in page.url  # the token does not stay there
            cookies = {cookie["path"]: cookie["name"] for cookie in context.cookies()}
            home = page.url.removeprefix(f"http://127.0.0.1:{own.port}")
            assert cookies == {"/": f"equinoise-{own.port}-again", home: f"equinoise-{own.port}"}
            assert page.evaluate("document.cookie") == ""  # scripts cannot read it
            assert page.evaluate("document.referrer") == ""
        own.process.send_signal(signal.SIGINT)
        own.process.wait(60)
        page.get_by_label("Epsilon: the loss").fill("2")
        expect(page.locator("#refused")).to_contain_text("does not answer")
