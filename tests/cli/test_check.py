"""`holdfast backup check`: its output and its exit status."""

import json
from pathlib import Path

import pytest

from holdfast.backup.schema.backup_pb2 import AccountData, Frame
from holdfast.cli.exit_codes import ExitCode
from holdfast.cli.times import zone_of
from tests.backup.container.vectors import SET_A
from tests.backup.streams import KEY_FILE, folder_of, message_stream, sample
from tests.cli.conftest import Run


@pytest.fixture
def key_file(tmp_path: Path) -> str:
    """Write the keys down."""
    path = tmp_path / "keys.txt"
    path.write_text(KEY_FILE)
    return str(path)


@pytest.fixture
def phone(tmp_path: Path) -> Path:
    """Write a phone's folder."""
    return folder_of(sample(80), tmp_path).parent


def test_a_complete_backup_is_one_word_and_status_0(run: Run, phone: Path, key_file: str) -> None:
    """The first line is `complete`, and the exit status is 0."""
    result = run("backup", "check", str(phone), "--key-file", key_file)
    assert (result.status, result.err) == (ExitCode.FINE, "")
    assert result.out.splitlines()[0] == "complete"
    assert "80 messages" in result.out


def test_an_incomplete_backup_lists_what_is_lost(run: Run, phone: Path, key_file: str) -> None:
    """Lost attachments are listed by chat, date and person, as text and as JSON."""
    for file in sorted((phone / "files").glob("??/*"))[:4]:
        file.unlink()
    result = run("backup", "check", str(phone), "--key-file", key_file, "--json")
    assert result.status == ExitCode.NO
    document = json.loads(result.out)
    assert document["answer"] == "incomplete"
    assert document["lost"]
    text = run("backup", "check", str(phone), "--key-file", key_file, "--zone", "UTC")
    assert text.status == ExitCode.NO
    assert text.out.splitlines()[0] == "incomplete"
    assert f"{len(document['lost'])} of {document['attachments']} attachments" in text.out
    assert any(item["person"] for item in document["lost"])
    for item in document["lost"]:
        assert item["loss"] == "missing"
        when = zone_of("UTC").time(item["sent_ms"]) if item["sent_ms"] else "no date"
        assert f"  {item['chat'] or 'wallpapers'}\n" in text.out
        assert f"    {when}  {item['person'] or 'nobody'}: " in text.out


def test_one_of_each_is_counted_in_the_singular(run: Run, tmp_path: Path) -> None:
    """Counts agree with their nouns and verbs, in every command that prints them."""
    person, chat, frame = Frame(), Frame(), Frame()
    person.recipient.id, person.recipient.contact.profileGivenName = 1, "Ada"
    chat.chat.id, chat.chat.recipientId = 1, 1
    frame.chatItem.chatId, frame.chatItem.authorId, frame.chatItem.dateSent = 1, 1, 1
    frame.chatItem.incoming.SetInParent()
    lost, elsewhere = (frame.chatItem.standardMessage.attachments.add().pointer.locatorInfo for _ in range(2))
    lost.plaintextHash, lost.localKey, lost.size = bytes(32), bytes(64), 1
    elsewhere.transitCdnKey = "somewhere"
    source, archive = tmp_path / "one", str(tmp_path / "chats.db")
    source.write_bytes(message_stream(person, chat, frame))
    text = run("backup", "check", str(source)).out
    assert "1 of 1 attachment is missing" in text
    assert "with 1 message and 0 attachments" in text
    assert "1 more attachment was not" in text
    assert ": 1 message, 1 new" in run("archive", "import", archive, str(source)).out
    assert "(1 message)" in run("archive", "import", archive, str(source)).out
    assert run("archive", "stats", archive).out.startswith("1 message, ")
    run("archive", "export", archive, str(tmp_path / "html"))
    assert "1 chat, 1 message." in (tmp_path / "html" / "index.html").read_text()
    header = tmp_path / "header"
    header.write_bytes(message_stream())
    assert run("archive", "import", f"{archive}2", str(header)).status == ExitCode.FINE
    assert run("archive", "stats", f"{archive}2").out.startswith("0 messages\n")
    single = tmp_path / "single.jsonl"
    assert run("backup", "redact", str(header), str(tmp_path / "redacted")).out.endswith(": 0 frames, redacted\n")
    header.write_bytes(message_stream(Frame(account=AccountData())))
    assert run("backup", "convert", str(header), str(single)).out.endswith(": 1 frame\n")
    assert "in 1 frame," in run("backup", "validate", str(header)).out


def test_a_wrong_key_a_missing_key_and_no_backup_have_their_statuses(
    run: Run, phone: Path, tmp_path: Path
) -> None:
    """The command `check` has the same exit statuses for them as every other command."""
    other = tmp_path / "other.txt"
    other.write_text(SET_A.pool)
    assert run("backup", "check", str(phone), "--key-file", str(other)).status == ExitCode.WRONG_KEY
    assert run("backup", "check", str(phone)).status == ExitCode.USAGE
    assert run("backup", "check", str(other)).status == ExitCode.UNREADABLE


@pytest.mark.parametrize("damage", ["missing", "damaged"])
def test_info_that_verifies_and_validate_say_no(run: Run, phone: Path, key_file: str, damage: str) -> None:
    """`info --verify-media` and `validate` exit with 1 for a lost attachment, and `info` alone with 0."""
    assert run("backup", "info", str(phone), "--verify-media", "--key-file", key_file).status == ExitCode.FINE
    assert run("backup", "validate", str(phone), "--key-file", key_file).status == ExitCode.FINE
    file = min((phone / "files").glob("??/*"))
    if damage == "missing":
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[:-1])
    assert run("backup", "info", str(phone), "--verify-media", "--key-file", key_file).status == ExitCode.NO
    assert run("backup", "info", str(phone), "--key-file", key_file).status == ExitCode.FINE
    if damage == "damaged":
        file.write_bytes(file.read_bytes()[:30])
    result = run("backup", "validate", str(phone), "--key-file", key_file)
    assert result.status == ExitCode.NO
    assert "media.file." in result.out
