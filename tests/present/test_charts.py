import dataclasses
import json
import os
import re
import stat
import struct
import zlib
from xml.etree import ElementTree

import numpy as np
import pytest

import equinoise
from equinoise import BadInput
from equinoise.present import charts
from equinoise.present.wording import SECRET

PEOPLE = np.random.default_rng(3).normal(50, 12, 200).clip(0, 100)
EVIL = '</script><img src=x onerror=alert(1)>&"'


@pytest.fixture(scope="module")
def pay_comparison():
    """A comparison of one column at two epsilons."""
    return equinoise.compare(
        PEOPLE, column="pay", bounds=(0, 100), bins=31, epsilons=[0.5, 2], restarts=1, time_limit=0.3
    )


def changed(found, **metrics):
    rows = tuple(dataclasses.replace(row, metrics={**row.metrics, **metrics}) for row in found.rows)
    return dataclasses.replace(found, rows=rows)


def renamed(found, name):
    grid = dataclasses.replace(found.grid, axes=(dataclasses.replace(found.grid.axis, name=name),))
    return dataclasses.replace(found, players=dataclasses.replace(found.players, grid=grid))


def pixels(content):
    """The bytes of a PNG's picture, still filtered line by line."""
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    at, data = 8, b""
    while at < len(content):
        (length,) = struct.unpack(">I", content[at : at + 4])
        if content[at + 4 : at + 8] == b"IDAT":
            data += content[at + 8 : at + 8 + length]
        at += 12 + length
    return zlib.decompress(data)


def test_png(pay_comparison, tmp_path):
    charts.plot_comparison(pay_comparison, tmp_path / "plot.png")
    content = (tmp_path / "plot.png").read_bytes()
    width, height = struct.unpack(">II", content[16:24])
    assert width > 1000
    assert height > 700
    assert len(set(pixels(content))) > 100
    assert stat.S_IMODE(os.stat(tmp_path / "plot.png").st_mode) == 0o600


def test_svg_names_every_method_and_tells_it_in_words(pay_comparison, tmp_path):
    charts.plot_comparison(renamed(pay_comparison, EVIL), tmp_path / "plot.SVG")
    root = ElementTree.fromstring((tmp_path / "plot.SVG").read_text())
    texts = list(root.itertext())
    for method in pay_comparison.methods:
        assert charts.NAMES[method] in texts
    assert SECRET in texts
    (described,) = [element.text for element in root if element.tag.endswith("desc")]
    assert "staircase: " in described
    assert EVIL in described


def test_html_holds_everything_and_reaches_for_nothing(pay_comparison, tmp_path):
    charts.plot_comparison(renamed(pay_comparison, EVIL), tmp_path / "plot.html")
    page = (tmp_path / "plot.html").read_text()
    assert page.count("<script>") == page.count("</script>") == 2
    own = re.sub(r"<script>.*?</script>", "", page, count=1, flags=re.DOTALL)  # all but the library
    assert not re.search(r"\b(src|href)\s*=\s*[\"'](https?:)?//", own)
    assert not re.search(r"<(script|link|img|iframe) ", own)
    assert "default-src 'none'" in page
    assert '"editor": false' in page
    spec = re.search(r'vegaEmbed\("#chart", (\{.*\}), (\{.*?\{.*?\}\})\)\.catch', page).group(1)
    chart = json.loads(spec)
    assert EVIL in chart["title"]["text"]
    assert SECRET in chart["title"]["subtitle"]
    assert "promise" in [shown["field"] for shown in chart["layer"][0]["encoding"]["tooltip"]]
    (values,) = [chart["data"]["values"]]
    assert len(values) == len(pay_comparison.rows)


@pytest.mark.parametrize("kl", [0.0, -1e-18, 1e-30])
def test_a_kl_of_zero_does_not_break_the_log_axis(pay_comparison, kl, tmp_path):
    one = dataclasses.replace(pay_comparison.rows[0], metrics={**pay_comparison.rows[0].metrics, "kl": kl})
    for comparison in (
        dataclasses.replace(pay_comparison, rows=(one, *pay_comparison.rows[1:])),
        changed(pay_comparison, kl=kl),
    ):
        spec = charts.comparison_chart(comparison).to_dict()
        low, high = spec["layer"][0]["encoding"]["y"]["scale"]["domain"]
        heights = [value["height"] for value in spec["data"]["values"]]
        assert 0 < low < high
        assert all(low <= height <= high for height in heights)
        charts.plot_comparison(comparison, tmp_path / "plot.png", force=True)


def test_one_epsilon_and_an_infinite_kl_can_be_drawn(pay_comparison, tmp_path):
    rows = tuple(row for row in pay_comparison.rows if row.epsilon == 2)
    lost = dataclasses.replace(rows[0], metrics={**rows[0].metrics, "kl": np.inf})
    single = dataclasses.replace(pay_comparison, epsilons=(2.0,), rows=(lost, *rows[1:]))
    assert len(charts.comparison_chart(single).to_dict()["data"]["values"]) == len(rows) - 1
    charts.plot_comparison(single, tmp_path / "plot.svg")
    assert "NaN" not in (tmp_path / "plot.svg").read_text()


def test_bounds_that_are_not_public_are_named_in_the_picture(pay_comparison):
    spec = charts.comparison_chart(dataclasses.replace(pay_comparison, public_bounds=False)).to_dict()
    assert "The bounds were read off the data and are not private." in spec["title"]["subtitle"]


def test_files_are_not_replaced_unasked_and_kinds_are_told_by_name(pay_comparison, tmp_path):
    (tmp_path / "plot.svg").write_text("precious")
    with pytest.raises(BadInput, match="exists"):
        charts.plot_comparison(pay_comparison, tmp_path / "plot.svg")
    assert (tmp_path / "plot.svg").read_text() == "precious"
    for name in ("plot", "plot.pdf", "plot.png.gz"):
        with pytest.raises(BadInput, match=r"must end in \.png, \.svg or \.html"):
            charts.plot_comparison(pay_comparison, tmp_path / name)
    assert os.listdir(tmp_path) == ["plot.svg"]


def test_every_method_has_a_name_and_a_look():
    from equinoise.analysis.methods import PROMISES

    assert list(charts.NAMES) == list(charts.LOOKS) == list(PROMISES)
    assert len({colour for colour, _ in charts.LOOKS.values()}) == len(PROMISES)


def test_legends_stand_where_nothing_cuts_them_off_and_lines_of_families_are_told():
    people = np.random.default_rng(5).normal(50, 12, 60).clip(0, 100)
    found = equinoise.compare(
        people, epsilons=[1, 4], bounds=(0, 100), bins=11, restarts=1, time_limit=1, noise=["laplace", "gaussian"]
    )
    spec = charts.comparison_chart(found).to_dict()
    legends = [part["legend"] for layer in spec["layer"] for part in layer["encoding"].values() if "legend" in part]
    assert {legend["orient"] for legend in legends if legend} == {"bottom"}
    assert "Lines of the game, by its noise: laplace: solid, gaussian: dashes." in spec["title"]["subtitle"]
    assert len(charts.STROKES) == len(charts.DASHES)
