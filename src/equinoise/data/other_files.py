"""Files of other programs, which are not read: refused with the lines of Python that convert them; and packed files."""

from __future__ import annotations

from pathlib import Path

from equinoise.errors import BadInput

EXCEL = ("Excel", "read_excel({old}).to_csv({new}, index=False)")
CALC = ("LibreOffice Calc", EXCEL[1])
STATA = ("Stata", "read_stata({old}).to_parquet({new})")
SPSS = ("SPSS", "read_spss({old}).to_parquet({new})")
SAS = ("SAS", "read_sas({old}).to_parquet({new})")

OTHER_PROGRAMS = {
    ".xlsx": EXCEL, ".xlsm": EXCEL, ".xls": EXCEL, ".ods": CALC, ".dta": STATA, ".sav": SPSS, ".sas7bdat": SAS,
}  # fmt: skip
"""Whose files these are, and the second line of Python that converts them; the first is ``import pandas``."""

SPREADSHEET = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
"""How spreadsheets begin, whatever they are called."""

PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"x\x01", b"x^", b"x\x9c", b"x\xda")
"""How files that gzip, zstd or zlib made begin."""


def refuse_program_file(path: Path) -> None:
    """Refuse a file that ends like another program's."""
    if path.suffix.lower() in OTHER_PROGRAMS:
        program, _ = OTHER_PROGRAMS[path.suffix.lower()]
        raise BadInput(f"{str(path)!r} is a file of {program}. {_conversion(path, path.suffix.lower())}")


def refuse_no_text(path: Path) -> None:
    """Refuse what is called text and begins like a spreadsheet or a packed file. Polars would unpack the latter, but it
    cannot be cut into parts; and some text looks like one."""
    with path.open("rb") as file:
        begin = file.read(4)
    if begin.startswith(SPREADSHEET):
        raise BadInput(
            f"The file {str(path)!r} is no text: it begins like a file of Excel. {_conversion(path, '.xlsx')}"
        )
    if begin.startswith(PACKED):
        raise BadInput(
            f"The file {str(path)!r} begins like a packed file. Unpack it first; if it is text, put the first name "
            "in quotes."
        )


def _conversion(path: Path, kind: str) -> str:
    """The lines that convert a file, to another than itself."""
    line = OTHER_PROGRAMS[kind][1]
    ending = ".csv" if "to_csv" in line else ".parquet"
    new = path.with_suffix(ending) if path.suffix.lower() != ending else path.with_name(f"{path.stem}-text{ending}")
    call = line.format(old=repr(str(path)), new=repr(str(new)))
    return f"Convert it first, with two lines of Python: import pandas; pandas.{call}"
