"""Queries a dataset with DuckDB; each table is a view, in a folder or on S3."""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from typing import Any, Final
from urllib.parse import urlsplit

from holdfast.backup.archives.signs import SCRIPTS
from holdfast.backup.datasets.schema import SCHEMA_VERSION, TABLES, check_extra
from holdfast.backup.datasets.targets import (
    BackupRecord,
    DatasetManifest,
    DatasetTarget,
    FailedBackup,
    FolderTarget,
    data_path,
    open_target,
)
from holdfast.backup.errors import ArchiveTooNew, QueryRefused, UnreadableBackup
from holdfast.backup.public import public
from holdfast.redacted_repr import redacted

__all__ = [
    "DatasetFault",
    "DatasetHit",
    "DatasetStatistics",
    "dataset_connection",
    "dataset_statistics",
    "search_dataset",
    "validate_dataset",
]

MAX_HITS: Final = 10_000
MAX_WORDS: Final = 20
# Letters and digits of any script. Scripts without word separators have no word prefixes.
WORD: Final = re.compile(r"\w+")
BROKEN_RULES: Final = (
    "SELECT backup, rule, count(*) FROM findings WHERE severity = 'error' GROUP BY ALL ORDER BY ALL"
)
UNSPACED: Final = re.compile(f"[{SCRIPTS}]")


@public
@redacted
@dataclass(frozen=True, slots=True)
class DatasetHit:
    """A message that matches a search."""

    backup: str
    message_id: int
    chat: str | None
    author: str | None
    sent_ms: int | None
    text: str


@public
@redacted
@dataclass(frozen=True, slots=True)
class DatasetStatistics:
    """Counts of a dataset: rows by table, messages by month, kind and backup, findings by severity.

    Keys of `months` are like `2024-05`; `largest` has the backups with the most messages.
    """

    backups: int
    rows: dict[str, int]
    months: dict[str, int]
    largest: dict[str, int]
    kinds: dict[str, int]
    findings: dict[str, int]


@public
@redacted
@dataclass(frozen=True, slots=True)
class DatasetFault:
    """A problem of a backup in a dataset: it could not be read, its files are incomplete, or it breaks rules."""

    backup: str
    problem: str


@public
@contextmanager
def dataset_connection(dataset: str | PathLike[str]) -> Iterator[Any]:
    """Return a context manager for a DuckDB connection with each table as a view; needs the extra `dataset`.

    A dataset on S3 is read through pyarrow, with the `AWS_` variables that `build_dataset` uses.

    >>> _ = hb.build_dataset(["chats.binproto"], "dataset")
    >>> with hb.dataset_connection("dataset") as connection:
    ...     print(connection.sql("SELECT count(*) FROM messages").fetchall())
    [(200,)]
    """
    target = open_target(dataset)
    manifest = target.read_manifest()
    with connect(target, manifest) as connection:
        for table in TABLES:
            with damage_reported(target):
                add_table(connection, target, table, empty=not manifest.backups)
        yield connection


@contextmanager
def connect(target: DatasetTarget, manifest: DatasetManifest) -> Iterator[Any]:
    """Return a context manager for a DuckDB connection without tables."""
    check_extra("duckdb", "pyarrow")
    import duckdb  # noqa: PLC0415  # an extra, imported on first use

    if manifest.schema > SCHEMA_VERSION:
        raise ArchiveTooNew(f"{target.location} was built by a newer version of Holdfast")
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        yield connection


@contextmanager
def damage_reported(target: DatasetTarget) -> Iterator[None]:
    """Raise `UnreadableBackup` for a file that is missing or damaged."""
    import duckdb  # noqa: PLC0415  # an extra, imported on first use
    import pyarrow as pa  # noqa: PLC0415  # an extra, imported on first use

    try:
        yield
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        problem = f"a file of {target.location} cannot be read; `holdfast dataset validate` names it"
        raise UnreadableBackup(problem) from error


def add_table(connection: Any, target: DatasetTarget, table: str, *, empty: bool) -> None:
    """Create the view of a table."""
    if isinstance(target, FolderTarget):
        folder_view(connection, target, table, empty=empty)
    else:
        connection.register(table, s3_dataset(target, table, empty=empty))


