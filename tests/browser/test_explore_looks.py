"""What the local page looks like: light, dark, on a phone, on paper. Pictures are kept, for a person to look at."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import (
    PHONE,
    PICTURES,
    WIDE,
    entered,
    fits_width,
    keep,
    look_at_the_data,
    no_complaints,
    open_page,
    picture_colours,
    running_command,
    wait_for_result,
)
from tests.helpers.polling import wait_until

LOOKS = (("light", "light", WIDE), ("dark", "dark", WIDE), ("phone", "light", PHONE))

CUT_TABLES = """() => [...document.querySelectorAll(".table")]
    .filter((place) => place.scrollWidth > place.clientWidth + 1)
    .map((place) => place.textContent.slice(0, 60))"""
"""Tables of which columns are beyond an edge."""

CUT_CHOICES = """() => [...document.querySelectorAll("select")].filter((each) => {
    if (each.clientWidth === 0) return false;
    const copy = document.createElement("span");
    copy.textContent = each.selectedOptions[0].textContent;
    copy.style.cssText = "position: absolute; white-space: nowrap";
    each.parentElement.append(copy);
    copy.style.font = getComputedStyle(each).font;
    const wide = copy.getBoundingClientRect().width;
    copy.remove();
    return wide > each.clientWidth - 24;
}).map((each) => each.id)"""
"""Lists whose chosen words do not fit beside their arrow."""

UNEVEN = """() => [...document.querySelectorAll(".pair.even")].map((pair) =>
    [...pair.querySelectorAll("input, select")].map((each) => Math.round(each.getBoundingClientRect().top)))
    .filter((tops) => new Set(tops).size > 1)"""
"""Pairs of fields that are not on one line."""


@pytest.fixture(scope="module")
def men(browser, folder):
    """A page with three columns, one of categories, and its first answer."""
    with (
        running_command(folder, "men.csv", "--schema", "men.toml") as running,
        entered(browser, running) as context,
        no_complaints(context, running.port),
    ):
        yield open_page(context, running)


def look_at(page, name, figures):
    """Keep pictures of the page by that name, and fail where something sticks out, is cut off or not drawn."""

    def as_wide_as_its_place(place):
        box = place.locator("svg").bounding_box()  # none while it is drawn again
        return box is not None and 150 < box["width"] <= place.bounding_box()["width"] + 1

    def has_colours(place, scheme):
        seen = picture_colours(page, place.screenshot())
        light = seen["light"] < 0.4 if scheme == "dark" else seen["light"] > 0.6
        return seen["other"] > 0.01 and light

    for look, scheme, size in LOOKS:
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=scheme)
        wait_until(f"nothing to stick out in {look}", fits_width, page)
        assert (look, page.evaluate(CUT_CHOICES)) == (look, [])
        assert (look, page.evaluate(UNEVEN)) == (look, [])
        assert (look, page.evaluate(CUT_TABLES)) == (look, [])
        places = [each for figure in figures for each in page.locator(f"#figure-{figure} .chart > div").all()]
        for place in places:
            wait_until(f"a chart to fit in {look}", as_wide_as_its_place, place)
        if "map" not in figures or look != "phone":
            for place in places[:1]:
                wait_until(f"a chart to have its colours in {look}", has_colours, place, scheme)
        page.evaluate("window.scrollTo(0, 0)")  # the settings stay in view
        page.screenshot(path=PICTURES / f"{name}-{look}.png", full_page=True)
    page.set_viewport_size(WIDE)
    page.emulate_media(color_scheme="light")


def test_the_plan(men):
    men.locator("#people").fill("935")
    wait_for_result(men)
    look_at(men, "plan", ())
    make = men.get_by_role("button", name="Make", exact=True)
    expect(make).to_be_in_viewport(ratio=1)  # without scrolling


def test_rows_to_publish_beside_the_data(men):
    look_at_the_data(men)
    look_at(men, "page", ("distribution", "map"))
    keep(men, "looks.csv", "Make")
    for look, scheme, size in LOOKS:
        men.set_viewport_size(size)
        men.emulate_media(color_scheme=scheme)
        assert (look, men.evaluate(CUT_TABLES)) == (look, [])
        men.screenshot(path=PICTURES / f"notice-{look}.png")
    men.set_viewport_size(WIDE)
    men.get_by_role("button", name="Close").click()


def test_the_game(men):
    men.emulate_media(color_scheme="light")
    men.get_by_label("The paper’s game").check()
    if men.get_by_label("Plan only").is_checked():
        men.get_by_label("Plan only").uncheck()
    wait_for_result(men)
    look_at(men, "game", ("distribution", "map", "noise", "losses", "cost"))
    for figure in ("distribution", "map", "noise", "losses", "cost"):
        assert men.locator(f"#figure-{figure} .chart").get_attribute("aria-label")


def test_paper_is_white_and_the_band_keeps_its_colour(men):
    men.emulate_media(media="print", color_scheme="dark")
    ground, band = men.evaluate(
        """[getComputedStyle(document.body).backgroundColor,
            getComputedStyle(document.querySelector(".band")).printColorAdjust]"""
    )
    assert (ground, band) == ("rgb(255, 255, 255)", "exact")
