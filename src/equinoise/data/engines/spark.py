"""Files read and counted by Spark: in this machine's cores, or by the executors of a running master."""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import socket
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import narwhals as nw
import polars as pl
import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from equinoise.data.engines.protocol import Engine, Frame
from equinoise.data.paths import Files
from equinoise.data.text_fields import Part, no_rows, parts_of
from equinoise.errors import BadInput

SECONDS_TO_ANSWER = 10
QUIET = f"-Dlog4j2.configurationFile={Path(__file__).with_name('quiet.properties')}"


def read_parts(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Parts of text files, described in JSON, read on an executor."""
    for batch in batches:
        for text in batch.column(0).to_pylist():
            table = Part(**json.loads(text)).read().to_arrow()
            yield from table.cast(_spark_schema(table.schema)).to_batches()


def _spark_schema(schema: pa.Schema) -> pa.Schema:
    """Spark has one type of text."""
    kinds = ((field, pa.types.is_floating(field.type) or pa.types.is_boolean(field.type)) for field in schema)
    return pa.schema([field if plain else field.with_type(pa.string()) for field, plain in kinds])


@dataclass(frozen=True)
class Spark(Engine):
    """A session; none is needed for dataframes that there are."""

    session: SparkSession = None

    takes_address = True

    @classmethod
    @contextmanager
    def connect(cls, address: str | None) -> Iterator[Self]:
        """The session that is open already, or one of our own at a master, stopped in the end."""
        for kind in ("DataFrame", "SQL"):  # PySpark writes down whole stack traces of what it raises anyway
            logging.getLogger(f"{kind}QueryContextLogger").setLevel(logging.CRITICAL + 1)
        running = SparkSession.getActiveSession()
        if running is not None:
            master = running.sparkContext.master
            if address not in {None, master}:
                raise BadInput(
                    f"A Spark session at {master!r} is open in this process, which can have only one. Leave the "
                    "address out to use it, or stop it first."
                )
            yield cls(running)
            return
        session = _start(address or "local[*]")
        try:
            yield cls(session)
        finally:
            session.stop()

    def text(self, files: Files, columns: tuple[str, ...], fields: tuple[str, ...] = ()) -> Any:
        """The columns of text files, one task a part."""
        schema = from_arrow_schema(_spark_schema(no_rows(columns, fields).to_arrow().schema))
        parts = [(json.dumps(asdict(part)),) for part in parts_of(files, columns, fields=fields)]
        spread = self.session.sparkContext.parallelize(parts, len(parts))
        return self.session.createDataFrame(spread, "part string").mapInArrow(read_parts, schema)

    def parquet(self, files: Files, columns: tuple[str, ...]) -> Any:
        """The columns of Parquet files. A name is a name, though Spark would take some for patterns."""
        names = [re.sub(r"([*?\[\]{}\\,^])", r"\\\1", str(path.absolute())) for path in files.paths]
        frame = self.session.read.parquet(*names)
        places = [frame.columns.index(name) for name in columns]
        return frame.toDF(*map(str, range(len(frame.columns)))).select(*map(str, places))

    def rename(self, frame: Frame, names: Sequence[str]) -> Any:
        """A frame with new names. To Spark, ``a.b`` is the field b of a column a."""
        return nw.from_native(frame.to_native().toDF(*names))

    def unit_problem(self, frame: Frame, column: str, dtype: Any) -> str | None:
        """What a column holds, if that cannot say whose each row is. Spark's unsigned integers are decimals."""
        return None if getattr(dtype, "scale", None) == 0 else super().unit_problem(frame, column, dtype)

    def stream(self, frame: Frame, *, from_text: bool) -> Iterator[pl.DataFrame]:
        """The rows in their order, one partition of them here at a time.

        Executors pack every batch into one value, since Spark's own iterator makes Python objects of all values. What
        packs them is a function within a function, so that they are sent it and need no Equinoise.
        """

        def pack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            import pyarrow

            for batch in batches:
                out = pyarrow.BufferOutputStream()
                with pyarrow.ipc.new_stream(out, batch.schema) as writer:
                    writer.write_batch(batch)
                yield pyarrow.RecordBatch.from_pydict({"batch": pyarrow.array([out.getvalue().to_pybytes()])})

        for row in frame.to_native().mapInArrow(pack, "batch binary").toLocalIterator():
            yield pl.DataFrame(pa.ipc.open_stream(row["batch"]).read_all())


def _start(master: str) -> SparkSession:
    _check_reachable(master)
    if master.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("equinoise").master(master)
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "16",
        "spark.driver.extraJavaOptions": QUIET,
        "spark.sql.caseSensitive": "true",
        "spark.sql.ansi.enabled": "true",
        "spark.sql.session.timeZone": "UTC",  # days are as files in UTC have them
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of versions that PySpark has not been tried with
            return builder.getOrCreate()
    except (PySparkException, OSError, RuntimeError) as error:
        reasons = str(error).strip().splitlines() or [type(error).__name__]
    except Exception as error:  # what Java throws comes in classes of py4j's own
        reasons = [line for line in str(error).splitlines() if "Exception" in line] or [type(error).__name__]
    raise BadInput(
        f"Spark could not be started at {master!r}: {reasons[0][:160].strip(' :.')}. Look at the address, at "
        "JAVA_HOME, and for a Java of version 17 or newer."
    )


def _check_reachable(master: str) -> None:
    """Spark itself takes a minute to find out."""
    home = os.environ.get("JAVA_HOME")
    if not (Path(home, "bin", "java").exists() if home else shutil.which("java")):
        raise BadInput(
            "The spark engine needs Java, and there is none"
            + (f" in JAVA_HOME ({home!r})" if home else "")
            + ". Install version 17 or newer, or choose another engine."
        )
    host = re.fullmatch(r"spark://([^:/]+):(\d+)", master)
    if host is None and not re.fullmatch(r"local(-cluster)?(\[[^\]]*\])?|[a-z0-9]+(://.+)?", master):
        raise BadInput(f"{master!r} is no Spark master. Give an address such as spark://127.0.0.1:7077.")
    if host is not None:
        try:
            socket.create_connection((host[1], int(host[2])), SECONDS_TO_ANSWER).close()
        except (OSError, OverflowError) as error:
            raise BadInput(f"There is no Spark master at {master!r} ({error}).") from None


LIBRARY = Spark
