"""Export to JSON Lines: every record is valid and complete, and has no secrets."""

import json
from pathlib import Path

import msgspec
import pytest
from jsonschema import Draft202012Validator

from holdfast.backup.archives import Archive
from holdfast.backup.exports.choice import ChatSelection
from holdfast.backup.exports.jsonl import schema_text, write_json
from holdfast.backup.exports.message_records import messages
from tests.backup.exports.json_records import SCHEMA, check_records, read_records
from tests.conftest import ROOT


def test_the_schema_is_published() -> None:
    """The schema in the package and the documentation is the generated one, and is a valid JSON Schema."""
    Draft202012Validator.check_schema(SCHEMA)
    assert (ROOT / "docs/reference/exports.schema.json").read_bytes() == schema_text()
    assert (ROOT / "src/holdfast/backup/exports/schema.json").read_bytes() == schema_text()


@pytest.mark.parametrize("which", ["opened", "two_snapshots", "hostile"])
def test_every_record_is_valid(which: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """Every message, chat and person has a record that fits the schema, also in an archive of hostile texts."""
    archive: Archive = request.getfixturevalue(which)
    write_json(archive, tmp_path / "out", ChatSelection())
    check_records(tmp_path / "out")
    assert (tmp_path / "out" / "schema.json").read_bytes() == schema_text()
    (head,) = read_records(tmp_path / "out", "export")
    assert (head["format"], head["version"]) == ("holdfast-export", 1)
    ids = {record["id"] for record in read_records(tmp_path / "out", "message")}
    assert ids == {number for (number,) in archive.connection.execute("SELECT id FROM message")}
    assert len(read_records(tmp_path / "out", "chat")) == len(archive.chats())
    (people,) = archive.connection.execute("SELECT count(*) FROM recipient").fetchone()
    kinds = ("person", "group", "distribution_list", "call_link", "other")
    assert sum(len(read_records(tmp_path / "out", kind)) for kind in kinds) == people


def test_texts_come_out_as_they_are(hostile: Archive, tmp_path: Path) -> None:
    """Texts of messages are exported unchanged, also hostile ones."""
    write_json(hostile, tmp_path / "out", ChatSelection())
    texts = {record["id"]: record.get("text") for record in read_records(tmp_path / "out", "message")}
    assert texts == dict(hostile.connection.execute("SELECT id, text FROM message"))


def test_files_are_named_where_they_are(opened: Archive, tmp_path: Path) -> None:
    """A chat lists the files that its messages are in, in order."""
    write_json(opened, tmp_path / "out", ChatSelection())
    for chat in read_records(tmp_path / "out", "chat"):
        ids = [
            json.loads(line)["id"]
            for name in chat.get("files", ())
            for line in (tmp_path / "out" / name).read_bytes().splitlines()
        ]
        assert ids == [message.id for message in messages(opened, chat["id"])]


def test_no_key_is_exported(opened: Archive, tmp_path: Path) -> None:
    """No file of an export contains a key or an invite password of the archive."""
    write_json(opened, tmp_path / "out", ChatSelection())
    content = b"".join(path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file())
    secrets = {
        value
        for table, column in (
            ("contact", "profile_key"),
            ("group", "master_key"),
            ("group", "invite_link_password"),
            ("call_link", "root_key"),
            ("attachment", "local_key"),
            ("sticker", "pack_key"),
            ("sticker_pack", "pack_key"),
        )
        for (value,) in opened.connection.execute(f'SELECT {column} FROM "{table}" WHERE {column} IS NOT NULL')
        if len(value) >= 8
    }
    assert len(secrets) > 10
    for secret in secrets:
        for encoded in (secret.hex().encode(), msgspec.json.encode(secret).strip(b'"').rstrip(b"=")):
            assert encoded not in content


def test_the_same_archive_gives_the_same_bytes(opened: Archive, tmp_path: Path) -> None:
    """Two exports are equal byte for byte, and a second one into the same folder writes nothing."""
    first = write_json(opened, tmp_path / "one", ChatSelection())
    write_json(opened, tmp_path / "two", ChatSelection())
    for path in (tmp_path / "one").rglob("*"):
        if path.is_file() and not path.name.startswith(".holdfast"):
            assert path.read_bytes() == (tmp_path / "two" / path.relative_to(tmp_path / "one")).read_bytes()
    second = write_json(opened, tmp_path / "one", ChatSelection())
    assert (second.written, second.unchanged, second.removed) == (0, first.written, 0)


def test_of_a_chosen_chat_only_those_who_occur_in_it_are_told(opened: Archive, tmp_path: Path) -> None:
    """An export of one chat has its people only, not the whole address book, and no account settings."""
    chat = min(
        (entry for entry in opened.chats() if entry.kind == "contact" and entry.messages),
        key=lambda entry: entry.messages,
    )
    write_json(opened, tmp_path / "out", ChatSelection(chats=(chat.id,)))
    check_records(tmp_path / "out")
    assert {entry["chat_id"] for entry in read_records(tmp_path / "out", "message")} == {chat.id}
    assert [entry["id"] for entry in read_records(tmp_path / "out", "chat")] == [chat.id]
    people = {entry["id"] for entry in read_records(tmp_path / "out", "person")}
    assert chat.id in people
    assert len(people) < len(opened.people())
    (head,) = read_records(tmp_path / "out", "export")
    assert head["chats"] == [chat.id]
    assert "settings" not in head["accounts"][0]
    assert not (tmp_path / "out" / "account.jsonl").exists()
