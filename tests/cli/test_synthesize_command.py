"""``equinoise synthesize``: one screen, which ends with what may be given away, what may not, and what was spent."""

import numpy as np
import polars as pl
import pytest

from equinoise.cli.synthesize import COST

WARDS = ("general", "children", "surgery", "burns", "eyes", "heart", "intensive care", "hospice")
PUBLIC = ("--bounds", "age", 0, 120, "--step", "age", 1, "--categories", "ward", ",".join(WARDS))
ASKED = ("synthesize", "stays.csv", *PUBLIC, "--epsilon", 1)


@pytest.fixture(autouse=True)
def _stays(folder):
    random = np.random.default_rng(3)
    shares = np.array([30, 20, 15, 12, 10, 8, 4, 1]) / 100
    ages = random.normal(60, 9, 2_000).round().clip(20, 100).astype(int)
    pl.DataFrame({"age": ages, "ward": random.choice(WARDS, 2_000, p=shares)}).write_csv("stays.csv")


def test_it_ends_with_what_to_give_away_what_to_keep_and_what_was_spent(run):
    status, out, _ = run(*ASKED, "--rows", 20, "--out", "rows.csv", "--publish-counts", "counts.json")
    assert status == 0
    assert out.splitlines()[-4:] == [
        "Give away: rows.csv (20 rows), counts.json (noisy counts).",
        "Keep secret: rows.eq, which only you can read, and this screen.",
        "Spent: epsilon 1. More rows from rows.eq cost nothing; synthesizing again, or --force, adds to it for the "
        "same people (a book adds it up).",
        "Next: equinoise sample rows.eq or equinoise report rows.eq",
    ]


def test_rows_that_share_out_epsilon_are_all_there_are(run):
    status, out, _ = run(*ASKED, "--rows", 1, "--delta", 1e-6, "--method", "envelope", "--out", "rows.csv")
    assert status == 0
    give, _, spent, following = out.splitlines()[-4:]
    assert give == "Give away: rows.csv (1 row)."
    assert spent.startswith("Spent: epsilon 1. No more rows than 1 may come from rows.eq; synthesizing again")
    assert following == "Next: equinoise report rows.eq"


@pytest.mark.parametrize("there", ["rows.csv", "rows.eq", "counts.json"])
def test_what_force_would_cost_is_said_before_a_file_is_replaced(run, folder, there):
    (folder / there).write_text("")
    words = (*ASKED, "--rows", 5, "--out", "rows.csv", "--publish-counts", "counts.json")
    status, out, err = run(*words)
    assert (status, out) == (2, "")
    assert err == (
        f"Error: The file {there!r} exists. Name another, or replace it with --force (in Python, force=True). Rows "
        "that are made again are a second release of the same people, which spends epsilon again.\n"
    )


def test_what_is_replaced_after_a_release_says_so_too(run):
    words = (*ASKED, "--rows", 5, "--out", "rows.csv")
    assert run(*words)[0] == 0
    (status, _, err) = run("synthesize", *words[1:-1], "more.csv", "--save", "rows.eq")
    assert (status, "5 draws were released from it" in err) == (2, True)
    assert err.endswith(f" {COST}\n")


def test_up_to_ten_categories_are_shown_in_lines_of_their_own(run):
    out = run(*ASKED, "--rows", 20, "--out", "rows.csv", "--method", "pay-once")[1]
    ward = out[out.index(" ward ") : out.index("\ndata (in bins):")]
    assert len(ward.splitlines()) <= 10
    assert [ward.count(name) for name in WARDS] == [3] * len(WARDS)
    assert "..." not in ward
    assert max(map(len, ward.splitlines())) <= 120


def test_the_resolution_of_the_bins_and_what_is_outside_a_picture_are_said(run):
    words = (*ASKED[:2], "--bounds", "age", 0, 120, "--column", "age", "--epsilon", 0.01, "--rows", 1)
    _, out, _ = run(*words, "--method", "envelope", "--bins", 40, "--out", "rows.csv")
    assert " age      data (in bins) " in out
    assert "data (in bins): every value counts as its bin" in out
    assert " % of rows outside this range)" in out
    assert "beyond" not in out
    assert "data (in bins)" in run("show", "rows.eq")[1]
