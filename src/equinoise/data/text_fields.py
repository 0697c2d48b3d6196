"""What a field of a text file means, decided in one place: every engine that reads text reads it with this.

Every field is read as text and turned into a number here, so that no guess about types can depend on the first rows,
and what is not a number is counted rather than fatal. Big files are cut into parts, so that workers can share them.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import polars as pl

from equinoise.data.engines.failures import open_quotes, unreadable
from equinoise.data.number_marks import to_number
from equinoise.data.paths import Files, check_same
from equinoise.errors import BadInput

VALUE, IS_TEXT, RAW = "equinoise value", "equinoise is text", "equinoise raw"
FIELD = "equinoise field"
MISSING_MARKS = ["", "na", "n/a", "nan", "null", "none", "missing", "#n/a", ".", "?"]
"""What stands for a value that is missing, in small letters. No dash: in accounts it is zero."""

PART_BYTES = 64 * 2**20
LINE_BYTES = 2**16
ALL_FIELDS = pl.QueryOptFlags(projection_pushdown=False)
"""For every query on text files: leaving columns out would also leave out the check that no row has too many fields."""


@dataclass(frozen=True)
class Part:
    """Some rows of a text file: those between two places in it (bytes), read under the file's own header.

    Without places, the whole file. ``columns`` are those to be counted, ``source`` is what errors call the file;
    ``fields`` are the columns that come along as they are.
    """

    path: str
    separator: str
    columns: tuple[str, ...]
    source: str
    header: int = 0
    start: int = 0
    stop: int = 0
    fields: tuple[str, ...] = ()
    decimal: str | None = None

    def read(self) -> pl.DataFrame:
        """The rows as numbers. Wherever this runs, what is wrong with the file becomes one sentence."""
        try:
            query = numbers(self._text(), self.columns, self.fields, self.separator, self.decimal)
            return query.collect(engine="streaming", optimizations=ALL_FIELDS)
        except FileNotFoundError:
            raise BadInput(
                f"A worker finds no file {self.path!r}. Put the files where every worker sees them under the same path."
            ) from None
        except (pl.exceptions.PolarsError, OSError) as error:
            raise unreadable(self.source, error) from None

    def _text(self) -> pl.LazyFrame:
        if not self.stop:
            return scan([Path(self.path)], self.separator)
        with Path(self.path).open("rb") as file:
            header = file.read(self.header)
            file.seek(self.start)
            rows = file.read(self.stop - self.start)
        return pl.scan_csv(header + rows, separator=self.separator, infer_schema=False, with_column_names=plain_names)


def scan(paths: Sequence[Path], separator: str) -> pl.LazyFrame:
    """The fields of text files, all of them as text."""
    return pl.scan_csv(list(paths), separator=separator, infer_schema=False, glob=False, with_column_names=plain_names)


def plain_names(names: list[str]) -> list[str]:
    """The names in a header as they are meant: a quote within quotes is written twice, and polars leaves it so."""
    return [name.replace('""', '"') for name in names]


def header_of(files: Files) -> list[str]:
    """The column names, if all the files have the same."""
    assert files.separator is not None
    for path in files.paths:
        _refuse_open(path, files.source)
    headers = [scan([path], files.separator).collect_schema().names() for path in files.paths]
    if any("\0" in name or "\ufffd" in name for name in headers[0]):
        raise BadInput(f"{files.source} is not UTF-8 text. Save it as UTF-8 and try again.")
    if any(re.search(r"\r[^\n]", name) for names in headers for name in names):
        raise BadInput(f"{files.source} has lines that end in a carriage return alone. Save it with usual line ends.")
    check_same(files.paths, [[repr(name) for name in names] for names in headers])
    return headers[0]


def _refuse_open(path: Path, source: str) -> None:
    """Refuse a quote that is not closed in the one place where polars would not notice: the last line has no end and
    has quotes itself. Everyone's rows in between would become one field."""
    with path.open("rb") as file:
        last, begin = b"", path.stat().st_size
        while begin > 0 and b"\n" not in last:
            begin = max(begin - LINE_BYTES, 0)
            file.seek(begin)
            last = file.read(LINE_BYTES) + last
        if b'"' not in last[last.rfind(b"\n") + 1 :]:
            return
        file.seek(0)
        if sum(block.count(b'"') for block in iter(lambda: file.read(PART_BYTES), b"")) % 2:
            raise open_quotes(source)


def refuse_repeated(files: Files, names: Sequence[str], header: Sequence[str]) -> None:
    """Refuse a column of which there are two: polars gives the later ones other names."""
    assert files.separator is not None
    for name in names:
        if f"{name}_duplicated_0" in header:
            first = pl.scan_csv(
                files.paths[0], separator=files.separator, infer_schema=False, glob=False, has_header=False
            )
            if first.head(1).collect().row(0).count(name) > 1:
                raise BadInput(f"{files.source} has several columns called {name!r}. Give each a name of its own.")


