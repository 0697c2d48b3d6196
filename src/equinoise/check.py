"""Checks what a file of Equinoise promises, for whoever does not trust the package: one file, standard library only.

    python check.py FILE [--data people.csv [--schema people.toml]]

FILE: a saved mechanism, noisy counts or a book (see docs/check.md). Exit status: 0 it holds, 1 not, 2 cannot say.
"""

import argparse, base64, csv, datetime, hashlib, itertools, json, math, re, sqlite3, struct, tomllib, unicodedata, zlib  # noqa: E401, I001
from collections import Counter, defaultdict
from decimal import MAX_EMAX, MIN_EMIN, Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

MECHANISM, COUNTS, BOOK = 7, 2, 1  # the formats that are read here
TINY = Decimal("1e-40")  # more than decimals of 60 digits get wrong
MISSING = {"", "na", "n/a", "nan", "null", "none", "missing", "#n/a", ".", "?"}


class Broken(Exception):
    """The file does not keep its promise, or contradicts itself. Any other error: there is nothing to check."""


def require(holds: Any, reason: str) -> None:
    """Go on only if something holds."""
    if not holds:
        raise Broken(reason)


def exp_below(x: Fraction) -> Fraction:
    """A fraction at most e^x, or e^2000 (digits take time): the decimal, well rounded, less more than that errs."""
    return Fraction(min(Decimal(x.numerator) / x.denominator, Decimal(2000)).exp() * (1 - TINY))


def epsilon_of_zcdp(rho: Decimal, delta: float) -> Decimal:
    """Epsilon at delta of what is rho-zCDP, by an order a > 1 that is near the best (any of them is a proof)."""
    log, a, found = Decimal(delta).ln(), Decimal(2), Decimal(0)
    for step in (1 + 7 * Decimal("0.9") ** n for n in range(150)):
        orders = (1 + (a - 1) * x for x in (1 / step, 1, step))
        found, a = min((x * rho + ((x - 1) * (1 - 1 / x).ln() - log - x.ln()) / (x - 1), x) for x in orders)
    return max(found, Decimal(0)) + TINY


def rows_within(epsilon: float, rows: int, total: float, delta: float) -> bool:
    """Whether draws of a range of epsilon each are within total and delta together: as they add up, as each is
    epsilon^2/8-zCDP, or by the worst pair, of two outcomes (Dong, Durfee, Rogers 2020): for every l < rows and t =
    (total + (l + 1) epsilon)/(rows + 1) it costs P(at most l of the second) - e^total Q(at most l of the second)."""
    if rows * Fraction(epsilon) <= Fraction(total) or delta == 0:
        return rows * Fraction(epsilon) <= Fraction(total)
    e, most = Decimal(epsilon), Decimal(total)
    if rows > 500 or epsilon_of_zcdp(rows * e * e / 8, delta) <= most:
        return epsilon_of_zcdp(rows * e * e / 8, delta) <= most
    for last in range(rows):
        if (t := (most + (last + 1) * e) / (rows + 1)) >= e:
            break
        chances = ((t.exp() - 1) / (e.exp() - 1), (1 - (-t).exp()) / (1 - (-e).exp()))
        p, q = (sum(math.comb(rows, i) * c**i * (1 - c) ** (rows - i) for i in range(last + 1)) for c in chances)
        if p - most.exp() * q + TINY > Decimal(delta):
            return False
    return True


def bins_of(axis: dict[str, Any], missing: int = 1) -> int:
    """The bins of a column, with that of the missing or without."""
    own = int(axis["missing"] == "category")
    return int(axis["bins"]) - own + own * missing if axis["kind"] == "number" else len(axis["names"]) + own * missing


