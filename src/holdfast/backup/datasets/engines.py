"""Runs the tasks of a build in worker processes, or on a Ray cluster.

If a worker process dies, for example killed by the system for lack of memory, only its task is affected: it is
retried once in another process, and reported as failed if that dies too.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from queue import Empty, Queue, SimpleQueue
from threading import Thread
from typing import Any, Final

import msgspec

from holdfast.backup.datasets.schema import check_extra
from holdfast.backup.datasets.targets import BackupRecord, FailedBackup
from holdfast.backup.datasets.tasks import BuildTask, build_backup
from holdfast.backup.errors import UnreadableBackup, UnwritableBackup
from holdfast.backup.path_text import path_text
from holdfast.redacted_repr import redacted

__all__ = ["run_processes", "run_ray"]

Result = BackupRecord | FailedBackup
# How often a backup is tried if its process dies.
MAX_ATTEMPTS: Final = 2
DIED: Final = "the process that read it died twice; the system may have run out of memory"


@redacted
class TaskResult(msgspec.Struct, frozen=True):
    """The response of a worker: the result for a backup, or why the dataset cannot be written at all."""

    record: BackupRecord | None = None
    failed: FailedBackup | None = None
    unwritable: str = ""

    def value(self) -> Result:
        """Return the result for the backup; raise `UnwritableBackup` if the dataset cannot be written."""
        if self.unwritable:
            raise UnwritableBackup(self.unwritable)
        result = self.record or self.failed
        assert result is not None  # noqa: S101  # one of the three is always set
        return result


def perform(task: BuildTask) -> TaskResult:
    """Run a task."""
    try:
        result = build_backup(task)
    except UnwritableBackup as error:
        return TaskResult(unwritable=path_text(str(error)))
    return TaskResult(failed=result) if isinstance(result, FailedBackup) else TaskResult(record=result)


def encode_task(task: BuildTask) -> bytes:
    """Encode a task as a line of JSON. Unlike msgspec, `json` encodes paths that are not UTF-8."""
    return json.dumps(msgspec.to_builtins(task)).encode()


def decode_task(line: bytes) -> BuildTask:
    """Decode a task."""
    return msgspec.convert(json.loads(line), type=BuildTask)


def run_processes(tasks: Sequence[BuildTask], workers: int) -> Iterator[Result]:
    """Run tasks in `workers` processes, and yield results as they complete; a single task runs in this process."""
    if len(tasks) <= 1 or workers <= 1:
        yield from (perform(task).value() for task in tasks)
        return
    waiting: SimpleQueue[BuildTask] = SimpleQueue()
    for task in tasks:
        waiting.put(task)
    results: Queue[TaskResult | BaseException] = Queue()
    pool = [WorkerProcess(waiting, results) for _ in range(min(workers, len(tasks)))]
    try:
        for worker in pool:
            worker.start()
        for _ in tasks:
            result = results.get()
            if isinstance(result, BaseException):
                raise result
            yield result.value()
    finally:
        for worker in pool:
            worker.stop()


class WorkerProcess(Thread):
    """A thread that passes tasks to its own process, and restarts the process if it dies."""

    def __init__(self, waiting: "SimpleQueue[BuildTask]", results: "Queue[TaskResult | BaseException]") -> None:
        super().__init__(daemon=True)
        self._waiting = waiting
        self._results = results
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False

    def run(self) -> None:
        """Run tasks until the queue is empty."""
        try:
            while not self._stopped:
                task = self._waiting.get_nowait()
                self._results.put(self._perform(task))
        except Empty:
            pass
        except BaseException as error:  # noqa: BLE001  # raised again by the consumer of the results
            self._results.put(error)
        finally:
            self.stop()

    def stop(self) -> None:
        """Kill the process."""
        self._stopped = True
        if self._process is not None:
            end_process(self._process)

    def _perform(self, task: BuildTask) -> TaskResult:
        for _ in range(MAX_ATTEMPTS):
            line = self._send(task)
            if line or self._stopped:
                break
        else:
            return TaskResult(failed=FailedBackup(task.source.name, path_text(task.source.path), DIED))
        return msgspec.json.decode(line, type=TaskResult) if line else TaskResult(unwritable="interrupted")

    def _send(self, task: BuildTask) -> bytes:
        """Send a task to the process, and return its response; empty if the process died."""
        process = self._process
        if process is None or process.poll() is not None:
            if process is not None:
                end_process(process)
            command = [sys.executable, "-P", "-c", f"from {__name__} import work; work()"]
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603  # this interpreter
            self._process = process
        assert process.stdin is not None  # noqa: S101  # piped above
        assert process.stdout is not None  # noqa: S101  # piped above
        try:
            process.stdin.write(encode_task(task) + b"\n")
            process.stdin.flush()
        except (BrokenPipeError, ValueError):
            return b""
        try:
            line = process.stdout.readline()
        except ValueError:
            return b""
        if not line.endswith(b"\n"):
            end_process(process)
            return b""
        return line


def end_process(process: "subprocess.Popen[bytes]") -> None:
    """Kill a process if it is running, and close its pipes."""
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()


def work() -> None:
    """Run tasks read from standard input, one JSON document per line, until end of file."""
    target = sys.stdout.buffer
    for line in sys.stdin.buffer:
        result = perform(decode_task(line))
        try:
            target.write(msgspec.json.encode(result) + b"\n")
            target.flush()
        except BrokenPipeError:
            # The build was killed; what is in the buffer cannot be flushed at exit either.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return


def run_ray(tasks: Sequence[BuildTask], address: str | None) -> Iterator[Result]:
    """Run tasks on the Ray cluster at `address`, and yield results as they complete; needs the extra `ray`.

    Ray itself retries a task whose worker or machine has died.
    """
    check_extra("ray")
    import ray  # noqa: PLC0415  # an extra, imported on first use

    was_initialized = ray.is_initialized()
    try:
        if not was_initialized:
            ray.init(address=address or "auto", log_to_driver=False, configure_logging=False)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise UnreadableBackup(f"there is no Ray cluster at {address or 'this machine'}: {error}") from error
    try:
        yield from ray_results(ray, tasks)
    finally:
        if not was_initialized:
            ray.shutdown()


def ray_results(ray: Any, tasks: Sequence[BuildTask]) -> Iterator[Result]:
    """Yield results, with up to twice as many tasks submitted as the cluster has cores."""
    remote = ray.remote(num_cpus=1, max_retries=MAX_ATTEMPTS)(perform_encoded)
    max_running = max(2, 2 * int(ray.cluster_resources().get("CPU", 1)))
    rest = iter(tasks)
    running: dict[Any, BuildTask] = {}
    while True:
        for task in rest:
            running[remote.remote(encode_task(task))] = task
            if len(running) >= max_running:
                break
        if not running:
            return
        (finished,), _others = ray.wait(list(running), num_returns=1)
        task = running.pop(finished)
        try:
            yield msgspec.json.decode(ray.get(finished), type=TaskResult).value()
        except ray.exceptions.RayError:
            yield FailedBackup(task.source.name, path_text(task.source.path), DIED)


def perform_encoded(task: bytes) -> bytes:
    """Run a JSON-encoded task on a machine of the cluster."""
    return msgspec.json.encode(perform(decode_task(task)))
