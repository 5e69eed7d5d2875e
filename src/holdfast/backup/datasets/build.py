"""Builds datasets incrementally: one task per backup, on all cores or on a Ray cluster."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Final, Literal

import filelock

from holdfast.backup import backup_reader
from holdfast.backup.container.material import KeyMaterial
from holdfast.backup.container.private import make_private_folder
from holdfast.backup.datasets.engines import run_processes, run_ray
from holdfast.backup.datasets.rows import BATCH_ROWS, TableReader
from holdfast.backup.datasets.schema import SCHEMA_VERSION, TABLES, check_extra
from holdfast.backup.datasets.sources import DatasetSource, find_dataset_sources
from holdfast.backup.datasets.targets import (
    BackupRecord,
    DatasetManifest,
    DatasetTarget,
    FailedBackup,
    FolderTarget,
    open_target,
)
from holdfast.backup.datasets.tasks import BuildTask
from holdfast.backup.errors import TargetRefused, UnwritableBackup
from holdfast.backup.path_text import path_text
from holdfast.backup.public import public
from holdfast.backup.target_check import is_same
from holdfast.redacted_repr import redacted

__all__ = ["DatasetBuild", "build_dataset", "dataset_batches"]

Engine = Literal["processes", "ray"]
LOCK: Final = "_lock"


@public
@redacted
@dataclass(frozen=True, slots=True)
class DatasetBuild:
    """The result of a build: the backups written, unchanged and failed.

    `written`, `unchanged` and `failed` are names; `reasons` says why each failed backup is missing, or unchanged
    from an earlier build. `skipped` has the folders below the sources that were not searched, by path with the
    reason. `messages` counts those of the whole dataset.
    """

    written: tuple[str, ...]
    unchanged: tuple[str, ...]
    failed: tuple[str, ...]
    reasons: dict[str, str]
    skipped: dict[str, str]
    messages: int
    backups: int

    @property
    def complete(self) -> bool:
        """Whether every source is in the dataset in its present state."""
        return not self.failed


@public
def build_dataset(
    sources: Iterable[str | PathLike[str]],
    target: str | PathLike[str],
    *,
    keys: str | PathLike[str] | None = None,
    key_file: str | PathLike[str] | None = None,
    engine: Engine = "processes",
    address: str | None = None,
    workers: int | None = None,
    rebuild: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> DatasetBuild:
    """Write backups as Parquet tables to a folder or below an `s3://` URL; needs the extra `dataset`.

    A source is a backup in any form `open` takes, or a folder with backups in it. The key of a backup is read from
    the file with its name and `.key` in the folder `keys` or beside it, else from `key_file`. A backup whose files
    have the same sizes and times as when it was written is skipped, unless `rebuild`. A backup that cannot be read
    is reported, and its rows from an earlier build stay. So is one with the name of another that was read
    elsewhere, which `rebuild` replaces. Symbolic links to folders and folders more than 12 levels deep are not
    searched, but named in the result. An interrupted build can be resumed by running it again.

    The engine `processes` uses `workers` processes of this machine, by default one per core; `ray` the cluster at
    `address`, which must reach the sources and the target by the same paths (extra `ray`). `progress` is called
    with the number of finished backups and their total.

    >>> hb.build_dataset(["chats.binproto"], "dataset").written
    ('chats.binproto',)
    """
    check_extra("pyarrow")
    dataset_target = open_target(target)
    folder = dataset_target.folder if isinstance(dataset_target, FolderTarget) else None
    skipped: dict[str, str] = {}
    dataset_sources = find_dataset_sources(
        sources,
        keys=None if keys is None else Path(keys),
        key_file=None if key_file is None else Path(key_file),
        target=folder,
        skipped=skipped,
    )
    with locked(folder):
        recorded = dataset_target.records()
        stale = [
            dataset_source
            for dataset_source in dataset_sources
            if rebuild or not is_current(dataset_source, recorded.get(dataset_source.name))
        ]
        failed = {} if rebuild else dict(find_conflicts(stale, recorded))
        stale = [dataset_source for dataset_source in stale if dataset_source.name not in failed]
        # The largest first, so that no worker begins a large backup when the others are finished.
        stale.sort(key=DatasetSource.size, reverse=True)
        tasks = [BuildTask(dataset_source, absolute(dataset_target)) for dataset_source in stale]
        results = run_ray(tasks, address) if engine == "ray" else run_processes(tasks, workers or core_count())
        built: dict[str, BackupRecord] = {}
        for finished, result in enumerate(results, 1):
            if isinstance(result, FailedBackup):
                failed[result.name] = result
            else:
                built[result.name] = result
            if progress is not None:
                progress(finished, len(tasks))
        all_records = {**recorded, **built}
        records = [all_records[name] for name in sorted(all_records)]
        dataset_target.write_manifest(
            DatasetManifest(SCHEMA_VERSION, records, [failed[name] for name in sorted(failed)])
        )
    names = {*built, *failed}
    return DatasetBuild(
        written=tuple(sorted(built)),
        unchanged=tuple(
            dataset_source.name for dataset_source in dataset_sources if dataset_source.name not in names
        ),
        failed=tuple(sorted(failed)),
        reasons={name: failed[name].reason for name in sorted(failed)},
        skipped=skipped,
        messages=sum(record.messages for record in records),
        backups=len(records),
    )


@public
def dataset_batches(
    source: backup_reader.BackupSource,
    key: KeyMaterial | str | None = None,
    table: str = "messages",
    *,
    size: int = BATCH_ROWS,
) -> Iterator[Any]:
    """Yield a table of a backup as `pyarrow.RecordBatch` objects in the dataset schema; nothing is written.

    The backup is read once, as fast as in a build, in constant memory. Pass the batches to Polars, pandas, Spark,
    Dask or DuckDB. Needs the extra `dataset`.

    >>> sum(batch.num_rows for batch in hb.dataset_batches("chats.binproto"))
    200
    """
    check_extra("pyarrow")
    if table not in TABLES:
        raise KeyError(f"there is no table {table}; there are {', '.join(TABLES)}")
    with backup_reader.opened(source, key) as backup:
        for name, batch in TableReader(backup, size).batches():
            if name == table:
                yield batch


@contextmanager
def locked(folder: Path | None) -> Iterator[None]:
    """Hold a file lock, so that only one build writes to a folder; a bucket has no lock."""
    if folder is None:
        yield
        return
    try:
        make_private_folder(folder)
        lock = filelock.FileLock(folder / LOCK, timeout=0)
        with lock:
            yield
    except filelock.Timeout:
        raise TargetRefused(f"another build is writing to {folder}; try again when that is done") from None
    except OSError as error:
        raise UnwritableBackup(f"{error.filename or folder} cannot be written: {error.strerror}") from error


def is_current(source: DatasetSource, record: BackupRecord | None) -> bool:
    """Return whether the dataset has a backup in its present state and schema version."""
    return (
        record is not None
        and record.schema == SCHEMA_VERSION
        and bool(record.stamp)
        and record.stamp == source.stamp()
    )


def find_conflicts(
    sources: Iterable[DatasetSource], recorded: Mapping[str, BackupRecord]
) -> Iterator[tuple[str, FailedBackup]]:
    """Yield the backups that would replace another one in the dataset, which an earlier build read elsewhere.

    A backup that was moved replaces itself: it is not in its former place any more.
    """
    for source in sources:
        record = recorded.get(source.name)
        path = path_text(source.path)
        if record is None or record.path == path:
            continue
        other = Path(record.path)
        if other.exists() and not is_same(other, Path(source.path)):
            reason = (
                f"the dataset has {other} by this name; rename one of them, "
                "or replace it in the dataset with --rebuild"
            )
            yield source.name, FailedBackup(source.name, path, reason)


def absolute(target: DatasetTarget) -> str:
    """Return the location of a target for another process."""
    return str(target.folder.absolute()) if isinstance(target, FolderTarget) else target.location


def core_count() -> int:
    """Return the number of cores available to this process."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
