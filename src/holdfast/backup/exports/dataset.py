"""Backups and archives as tables for DuckDB, Polars, pandas, Spark and Dask; needs the extra `parquet`."""

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from holdfast.backup.archives import Archive, is_archive
from holdfast.backup.archives import open as open_archive
from holdfast.backup.backup_reader import BackupSource, opened
from holdfast.backup.container.material import KeyMaterial
from holdfast.backup.exports import account_records, schemas
from holdfast.backup.exports.arrow import BATCH, arrow_schema, check_pyarrow, record_batches
from holdfast.backup.exports.message_records import messages
from holdfast.backup.exports.tables import CHATS, MEMBERS, MESSAGE_TABLES, PEOPLE, TABLES, Row, Table
from holdfast.backup.public import public

__all__ = ["Dataset", "dataset"]

BY_NAME: Final = {table.name: table for table in TABLES}


@public
class Dataset:
    """The tables of a backup or an archive: those of an export to Parquet, without writing files.

    A context manager; closing it deletes temporary files.
    """

    def __init__(self, archive: Archive, close: ExitStack) -> None:
        self._archive = archive
        self._close = close

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the tables."""
        return tuple(BY_NAME)

    def schema(self, table: str) -> Any:  # pyarrow exports no types
        """Return the `pyarrow.Schema` of a table."""
        return arrow_schema(find_table(table))

    def batches(self, table: str, *, size: int = BATCH) -> Iterator[Any]:
        """Yield a table as `pyarrow.RecordBatch` objects of at most `size` rows, ordered by chat and time."""
        definition = find_table(table)
        return record_batches(definition, self._rows(definition), size)

    def close(self) -> None:
        """Close the archive, or delete the temporary archive of a backup."""
        self._close.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _rows(self, table: Table) -> Iterator[Row]:
        archive = self._archive
        if table in MESSAGE_TABLES:
            for chat in archive.chats():
                for message in messages(archive, chat.id):
                    yield from table.rows(message)
        elif table is CHATS:
            for chat in archive.chats():
                yield from table.rows(account_records.chat_record(archive, chat, ()))
        else:
            kind: type[schemas.ExportedPerson | schemas.ExportedGroup] = (
                schemas.ExportedPerson if table is PEOPLE else schemas.ExportedGroup
            )
            assert table in {PEOPLE, MEMBERS}  # noqa: S101  # all others are above
            for recipient in account_records.recipient_records(archive):
                if isinstance(recipient, kind):
                    yield from table.rows(recipient)


@public
def dataset(
    source: Archive | BackupSource, key: KeyMaterial | str | None = None, *, passphrase: str | None = None
) -> Dataset:
    """Read a backup or an archive as tables, in Arrow record batches; needs the extra `parquet`.

    A backup is imported into an archive in a temporary folder, which is deleted when the dataset is closed. An
    archive that is open stays open; `passphrase` opens an encrypted one.

    >>> with hb.dataset("chats.binproto") as chats:
    ...     print(sum(batch.num_rows for batch in chats.batches("messages")))
    200
    """
    check_pyarrow()
    with ExitStack() as stack:
        if isinstance(source, Archive):
            archive = source
        elif is_archive(source):
            archive = stack.enter_context(open_archive(source, passphrase=passphrase))
        else:
            home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="holdfast-")))
            archive = stack.enter_context(open_archive(home / "archive.db", create=True))
            with opened(source, key) as backup:
                archive.add(backup)
        return Dataset(archive, stack.pop_all())


def find_table(name: str) -> Table:
    """Return a table by name."""
    table = BY_NAME.get(name)
    if table is None:
        raise KeyError(f"there is no table {name}; there are {', '.join(BY_NAME)}")
    return table
