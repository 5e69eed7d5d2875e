"""`holdfast backup check`: one word, a list, an exit status."""

import json
from pathlib import Path

import pytest

from holdfast.cli.exit_codes import ExitCode
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
def home(tmp_path: Path) -> Path:
    """Write a phone's folder."""
    return folder_of(sample(80), tmp_path).parent


def test_a_complete_backup_is_one_word_and_status_0(run: Run, home: Path, key_file: str) -> None:
    """A script may go on behind it, and a person reads the first line."""
    ran = run("backup", "check", str(home), "--key-file", key_file)
    assert (ran.status, ran.err) == (ExitCode.FINE, "")
    assert ran.out.splitlines()[0] == "complete"
    assert "80 messages" in ran.out


def test_an_incomplete_backup_lists_what_is_lost(run: Run, home: Path, key_file: str) -> None:
    """By chat, date and person, for people and for programs."""
    for file in sorted((home / "files").glob("??/*"))[:4]:
        file.unlink()
    ran = run("backup", "check", str(home), "--key-file", key_file, "--json")
    assert ran.status == ExitCode.NO
    answer = json.loads(ran.out)
    assert answer["answer"] == "incomplete"
    assert answer["lost"]
    text = run("backup", "check", str(home), "--key-file", key_file)
    assert text.status == ExitCode.NO
    assert text.out.splitlines()[0] == "incomplete"
    assert f"{len(answer['lost'])} of {answer['attachments']} attachments" in text.out
    for one in answer["lost"]:
        assert one["loss"] == "missing"
        if one["person"]:
            assert f"  {one['chat']}\n" in text.out
            assert f"{one['person']}: " in text.out


def test_a_wrong_key_a_missing_key_and_no_backup_have_their_statuses(run: Run, home: Path, tmp_path: Path) -> None:
    """As every other command."""
    other = tmp_path / "other.txt"
    other.write_text(SET_A.pool)
    assert run("backup", "check", str(home), "--key-file", str(other)).status == ExitCode.WRONG_KEY
    assert run("backup", "check", str(home)).status == ExitCode.USAGE
    assert run("backup", "check", str(other)).status == ExitCode.UNREADABLE


@pytest.mark.parametrize("harm", ["missing", "damaged"])
def test_info_that_verifies_and_validate_say_no(run: Run, home: Path, key_file: str, harm: str) -> None:
    """With their exit status, not only in words; what is only looked for cannot be found damaged inside."""
    assert run("backup", "info", str(home), "--verify-media", "--key-file", key_file).status == ExitCode.FINE
    assert run("backup", "validate", str(home), "--key-file", key_file).status == ExitCode.FINE
    file = min((home / "files").glob("??/*"))
    if harm == "missing":
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[:-1])
    assert run("backup", "info", str(home), "--verify-media", "--key-file", key_file).status == ExitCode.NO
    assert run("backup", "info", str(home), "--key-file", key_file).status == ExitCode.FINE
    if harm == "damaged":
        file.write_bytes(file.read_bytes()[:30])
    ran = run("backup", "validate", str(home), "--key-file", key_file)
    assert ran.status == ExitCode.NO
    assert "media.file." in ran.out
