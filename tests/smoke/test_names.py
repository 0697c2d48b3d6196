"""A row without a name is nobody's, with every version of pandas: some have a text for what is missing."""

import numpy as np
import pytest

import equinoise

PEOPLE = 59
NAMES = {
    "text": lambda pd: pd.Series([*map(str, range(PEOPLE)), np.nan], dtype=object),
    "text, None": lambda pd: pd.Series([*map(str, range(PEOPLE)), None], dtype=object),
    "whole numbers as objects": lambda pd: pd.Series([*range(PEOPLE), np.nan], dtype=object),
    "floats": lambda pd: pd.Series([*range(PEOPLE), np.nan]),
    "categories": lambda pd: pd.Series([*map(str, range(PEOPLE)), np.nan]).astype("category"),
    "nullable": lambda pd: pd.Series([*range(PEOPLE), None], dtype="Int64"),
    "strings": lambda pd: pd.Series([*map(str, range(PEOPLE)), None], dtype="string"),
}


@pytest.mark.parametrize("kind", NAMES)
def test_a_missing_name_is_refused_or_dropped(kind):
    import pandas as pd

    values = [float(number * 37 % 101) for number in range(PEOPLE + 1)]
    frame = pd.DataFrame({"who": NAMES[kind](pd), "x": values})
    settings = {"column": "x", "bounds": (0, 100), "bins": 21, "epsilon": 2, "unit": "who", "restarts": 1}
    with pytest.raises(equinoise.BadInput, match="missing in 1 row"):
        equinoise.optimize(frame, **settings)
    assert equinoise.optimize(frame, missing="drop", **settings).total_people == PEOPLE