def numbers(
    text: pl.LazyFrame, columns: Sequence[str], fields: Sequence[str] = (), separator: str = ",",
    decimal: str | None = None,
) -> pl.LazyFrame:  # fmt: skip
    """Text to numbers; column i becomes ``VALUE i``, with ``IS_TEXT i`` where there is none and ``RAW i`` to show.

    The untouched text of column number j of ``fields`` comes along as ``FIELD j``. What is a number depends on the
    ``separator`` and the ``decimal`` mark: see :func:`equinoise.data.number_marks.to_number`.
    """
    ours = column_numbers(columns, fields)
    query = [pl.col(ours[name]).alias(f"{FIELD} {j}") for j, name in enumerate(fields)]
    for i in range(len(columns)):
        raw = pl.col(f"{VALUE} {i}").str.strip_chars()
        missing = raw.is_null() | raw.str.to_lowercase().is_in(MISSING_MARKS)
        number = to_number(pl.when(missing).then(None).otherwise(raw), decimal, separator)
        is_text = ~missing & number.is_null()
        query += [
            number.alias(f"{VALUE} {i}"),
            is_text.alias(f"{IS_TEXT} {i}"),
            pl.when(is_text).then(raw).alias(f"{RAW} {i}"),
        ]
    return text.rename(our_names(text.collect_schema().names(), ours)).select(query)


def column_numbers(columns: Sequence[str], fields: Sequence[str]) -> dict[str, str]:
    """Our own names of columns that are counted (``VALUE i``) or only come along (``FIELD j``), by those they have."""
    return {name: f"{FIELD} {j}" for j, name in enumerate(fields)} | {c: f"{VALUE} {i}" for i, c in enumerate(columns)}


def our_names(names: Sequence[str], ours: Mapping[str, str]) -> dict[str, str]:
    """A new name for every column: our own for some, and none like ours for the others."""
    return {name: ours.get(name, f"other {i}") for i, name in enumerate(names)}


def no_rows(columns: Sequence[str], fields: Sequence[str] = ()) -> pl.DataFrame:
    """The columns of an empty file: names and types for an engine that wants to know them before it reads."""
    return numbers(pl.LazyFrame(schema=dict.fromkeys([*fields, *columns], pl.String)), columns, fields).collect()


def parts_of(
    files: Files, columns: tuple[str, ...], size: int | None = None, fields: tuple[str, ...] = ()
) -> list[Part]:
    """The files, big ones cut into parts of about ``size`` bytes, so that many workers can read them."""
    assert files.separator is not None
    size = PART_BYTES if size is None else size
    parts = []
    for path in files.paths:
        whole = Part(str(path.absolute()), files.separator, columns, files.source, fields=fields, decimal=files.decimal)
        places = list(_cuts(path, size)) if path.stat().st_size > size else []
        header = places[0] if places else 0
        parts += [replace(whole, header=header, start=a, stop=b) for a, b in pairwise(places)] or [whole]
    return parts


def _cuts(path: Path, size: int) -> Iterator[int]:
    """Ends of lines about ``size`` bytes apart, the header's first. A line end inside quotes is no end of a row, so
    the quotes before every cut must be closed."""
    with path.open("rb") as file:
        line, odd = b"\n", 0
        while line.removeprefix(BOM_UTF8).strip(b"\r\n") == b"" and line:  # empty lines before the header
            line = file.readline()
        odd = line.count(b'"') % 2
        while odd and (line := file.readline()):
            odd ^= line.count(b'"') % 2
        yield file.tell()
        while block := file.read(size):
            odd = (block.count(b'"') + (line := file.readline()).count(b'"')) % 2
            while odd and (line := file.readline()):
                odd ^= line.count(b'"') % 2
            yield file.tell()


def some_text(path: Path, separator: str, stretches: int, size: int) -> tuple[pl.DataFrame, bool]:
    """Some whole rows of a text file, all fields as text: at most so many stretches, at even distances, of at most so
    many bytes; and whether these are all rows. Past the first stretch those with quotes are left out: nobody knows
    whether they begin inside of some."""
    header, end = next(_cuts(path, 1)), path.stat().st_size
    everything = end - header <= stretches * size
    places = [header] if everything else [header + (end - header) * i // stretches for i in range(stretches)]
    with path.open("rb") as file:
        text = [file.read(header).rstrip(b"\r\n")]
        for place, stop in pairwise([*places, end]):
            file.seek(place)
            if place > header and not file.readline(size).endswith(b"\n"):
                continue
            rows = file.read(stop - place if everything else min(size, max(stop - file.tell(), 0)))
            if file.tell() < end:
                rows = rows[: rows.rfind(b"\n") + 1]  # the next stretch begins after the line in which this one stops
            while rows.count(b'"') % 2:
                rows = rows[: rows.rfind(b"\n", 0, rows.rfind(b'"')) + 1]
            if place == header or b'"' not in rows:
                text.append(rows.rstrip(b"\r\n"))
    sample = pl.read_csv(
        b"\n".join(part for part in text if part), separator=separator, infer_schema=False, truncate_ragged_lines=True
    )
    return sample.rename(dict(zip(sample.columns, plain_names(sample.columns), strict=True))), everything
