"""Engines of a build: worker processes and Ray."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import msgspec
import pytest

import holdfast.backup as hb
from holdfast.backup.datasets import engines
from holdfast.backup.datasets.engines import DIED, run_processes
from holdfast.backup.datasets.sources import DatasetSource
from holdfast.backup.datasets.targets import BackupRecord, FailedBackup
from holdfast.backup.datasets.tasks import BuildTask
from tests.backup.streams import sample, stream_of
from tests.conftest import wait_for


@pytest.fixture
def sources_folder(tmp_path: Path) -> list[BuildTask]:
    """Write four backups, one of which cannot be read."""
    sources = []
    for name in ("a", "b", "c", "d"):
        path = tmp_path / name
        path.write_bytes(b"no backup" if name == "c" else stream_of(sample(20)))
        sources.append(BuildTask(DatasetSource(name, str(path)), str(tmp_path / "out")))
    return sources


def test_a_worker_process_imports_what_it_uses() -> None:
    """The module of worker processes imports neither archives, exports nor the database driver."""
    program = "import sys, holdfast.backup.datasets.engines; print(*sys.modules)"
    imported = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    unused = {"sqlite3", "holdfast.backup.archives.archive_file", "holdfast.backup.archives.imports"}
    assert not {name for name in imported.split() if name in unused or name.startswith("holdfast.backup.exports")}


def test_processes_build_what_one_does(sources_folder: list[BuildTask]) -> None:
    """Two processes give the results of one process, in any order."""
    results = {result.name: result for result in run_processes(sources_folder, 2)}
    assert sorted(results) == ["a", "b", "c", "d"]
    assert isinstance(results["c"], FailedBackup)
    alone = {result.name: result for result in run_processes(sources_folder, 1)}
    assert alone == results


@pytest.mark.long
def test_a_process_that_dies_takes_no_other_backup_with_it(
    sources_folder: list[BuildTask], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The backup of a killed process is tried again, and fails when that process dies too."""
    # The process ends itself at `b` always, and at `d` the first time.
    program = f"""
import os, signal
from pathlib import Path
from holdfast.backup.datasets import engines
perform = engines.perform
def deadly(task):
    mark = Path({str(tmp_path)!r}, "died-" + task.source.name)
    if task.source.name == "b" or (task.source.name == "d" and not mark.exists()):
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return perform(task)
engines.perform = deadly
engines.work()
"""
    start = subprocess.Popen

    def deadly(command: list[str], **options: Any) -> "subprocess.Popen[bytes]":
        assert command[0] == sys.executable
        return start([sys.executable, "-c", program], **options)

    monkeypatch.setattr(subprocess, "Popen", deadly)
    results = {result.name: result for result in run_processes(sources_folder, 2)}
    assert isinstance(results["a"], BackupRecord)
    assert results["b"] == FailedBackup("b", sources_folder[1].source.path, DIED)
    assert isinstance(results["d"], BackupRecord)
    assert (tmp_path / "died-d").exists()


def test_a_worker_whose_build_was_killed_ends_quietly(sources_folder: list[BuildTask]) -> None:
    """If nobody reads its results any more, a worker process ends without a traceback."""
    command = [sys.executable, "-c", "from holdfast.backup.datasets.engines import work; work()"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as worker:
        assert worker.stdout is not None
        worker.stdout.close()
        tasks = b"".join(msgspec.json.encode(task) + b"\n" for task in sources_folder[:2])
        assert worker.stdin is not None
        worker.stdin.write(tasks)
        worker.stdin.close()
        assert worker.stderr is not None
        assert worker.stderr.read() == b""
    assert worker.returncode == 0


def test_a_target_that_cannot_be_written_ends_the_build(sources_folder: list[BuildTask], tmp_path: Path) -> None:
    """An error of the target in a worker process is raised in the process that started the build."""
    (tmp_path / "out").write_text("in the way")
    with pytest.raises(hb.UnwritableBackup):
        list(run_processes(sources_folder, 2))


def test_a_build_that_is_given_up_leaves_no_process(sources_folder: list[BuildTask]) -> None:
    """Closing the results ends all worker processes, also one that is still at work."""
    pool: list[Any] = []
    make = engines.WorkerProcess.__init__

    def remember(self: Any, *arguments: Any) -> None:
        make(self, *arguments)
        pool.append(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engines.WorkerProcess, "__init__", remember)
        results = run_processes(sources_folder, 2)
        next(results)
        results.close()  # type: ignore[attr-defined]  # a generator
    assert len(pool) == 2
    for worker in pool:
        worker.join(60)
        assert worker._process is None or worker._process.poll() is not None


@contextmanager
def ray_cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Run Ray on this machine, with two workers."""
    # Read when it is imported: nothing is to be written outside of its folder, or sent to anybody.
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    import ray  # noqa: PLC0415  # takes seconds, and nobody else needs it

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    try:
        yield ray
    finally:
        ray.shutdown()


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.filterwarnings("ignore")
def test_a_ray_cluster_builds_the_same_though_a_worker_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another worker of the Ray cluster builds the backup of a killed one, with the same bytes."""
    folder = tmp_path / "backups"
    folder.mkdir()
    for number in range(12):
        content = b"no backup" if number == 7 else stream_of(sample(60, number % 3))
        (folder / f"{number:02}").write_bytes(content)
    expected = hb.build_dataset([folder], tmp_path / "here", workers=1)
    marks = tmp_path / "marks"
    marks.mkdir()
    killed: list[int] = []

    def kill() -> None:
        wait_for(lambda: bool(list(marks.iterdir())), 120)
        number = int(min(marks.iterdir()).name)
        os.kill(number, signal.SIGKILL)
        killed.append(number)

    def marked(task: bytes) -> bytes:
        """Write a file with the id of this process; the first process waits to be killed."""
        import os  # noqa: PLC0415  # runs on the cluster
        import time  # noqa: PLC0415  # runs on the cluster
        from pathlib import Path  # noqa: PLC0415  # runs on the cluster

        from holdfast.backup.datasets.engines import perform_encoded  # noqa: PLC0415  # runs on the cluster

        marks_folder = Path(marks)
        if not list(marks_folder.iterdir()):
            (marks_folder / str(os.getpid())).touch()
            time.sleep(60)
        return perform_encoded(task)

    monkeypatch.setattr(engines, "perform_encoded", marked)
    with ray_cluster(monkeypatch):
        killer = Thread(target=kill)
        killer.start()
        summary = hb.build_dataset([folder], tmp_path / "there", engine="ray")
        killer.join(60)
    assert killed
    assert (summary.written, summary.reasons) == (expected.written, expected.reasons)
    files = sorted(path.relative_to(tmp_path / "here") for path in (tmp_path / "here").rglob("*.parquet"))
    assert files
    for file in files:
        assert (tmp_path / "here" / file).read_bytes() == (tmp_path / "there" / file).read_bytes()


def test_a_cluster_that_is_not_there_is_an_error(
    sources_folder: list[BuildTask], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error of an unreachable Ray cluster has its address."""

    class NoRay:
        """A stand-in for Ray without a cluster."""

        @staticmethod
        def is_initialized() -> bool:
            """Return False: there is no connection."""
            return False

        @staticmethod
        def init(**_options: object) -> None:
            """Raise a `ConnectionError`."""
            raise ConnectionError("nobody answers")

    monkeypatch.setitem(sys.modules, "ray", NoRay)
    with pytest.raises(hb.UnreadableBackup, match="no Ray cluster at ray://nowhere:1"):
        list(engines.run_ray(sources_folder, "ray://nowhere:1"))
