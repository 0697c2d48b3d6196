"""The page in a real browser: a whole release, and what it looks like."""

import json
import signal
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import (
    PHONE,
    PICTURES,
    WIDE,
    fact_value,
    fits_width,
    no_complaints,
    picture_colours,
    running_command,
    wait_for_result,
)
from tests.helpers.polling import wait_until

FIGURES = ("distribution", "noise", "losses", "cost")


def test_a_whole_release(page, run, folder):
    assert page.locator("h1").inner_text() == "Choose settings for “wage”"
    assert "Contains private data" in page.locator(".private").first.inner_text()
    assert page.locator("#source").inner_text() == "935 people between 0 and 4000, from wage.csv"
    assert page.locator("#promise").inner_text().startswith("Per-instance: for each of the 935 people")
    assert fact_value(page, "people protected") == "935"
    before = float(fact_value(page, "KL from the original"))

    page.locator("#slider").focus()
    for _ in range(6):
        page.keyboard.press("ArrowLeft")
    assert page.locator("#epsilon").input_value() == "0.5"
    assert page.locator("#slider").get_attribute("aria-valuetext") == "0.5"
    expect(page.locator("#promise")).to_contain_text("at most 0.5 ")
    wait_for_result(page)
    assert float(fact_value(page, "KL from the original")) > before
    assert float(fact_value(page, "worst loss of one draw")) <= 0.5

    page.get_by_label("Differential privacy For every").check()
    page.get_by_label("Draws allowed").fill("3")
    expect(page.locator("#promise")).to_contain_text("of all 3 rows together is at most 0.5")
    wait_for_result(page)
    assert page.locator("#promise").inner_text().startswith("Differential privacy: for every dataset")
    assert page.locator("#scales").is_disabled()
    assert float(fact_value(page, "cost of 3 draws")) == 0.5

    page.locator("#name").fill("release.eq")
    page.get_by_role("button", name="Save").click()
    page.wait_for_selector("#next:not([hidden])")
    assert page.locator("#saved").inner_text().startswith("Saved as release.eq")
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Open the report").click()
    report = opened.value
    report.wait_for_load_state()
    assert "Differential privacy with epsilon" in report.locator("body").inner_text()
    assert "for every dataset within the bounds" in report.locator("#in-full").text_content()
    assert report.evaluate("window.origin") == "null"  # in a sandbox: it cannot ask the server for anything

    status, out, _ = run("audit", "release.eq", "--data", "wage.csv", "--json")
    assert status == 0
    assert json.loads(out)["people"] == 935
    status, out, _ = run("sample", "release.eq", "-n", 3, "--json")
    assert status == 0
    assert len(json.loads(out)["rows"]) == 3
    assert run("sample", "release.eq", "-n", 1)[0] == 1  # spent

    command = page.locator("#command").inner_text().replace("mechanism.eq", "same.eq")
    assert run(*command.split()[1:])[0] == 0
    ours, theirs = (json.loads(run("show", name, "--json")[1]) for name in ("release.eq", "same.eq"))
    assert {**ours, "spent": 0} == {**theirs, "spent": 0}


def test_it_looks_as_it_should_in_light_in_dark_and_on_a_phone(page):
    def as_wide_as_its_place(figure):
        place = page.locator(f"#figure-{figure}")
        box = place.locator(".chart svg").bounding_box()  # none while it is drawn again
        return box is not None and 250 < box["width"] <= place.bounding_box()["width"] + 1

    def has_colours(figure, scheme):
        seen = picture_colours(page, page.locator(f"#figure-{figure} .chart").screenshot())
        return seen["other"] > 0.01 and (seen["light"] < 0.3 if scheme == "dark" else seen["light"] > 0.8)

    for name, scheme, size in (("light", "light", WIDE), ("dark", "dark", WIDE), ("phone", "light", PHONE)):
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=scheme)
        wait_until(f"nothing to stick out in {name}", fits_width, page)
        for figure in FIGURES:
            assert page.locator(f"#figure-{figure} .chart").get_attribute("aria-label")
            wait_until(f"{figure} to fit in {name}", as_wide_as_its_place, figure)
            wait_until(f"{figure} to be drawn in {name}", has_colours, figure, scheme)
        page.evaluate("window.scrollTo(0, 0)")  # the settings stay in view
        page.screenshot(path=PICTURES / f"page-{name}.png", full_page=True)


