"""Where the books of tests are: files, or with EQUINOISE_TEST_SERVER new databases of a PostgreSQL server."""

import os
import secrets
from pathlib import Path

import pytest
import sqlalchemy as sql

SERVER = os.environ.get("EQUINOISE_TEST_SERVER")


@pytest.fixture
def place(tmp_path):
    """Where there is no book yet."""
    if SERVER is None:
        yield str(tmp_path / "patients.book")
        return
    name = f"test_{secrets.token_hex(8)}"
    tell_server(f"CREATE DATABASE {name}")
    yield f"{SERVER}/{name}"
    tell_server(f"DROP DATABASE {name} WITH (FORCE)")


def tell_server(*statements):
    """Statements for the server, in no transaction."""
    address = f"{SERVER}/postgres".replace("postgresql:", "postgresql+psycopg:")
    server = sql.create_engine(address, isolation_level="AUTOCOMMIT")
    with server.connect() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)
    server.dispose()


@pytest.fixture
def take_away():
    """Makes a book's database stop answering, in the middle of whatever is done, or its file be gone; what comes back
    brings it back."""

    def take(place):
        if "://" not in place:
            away = Path(place).rename(f"{place}.away")
            return lambda: away.rename(place)
        name = place.rpartition("/")[2]
        tell_server(
            f"ALTER DATABASE {name} ALLOW_CONNECTIONS false",
            f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'",
        )
        return lambda: tell_server(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")

    return take


@pytest.fixture
def change_table():
    """A statement run in a book's tables behind its back."""

    def change(place, statement):
        address = place.replace("postgresql:", "postgresql+psycopg:") if "://" in place else f"sqlite:///{place}"
        engine = sql.create_engine(address)
        with engine.begin() as connection:
            connection.exec_driver_sql(statement)
        engine.dispose()

    return change