class Mechanism:
    """A saved mechanism: lines with a heading, the document, the weights, and then every release."""

    def __init__(self, text: str) -> None:
        found = re.match(r"equinoise (\d+) ([0-9a-f]{64}) ([0-9a-f]{32})\n", text)
        if found is None or int(found[1]) != MECHANISM:
            raise ValueError(f"it is no saved mechanism of format {MECHANISM}, as it begins with {text[:24]!r}")
        _, line, packed, ledger = text.split("\n", 3)
        blob = zlib.decompress(base64.b64decode(packed, validate=True))
        digest = hashlib.sha256(line.encode() + b"\0" + blob).hexdigest()
        require(digest == found[2], "The digest is not that of what stands in the file.")
        self.weights, self.said = [one for (one,) in struct.iter_unpack("<q", blob)], json.loads(line)
        self.axes, self.settings, self.epsilon = (self.said[name] for name in ("axes", "settings", "epsilon"))
        self.draws, self.total = self.said["draws"], self.said["budget"] or self.said
        fit = all(one["epsilon"] > 0 <= one["delta"] < 1 for one in (self.said, self.total))
        fit = fit and (self.said["order"] is None or self.said["order"] > 1)
        require(fit, "Epsilon is not above 0, or delta not from 0 to below 1, or the order not above 1.")
        for name in ("epsilon", "delta"):
            require(self.settings.get(name, self.total[name]) == self.total[name], f"The settings say another {name}.")
        self.spent, link = 0, f"{digest} {found[3]}"
        for number, entry in enumerate(ledger.split("\n")[:-1], 1):  # a last line without an end is no release
            count, at, many, told = entry.split(" ")
            link = hashlib.sha256(f"{link} {at} {many}".encode()).hexdigest()
            fit = (count, told) == (str(number), link) and int(many) > 0
            require(fit, f"Release {number} does not follow from what stands before it.")
            self.spent += int(many)
        require(self.draws is None or self.spent <= self.draws, f"{self.spent} draws were released, not {self.draws}.")
        self.shape = [bins_of(axis) for axis in self.axes]
        self.cells, self.rows, self.people = math.prod(self.shape), Counter[int](), Counter[tuple[int, ...]]()
        game, alone = self.said["kind"] == "per-instance", self.settings.get("unit") is None
        usual = 1 if alone or self.settings.get("unit_rows") == "one" else 2**20
        self.most = usual if game else self.said["rows_per_person"]
        entries = [] if game else list(zip(self.said["cells"], self.said["times"], strict=True))
        bags = self.said["bags"] if game else [entries[a:b] for a, b in itertools.pairwise(self.said["begins"])]
        for pairs, n in zip(bags, self.said["people"], strict=True):
            rows = sum(times for _, times in pairs)
            require(rows <= self.most, f"Somebody has {rows} rows, and may have no more than {self.most}.")
            bag = tuple(cell for cell, times in pairs for _ in range(times))
            fit = type(n) is int and n > 0 and 0 < len(bag) == rows and 0 <= min(bag) and max(bag) < self.cells
            require(fit and bag == tuple(sorted(bag)), "There are people whose rows are in no cells of the grid.")
            self.people[bag] += n
            self.rows.update({cell: n * times for cell, times in Counter(bag).items()})

    def check(self, data: Path | None, schema: Path | None) -> list[str]:
        """Check what is promised, by the method that it was made with, and whose it is, if there is data."""
        checks = {"envelope": self.check_envelope, "pay-once": self.check_noisy_counts, "aim": self.check_model}
        known = checks if self.said["kind"] == "differential-privacy" else {"game": self.check_game}
        found = known[self.said["method"]]() + (self.check_data(data, schema) if data else [])
        if known is checks:
            of = "differential privacy with epsilon {epsilon} and delta {delta}".format(**self.total)
            of += f" (and epsilon {self.settings.get('bounds_epsilon', 0)} for bounds)"
            found.insert(0, f"Promised: {of} for all that comes out, one person (rows: {self.most}) more or less.")
        return [*found, f"Checked: the chain of releases, {self.spent:,} draws of {self.draws or 'any number'}.",
                f"Not checked: copies, rewriting, bounds (public: {self.settings['public_bounds']})."]  # fmt: skip

    def groups(self) -> Any:
        """Of every group its people, the rows of one, and W over the cells: products of a row's weights by column."""
        start, one = 0, 2**32 if len(self.shape) == 1 else 2 ** (52 // len(self.shape))
        for n, bag in zip(self.said["people"], self.said["bags"], strict=True):
            found = [0] * self.cells
            for _, times in bag:
                laid_out = [times]
                for bins in self.shape:
                    part, start = self.weights[start : start + bins], start + bins
                    require(sum(part) == one and min(part) >= 0, f"Weights of a row are negative, or not {one} in all.")
                    laid_out = [a * b for a in laid_out for b in part]
                found = list(map(int.__add__, found, laid_out))
            yield n, sum(times for _, times in bag), found

    def check_game(self) -> list[str]:
        """Check that nobody's presence changes the law of a draw by more than is promised, in both directions.
        Everyone's R rows have the weights S in all, the m rows of a person W, and the weights of one row sum to T. A
        cell has probability P = S/(R T) with that person, and Q = (S - W)/((R - m) T) with all of their rows gone."""
        epsilon, delta, order, in_all = self.epsilon, self.said["delta"], self.said["order"], self.rows.total()
        sums, (p, q) = [0] * self.cells, exp_below(Fraction(epsilon)).as_integer_ratio()
        for n, _, row in self.groups():
            sums = [s + n * w for s, w in zip(sums, row, strict=True)]
        for _, m, row in self.groups():
            both, rest = [(s, s - w) for s, w in zip(sums, row, strict=True) if s], in_all - m
            a, b, c, d = rest * q, in_all * p, in_all * q, rest * p  # with E = p/q, which is below e^epsilon,
            forth = sum(a * s - b * o for s, o in both if a * s > b * o)  # max(0, P - E Q) over the cells, and
            back = sum(c * o - d * s for s, o in both if c * o > d * s)  # max(0, Q - E P), times R (R - m) q T
            if order is None:
                within = rest > 0 and max(forth, back) <= Fraction(delta) * sum(sums) * rest * q
                require(within, f"Somebody's loss is above epsilon {epsilon} with more probability than {delta}.")
            elif max(forth, back) > 0:  # what is within the pure condition is within this one, too
                logs = [(Decimal(s).ln(), (Decimal(o) * in_all / rest).ln()) for s, o in both]
                ways = (((x - y, x) for x, y in logs), ((y - x, y) for x, y in logs))
                most = max(sum((((Decimal(order) - 1) * apart + x).exp() for apart, x in way), TINY) for way in ways)
                within = (most / sum(sums)).ln() / (Decimal(order) - 1) + TINY <= Decimal(epsilon)
                require(within, f"Somebody's Renyi divergence of order {order} is above epsilon {epsilon}.")
        what = f"{'loss' if order is None else f'Renyi divergence of order {order}'} of at most {epsilon}"
        return [f"Promised: each person in this dataset has a {what}{f' (delta {delta})' * (delta > 0)} in one draw, "
                f"{self.draws} times that in {self.draws}, others' noise held fixed: not differential privacy.",
                f"Checked: that, for all {self.people.total():,} people, in {self.cells:,} cells, both ways.",
                "Not checked: whether all draws cost less, and the weights are of the noise named."]  # fmt: skip

    def check_envelope(self) -> list[str]:
        """Check that no person changes the rule's weights by more than e^epsilon, what rows cost, and that weights
        are the rule's: the least of E^j F over the ways to remove j people, the nearest first, where F is left."""
        rule, told = self.said["rule"], dict(zip(self.said["weight_cells"], self.said["weights"], strict=True))
        unit, height, cap, alone = (rule[name] for name in ("unit", "height", "cap", "alone"))
        floors, near, factor = rule["floors"], rule["near"], rule["factor"]
        e, h, least = Fraction(factor, 2**40), 1 + Fraction(1, 2**42), Fraction(1, min(floors))
        steps = (2**62 * unit // min(floors) + cap).bit_length() + 2
        fit = all(0 <= x <= 2**16 for one in near for x in one) and 0 <= height <= unit and cap >= 0 < min(floors)
        fit = fit and alone >= cap + max(floors) and alone * (e - 1) >= unit and 2**20 * (e - 1) >= e * steps
        fit = fit and e * h * (1 + least) <= (1 / h - least) * exp_below(Fraction(self.epsilon) / self.most)
        fit = fit and len(floors) == (self.cells if self.said["base"] else 1)
        require(fit, "The rule is not one by which nobody changes a weight by more than e^epsilon.")
        require([x for x in range(self.cells) if x in told] == self.said["weight_cells"], "A cell has two weights.")
        within = rows_within(self.epsilon, self.draws, self.total["epsilon"], self.total["delta"])
        require(within, f"{self.draws} rows of {self.epsilon} each cost more than {self.total['epsilon']} together.")
        around = defaultdict[int, Counter[int]](Counter)  # by cell: people, by what one counts there; -1 for its own
        for cell, many in self.rows.items():
            places = [cell // math.prod(self.shape[d + 1 :]) % bins for d, bins in enumerate(self.shape)]
            sides = [range(max(0, x - len(one) + 1), min(b - u, x + len(one))) if x < b - u else [x]
                     for x, one, b, u in zip(places, near, self.shape, rule["categories"], strict=True)]  # fmt: skip
            for there in itertools.product(*sides):
                counts, target = height, 0
                for x, y, one, bins in zip(places, there, near, self.shape, strict=True):
                    counts, target = counts * one[abs(x - y)] >> 16, target * bins + y
                around[target][-1 if target == cell else min(counts, cap)] += many
        for cell in range(self.cells):
            floor, others, usual = floors[cell % len(floors)], around[cell], floors[0] * (len(floors) == 1)
            own, power, left = others.pop(-1, 0), 1 << 64, sum(counts * n for counts, n in others.items())
            weight = max(unit * own, min(unit * own + floor + min(cap, left), alone)) << 64
            for counts, n in [(0, own), *sorted(others.items(), reverse=True)]:
                for _ in range(n):
                    power = power * factor >> 40
                    if power * floor >= weight:  # no more people are worth removing
                        break
                left -= counts * n
                weight = min(weight, power * (floor + min(cap, left)))
            require(told.get(cell, usual) == weight >> 64, f"The weight of cell {cell} is not the rule's.")
        return [f"Checked: the rule, its weights of {self.cells:,} cells, and the cost of {self.draws} rows together.",
                "Not checked: that the rule (and a base, if there is one) was chosen without the data."]  # fmt: skip

    def check_noisy_counts(self) -> list[str]:
        """Check that the noise on the counts is enough and about as large as its law has it; that all can come out."""
        noisy, drawn, scale = self.weights[: self.cells], self.weights[self.cells :], self.said["scale"]
        require(len(drawn) == self.cells and min(drawn) > 0, "The weights are not a whole number from 1 on a cell.")
        fit = 0 < self.most <= Fraction(scale) * Fraction(self.total["epsilon"])
        require(fit, f"Noise of scale {scale} is too small for epsilon {self.total['epsilon']}.")
        noise, a = sum(abs(z - self.rows[x]) for x, z in enumerate(noisy)), math.exp(-1 / scale)
        for s in (-8.0, -2.0, -0.5, -0.1, 0.1, 0.5, 0.8):  # Markov's bound of e^(s |k| / scale), in floating point
            mean = (1 - a) / (1 + a) * (2 / (1 - math.exp((s - 1) / scale)) - 1)
            require(self.cells * math.log(mean) > s * noise / scale - 28, f"The noise adds up to {noise:,}: unlikely.")
        return [f"Checked: the noise on {self.cells:,} counts, of a scale that is enough, is likely.",
                "Not checked: that the weights of rows were made of the noisy counts alone."]  # fmt: skip

    def check_model(self) -> list[str]:
        """Check what can be of a model of many columns: its proof is OpenDP's, and its noise is not kept."""
        require(0 < self.said["proven"] <= self.epsilon == self.total["epsilon"], "OpenDP proved more than promised.")
        require(min(self.weights) > 0, "A weight is not a whole number from 1 on, so that some row could not come out.")
        return ["Checked: that what OpenDP proved is within epsilon, and that every row can come out.",
                "Not checked: OpenDP's proof itself, as its noise was drawn once and is not kept."]  # fmt: skip

    def check_data(self, data: Path, schema: Path | None) -> list[str]:
        """Check that the people are those of a text file, counted by the file's columns, which are the schema's."""
        unit, persons = self.settings.get("unit"), defaultdict[Any, list[int]](list)
        said = {"unit": unit} if schema is None else tomllib.loads(schema.read_text())
        require(said.get("unit") == unit, f"The schema's unit is {said.get('unit')!r}, and the file's is {unit!r}.")
        for axis in self.axes if schema is not None else ():
            day, bounds = axis.get("day_zero"), [axis.get("low"), axis.get("high")]
            bounds = [datetime.date.fromisoformat(day) + datetime.timedelta(int(x)) for x in bounds] if day else bounds
            known = axis | {"bounds": bounds, "categories": axis.get("names"), "bins": bins_of(axis, 0)}
            others = [key for key, value in said["columns"][axis["name"]].items() if value != known.get(key, value)]
            require(not others, f"Column {axis['name']!r} has other {' and '.join(others)} in the schema.")
        with data.open(newline="", encoding="utf-8-sig") as file:
            for number, row in enumerate(csv.DictReader(file, delimiter="\t" if data.suffix == ".tsv" else ",")):
                cell, whose = 0, number if unit is None else row[unit].strip()
                for axis in self.axes:
                    found = bin_of(axis, unicodedata.normalize("NFC", row[axis["name"]]).strip())
                    cell = -1 if found is None or cell < 0 else cell * bins_of(axis) + found
                if cell >= 0 and str(whose).lower() not in MISSING:
                    persons[whose].append(cell)
        counted = Counter[tuple[int, ...]]()
        for cells in map(sorted, persons.values()):  # of too many rows those in the middle of equal parts, by cell
            m, n = min(self.most, len(cells)), len(cells)
            counted[tuple(cells[-((2 * j + 1) * n // (-2 * m)) - 1] for j in range(m))] += 1
        require(counted == self.people, f"The people are not those of {data.name}.")
        return [f"Checked: the {counted.total():,} people, with {self.rows.total():,} rows, are those of {data.name}."]


def bin_of(axis: dict[str, Any], text: str) -> Any:
    """The bin of a field of a text file, None where its row is dropped; refused where the column's rules refuse it."""
    bins, rule = bins_of(axis, 0), axis["missing" if text.lower() in MISSING else "outside"]
    if names := axis.get("names"):
        code = re.fullmatch(r"\+?(-?)0*(\d+)(\.0*)?", text) if type(names[0]) is int else None
        text = code[1] + code[2] if code else text.lower() if type(names[0]) is bool else text
        words = [str(name).lower() if type(name) is bool else str(name) for name in names]
        if text in words:
            return words.index(text)
    elif text.lower() not in MISSING:
        day, low, high, step, padding = (axis[name] for name in ("day_zero", "low", "high", "step", "padding"))
        value = (datetime.date.fromisoformat(text[:10]) - datetime.date.fromisoformat(day)).days if day else float(text)
        if low <= value <= high or (rule == "clip" and abs(value) < math.inf):
            value, last = min(max(value, low), high), round((high - low) / (step or 1))
            if step is None:
                return min(int((value - (low - padding)) * (1 / ((high + padding - (low - padding)) / bins))), bins - 1)
            return min(math.floor((value - low) * (1 / step) + 0.5), last) * bins // (last + 1)
    if rule not in {"drop", "category"}:
        raise ValueError(f"column {axis['name']!r} holds {text!r}, which its rules refuse")
    return bins if rule == "category" else None


def check_counts(said: dict[str, Any]) -> list[str]:
    """Check a file of noisy counts: that the noise is enough for the epsilon that it names."""
    if said["equinoise_counts"] != COUNTS:
        raise ValueError(f"it has no noisy counts of format {COUNTS}")
    same = said.pop("digest", "") == hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
    scale, rows, epsilon = said["noise"]["scale"], said["noise"]["rows_per_person"], said["epsilon"]
    require(0 < rows <= Fraction(scale) * Fraction(epsilon), f"Noise of scale {scale} is too small.")
    cells, told = math.prod(len(column["bins"]) for column in said["columns"]), said["promise"].split("epsilon ")[1]
    fit = len(said["counts"]) == cells == sum(type(count) is int for count in said["counts"])
    require(same, "Its digest does not match.")
    require(fit, f"There is not one whole number for each of {cells:,} cells.")
    total, told = Fraction(str(epsilon)) + Fraction(str(said["bounds_epsilon"])), told.split(" ")[0]
    require(Fraction(told) >= total, f"Its sentence says less than epsilon {float(total):g}.")
    return [f"Promised: differential privacy with epsilon {told} for {cells:,} noisy counts and their bounds.",
            f"Checked: that the noise is enough for {epsilon} of it, for a person with at most {rows} rows.",
            "Not checked: that the noise was drawn by that law, or what finding the bounds cost."]  # fmt: skip


def check_book(path: Path) -> list[str]:
    """Check a book: that every event follows from the one before, and that the limit was kept after each."""
    book = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    ((first, many, end),) = book.execute("SELECT text, events, link FROM equinoise_book")
    events = book.execute("SELECT number, text, link FROM equinoise_event ORDER BY number").fetchall()
    said, link, entries = json.loads(first), hashlib.sha256(f"\n{first}".encode()).hexdigest(), list[Any]()
    limit, delta = said["epsilon"], said["delta"]
    if said["format"] != BOOK:
        raise ValueError(f"it is no book of format {BOOK}")
    for place, (number, text, told) in enumerate(events, 1):
        link, event = hashlib.sha256(f"{link}\n{text}".encode()).hexdigest(), json.loads(text)
        require((number, told) == (place, link), f"Event {place} does not follow from the one before.")
        if event["event"] != "charge":
            entry = dict(enumerate(entries, 1)).get(event["entry"], {"event": None})
            before = "made" if event["event"] == "finished" else "charge"
            require(entry["event"] == before, f"Event {place} is of entry {event['entry']}, which is not open.")
            entry["event"] = event["event"]
            continue
        least = event["epsilon"] ** 2 / 2 if event["delta"] == 0 and event["method"] != "envelope" else 0
        fit = event["epsilon"] > 0 and 0 <= event["delta"] < 1 and (event["rho"] is None or event["rho"] >= least)
        require(fit, f"Event {place} charges an epsilon, a delta or a rho that cannot be.")
        entries.append(event)
        costs = [one for one in entries if one["event"] != "given back" and one["kind"] != "per-instance"]
        added, deltas = (sum(Fraction(str(one[name])) for one in costs) for name in ("epsilon", "delta"))
        fit = added <= Fraction(str(limit)) and 2 * deltas <= Fraction(str(delta))
        if not fit and delta > 0 and all(one["rho"] is not None for one in costs):
            fit = epsilon_of_zcdp(sum((Decimal(one["rho"]) for one in costs), TINY), delta / 2) <= Decimal(limit)
        require(fit, f"With event {place} everything costs more than the limit of epsilon {limit}, delta {delta}.")
    require((many, end) == (len(events), link), "The book does not end with the event that it should.")
    return [f"Promised: differential privacy with epsilon {limit} and delta {delta} for everything in the book.",
            f"Checked: the chain of {len(events):,} events of {len(entries):,} entries, and the limit after each.",
            "Not checked: that a mechanism costs what its entry says, and charges to copies of the book."]  # fmt: skip


def main() -> int:
    """Check a file, and print what was found."""
    parser = argparse.ArgumentParser(description="Check what a file of Equinoise promises.")
    parser.add_argument("file", type=Path, help="a saved mechanism, a file of noisy counts, or a book")
    parser.add_argument("--data", type=Path, help="a CSV or TSV file of the people that a mechanism was made of")
    parser.add_argument("--schema", type=Path, help="what is public about its columns, in TOML")
    asked = parser.parse_args()
    try:
        content = asked.file.read_bytes()
        with localcontext(prec=60, Emax=MAX_EMAX, Emin=MIN_EMIN):
            if content.startswith((b"SQLite format 3", b"{")) and asked.data is None:
                found = check_book(asked.file) if content.startswith(b"S") else check_counts(json.loads(content))
            else:
                found = Mechanism(content.decode()).check(asked.data, asked.schema)
    except Exception as error:  # whatever it is, no traceback helps
        print(asked.file, "does not keep its promise:" if isinstance(error, Broken) else "cannot be checked:", error)
        return 1 if isinstance(error, Broken) else 2
    print(*found, sep="\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
