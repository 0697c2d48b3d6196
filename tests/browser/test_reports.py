"""Pages about mechanisms of every kind, in a real browser: nothing complains, sticks out or is cut off."""

import polars as pl
import pytest

import equinoise
from tests.browser.conftest import PHONE, PICTURES, WIDE, fits_width
from tests.helpers.mechanism_of_every_kind import MECHANISM_KINDS, PEOPLE, mechanism
from tests.helpers.polling import wait_until

LONG = "how much they said that they had been paid in the year before last, in thousands of dollars, before tax"

WARDS = ["elective surgery", "emergency", "intensive care of the newborn", "maternity", "rehabilitation"]

CUT_OFF = """() => [...document.querySelectorAll("svg")].flatMap((picture) => {
    const place = picture.getBoundingClientRect();
    return [...picture.querySelectorAll("text")].filter((text) => {
        const own = text.getBoundingClientRect();
        const inside = own.left >= place.left - 1 && own.right <= place.right + 1
            && own.top >= place.top - 1 && own.bottom <= place.bottom + 1;
        return own.width > 0 && text.textContent.trim() && !inside;
    }).map((text) => text.textContent);
})"""
"""Words of figures that reach out of their picture."""


def made(kind):
    if kind == "a long name":
        return equinoise.optimize(PEOPLE, column=LONG, epsilon=1, bounds=(0, 100), bins=21, restarts=1)
    if kind == "categories":
        wards = pl.Series(WARDS * 60).head(len(PEOPLE))
        columns = {"a": {"bounds": [0, 100], "bins": 9}, "ward": {"categories": WARDS}}
        people = pl.DataFrame({"a": PEOPLE, "ward": wards})
        return equinoise.optimize(people, schema={"columns": columns}, epsilon=2, restarts=1)
    return mechanism(kind)


@pytest.mark.parametrize("kind", [*MECHANISM_KINDS, "a long name", "categories"])
def test_nothing_is_cut_off_or_complains(browser, tmp_path, kind):
    path = tmp_path / "report.html"
    made(kind).report(path)
    for size, scheme in ((WIDE, "light"), (WIDE, "dark"), (PHONE, "light")):
        context, said = browser.new_context(viewport=size, color_scheme=scheme), []
        context.set_default_timeout(120_000)
        page = context.new_page()
        page.on("console", lambda message, said=said: said.append(message.text))
        page.on("pageerror", lambda error, said=said: said.append(str(error)))
        page.goto(path.as_uri())
        page.wait_for_function("document.querySelectorAll('.chart').length === document.querySelectorAll('svg').length")
        wait_until("nothing to stick out", fits_width, page)
        assert said == []
        assert page.evaluate(CUT_OFF) == []
        page.screenshot(path=PICTURES / f"report-{kind.replace(' ', '-')}-{scheme}-{size['width']}.png", full_page=True)
        page.emulate_media(media="print")
        assert page.evaluate("getComputedStyle(document.body).page") == "private"  # a mark on every sheet
        context.close()
