"""Real clusters on loopback: a Dask scheduler with two worker processes, a Spark master with two workers.

Everything started here is ended here, by its process id.
"""

import os
import socket
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from equinoise.data.engines import connect
from tests.helpers.fail_on_skip import pytest_runtest_makereport  # noqa: F401
from tests.helpers.polling import wait_until

os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
os.environ["PYSPARK_PYTHON"] = sys.executable
ENGINE_NAMES = ["duckdb", "dask", "spark"]


def pytest_collection_modifyitems(items):
    for item in items:
        # PySpark has not been tried with the newest pandas; Dask leaves sockets to the garbage collector.
        unraised = "pytest.PytestUnraisableExceptionWarning"
        for kind in ("FutureWarning", "DeprecationWarning", "ResourceWarning", unraised):
            item.add_marker(pytest.mark.filterwarnings(f"ignore::{kind}"))


def free_port():
    """A port of this computer that nobody listens on."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def port_answers(port):
    """Whether somebody listens on a port of this computer."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def running_process(command, log, **environment):
    """A process with its output in a log file; it is ended on the way out."""
    with log.open("wb") as out:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, env={**os.environ, **environment}
        )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class DaskCluster:
    """A scheduler and two worker processes of one thread each."""

    def __init__(self, folder, stack):
        port = free_port()
        self.address = f"tcp://127.0.0.1:{port}"
        alone = ["--host", "127.0.0.1", "--no-dashboard"]
        scheduler = [sys.executable, "-m", "dask", "scheduler", "--port", str(port), *alone]
        stack.enter_context(running_process(scheduler, folder / "scheduler.log"))
        wait_until("the Dask scheduler", lambda: port_answers(port))
        one = [sys.executable, "-m", "dask", "worker", self.address, "--nthreads", "1", "--no-nanny", *alone]
        own = ["--local-directory", str(folder)]
        self.workers = [stack.enter_context(running_process([*one, *own], folder / f"worker{i}.log")) for i in (1, 2)]
        wait_until("two Dask workers", lambda: len(self.pids()) == 2)

    def pids(self):
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            return set(client.run(os.getpid).values())


@contextmanager
def dask_cluster(folder):
    """A running cluster; it is ended on the way out."""
    with ExitStack() as stack:
        yield DaskCluster(folder, stack)


@pytest.fixture(scope="session")
def dask_address(tmp_path_factory):
    """The address of a scheduler with two workers."""
    with dask_cluster(tmp_path_factory.mktemp("dask")) as cluster:
        yield cluster.address


@pytest.fixture(scope="session")
def spark_address(tmp_path_factory):
    """A standalone master and two workers; each worker starts an executor process for every application."""
    import pyspark

    home, folder = Path(pyspark.__file__).parent, tmp_path_factory.mktemp("spark")
    start = [str(home / "bin" / "spark-class"), "org.apache.spark.deploy"]
    port, where = free_port(), {"SPARK_HOME": str(home), "SPARK_LOG_DIR": str(folder), "SPARK_WORKER_DIR": str(folder)}
    address = f"spark://127.0.0.1:{port}"
    here = ["--host", "127.0.0.1", "--webui-port", str(free_port())]
    with ExitStack() as stack:
        master = [start[0], f"{start[1]}.master.Master", "--port", str(port), *here]
        stack.enter_context(running_process(master, folder / "master.log", **where))
        wait_until("the Spark master", lambda: port_answers(port))
        for i in (1, 2):
            here[-1] = str(free_port())
            size = ["--cores", "1", "--memory", "1g", "--work-dir", str(folder / f"worker{i}")]
            worker = [start[0], f"{start[1]}.worker.Worker", address, *here, *size]
            stack.enter_context(running_process(worker, folder / f"worker{i}.log", **where))
        log = folder / "master.log"
        wait_until("two Spark workers", lambda: log.read_text(errors="replace").count("Registering worker") == 2)
        yield address


@pytest.fixture(scope="session")
def addresses(dask_address, spark_address):
    """The address of each engine, by its name; none for an engine in this process."""
    return {"duckdb": None, "dask": dask_address, "spark": spark_address}


@pytest.fixture(scope="module")
def engines(addresses):
    """All the engines, open, until the module is done: a Spark application keeps its executors to itself."""
    with ExitStack() as stack:
        yield {name: stack.enter_context(connect(name, addresses[name])) for name in ENGINE_NAMES}


@pytest.fixture(params=ENGINE_NAMES)
def engine(request, engines):
    """Each of the engines, open, one after the other."""
    return engines[request.param]


@pytest.fixture(params=ENGINE_NAMES)
def frame_of(request, engines, tmp_path):
    """Makes a frame of the engine from a PyArrow table, cut into several partitions where there are any."""
    import dask.dataframe as dd
    import pandas as pd
    import pyarrow.parquet as pq

    def make(table):
        if request.param == "duckdb":
            return engines["duckdb"].connection.from_arrow(table)
        if request.param == "dask":
            return dd.from_pandas(table.to_pandas(types_mapper=pd.ArrowDtype), npartitions=5)
        for i, piece in enumerate(range(0, len(table), max(len(table) // 5, 1))):
            pq.write_table(table.slice(piece, max(len(table) // 5, 1)), tmp_path / f"{i}.parquet")
        return engines["spark"].session.read.parquet(*map(str, tmp_path.glob("*.parquet")))

    make.engine = request.param
    return make
