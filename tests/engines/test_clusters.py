"""The clusters are real: more than one process does the work, and losing one changes nothing."""

import os
import signal
import threading
import time

import cloudpickle
import numpy as np
import polars as pl

from equinoise.data import text_fields as fields
from equinoise.data.engines import connect
from equinoise.data.engines import dask as on_dask
from equinoise.data.grid import Axis
from equinoise.data.rows import open_rows
from tests.engines.conftest import dask_cluster
from tests.helpers.counts import count
from tests.helpers.polling import wait_until

AXIS = Axis.padded("pay", 0, 100, bins=101)


def write_pay(path, people=20_000):
    pay = np.random.default_rng(8).uniform(0, 100, people)
    pl.DataFrame({"id": range(people), "pay": pay}).write_csv(path)
    return np.bincount([AXIS.cell_of(value) for value in pay], minlength=AXIS.bins).tolist()


def test_killing_a_dask_worker_in_the_middle_changes_nothing(tmp_path, monkeypatch):
    """Parts after the first third wait for a gate that opens only when one worker, at work on such a part, is dead."""
    path, gate, marks = tmp_path / "pay.csv", str(tmp_path / "gate"), tmp_path / "marks"
    marks.mkdir()
    plain, real = write_pay(path), on_dask.read_part
    monkeypatch.setattr(fields, "PART_BYTES", path.stat().st_size // 30)
    places = [part.start for part in fields.parts_of(fields.Files((path,), ",", ""), ("pay",))]
    late, folder = places[10], str(marks)

    def gated(part):
        state = "waiting" if part.start >= late else "done"
        open(os.path.join(folder, f"{state} {os.getpid()} {part.start}"), "w").close()
        while part.start >= late and not os.path.exists(gate):
            time.sleep(0.01)
        return real(part)

    monkeypatch.setattr(on_dask, "read_part", cloudpickle.loads(cloudpickle.dumps(gated)))

    def seen(state):
        return {int(name.split()[1]) for name in os.listdir(marks) if name.startswith(state)}

    with dask_cluster(tmp_path) as cluster, connect("dask", cluster.address) as engine:
        pids = cluster.pids()
        assert len(pids) == 2
        found = []
        counting = threading.Thread(
            target=lambda: found.append(count(open_rows(path, "pay", engine), AXIS).counts.tolist()), daemon=True
        )
        counting.start()
        wait_until("both workers to be in the middle of it", lambda: seen("done") and seen("waiting") == pids)
        victim = cluster.workers[0]
        victim.send_signal(signal.SIGKILL)
        victim.wait()
        assert not found
        open(gate, "w").close()
        counting.join(120)
        assert found == [plain]
        assert cluster.pids() == pids - {victim.pid}
    assert len(places) > 25


def test_spark_has_two_executors_and_both_read(tmp_path, spark_address, monkeypatch):
    path = tmp_path / "pay.csv"
    plain = write_pay(path)
    monkeypatch.setattr(fields, "PART_BYTES", path.stat().st_size // 8)
    with connect("spark", spark_address) as engine:
        context = engine.session.sparkContext
        jvm = context._jsc.sc()
        wait_until("the driver and two executors", lambda: jvm.getExecutorMemoryStatus().size() == 3)
        assert count(open_rows(path, "pay", engine), AXIS).counts.tolist() == plain
        work = context.parallelize(range(8), 8).map(lambda _: (time.sleep(0.3), os.getppid())[1]).collect()
        assert len(set(work)) == 2
        assert os.getpid() not in work
