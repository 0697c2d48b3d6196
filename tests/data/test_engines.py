"""An engine is a file and a name in a list: a new one, and what every one of them offers."""

import sys
from contextlib import contextmanager
from types import ModuleType

import numpy as np
import polars as pl
import pytest

import equinoise
from equinoise import choices
from equinoise.data.engines import connect
from equinoise.data.engines.polars import Polars
from equinoise.data.engines.protocol import Engine


class Toy(Engine):
    """It opens files as polars does, and leaves all else to the Protocol."""

    calls = ()

    @classmethod
    @contextmanager
    def connect(cls, address):
        Toy.calls = ("connect",)
        yield cls()
        Toy.calls += ("disconnect",)

    def text(self, files, columns, fields=()):
        Toy.calls += ("text",)
        return Polars().text(files, columns, fields)

    def parquet(self, files, columns):
        Toy.calls += ("parquet",)
        return Polars().parquet(files, columns).rename({name: name.upper() for name in columns})


@pytest.fixture
def toy(monkeypatch):
    """The toy, in a module and in the list."""
    module = ModuleType("toy_engine")
    module.LIBRARY = Toy
    monkeypatch.setitem(sys.modules, "toy_engine", module)
    monkeypatch.setitem(choices.ENGINES, "toy", "toy_engine")


@pytest.fixture
def pay():
    values = np.random.default_rng(4).normal(50, 12, 180).clip(0, 100).round(1)
    return pl.DataFrame({"id": range(180), "pay": values, "who": [f"p{i // 2}" for i in range(180)]})


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_new_engine_takes_its_module_and_its_name(toy, pay, tmp_path, ending):
    """Counted with and without a unit, and streamed for everyone's losses."""
    path, settings = tmp_path / f"a.{ending}", {"column": "pay", "bounds": (0, 100), "epsilon": 2, "bins": 31}
    pay.write_csv(path) if ending == "csv" else pay.write_parquet(path)
    for unit in (None, "who"):
        made = equinoise.optimize(path, **settings, unit=unit, engine="toy")
        assert Toy.calls == ("connect", "text" if ending == "csv" else "parquet", "disconnect")
        assert made.players.same(equinoise.optimize(pay, **settings, unit=unit).players)
        written = equinoise.write_losses(made, path, tmp_path / f"{unit}.parquet", engine="toy")
        assert (written.rows, Toy.calls[-1]) == (180, "disconnect")
        assert pl.read_parquet(tmp_path / f"{unit}.parquet")["pay"].cast(pl.Float64).equals(pay["pay"])


def test_a_new_engine_is_offered_and_refused_like_the_others(toy, pay, tmp_path):
    pay.write_csv(tmp_path / "a.csv")
    with pytest.raises(equinoise.BadInput, match="'spark' or 'toy'"), connect("toys"):
        pass
    with pytest.raises(equinoise.BadInput, match="The toy engine works in this process"), connect("toy", "tcp://a:1"):
        pass


@pytest.mark.parametrize("name", ["polars", "duckdb"])
def test_every_engine_offers_what_the_protocol_says(name):
    library = choices.load(choices.ENGINES, name).LIBRARY
    assert Engine in library.__mro__
    assert library.text is not Engine.text
    assert library.parquet is not Engine.parquet
    with connect(name) as engine:
        assert isinstance(engine, library)
