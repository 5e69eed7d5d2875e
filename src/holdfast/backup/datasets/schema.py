"""The schema of datasets: its version, tables and columns.

Ids are local to a backup, so a join must also compare the column `backup`. That column is the name of the
partition folder (Hive partitioning), which DuckDB, Polars, Spark and pyarrow read as a column.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from holdfast.backup.errors import ExtraMissing
from holdfast.backup.table_columns import Column, columns

__all__ = ["SCHEMA_VERSION", "TABLES", "DatasetTable", "check_extra", "dataset_schema", "parquet_options"]

# Incremented for incompatible changes; new columns are compatible.
SCHEMA_VERSION: Final = 1
# Columns with increasing, hardly repeating numbers, besides times.
SEQUENCES: Final = frozenset({"message_id", "sent_ms"})


@dataclass(frozen=True, slots=True)
class DatasetTable:
    """A table of a dataset."""

    name: str
    about: str
    columns: tuple[Column, ...]


TABLES: Final[Mapping[str, DatasetTable]] = {
    table.name: table
    for table in (
        DatasetTable(
            "messages",
            "every message in the order of its backup; `message_id` is the number of its frame, `event` says what "
            "kind of update it is, `attachments`, `reactions` and `revisions` count rows of the other tables",
            columns(
                "message_id:i chat_id:i author_id:i direction:l kind:l event:l sent:t sent_ms:i received:t text "
                "reply_to_sent:t reply_to_author_id:i reply_to_text attachments:i reactions:i revisions:i link:f "
                "read:f sms:f expires_in_ms:i pinned:t"
            ),
        ),
        DatasetTable(
            "people",
            "the contacts, the owner of the account as kind `self`, and the release notes; `aci` is the same in "
            "every backup",
            columns(
                "person_id:i kind:l name aci pni phone username profile_name system_name nickname note blocked:f "
                "registered:f"
            ),
        ),
        DatasetTable(
            "chats",
            "the chats; `recipient_id` is the `person_id` of a chat with a person, `group_id` the id that a group "
            "has in every backup",
            columns(
                "chat_id:i recipient_id:i kind:l name group_id messages:i archived:f pinned_order:i timer_ms:i "
                "mute_until:t marked_unread:f"
            ),
        ),
        DatasetTable(
            "members",
            "who is in which group, was invited, asks to join or is banned (`standing`)",
            columns("group_id recipient_id:i person_id:i service_id standing:l role:l label added_by at:t"),
        ),
        DatasetTable(
            "reactions",
            "who reacted to which message, how and when",
            columns("message_id:i chat_id:i author_id:i emoji:l reacted:t"),
        ),
        DatasetTable(
            "attachments",
            "every file of a message, also of its earlier wordings (`revision` above 0); `media_name` is the name "
            "of its encrypted file in a backup folder",
            columns(
                "message_id:i chat_id:i revision:i role:l n:i content_type:l file_name size:i width:i height:i "
                "caption flag:l plaintext_hash media_name"
            ),
        ),
        DatasetTable(
            "calls",
            "calls; one through a call link has no chat, and `link` is what the link is called",
            columns(
                "message_id:i chat_id:i kind:l type:l direction:l state:l started:t ended:t ringer_id:i "
                "starter_id:i read:f link"
            ),
        ),
        DatasetTable(
            "findings",
            "what is wrong with the backup by the rules of `backup validate`; `frame` is the `message_id` of a "
            "message, and empty where the backup as a whole is meant",
            columns("frame:i rule:l severity:l path detail consequence:f"),
        ),
    )
}


def check_extra(*modules: str) -> None:
    """Raise `ExtraMissing` if a required package is not installed."""
    from importlib import import_module  # noqa: PLC0415  # only here

    for module in modules:
        try:
            import_module(module)
        except ImportError as error:
            extra = "ray" if module == "ray" else "dataset"
            raise ExtraMissing(f"this needs an extra: pip install 'holdfast[{extra}]'") from error


def dataset_schema(table: DatasetTable) -> Any:  # pyarrow exports no types
    """Return the Arrow schema of a table, with the schema version in its metadata."""
    import pyarrow as pa  # noqa: PLC0415  # an extra, imported on first use

    types: dict[str, Callable[[], Any]] = {
        "text": pa.string,
        "label": lambda: pa.dictionary(pa.int32(), pa.string()),
        "int": pa.int64,
        "flag": pa.bool_,
        "time": lambda: pa.timestamp("ms", tz="UTC"),
    }
    fields = [(column.name, types[column.kind]()) for column in table.columns]
    return pa.schema(fields, metadata={"holdfast.dataset": str(SCHEMA_VERSION)})


def parquet_options(table: DatasetTable) -> dict[str, Any]:
    """Return the Parquet encoding options for the columns of a table.

    Dictionary encoding is used only for columns with repeated values: for others it is the largest cost of all.
    """
    sequences = [column.name for column in table.columns if column.kind == "time" or column.name in SEQUENCES]
    repeated = [
        column.name
        for column in table.columns
        if column.kind == "label" or (column.kind == "int" and column.name not in SEQUENCES)
    ]
    return {
        "version": "2.6",
        "compression": "zstd",
        "use_dictionary": repeated,
        "column_encoding": dict.fromkeys(sequences, "DELTA_BINARY_PACKED"),
    }
