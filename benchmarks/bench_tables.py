"""How long `equinoise synthesize` takes: from file to rows, with compiled code at hand and without; growth with people
and with cells."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.bench_growth import WHOLE
from benchmarks.measuring import Part, at_most, note, table
from equinoise import Axis, CategoryAxis, Grid, Histogram
from equinoise.data.players import Players
from equinoise.data.read_players import schema_of
from equinoise.verbs.table_request import Saving, TableRequest

METHODS = ("pay-once", "envelope")
PEOPLE = (10**3, 10**6)
MANY = (10**3, 10**6, 10**9)
MOST_SECONDS, MOST_SECONDS_OF_A_MILLION = 10, 60
MOST_GROWTH = 2

ABOUT = """
`equinoise synthesize` on a CSV file of made-up people, 200 rows at epsilon 1 by pay-once and 5 by the envelope, a
process of its own. Seconds are the processor's, with those of the clock beside them, as the machine had other work; the
best of {repeats} runs. *Cold* is the first run of all, with nothing compiled before. *Without counting* is what comes
after it, in one process: the mechanism, its certificate and the rows. On fine grids the envelope's time grows with the
cells that have people, so there it is measured for few.
"""


def people(many, seed=1):
    """A made-up table: age and length of stay, which go together, and a ward."""
    random = np.random.default_rng(seed)
    age = random.normal(60, 14, many).clip(18, 100)
    stay = (age / 10 + random.gamma(2, 3, many)).clip(0, 60)
    return pl.DataFrame(
        {"age": age.round(1), "stay": stay.round(1), "ward": random.choice(["a", "b"], many, p=[0.7, 0.3])}
    )


def schema(bins, ward):
    text = (
        f"[columns.age]\nbounds = [18.0, 100.0]\nbins = {bins}\n[columns.stay]\nbounds = [0.0, 60.0]\nbins = {bins}\n"
    )
    return text + ('[columns.ward]\ncategories = ["a", "b"]\n' if ward else "")


def command(folder, many, bins, ward, method, cold=False):
    """The command: seconds of the processor and of the clock, and peak memory in MiB."""
    rows, public = folder / f"{many}.csv", folder / "public.toml"
    if not rows.exists():
        people(many).write_csv(rows)
    public.write_text(schema(bins, ward))
    words = [sys.executable, "-c", WHOLE, "synthesize", str(rows), "--schema", str(public), "--method", method]
    words += ["--epsilon", "1", "--rows", "200" if method == "pay-once" else "5"]
    words += ["--out", str(folder / "rows.csv"), "--save", str(folder / "rows.eq"), "--force"]
    (folder / "rows.eq").unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as empty:
        own = {"NUMBA_CACHE_DIR": empty} if cold else {}
        began = time.perf_counter()
        ended = subprocess.run(words, check=True, capture_output=True, text=True, env={**os.environ, **own})
        seconds = time.perf_counter() - began
    *_, processor, peak = ended.stderr.split()
    return float(processor), seconds, int(peak) / 2**20


def best(runs):
    """The least seconds of the processor, of the clock, and of memory, each on its own."""
    return tuple(map(min, zip(*runs, strict=True)))


def after_counting(many, bins, ward, method):
    """Seconds of the processor from players to rows; more than a million people are a million, scaled."""
    axes = (Axis("age", 18.0, 100.0, bins), Axis("stay", 0.0, 60.0, bins), CategoryAxis("ward", ("a", "b")))
    grid = Grid(axes if ward else axes[:2])
    found = people(min(many, 10**6))
    codes = [np.minimum((found["age"].to_numpy() - 18) / 82 * bins, bins - 1).astype(int)]
    codes += [np.minimum(found["stay"].to_numpy() / 60 * bins, bins - 1).astype(int)]
    codes += [(found["ward"] == "b").to_numpy().astype(int)] if ward else []
    cells = grid.cells_of(np.stack(codes, axis=1))
    counts = np.bincount(cells, minlength=grid.cells) * max(many // 10**6, 1)
    players = Players.of(Histogram(grid, counts))
    rows = 200 if method == "pay-once" else 5
    request = TableRequest(epsilon=1.0, rows=rows, method=method)
    began = time.process_time()
    choice = request.choose(schema_of(players.grid.axes), None, None)
    request.make(players, {"public_bounds": True}, choice, Saving(), None).sample(rows)
    return time.process_time() - began


def measure(methods=METHODS, many=PEOPLE, growth=MANY, repeats=2, bins=24, fine=1000):
    """All of it."""
    lines, goals, fines, sizes = [], [], [], []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for method in methods:
            for number in many:
                note(f"synthesize, {method}, {number:,} people, 2 x {bins} x {bins}")
                cold = command(folder, number, bins, True, method, cold=True)
                warm = best(command(folder, number, bins, True, method) for _ in range(repeats))
                lines.append(
                    [method, f"{number:,}", *(f"{a:.1f} ({b:.1f})" for a, b, _ in (cold, warm)), f"{warm[2]:.0f}"]
                )
                what = f"`synthesize`, {method}, three columns of 2 x {bins} x {bins}, {number:,} people, file to rows"
                goals.append(at_most(f"{what}, of the processor", MOST_SECONDS, warm[0], "s"))
                goals.append(at_most(f"{what}, nothing compiled, of the processor", MOST_SECONDS, cold[0], "s"))
        for method in methods:
            note(f"without counting, {method}")
            after_counting(growth[0], bins, True, method)
            times = [min(after_counting(n, bins, True, method) for _ in range(repeats)) for n in growth]
            sizes += [[method, f"{n:,}", f"{t:.2f}"] for n, t in zip(growth, times, strict=True)]
            what = f"`synthesize`, {method}, without counting, {growth[0]:,} to {growth[-1]:,} people: largest to least"
            goals.append(at_most(what, MOST_GROWTH, max(times) / times[0]))
        for method in methods:
            for number in many if method == "pay-once" else many[:1]:
                note(f"synthesize, {method}, {number:,} people, {fine} x {fine}")
                seconds, clock, peak = command(folder, number, fine, False, method)
                fines.append([method, f"{number:,}", f"{seconds:.1f} ({clock:.1f})", f"{peak:,.0f}"])
                what = (
                    f"`synthesize`, {method}, {fine} x {fine} cells, {number:,} people, file to rows, of the processor"
                )
                goals.append(at_most(what, MOST_SECONDS_OF_A_MILLION, seconds, "s"))
    text = [ABOUT.format(repeats=repeats).strip(), "", f"Three mixed columns, 2 x {bins} x {bins}:"]
    text += table(["method", "people", "cold, s", "warm, s", "peak, MiB"], lines)
    text += ["", "Without counting:", *table(["method", "people", "s"], sizes)]
    text += ["", f"Two columns, {fine} x {fine} cells, one run:", *table(["method", "people", "s", "peak, MiB"], fines)]
    return Part("Tables", text, goals)