def test_paper_is_white_and_the_band_keeps_its_colour(page):
    page.emulate_media(media="print", color_scheme="dark")
    ground, band = page.evaluate(
        """[getComputedStyle(document.body).backgroundColor,
            getComputedStyle(document.querySelector(".private")).printColorAdjust]"""
    )
    assert (ground, band) == ("rgb(255, 255, 255)", "exact")


def test_the_report_looks_as_it_should(page):
    page.locator("#name").fill("seen.eq")
    page.get_by_role("button", name="Save").click()
    page.wait_for_selector("#next:not([hidden])")
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Open the report").click()
    report = opened.value
    report.wait_for_selector("svg.marks")

    def looks_right(picture, scheme):
        light = picture_colours(report, report.screenshot(path=PICTURES / picture, full_page=True))["light"]
        return fits_width(report) and (light < 0.4 if scheme == "dark" else light > 0.8)

    for name, scheme, size in (("light", "light", WIDE), ("dark", "dark", WIDE), ("phone", "light", PHONE)):
        report.set_viewport_size(size)
        report.emulate_media(color_scheme=scheme)
        wait_until(f"the report to fit and to have its colours in {name}", looks_right, f"report-{name}.png", scheme)


def test_charts_and_numbers_move_with_every_setting(page):
    def looks():
        return {figure: page.locator(f"#figure-{figure} .chart").inner_html() for figure in FIGURES}

    before, promised = looks(), page.locator("#promise").inner_text()
    for label, value in (("Bins", "51"), ("Noise scales", "paper")):
        page.get_by_label(label, exact=True).select_option(value)
        wait_for_result(page)
        now = looks()
        assert all(now[figure] != before[figure] for figure in FIGURES), label
        before = now
    page.get_by_label("Epsilon: the loss").fill("3")
    expect(page.locator("#promise")).not_to_have_text(promised)
    wait_for_result(page)
    assert "--bins 51 --epsilon 3 --scales paper" in page.locator("#command").inner_text()


def test_a_refusal_is_the_command_line_s_sentence(page, run):
    page.set_viewport_size(PHONE)
    page.get_by_label("Epsilon: the loss").fill("1e-5")
    expect(page.locator("#refused")).to_be_in_viewport()
    status, _, err = run(
        "optimize", "wage.csv", "--bounds", "wage", 0, 4000, "--bins", 101, "--epsilon", "1e-5", "--out", "no.eq"
    )
    assert status == 1
    assert page.locator("#refused").inner_text() == err.splitlines()[-1].removeprefix("Error: ")
    assert page.locator("#promise").is_hidden()
    assert page.locator("#save").is_disabled()
    page.get_by_label("Epsilon: the loss").fill("")
    expect(page.locator("#refused")).to_have_text("Give a number for epsilon.")
    page.get_by_label("Epsilon: the loss").fill("1")
    wait_for_result(page)
    assert page.locator("#refused").is_hidden()


def ask_for_long_work(page):
    """Many draws within one budget, on a fine grid with scales that adapt."""
    page.get_by_label("Bins", exact=True).select_option("401")
    page.get_by_label("Noise scales", exact=True).select_option("adaptive")
    page.get_by_label("Delta", exact=True).fill("1e-6")
    page.get_by_label("Draws allowed").fill("500")
    expect(page.locator("#status")).to_contain_text("Working … ")


def test_work_can_be_left(page):
    ask_for_long_work(page)
    page.get_by_label("Differential privacy For every").check()
    wait_for_result(page)
    assert page.locator("#promise").inner_text().startswith("Differential privacy: for")


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
    other = context.new_page()
    other.goto(explorer.home)
    wait_for_result(other)
    ask_for_long_work(other)
    own = processes(explorer.process.pid) - before
    assert own
    other.close()
    wait_until("its worker to end", lambda: not own & processes(explorer.process.pid))
    assert page.locator("#promise").inner_text().startswith("Per-instance")


