"""Sources of the passphrase of an archive: a file, the environment, the keyring and a prompt."""

import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
import typer

from holdfast.backup import archives
from holdfast.backup.errors import PassphraseMissing, PassphraseRefused, WrongPassphrase
from holdfast.cli import key_store
from holdfast.cli.exit_codes import ExitCode
from holdfast.cli.passphrases import VARIABLE, new_passphrase, open_archive, passphrase_for
from tests.backup.archives.histories import PASSPHRASE, copies, write
from tests.cli.conftest import Run

pytest.importorskip("sqlcipher3", reason="the extra `encryption` is not installed")


@pytest.fixture
def encrypted_archive(tmp_path: Path) -> Path:
    """Make an empty encrypted archive."""
    archives.open(tmp_path / "a.db", create=True, passphrase=PASSPHRASE).close()
    return tmp_path / "a.db"


@pytest.fixture
def passphrase_file(tmp_path: Path) -> Path:
    """Write a passphrase file."""
    (tmp_path / "passphrase").write_text(f"{PASSPHRASE}\n")
    return tmp_path / "passphrase"


def test_the_file_goes_before_the_environment_and_that_before_the_keyring(
    encrypted_archive: Path, passphrase_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A passphrase file takes precedence over the variable, and that over the keyring."""
    monkeypatch.setattr("holdfast.cli.passphrases.load_passphrase", lambda _archive: "of the keyring")
    monkeypatch.setenv(VARIABLE, "of the environment")
    assert passphrase_for(encrypted_archive, passphrase_file) == PASSPHRASE
    assert passphrase_for(encrypted_archive, None) == "of the environment"
    monkeypatch.setenv(VARIABLE, "")
    assert passphrase_for(encrypted_archive, None) == "of the keyring"
    with pytest.raises(WrongPassphrase, match="in the system's keyring does not fit"):
        open_archive(encrypted_archive, None)
    monkeypatch.setenv(VARIABLE, "of the environment")
    with pytest.raises(WrongPassphrase, match="the passphrase does not fit"):
        open_archive(encrypted_archive, None)
    open_archive(encrypted_archive, passphrase_file).close()


def test_an_archive_that_is_not_encrypted_needs_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable is ignored for a plain archive, and `encrypt` is refused for an existing one."""
    monkeypatch.setenv(VARIABLE, PASSPHRASE)
    plain = tmp_path / "plain.db"
    assert passphrase_for(plain, None) is None
    with open_archive(plain, None, create=True) as opened:
        assert not opened.encrypted
    with pytest.raises(typer.BadParameter, match="holdfast archive encrypt"):
        passphrase_for(plain, None, encrypt=True)
    assert passphrase_for(tmp_path / "no" / "folder.db", None, encrypt=True) == PASSPHRASE
    with open_archive(tmp_path / "new.db", None, create=True, encrypt=True) as opened:
        assert opened.encrypted


@pytest.mark.parametrize("content", ["", "\n", "two\nlines\n"])
def test_a_file_has_one_line(tmp_path: Path, content: str) -> None:
    """A passphrase file must have exactly one line; a byte order mark and CRLF are removed."""
    file = tmp_path / "passphrase"
    file.write_text(content)
    with pytest.raises(PassphraseRefused):
        new_passphrase(file)
    file.write_bytes(b"\xef\xbb\xbfone line \r\n")
    assert new_passphrase(file) == "one line "


def test_without_a_terminal_nothing_is_asked(encrypted_archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a terminal the error names the option and the variable."""
    monkeypatch.delenv(VARIABLE, raising=False)
    with pytest.raises(PassphraseMissing, match=f"--passphrase-file or {VARIABLE}"):
        passphrase_for(encrypted_archive, None)
    with pytest.raises(PassphraseMissing):
        new_passphrase(None)
    monkeypatch.setenv(VARIABLE, PASSPHRASE)
    with pytest.raises(PassphraseMissing):
        new_passphrase(None, environment=False)


@pytest.mark.usefixtures("quick_passphrases")
def test_every_command_recognises_an_encrypted_archive(
    run: Run, tmp_path: Path, passphrase_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every archive command needs the passphrase, and a missing and a wrong one have their own statuses."""
    monkeypatch.delenv(VARIABLE, raising=False)
    path, source = str(tmp_path / "chats.db"), str(write(tmp_path / "one.binproto", *copies()))
    given = ("--passphrase-file", str(passphrase_file))
    assert run("archive", "import", path, source, "--encrypt", *given).status == ExitCode.FINE
    assert run("archive", "import", path, source, *given).status == ExitCode.FINE
    commands: Sequence[tuple[str, ...]] = (
        ("chats", path),
        ("people", path),
        ("info", path),
        ("stats", path),
        ("skipped", path),
        ("show", path, "1"),
        ("search", path, "dinner"),
        ("vanished", path),
        ("remove", path, "--import", "1", "--dry-run"),
        ("export", path, str(tmp_path / "out"), "--to", "json"),
    )
    wrong = tmp_path / "wrong"
    wrong.write_text("another passphrase")
    for command in commands:
        assert run("archive", *command, *given).status in {ExitCode.FINE, ExitCode.NO}, command
        assert run("archive", *command).status == ExitCode.USAGE, command
        refused = run("archive", *command, "--passphrase-file", str(wrong), "--json")
        assert refused.status == ExitCode.WRONG_KEY, command
        assert "does not fit" in refused.err
        assert "another passphrase" not in refused.out + refused.err


def test_a_passphrase_is_stored_for_one_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A passphrase is stored for one archive only, and is not read as the key of a folder."""
    stored: dict[tuple[str, str], str] = {}

    class Keyring:
        get_password = staticmethod(lambda service, account: stored.get((service, account)))
        set_password = staticmethod(lambda service, name, secret: stored.__setitem__((service, name), secret))
        delete_password = staticmethod(lambda service, account: stored.__delitem__((service, account)))

    monkeypatch.setattr(key_store, "open_keyring", lambda: Keyring)
    key_store.store_passphrase(tmp_path / "a.db", PASSPHRASE)
    assert key_store.load_passphrase(tmp_path / "a.db") == PASSPHRASE
    assert key_store.load_passphrase(tmp_path / "b.db") is None
    assert key_store.load_key(tmp_path / "a.db") is None
    assert key_store.delete_passphrase(tmp_path / "a.db")
    assert not key_store.delete_passphrase(tmp_path / "a.db")


def run_on_terminal(arguments: list[str], replies: list[str]) -> tuple[int, str]:
    """Run a command on a terminal, answer its prompts, and return its status and all that it showed."""
    leader, follower = pty.openpty()
    environ = {name: value for name, value in os.environ.items() if name != VARIABLE}
    process = subprocess.Popen(
        [sys.executable, "-m", "holdfast", *arguments],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        close_fds=True,
        env=environ,
        start_new_session=True,
    )
    os.close(follower)
    output, prompted, end = b"", 0, time.monotonic() + 60
    while time.monotonic() < end:
        ready, _, _ = select.select([leader], [], [], 0.2)
        try:
            piece = os.read(leader, 4096) if ready else b""
        except OSError:
            break
        output += piece
        if prompted < len(replies) and output.count(b": ") > prompted:
            # What is typed before the echo is off is thrown away.
            time.sleep(0.2)
            os.write(leader, f"{replies[prompted]}\n".encode())
            prompted += 1
        if not piece and process.poll() is not None:
            break
    status = process.wait(10)
    os.close(leader)
    return status, output.decode()


def test_a_terminal_is_asked_twice_for_a_new_passphrase_and_once_for_a_known_one(tmp_path: Path) -> None:
    """A new passphrase has to be repeated; no passphrase is shown on the terminal when it is entered."""
    path, source = str(tmp_path / "a.db"), str(write(tmp_path / "one.binproto", *copies()))
    status, output = run_on_terminal(["archive", "import", path, source, "--encrypt"], [PASSPHRASE, PASSPHRASE])
    assert status == ExitCode.FINE, output
    assert PASSPHRASE not in output
    assert (output.count("New passphrase: "), output.count("Repeat for confirmation: ")) == (1, 1)
    status, output = run_on_terminal(["archive", "chats", path], [PASSPHRASE])
    assert status == ExitCode.FINE, output
    assert PASSPHRASE not in output
    assert (output.count("Passphrase of a.db: "), output.count("Repeat for confirmation: ")) == (1, 0)