def folder_view(connection: Any, target: FolderTarget, table: str, *, empty: bool) -> None:
    """Create the view of a table in a folder."""
    if empty:
        connection.register(table, empty_table(table))
        return
    folder = re.sub(r"([*?[])", r"[\1]", str(target.folder.absolute())).replace("'", "''")
    # Without the type, DuckDB would cast names that look like numbers or dates.
    options = "hive_partitioning = true, hive_types = {'backup': VARCHAR}"
    connection.execute(
        f"CREATE VIEW {table} AS SELECT * FROM read_parquet('{folder}/{table}/backup=*/data.parquet', {options})"
    )


def s3_dataset(target: DatasetTarget, table: str, *, empty: bool) -> Any:
    """Return a table on S3 as a `pyarrow.dataset.Dataset`; DuckDB reads only the columns and rows it needs."""
    if empty:
        return empty_table(table)
    import pyarrow as pa  # noqa: PLC0415  # an extra, imported on first use
    import pyarrow.dataset as ds  # noqa: PLC0415  # an extra, imported on first use

    partitions = ds.partitioning(pa.schema([("backup", pa.string())]), flavor="hive")
    place, filesystem = s3_place(target.location)
    return ds.dataset(f"{place}/{table}", format="parquet", filesystem=filesystem, partitioning=partitions)


def s3_place(location: str) -> tuple[str, Any]:
    """Return the path of an S3 URL for pyarrow, and its file system."""
    from pyarrow import fs  # noqa: PLC0415  # an extra, imported on first use

    url = urlsplit(location)
    endpoint = urlsplit(os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or "")
    options = {"endpoint_override": endpoint.netloc, "scheme": endpoint.scheme} if endpoint.netloc else {}
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or "us-east-1"
    return f"{url.netloc}{url.path}", fs.S3FileSystem(region=region, **options)


def empty_table(table: str) -> Any:
    """Return a table without rows, for a dataset without backups."""
    import pyarrow as pa  # noqa: PLC0415  # an extra, imported on first use

    from holdfast.backup.datasets.schema import dataset_schema  # noqa: PLC0415  # only here

    return dataset_schema(TABLES[table]).append(pa.field("backup", pa.string())).empty_table()


@public
def search_dataset(dataset: str | PathLike[str], words: str, *, limit: int = 50) -> list[DatasetHit]:
    """Search messages that contain every word, as a whole word or prefix; the latest first.

    Case and accents are ignored. Emoji, punctuation and scripts without word separators match anywhere. All texts
    are scanned, on all cores.

    >>> _ = hb.build_dataset(["chats.binproto"], "dataset")
    >>> len(hb.search_dataset("dataset", "dinner"))
    4
    """
    terms = words.split()
    if not terms or len(terms) > MAX_WORDS:
        raise QueryRefused(f"search for one to {MAX_WORDS} words")
    folded = "lower(strip_accents(m.text))"
    conditions = " AND ".join(
        f"regexp_matches({folded}, '(^|[^\\pL\\pM\\pN_])' || lower(strip_accents(?)))"
        if WORD.fullmatch(word) and not UNSPACED.search(word)
        else f"contains({folded}, lower(strip_accents(?)))"
        for word in terms
    )
    statement = (
        "SELECT m.backup, m.message_id, c.name, p.name, m.sent_ms, m.text FROM messages m "
        "LEFT JOIN chats c ON c.backup = m.backup AND c.chat_id = m.chat_id "
        "LEFT JOIN people p ON p.backup = m.backup AND p.person_id = m.author_id "
        f"WHERE m.text IS NOT NULL AND {conditions} "
        "ORDER BY m.sent_ms DESC, m.backup, m.message_id LIMIT ?"
    )
    with dataset_connection(dataset) as connection, damage_reported(open_target(dataset)):
        rows = connection.execute(statement, [*terms, max(1, min(limit, MAX_HITS))]).fetchall()
    return [DatasetHit(*row) for row in rows]


