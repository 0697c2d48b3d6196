"""Where the books of tests are: files, or with EQUINOISE_TEST_SERVER new databases of a PostgreSQL server."""

import os
import secrets

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
    server = sql.create_engine(
        f"{SERVER}/postgres".replace("postgresql:", "postgresql+psycopg:"), isolation_level="AUTOCOMMIT"
    )
    with server.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    yield f"{SERVER}/{name}"
    with server.connect() as connection:
        connection.exec_driver_sql(f"DROP DATABASE {name} WITH (FORCE)")
    server.dispose()


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