def test_two_tabs_show_their_own(page, context, explorer):
    other = context.new_page()
    other.goto(explorer.address)  # the token is used, but the cookie is there
    wait_for_result(other)
    assert "token" not in other.url
    other.get_by_label("Epsilon: the loss").fill("0.25")
    expect(other.locator("#promise")).to_contain_text("at most 0.25 ")
    wait_for_result(other)
    assert "at most 1 " in page.locator("#promise").inner_text()
    for tab, name in ((page, "one.eq"), (other, "other.eq")):
        tab.locator("#name").fill(name)
        tab.get_by_role("button", name="Save").click()
        tab.wait_for_selector("#next:not([hidden])")


def test_only_the_last_of_many_moves_is_shown(page):
    for epsilon in ("0.9", "0.8", "0.7", "0.6", "0.31"):
        page.get_by_label("Epsilon: the loss").fill(epsilon)
        page.wait_for_timeout(150)
    wait_for_result(page)
    assert "at most 0.31 " in page.locator("#promise").inner_text()
    page.wait_for_timeout(500)
    assert "at most 0.31 " in page.locator("#promise").inner_text()


def test_another_browser_is_refused(page, browser, explorer):
    other = browser.new_context()
    stranger = other.new_page()
    answer = stranger.goto(explorer.address)
    assert answer.status == 403
    assert "has been used" in stranger.locator("body").inner_text()
    for address in (explorer.home, f"http://127.0.0.1:{explorer.port}/"):
        assert stranger.goto(address).status == 401
    other.close()


def test_everything_can_be_reached_by_keyboard_and_has_a_name(page):
    page.locator("body").focus()
    reached = []
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id || document.activeElement.name"))
    assert {"promise", "slider", "epsilon", "bins", "scales", "draws", "delta", "name", "save"} <= set(reached)
    nameless = page.evaluate(
        """[...document.querySelectorAll("input, select, button")].filter((each) =>
            !each.labels?.length && !each.ariaLabel && !each.textContent.trim()).map((each) => each.id)"""
    )
    assert nameless == []
    page.locator("#epsilon").focus()
    page.keyboard.press("Enter")
    assert page.locator("#saved").inner_text() == ""  # Enter in a setting saves nothing


def test_numbers_are_behind_every_figure(page):
    for figure in FIGURES:
        details = page.locator(f"#figure-{figure} details")
        details.locator("summary").click()
        expect(details.locator("tbody tr").nth(3)).to_be_visible()  # the table comes after the click
    released = page.locator("#figure-distribution td:nth-child(4)").all_inner_texts()
    assert sum(map(float, released)) == pytest.approx(1, abs=1e-3)


def test_hovering_tells_the_numbers(page):
    page.locator("#figure-distribution svg").scroll_into_view_if_needed()
    box = page.locator("#figure-distribution svg").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_selector("#tip:not([hidden])")
    assert "released: " in page.locator("#tip").inner_text()


def test_what_is_there_is_not_replaced(page, folder):
    (folder / "there.eq").write_text("kept")
    page.locator("#name").fill("there.eq")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#saved")).to_contain_text("exists. Choose another name")
    page.locator("#name").fill("../up.eq")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#saved")).to_contain_text("begins with a letter")
    assert (folder / "there.eq").read_text() == "kept"
    assert not (folder.parent / "up.eq").exists()


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


@pytest.fixture(scope="module")
def columns_explorer(folder):
    """The command for three columns, running."""
    bounds = ("--bounds", "wage", "0", "4000", "--bounds", "hours", "0", "100", "--bounds", "IQ", "40", "160")
    with running_command(folder, "men.csv", *bounds) as running:
        yield running


