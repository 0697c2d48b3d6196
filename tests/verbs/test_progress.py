import numpy as np
import pytest

import equinoise
from equinoise.solvers.solution import Round
from equinoise.verbs import progress as watching
from tests.helpers.mechanism_of_every_kind import PEOPLE

SETTINGS = {"epsilon": 1, "bounds": (0, 100), "bins": 15, "restarts": 2}


def test_rounds_are_told_to_whoever_asks():
    heard = []
    equinoise.optimize(PEOPLE, progress=heard.append, **SETTINGS)
    assert {state.run for state in heard} == {0, 1, 2, 3}  # everyone at the largest scale, then one of each kind


@pytest.mark.parametrize("progress", [True, False, None])
def test_nothing_is_shown_where_nobody_looks(capsys, progress):
    made = equinoise.optimize(PEOPLE, progress=progress, **SETTINGS)
    assert made.certificate().holds
    assert capsys.readouterr() == ("", "")


def test_a_bar_in_a_notebook_moves_and_goes_away(monkeypatch):
    seen = []

    class Handle:
        def update(self, html):
            seen.append(html.data)

    def display(html, display_id):
        assert display_id
        seen.append(html.data)
        return Handle()

    monkeypatch.setattr(watching, "in_notebook", lambda: True)
    monkeypatch.setattr(watching, "OFTEN", 0.0)
    monkeypatch.setattr("equinoise.present.terminal.progress_line.FEWEST_SECONDS", 0)
    monkeypatch.setattr("IPython.display.display", display)
    equinoise.optimize(PEOPLE, progress=True, **SETTINGS)
    assert all("<progress" in html for html in seen[:-1])
    assert "Run 2, round 1: " in "".join(seen)
    assert "value='0.000'" in seen[1]  # the first of at most seven runs
    assert "value='0.429'" in seen[-2]
    assert any(" left" in html for html in seen)  # when the last run takes longer than those before, nobody can tell
    assert seen[-1].endswith(" s")
    assert "<progress" not in seen[-1]


def test_the_bar_goes_away_when_work_fails(monkeypatch):
    with watching.progress_display(None) as nothing:
        assert nothing is None
    monkeypatch.setattr(watching, "in_notebook", lambda: True)
    last = []

    class Handle:
        def update(self, html):
            last[:] = [html.data]

    monkeypatch.setattr("IPython.display.display", lambda html, display_id: Handle())

    def fail():
        with watching.progress_display(True) as seen:
            seen(Round(0, 1, 0, np.zeros((1, 1), dtype=np.int64), "<b>"))
            raise equinoise.BadInput("no")

    with pytest.raises(equinoise.BadInput):
        fail()
    assert "<progress" not in last[0]