@public
def dataset_statistics(dataset: str | PathLike[str], *, largest: int = 10) -> DatasetStatistics:
    """Compute statistics of a dataset.

    >>> _ = hb.build_dataset(["chats.binproto"], "dataset")
    >>> hb.dataset_statistics("dataset").rows["reactions"]
    47
    """
    target = open_target(dataset)
    manifest = target.read_manifest()
    with dataset_connection(dataset) as connection, damage_reported(target):

        def count_by(statement: str) -> dict[str, int]:
            return dict(connection.execute(statement).fetchall())

        months = count_by(
            "SELECT strftime(date_trunc('month', sent), '%Y-%m') AS month, count(*) FROM messages "
            "WHERE sent IS NOT NULL GROUP BY month ORDER BY month"
        )
        kinds = count_by(
            "SELECT coalesce(kind, 'unknown') AS what, count(*) FROM messages GROUP BY what ORDER BY 2 DESC, 1"
        )
    by_size = sorted(manifest.backups, key=lambda record: (-record.messages, record.name))
    severities = sorted({severity for record in manifest.backups for severity in record.findings})
    return DatasetStatistics(
        backups=len(manifest.backups),
        rows={table: sum(record.rows.get(table, 0) for record in manifest.backups) for table in TABLES},
        months=months,
        largest={record.name: record.messages for record in by_size[:largest]},
        kinds=kinds,
        findings={
            name: sum(backup_record.findings.get(name, 0) for backup_record in manifest.backups)
            for name in severities
        },
    )


@public
def validate_dataset(dataset: str | PathLike[str]) -> list[DatasetFault]:
    """List problems: backups that could not be read, incomplete files, and broken rules.

    Every file is read by DuckDB, and its row count is compared with the manifest.

    >>> _ = hb.build_dataset(["chats.binproto"], "dataset")
    >>> hb.validate_dataset("dataset")
    []
    """
    target = open_target(dataset)
    manifest = target.read_manifest()
    dataset_faults = [
        DatasetFault(failed_backup.name, failure_reason(failed_backup)) for failed_backup in manifest.failed
    ]
    complete_records = target.records()
    readable: list[BackupRecord] = []
    for record in manifest.backups:
        if complete_records.get(record.name) != record:
            problem = "its files are not those of the last build; run `holdfast dataset build` again"
            dataset_faults.append(DatasetFault(record.name, problem))
        else:
            readable.append(record)
    broken_rules: list[tuple[str, str, int]] = []
    with connect(target, manifest) as connection:
        for table in TABLES:
            try:
                with damage_reported(target):
                    add_table(connection, target, table, empty=not manifest.backups)
                    counts = dict(
                        connection.execute(f"SELECT backup, count(*) FROM {table} GROUP BY backup").fetchall()
                    )
                    if table == "findings":
                        broken_rules = connection.execute(BROKEN_RULES).fetchall()
            except UnreadableBackup:
                dataset_faults += unreadable_files(target, table, readable)
            else:
                dataset_faults += [
                    DatasetFault(
                        record.name,
                        f"the table {table} has {counts.get(record.name, 0):,} rows "
                        f"instead of {record.rows[table]:,}",
                    )
                    for record in readable
                    if counts.get(record.name, 0) != record.rows[table]
                ]
    dataset_faults += [
        DatasetFault(name, f"breaks the rule {rule} {'once' if count == 1 else f'{count:,} times'}")
        for name, rule, count in broken_rules
    ]
    return sorted(dataset_faults, key=lambda fault: fault.backup)


def unreadable_files(target: DatasetTarget, table: str, records: Sequence[BackupRecord]) -> list[DatasetFault]:
    """Read the file of a table of each backup to its end, and return those that cannot be read."""
    import pyarrow as pa  # noqa: PLC0415  # an extra, imported on first use
    from pyarrow import parquet  # noqa: PLC0415  # an extra, imported on first use

    folder, filesystem = (
        (str(target.folder), None) if isinstance(target, FolderTarget) else s3_place(target.location)
    )
    faults: list[DatasetFault] = []
    for record in records:
        try:
            with parquet.ParquetFile(f"{folder}/{data_path(table, record.name)}", filesystem=filesystem) as file:
                for _batch in file.iter_batches():
                    pass
        except (pa.ArrowException, OSError):
            problem = (
                f"its file of the table {table} is damaged; `holdfast dataset build --rebuild` writes it again"
            )
            faults.append(DatasetFault(record.name, problem))
    return faults


def failure_reason(failed: FailedBackup) -> str:
    """Return why a backup is missing."""
    return f"could not be read: {failed.reason}"
