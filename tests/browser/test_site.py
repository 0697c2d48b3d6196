"""The documentation site, built and opened from disk as a reader would: light, dark, on a phone, and its search."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.browser.conftest import PHONE, PICTURES, WIDE, fits_width, picture_colours
from tests.helpers.polling import wait_until

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Built from the beginning; the folder it is in."""
    target = tmp_path_factory.mktemp("site")
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    for words in (["docs_build.assemble"], ["mkdocs", "build", "--strict", "--quiet", "--site-dir", str(target)]):
        subprocess.run([sys.executable, "-m", *words], cwd=ROOT, env=quiet, check=True, timeout=300)
    return target


@pytest.fixture
def opened(browser, site):
    """Opens pages in a window of its own; none may complain or ask for anything that is not on disk."""
    said, asked, windows = [], [], []

    def open_page(name, viewport=WIDE, colour="light"):
        window = browser.new_context(viewport=viewport, color_scheme=colour)
        window.set_default_timeout(120_000)
        windows.append(window)
        window.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
        window.on("weberror", lambda error: said.append(f"error: {error.error}"))
        window.on("request", lambda request: asked.append(request.url))
        page = window.new_page()
        page.goto((site / name).as_uri())
        return page

    yield open_page
    for window in windows:
        window.close()
    assert [words for words in said if words.startswith(("error", "warning"))] == []
    assert [url for url in asked if not url.startswith((site.as_uri(), "about:", "data:"))] == []


def test_every_page_opens_from_disk_and_asks_for_nothing_else(opened, site):
    names = [path.relative_to(site).as_posix() for path in sorted(site.rglob("*.html")) if path.name != "404.html"]
    assert len(names) > 20
    page = opened(names[0])
    for name in names:
        page.goto((site / name).as_uri())
        assert page.locator("h1").first.inner_text().strip()
        broken = page.evaluate("[...document.images].filter(image => !image.naturalWidth).map(image => image.src)")
        assert broken == []
        page.set_viewport_size(PHONE)
        wait_until(f"{name} not to stick out of a phone", fits_width, page)
        page.set_viewport_size(WIDE)


def test_search_works_from_disk(opened):
    page = opened("reference/python.html")
    page.locator("input[name=query]").click()
    page.keyboard.insert_text("choose bound")  # at once: the search complains of words that are half typed
    page.keyboard.type("s")  # it looks when a key goes up
    first = page.locator(".md-search-result__item h1").first
    first.wait_for()
    assert first.inner_text() == "How to choose bounds"
    first.click()
    page.wait_for_url("**/bounds.html*")


def test_pictures_are_light_on_light_ground_and_dark_on_dark(opened):
    light = {}
    for colour in ("light", "dark"):
        page = opened("game.html", colour=colour)
        picture = page.locator("img[src$='hiding.svg']")
        picture.scroll_into_view_if_needed()
        seen = picture_colours(page, picture.screenshot(path=PICTURES / f"site-picture-{colour}.png"))
        assert 0.01 < seen["other"] < 0.5, "nothing is drawn, or nothing is left of the ground"
        light[colour] = seen["light"]
        page.screenshot(path=PICTURES / f"site-{colour}.png")
    assert light["light"] > 0.85
    assert light["dark"] < 0.25


def test_the_reader_may_choose_dark_colours_and_pictures_follow(opened):
    page = opened("game.html")
    for _ in range(2):  # from the system's to light, from light to dark
        page.locator("label[title]:visible").first.click()
    page.wait_for_function("document.body.dataset.mdColorScheme === 'slate'")
    picture = page.locator("img[src$='people.svg']")
    assert picture_colours(page, picture.screenshot())["light"] < 0.25


def test_a_phone_has_a_menu_and_text_of_its_own_width(opened):
    page = opened("index.html", viewport=PHONE)
    page.screenshot(path=PICTURES / "site-phone.png")
    page.locator("label.md-header__button[for=__drawer]").click()
    page.locator(".md-nav--primary a", has_text="How the game works").click()
    page.wait_for_url("**/game.html")
