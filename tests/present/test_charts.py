import dataclasses
import html
import json
import os
import re
import stat
import struct
import zlib
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest

import equinoise
from equinoise import BadInput
from equinoise.analysis.audit import audit
from equinoise.formatting import at_most
from equinoise.present import charts
from equinoise.present.figures import theme
from equinoise.present.figures.comparison import comparison_figure
from equinoise.present.figures.end_to_end import end_to_end_figure
from equinoise.present.figures.figure import SECRET_FIGURE
from equinoise.present.page import PRIVATE_BAND

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


def spec_of(found):
    return comparison_figure(found).chart.to_dict()


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
        assert theme.METHODS[method].name in texts
    assert SECRET_FIGURE in texts
    (described,) = [element.text for element in root if element.tag.endswith("desc")]
    assert "staircase: " in described
    assert EVIL in described


def test_html_holds_everything_and_reaches_for_nothing(pay_comparison, tmp_path):
    charts.plot_comparison(renamed(pay_comparison, EVIL), tmp_path / "plot.html")
    page = (tmp_path / "plot.html").read_text()
    assert page.count("<script>") == 2
    assert page.count("<script") == page.count("</script>") == 4
    own = re.sub(r"<script>.*?</script>", "", page, count=1, flags=re.DOTALL)  # all but the library
    assert not re.search(r"\b(src|href)\s*=\s*[\"'](https?:)?//", own)
    assert not re.search(r"<(link|img|iframe) ", own)
    assert "default-src &#39;none&#39;" in page
    assert "unsafe-eval" not in own
    assert PRIVATE_BAND in page
    assert html.escape(EVIL, quote=False).replace('"', "&#34;") in page
    (spec,) = re.findall(r'<script type="application/json" id="comparison-1">(.*?)</script>', page)
    chart = json.loads(spec)
    assert EVIL in chart["description"]
    assert "promise" in [shown["field"] for shown in chart["layer"][0]["encoding"]["tooltip"]]
    assert len(chart["data"]["values"]) == len(pay_comparison.rows)
    assert f"The numbers behind it ({len(pay_comparison.rows)} rows)" in page
    assert page.count("<td>staircase</td>") == 2


@pytest.mark.parametrize("kl", [0.0, -1e-18, 1e-30])
def test_a_kl_of_zero_does_not_break_the_log_axis(pay_comparison, kl, tmp_path):
    one = dataclasses.replace(pay_comparison.rows[0], metrics={**pay_comparison.rows[0].metrics, "kl": kl})
    for comparison in (
        dataclasses.replace(pay_comparison, rows=(one, *pay_comparison.rows[1:])),
        changed(pay_comparison, kl=kl),
    ):
        spec = spec_of(comparison)
        low, high = spec["layer"][0]["encoding"]["y"]["scale"]["domain"]
        heights = [value["height"] for value in spec["data"]["values"]]
        assert 0 < low < high
        assert all(low <= height <= high for height in heights)
        charts.plot_comparison(comparison, tmp_path / "plot.png", force=True)


def test_one_epsilon_and_an_infinite_kl_can_be_drawn(pay_comparison, tmp_path):
    rows = tuple(row for row in pay_comparison.rows if row.epsilon == 2)
    lost = dataclasses.replace(rows[0], metrics={**rows[0].metrics, "kl": np.inf})
    single = dataclasses.replace(pay_comparison, epsilons=(2.0,), rows=(lost, *rows[1:]))
    assert len(spec_of(single)["data"]["values"]) == len(rows) - 1
    charts.plot_comparison(single, tmp_path / "plot.svg")
    assert "NaN" not in (tmp_path / "plot.svg").read_text()


def test_bounds_that_are_not_public_are_named_in_the_picture(pay_comparison):
    caption = comparison_figure(dataclasses.replace(pay_comparison, public_bounds=False)).caption
    assert "The bounds were read off the data and are not private." in caption


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
    from equinoise.analysis.method_row import PROMISES

    assert list(theme.METHODS) == list(PROMISES)
    assert len({look.colour for look in theme.METHODS.values()}) == len(PROMISES)


def test_legends_stand_where_nothing_cuts_them_off_and_lines_of_families_are_told():
    people = np.random.default_rng(5).normal(50, 12, 60).clip(0, 100)
    found = equinoise.compare(
        people, epsilons=[1, 4], bounds=(0, 100), bins=11, restarts=1, time_limit=1, noise=["laplace", "gaussian"]
    )
    spec = spec_of(found)
    legends = [part["legend"] for layer in spec["layer"] for part in layer["encoding"].values() if "legend" in part]
    assert {legend["orient"] for legend in legends if legend} == {"top"}
    assert "Lines of the game, by its noise: laplace: solid, gaussian: dashes." in comparison_figure(found).caption
    scales = [layer["encoding"]["strokeDash"]["scale"] for layer in spec["layer"] if "strokeDash" in layer["encoding"]]
    assert scales == [{"domain": ["", "bounded", "laplace", "gaussian"], "range": [[1, 0], [5, 5], [1, 0], [8, 3]]}]


def test_losses_end_to_end_beside_the_target_and_crosses_where_they_are_infinite(tmp_path):
    equinoise.optimize(PEOPLE, column="pay", epsilon=1, bounds=(0, 100), bins=15, restarts=1).save(tmp_path / "pay.eq")
    audited = audit(tmp_path / "pay.eq", PEOPLE, end_to_end=True)
    figure = end_to_end_figure(audited)
    assert figure.alt.startswith(
        f"Loss of one draw, end to end, for column 'pay'. {audited.end_to_end.sentence} By cell"
    )
    assert "The dashed line is the target, 1." in figure.caption
    losses = audited.end_to_end.losses.tolist()
    assert [row[-1] for row in figure.rows] == [at_most(loss) for loss in losses]
    infinite = sum(np.isinf(losses))
    assert ("Crosses: infinite." in figure.caption) == (infinite > 0)
    (values,) = [layer["data"]["values"] for layer in figure.chart.to_dict()["layer"] if "what" in str(layer["data"])][
        :1
    ]
    assert sum(point["infinite"] for point in values) == infinite
    assert len(values) == 2 * len(losses)
    assert {point["rounded up"] for point in values if point["infinite"]} <= {"inf"}
    charts.plot_end_to_end(audited, tmp_path / "losses.svg")
    assert "NaN" not in (tmp_path / "losses.svg").read_text()


def test_losses_end_to_end_of_two_columns_have_a_panel_each(tmp_path):
    columns = pl.DataFrame({"a": PEOPLE[:60], "b": 100 - PEOPLE[:60]})
    made = equinoise.optimize(
        columns, column=["a", "b"], epsilon=2, bounds={"a": (0, 100), "b": (0, 100)}, bins=9, restarts=1
    )
    made.save(tmp_path / "two.eq")
    figure = end_to_end_figure(audit(tmp_path / "two.eq", columns, end_to_end=True))
    assert figure.title.endswith("for columns 'a' and 'b'")
    assert len(figure.panels) == 2
    assert [{row[0] for row in figure.rows}, len(figure.header)] == [{"a", "b"}, 6]
    charts.write_picture(figure, tmp_path / "two.svg")
