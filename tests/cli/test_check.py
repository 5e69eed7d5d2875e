"""`holdfast backup check`: its output and its exit status."""

import json
from pathlib import Path

import pytest

from holdfast.cli.exit_codes import ExitCode
from holdfast.cli.times import zone_of
from tests.backup.container.vectors import SET_A
from tests.backup.streams import KEY_FILE, folder_of, sample
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
