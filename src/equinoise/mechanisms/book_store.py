"""Where a book is kept: an SQLite file, or a PostgreSQL database that several people or machines share.

The same two tables in both: one row about the book, and its events. All changes of one charge are one transaction that
no other one is between, and that is on the disk before it is over.
"""

from __future__ import annotations

import os
import random
import re
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import sqlalchemy as sql
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from equinoise.atomic_write import write_whole
from equinoise.errors import BadInput
from equinoise.formatting import printable

SECONDS = 20.0
"""How long to wait for others who charge the same book; each takes some milliseconds."""

BUSY = {"40001", "40P01", "55P03", "23505", "42P07"}
"""What PostgreSQL says where another transaction was between, also one that makes the same tables: try again."""

TABLES = sql.MetaData()
BOOKS = sql.Table(
    "equinoise_book", TABLES, sql.Column("one", sql.Integer, primary_key=True), sql.Column("text", sql.Text),
    sql.Column("events", sql.Integer), sql.Column("link", sql.Text),
)  # fmt: skip
EVENTS = sql.Table(
    "equinoise_event", TABLES, sql.Column("number", sql.Integer, primary_key=True), sql.Column("text", sql.Text),
    sql.Column("link", sql.Text),
)  # fmt: skip


class BookStore:
    """The tables of one book. ``place`` is the path of a file, or the address of a database."""

    def __init__(self, place: str | Path) -> None:
        self.place = str(place)
        self.is_file = re.match(r"(?i)[a-z][a-z0-9+]*://", self.place) is None

    @property
    def name(self) -> str:
        """The place as people may see it: without a password."""
        if self.is_file:
            return self.place
        hidden = re.sub(r"(://[^:/@]*):.*@", r"\1:...@", self.place)
        return re.sub(r"(?i)(password=)[^&]*", r"\1...", hidden)

    def create(self, text: str, link: str) -> None:
        """A new book without events; refuses a place that has one."""
        row = {"one": 1, "text": text, "events": 0, "link": link}
        if self.is_file:
            if os.path.lexists(self.place):
                raise BadInput(f"The file {self.place!r} exists. Name another: a book is never replaced.")
            memory = sql.create_engine("sqlite://", poolclass=sql.StaticPool)
            with memory.begin() as connection:
                TABLES.create_all(connection)
                connection.execute(sql.insert(BOOKS), row)
            with memory.connect() as connection:
                driver: Any = connection.connection.driver_connection
                content = driver.serialize()
            write_whole(Path(self.place), [content], mode=0o600, force=False)
            return

        def make(connection: sql.Connection) -> None:
            if self.has_book(connection):
                raise BadInput(
                    f"There is a book in {self.name!r} already. A database holds one; take another database."
                )
            TABLES.create_all(connection)
            connection.execute(sql.insert(BOOKS), row)

        self._retry(make)

    def has_book(self, connection: sql.Connection) -> bool:
        """Whether the tables of a book are there."""
        return bool(sql.inspect(connection).has_table(BOOKS.name))

    @contextmanager
    def reading(self) -> Iterator[sql.Connection]:
        """A connection that sees one state of the book."""
        try:
            with self._transaction("BEGIN", change=False) as connection:
                yield connection
        except _BusyError:
            raise self._in_use() from None

    @contextmanager
    def _changing(self) -> Iterator[sql.Connection]:
        """A transaction with nobody else's between; on return it would survive a power cut."""
        with self._transaction("BEGIN IMMEDIATE", change=True) as connection:
            if not self.is_file:
                connection.exec_driver_sql("SET LOCAL synchronous_commit TO on")
            yield connection

    def wait_for(self, change: Callable[[sql.Connection], Any]) -> Any:
        """Run a change of the book, again where another process was between."""

        def run(connection: sql.Connection) -> Any:
            if not self.is_file:  # before anything is read, or a transaction that waited would see what was before
                connection.exec_driver_sql(f"SET LOCAL lock_timeout TO '{SECONDS:.0f}s'")
                connection.exec_driver_sql(f"LOCK TABLE {BOOKS.name} IN EXCLUSIVE MODE")
            return change(connection)

        return self._retry(run)

    def _retry(self, change: Callable[[sql.Connection], Any]) -> Any:
        until = time.monotonic() + SECONDS
        while True:
            try:
                with self._changing() as connection:
                    return change(connection)
            except _BusyError:
                if time.monotonic() > until:
                    raise self._in_use() from None
                time.sleep(random.uniform(0.001, 0.03))

    @contextmanager
    def _transaction(self, begin: str, *, change: bool) -> Iterator[sql.Connection]:
        """A transaction; SQLite's is begun and ended in its own words, as its driver would begin it too late."""
        with self._sentences(), self._connect(change) as connection:
            if not self.is_file:
                with connection.begin():
                    yield connection
                return
            connection.exec_driver_sql(begin)
            try:
                yield connection
            except BaseException:
                connection.exec_driver_sql("ROLLBACK")
                raise
            connection.exec_driver_sql("COMMIT")

    def _connect(self, change: bool) -> sql.Connection:
        if self.is_file:
            self._check_file(change)
            return self._engine.connect()
        level = "SERIALIZABLE" if change else "REPEATABLE READ"  # which a server that only follows has, too
        return self._engine.connect().execution_options(isolation_level=level)

    @cached_property
    def _engine(self) -> sql.Engine:
        """What connects, anew for every transaction: a process that is forked shares no connection."""
        if self.is_file:
            engine = sql.create_engine(
                "sqlite://", poolclass=NullPool,  # the place is not part of it, as it would be decoded
                isolation_level="AUTOCOMMIT",  # transactions are begun and ended by hand
                creator=self._open_file,
            )  # fmt: skip
            sql.event.listen(engine, "connect", _make_durable)
            return engine
        address = re.sub(r"^postgres(ql)?://", "postgresql+psycopg://", self.place)
        if not address.startswith("postgresql+psycopg://"):
            raise BadInput(f"A book is a file, or a database postgresql://...; got {self.name[:60]!r}.")
        return sql.create_engine(address, poolclass=NullPool, connect_args={"connect_timeout": 10})

    def _open_file(self) -> sqlite3.Connection:
        address = f"{Path(self.place).absolute().as_uri()}?mode=rw"  # where it may not be written, SQLite reads it
        return sqlite3.connect(address, uri=True, timeout=SECONDS)

    def _check_file(self, change: bool) -> None:
        """Refuse a file that is no book, or no book for this computer's locks."""
        path = Path(self.place)
        if not os.path.isfile(path):  # False, too, for what cannot be a name
            raise BadInput(f"There is no book {self.place!r}. Make one with: equinoise book create {self.place}")
        try:
            with path.open("rb") as file:
                head = file.read(16)
        except OSError as error:
            raise BadInput(f"The book {self.place!r} cannot be read: {error.strerror or error}.") from None
        if head != b"SQLite format 3\0":
            raise BadInput(f"The file {self.place!r} is no book.")
        if path.stat().st_nlink > 1:
            raise BadInput(
                f"The book {self.place!r} has a second name (a hard link), and a charge that was cut short under one "
                "name is not put right under the other. Remove one; a link made with ln -s is fine."
            )
        if change and not os.access(path, os.W_OK):
            raise BadInput(f"The book {self.place!r} cannot be written. Nothing was charged.")

    @contextmanager
    def _sentences(self) -> Iterator[None]:
        """What a database says, as one sentence."""
        try:
            yield
        except ModuleNotFoundError as error:
            if error.name != "psycopg":
                raise
            raise BadInput("A book in PostgreSQL needs another package: pip install 'equinoise[postgresql]'") from None
        except DBAPIError as error:
            if getattr(error.orig, "sqlstate", None) in BUSY or "database is locked" in str(error.orig):
                raise _BusyError(str(error.orig)) from None
            if re.search(rf'no such table: {BOOKS.name}|relation "{BOOKS.name}" does not exist', str(error.orig)):
                raise BadInput(f"There is no book in {self.name!r}. Make one with: equinoise book create") from None
            raise self._failed(str(error.orig)) from None
        except SQLAlchemyError as error:
            raise self._failed(str(error)) from None

    def _in_use(self) -> BadInput:
        return BadInput(f"The book {self.name!r} is in use by others. Try again later.")

    def _failed(self, said: str) -> BadInput:
        if "readonly database" in said:
            return BadInput(
                f"The book {self.name!r} cannot be written here, so nothing was charged. If it cannot be read either, "
                "a charge to it was cut short: 'equinoise book show' puts that right where the book can be written."
            )
        short = printable(" ".join(said.split()))[:200].rstrip(".")
        return BadInput(
            f"The book {self.name!r} cannot be used now ({short}). Nothing was made. If a charge was under way, "
            "'equinoise book show' tells whether it stands."
        )


class _BusyError(Exception):
    """Another transaction was between."""


def _make_durable(driver: Any, record: Any) -> None:
    """A charge is on the disk when it is over, and so is the folder that its journal was in."""
    driver.execute("PRAGMA synchronous = EXTRA")
