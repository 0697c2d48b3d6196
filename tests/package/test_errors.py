import math
import shutil
import subprocess

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equinoise.errors import BadInput, check, is_whole
from equinoise.formatting import at_most, format_number, printable, shell_quote


@given(st.floats(1e-12, 1e12))
def test_an_upper_bound_is_never_rounded_down_and_stays_short(value):
    said = at_most(value)
    assert value <= float(said) <= value * 1.01
    assert len(said) <= 13


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (1.0, "1"),
        (0.3, "0.3"),
        (1 / 3, "0.334"),
        (1.0000004, "1.01"),
        (0.97741, "0.97741"),
        (0.977411234, "0.978"),
        (math.inf, "inf"),
    ],
)
def test_upper_bounds_as_people_read_them(value, said):
    assert at_most(value) == said


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_shown_is_that_number(value):
    assert float(format_number(value)) == value


def test_whole_numbers_are_no_truth_values_and_no_floats():
    assert is_whole(3, 1, 5)
    assert is_whole(np.int8(3), 1, 5)
    assert not any(is_whole(value, 0, 5) for value in (True, 3.0, "3", 6, -1, None))


def test_a_refusal_names_the_parameter_and_does_not_echo_without_end():
    with pytest.raises(BadInput, match="The 'bins' parameter must be even") as caught:
        check(False, "bins", "even", "9" * 5000)
    assert len(str(caught.value)) < 150


@given(st.lists(st.text(max_size=8)))
def test_every_letter_can_be_seen(words):
    assert shell_quote(words).isprintable()
    assert all(printable(word).isprintable() for word in words)
    assert printable("\n\u202e\x1b\ud800é") == "<U+000A><U+202E><U+001B><U+D800>é"


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash reads the line")
def test_bash_reads_quoted_words_as_they_were():
    words = ["plain", "a b", "it's", "", "two\nlines", "\x1b[31m'\\n\u202e1", "\u20281", "$HOME\t`id`", "é\xa0"]
    line = f"printf '%s\\0' {shell_quote(words)}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, check=True, env={"LC_ALL": "C.UTF-8"})
    assert done.stdout.decode().split("\0")[:-1] == words
