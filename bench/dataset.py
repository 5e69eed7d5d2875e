"""Building a dataset on one core and on two, and counting ten million messages by month in DuckDB."""

import os
import resource
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

import duckdb

from bench.harness import Figure
from bench.streams import folder, sample_stream

MESSAGES = 250_000
COUNTED = 10_000_000
ROUNDS = 5

# A process of its own: its processor time is that of the build and of its workers. Packages are loaded before.
BUILD = """
import os, resource, sys, time
target, workers, cores, *sources = sys.argv[1:]
if cores == "1":
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
import pyarrow.compute, pyarrow.parquet
import holdfast.backup as hb
import holdfast.backup.datasets.build
def worked():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)
started, before = time.perf_counter(), worked()
done = hb.build_dataset(sources, target, workers=int(workers))
print(time.perf_counter() - started, worked() - before, done.messages)
"""
COUNT = """
SELECT CAST(month AS VARCHAR), messages FROM (
  SELECT date_trunc('month', {time}) AS month, count(*) AS messages FROM read_parquet('{files}') GROUP BY month
) ORDER BY month
"""


def built(sources: list[Path], workers: int, *, cores: int = 0) -> tuple[Path, float, float, int]:
    """Build a dataset, and return it, the seconds it took, those of all processors, and its messages.

    With `cores=1` the build has one core: Arrow's threads use others too while a process writes its tables.
    """
    target = folder() / f"dataset-{len(sources)}-{workers}"
    shutil.rmtree(target, ignore_errors=True)
    words = [sys.executable, "-c", BUILD, str(target), str(workers), str(cores), *map(str, sources)]
    # Worker processes load packages from bytecode, as installed ones have it.
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder() / "bytecode")}
    done = subprocess.run(words, capture_output=True, check=True, text=True, env=environment)
    took, worked, messages = done.stdout.split()
    return target, float(took), float(worked), int(messages)


def copies(number: int) -> list[Path]:
    """Return so many backups of one history, under names of their own."""
    found = []
    for n in range(number):
        path = folder() / f"history-{n}.binproto"
        if not path.exists():
            os.link(sample_stream(MESSAGES), path)
        found.append(path)
    return found


def linked(dataset: Path, messages: int) -> Path:
    """Return a folder with the messages of a dataset so often that they are ten million."""
    (table,) = (dataset / "messages").rglob("*.parquet")
    home = folder() / "counted"
    home.mkdir(exist_ok=True)
    for n in range(-(-COUNTED // messages)):
        os.link(table, home / f"{n}.parquet")
    return home


def counting(home: Path, column: str) -> tuple[float, float]:
    """Count the messages by month; return the median seconds, and those of all processors."""
    connection = duckdb.connect()
    times, used = [], []
    for _ in range(ROUNDS):
        started, before = time.perf_counter(), processor_seconds()
        rows = connection.execute(COUNT.format(files=home / "*.parquet", time=column)).fetchall()
        times.append(time.perf_counter() - started)
        used.append(processor_seconds() - before)
        assert sum(count for _, count in rows) >= COUNTED
    return statistics.median(times), statistics.median(used)


def processor_seconds() -> float:
    """Return the processor time of this process so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def figures() -> list[Figure]:
    """Measure."""
    dataset, _took, worked, messages = built(copies(1), 1)
    _, on_one_core, _, _ = built(copies(4), 1, cores=1)
    _one, alone, _, twice = built(copies(4), 1)
    _two, together, together_worked, _ = built(copies(4), 2)
    home = linked(dataset, messages)
    # By the number; a time with a zone takes three times as long, as calendars of all zones are asked.
    waited, counted = counting(home, "make_timestamp(sent_ms * 1000)")
    zoned, _ = counting(home, "sent")
    return [
        Figure("building, messages a second of one core", messages / worked, "messages/s", least=150_000),
        Figure("building four backups on one core", twice / on_one_core, "messages/s"),
        Figure("building four backups with one process", twice / alone, "messages/s"),
        Figure("building four backups with two processes", twice / together, "messages/s"),
        Figure("two processes on two cores, against one core", on_one_core / together, "times", least=1.7),
        Figure("two processes against one process", alone / together, "times"),
        Figure("messages a second of one core with two processes", twice / together_worked, "messages/s"),
        Figure("counting ten million messages by month", waited, "s", most=1),
        Figure("counting, processor time", counted, "s"),
        Figure("counting by the column with a time zone", zoned, "s"),
    ]