@pytest.fixture
def columns_page(browser, columns_explorer):
    """The page of three columns with its first result, in a browser of its own: the token serves once."""
    if not hasattr(columns_explorer, "context"):
        columns_explorer.context = browser.new_context(viewport=WIDE)
        columns_explorer.context.set_default_timeout(120_000)
        first = columns_explorer.context.new_page()
        first.goto(columns_explorer.address)
        wait_for_result(first)
        columns_explorer.home = first.url
        first.close()
    with no_complaints(columns_explorer.context, columns_explorer.port):
        opened = columns_explorer.context.new_page()
        opened.goto(columns_explorer.home)
        wait_for_result(opened)
        yield opened
        opened.close()


def column(page, name):
    """The box that says whether a column takes part."""
    return page.get_by_role("checkbox", name=name)


def charts(page, figure):
    """How many charts of a figure are drawn."""
    return page.locator(f"#figure-{figure} .chart svg").count()


def test_several_columns_are_chosen_worked_out_and_saved(columns_page, run):
    page = columns_page
    assert page.locator("h1").inner_text() == "Choose settings for “wage”, “hours” and “IQ”"
    assert page.locator("#source").inner_text() == "935 people, from men.csv"
    assert page.locator("#bins").input_value() == "16"
    assert page.get_by_label("Differential privacy For every").is_disabled()
    assert [charts(page, figure) for figure in FIGURES] == [3, 3, 3, 1]
    assert fact_value(page, "people protected") == "935"

    column(page, "IQ").uncheck()
    expect(page.locator("#command")).not_to_contain_text("IQ")
    page.locator("#bins").select_option("26")
    expect(page.locator("#command")).to_contain_text("--bins 26")
    wait_for_result(page)
    assert [charts(page, figure) for figure in FIGURES] == [2, 2, 2, 1]
    assert float(fact_value(page, "largest change of a correlation")) < 0.5
    together, wage = float(fact_value(page, "KL from the original")), float(fact_value(page, "KL of 'wage' alone"))
    assert 0 < wage <= together

    page.locator("#name").fill("two.eq")
    page.get_by_role("button", name="Save").click()
    page.wait_for_selector("#next:not([hidden])")
    status, out, _ = run("audit", "two.eq", "--data", "men.csv", "--json")
    assert status == 0
    assert json.loads(out)["people"] == 935
    command = page.locator("#command").inner_text().replace("mechanism.eq", "same-two.eq")
    assert run(*command.split()[1:])[0] == 0
    ours, theirs = (json.loads(run("show", name, "--json")[1]) for name in ("two.eq", "same-two.eq"))
    assert ours["profile"] == theirs["profile"]

    column(page, "hours").uncheck()
    expect(page.locator("#promise")).to_contain_text("Per-instance")
    page.get_by_label("Differential privacy For every").check()
    expect(page.locator("#promise")).to_contain_text("Differential privacy: for")
    wait_for_result(page)
    assert [charts(page, figure) for figure in FIGURES] == [1, 1, 1, 1]
    column(page, "hours").check()  # and the promise that takes one column is left
    expect(page.locator("#promise")).to_contain_text("Per-instance")
    column(page, "hours").uncheck()
    column(page, "wage").uncheck()
    expect(page.locator("#refused")).to_have_text("Choose a column.")


def test_several_columns_look_as_they_should_in_light_in_dark_and_on_a_phone(columns_page):
    page = columns_page
    column(page, "IQ").uncheck()
    expect(page.locator("#command")).not_to_contain_text("IQ")
    page.locator("#bins").select_option("26")
    expect(page.locator("#command")).to_contain_text("--bins 26")
    wait_for_result(page)

    def has_colours(figure, number):
        return (
            picture_colours(page, page.locator(f"#figure-{figure} .chart > div").nth(number).screenshot())["other"]
            > 0.01
        )

    for name, scheme, size in (("light", "light", WIDE), ("dark", "dark", WIDE), ("phone", "light", PHONE)):
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=scheme)
        wait_until(f"nothing to stick out in {name}", fits_width, page)
        for figure, many in zip(FIGURES, (2, 2, 2, 1), strict=True):
            for number in range(many):
                wait_until(f"{figure} {number} to be drawn in {name}", has_colours, figure, number)
        page.evaluate("window.scrollTo(0, 0)")
        page.screenshot(path=PICTURES / f"page-several-{name}.png", full_page=True)
