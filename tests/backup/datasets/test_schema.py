"""The schema of datasets."""

import sys

import pyarrow as pa
import pytest

from holdfast.backup.datasets.schema import SCHEMA_VERSION, TABLES, check_extra, dataset_schema, parquet_options
from holdfast.backup.errors import ExtraMissing

# What programs rely on; a change that they would misread needs another version.
FIRST = {
    "messages": "message_id chat_id author_id direction kind event sent sent_ms received text reply_to_sent "
    "reply_to_author_id reply_to_text attachments reactions revisions link read sms expires_in_ms pinned",
    "people": "person_id kind name aci pni phone username profile_name system_name nickname note blocked "
    "registered",
    "chats": "chat_id recipient_id kind name group_id messages archived pinned_order timer_ms mute_until "
    "marked_unread",
    "members": "group_id recipient_id person_id service_id standing role label added_by at",
    "reactions": "message_id chat_id author_id emoji reacted",
    "attachments": "message_id chat_id revision role n content_type file_name size width height caption flag "
    "plaintext_hash media_name",
    "calls": "message_id chat_id kind type direction state started ended ringer_id starter_id read link",
    "findings": "frame rule severity path detail consequence",
}


def test_the_first_version_has_these_tables_and_columns() -> None:
    """Version 1 of the schema has exactly these tables and columns."""
    assert SCHEMA_VERSION == 1
    assert {name: " ".join(column.name for column in table.columns) for name, table in TABLES.items()} == FIRST


def test_the_version_is_in_every_file() -> None:
    """The Arrow schema of every table has the version in its metadata, and timestamps in UTC."""
    for table in TABLES.values():
        assert dataset_schema(table).metadata == {b"holdfast.dataset": b"1"}
    schema = dataset_schema(TABLES["messages"])
    assert schema.field("sent").type == pa.timestamp("ms", tz="UTC")
    assert schema.field("kind").type == pa.dictionary(pa.int32(), pa.string())


@pytest.mark.parametrize(("module", "extra"), [("duckdb", "dataset"), ("ray", "ray")])
def test_a_missing_extra_is_named(module: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error of a missing package names its extra."""
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ExtraMissing, match=rf"holdfast\[{extra}\]"):
        check_extra(module)


def test_each_column_has_at_most_one_encoding() -> None:
    """No column has both a dictionary and a delta encoding, which pyarrow refuses."""
    for table in TABLES.values():
        options = parquet_options(table)
        assert not set(options["use_dictionary"]) & set(options["column_encoding"])
    options = parquet_options(TABLES["reactions"])
    assert options["use_dictionary"] == ["chat_id", "author_id", "emoji"]
    assert options["column_encoding"] == {"message_id": "DELTA_BINARY_PACKED", "reacted": "DELTA_BINARY_PACKED"}
