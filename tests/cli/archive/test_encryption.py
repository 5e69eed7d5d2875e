"""`holdfast archive encrypt`, `decrypt` and `passphrase`."""

import json
from pathlib import Path

import pytest

from holdfast import backup
from holdfast.backup import archives
from holdfast.backup.archives import encryption, is_archive, media_key
from holdfast.cli import key_store
from holdfast.cli.exit_codes import ExitCode
from holdfast.cli.passphrases import VARIABLE
from tests.backup.archives.histories import PASSPHRASE, import_backups
from tests.backup.phone_folders import write_phone_folder
from tests.backup.streams import KEYS
from tests.cli.conftest import Run

pytest.importorskip("sqlcipher3", reason="the extra `encryption` is not installed")
pytestmark = pytest.mark.usefixtures("quick_passphrases")

OTHER = "six words that nobody else knows"


@pytest.fixture
def db_path(tmp_path: Path, source: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Make an archive, and two files with passphrases."""
    monkeypatch.delenv(VARIABLE, raising=False)
    import_backups(tmp_path / "chats.db", Path(source))
    (tmp_path / "one").write_text(PASSPHRASE)
    (tmp_path / "other").write_text(OTHER)
    return str(tmp_path / "chats.db")


def test_an_archive_is_encrypted_changed_and_decrypted(run: Run, db_path: str, tmp_path: Path) -> None:
    """Each command prints the new state of the archive, and one that does not apply is refused."""
    passphrase = ("--passphrase-file", str(tmp_path / "one"))
    other = ("--passphrase-file", str(tmp_path / "other"))
    result = run("archive", "encrypt", db_path, *passphrase)
    assert (result.status, result.out, result.err) == (ExitCode.FINE, f"{db_path} is encrypted now.\n", "")
    assert Path(db_path).read_bytes()[:4] == b"HOLD"
    repeated = run("archive", "encrypt", db_path, *passphrase)
    assert repeated.status == ExitCode.UNREADABLE
    assert "is encrypted already" in repeated.err
    result = run("archive", "passphrase", db_path, *passphrase, "--new-passphrase-file", str(tmp_path / "other"))
    assert (result.status, result.out) == (ExitCode.FINE, f"{db_path} has a new passphrase.\n")
    assert run("archive", "decrypt", db_path, *passphrase).status == ExitCode.WRONG_KEY
    result = run("archive", "passphrase", db_path, *passphrase, "--new-passphrase-file", str(tmp_path / "one"))
    assert result.status == 4
    result = run("archive", "decrypt", db_path, *other, "--json")
    assert result.status == ExitCode.FINE
    assert json.loads(result.out) == {"archive": db_path, "encrypted": False, "files": 0, "damaged": 0}
    for command in ("decrypt", "passphrase"):
        refused = run("archive", command, db_path, *other)
        assert refused.status == ExitCode.UNREADABLE
        assert "is not encrypted" in refused.err


def test_a_new_passphrase_is_not_that_of_the_environment(
    run: Run, db_path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment variable has the current passphrase and is not used as the new one."""
    run("archive", "encrypt", db_path, "--passphrase-file", str(tmp_path / "one"))
    monkeypatch.setenv(VARIABLE, PASSPHRASE)
    refused = run("archive", "passphrase", db_path)
    assert refused.status == ExitCode.USAGE
    assert "a passphrase is needed" in refused.err
    assert run("archive", "passphrase", db_path, "--new-passphrase-file", str(tmp_path / "other")).status == 0
    assert run("archive", "chats", db_path).status == ExitCode.WRONG_KEY


def test_damaged_files_are_counted(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The archive is decrypted without damaged files, which are counted, and the exit status is 1."""
    archive_path = tmp_path / "kept" / "a.db"
    backup.keep(write_phone_folder(tmp_path), archive_path, KEYS)
    backup.encrypt_archive(archive_path, PASSPHRASE)
    broken = next(path for path in archive_path.with_name("a.db-media").rglob("*") if path.is_file())
    broken.write_bytes(broken.read_bytes()[:-1])
    monkeypatch.setenv(VARIABLE, PASSPHRASE)
    result = run("archive", "decrypt", str(archive_path))
    assert result.status == ExitCode.NO
    assert result.out.startswith(f"{archive_path} is not encrypted any more, with ")
    assert "note: 1 file could not be decrypted: missing from now on" in result.err


def test_an_interrupted_encryption_is_finished_by_the_same_command(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Attachments that could not be deleted yet are an error, and encrypting again deletes them."""
    archive_path = tmp_path / "kept" / "a.db"
    backup.keep(write_phone_folder(tmp_path), archive_path, KEYS)
    monkeypatch.setenv(VARIABLE, PASSPHRASE)
    media = archive_path.with_name("a.db-media")
    plain = {path for path in media.rglob("*") if path.is_file()}

    def refuse(_path: Path) -> None:
        raise PermissionError(1, "Operation not permitted")

    with monkeypatch.context() as patched:
        patched.setattr(media_key, "overwrite_and_delete", refuse)
        patched.setattr(encryption, "delete_state", lambda _path: None)
        result = run("archive", "encrypt", str(archive_path))
    assert result.status == ExitCode.UNREADABLE
    assert f"{archive_path} is encrypted, but not all files of the old form in {media} could be" in result.err
    assert all(path.exists() for path in plain)
    result = run("archive", "encrypt", str(archive_path))
    assert (result.status, result.out) == (ExitCode.FINE, f"{archive_path} is encrypted now.\n")
    assert not any(path.exists() for path in plain)
    # One that an earlier version did not mark is deleted too, with the passphrase.
    left = next(path for path in media.rglob("*") if path.is_file()).with_name("left.jpg")
    left.write_bytes(b"plain")
    monkeypatch.setenv(VARIABLE, OTHER)
    assert run("archive", "encrypt", str(archive_path)).status == ExitCode.WRONG_KEY
    monkeypatch.setenv(VARIABLE, PASSPHRASE)
    assert run("archive", "encrypt", str(archive_path)).status == ExitCode.FINE
    assert not left.exists()
    assert run("archive", "encrypt", str(archive_path)).status == ExitCode.UNREADABLE


def test_what_cannot_be_encrypted_is_refused(run: Run, db_path: str, tmp_path: Path) -> None:
    """A missing or short passphrase and a missing archive are refused, and the archive stays unchanged."""
    before = Path(db_path).read_bytes()
    assert run("archive", "encrypt", db_path).status == ExitCode.USAGE
    (tmp_path / "short").write_text("short")
    result = run("archive", "encrypt", db_path, "--passphrase-file", str(tmp_path / "short"))
    assert result.status == ExitCode.USAGE
    assert "fewer than 8 characters" in result.err
    missing = run("archive", "encrypt", str(tmp_path / "none.db"), "--passphrase-file", str(tmp_path / "one"))
    assert missing.status == ExitCode.UNREADABLE
    assert not (tmp_path / "none.db").exists()
    assert Path(db_path).read_bytes() == before
    assert run("archive", "passphrase", db_path, "--remember", "--forget").status == ExitCode.USAGE


def test_the_passphrase_is_remembered_and_forgotten(
    run: Run, db_path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stored passphrase is updated when it is changed, and a wrong one is not stored."""
    stored: dict[tuple[str, str], str] = {}

    class Keyring:
        get_password = staticmethod(lambda service, account: stored.get((service, account)))
        set_password = staticmethod(lambda service, name, secret: stored.__setitem__((service, name), secret))
        delete_password = staticmethod(lambda service, account: stored.__delitem__((service, account)))

    monkeypatch.setattr(key_store, "open_keyring", lambda: Keyring)
    run("archive", "encrypt", db_path, "--passphrase-file", str(tmp_path / "one"))
    wrong = run("archive", "passphrase", db_path, "--remember", "--passphrase-file", str(tmp_path / "other"))
    assert (wrong.status, stored) == (ExitCode.WRONG_KEY, {})
    right = run("archive", "passphrase", db_path, "--remember", "--passphrase-file", str(tmp_path / "one"))
    assert right.status == ExitCode.FINE
    assert list(stored.values()) == [PASSPHRASE]
    assert run("archive", "chats", db_path).status == ExitCode.FINE
    assert run("archive", "passphrase", db_path, "--new-passphrase-file", str(tmp_path / "other")).status == 0
    assert list(stored.values()) == [OTHER]
    assert run("archive", "chats", db_path).status == ExitCode.FINE
    assert "was removed" in run("archive", "passphrase", db_path, "--forget").err
    assert "is not in" in run("archive", "passphrase", db_path, "--forget").err
    assert run("archive", "chats", db_path).status == ExitCode.USAGE


def test_a_folder_is_kept_in_an_encrypted_archive(run: Run, source: str, db_path: str, tmp_path: Path) -> None:
    """`keep --encrypt` creates an encrypted archive, which needs the passphrase afterwards."""
    target = tmp_path / "kept" / "chats.db"
    arguments = ("keep", source, "--archive", str(target), "--passphrase-file", str(tmp_path / "one"))
    assert run(*arguments, "--encrypt").status in {ExitCode.FINE, ExitCode.NO}
    assert is_archive(target)
    with archives.open(target, passphrase=PASSPHRASE) as opened:
        assert opened.encrypted
    assert run(*arguments).status in {ExitCode.FINE, ExitCode.NO}
    assert run(*arguments[:4]).status == ExitCode.USAGE
    refused = run("keep", source, "--archive", db_path, "--encrypt", "--passphrase-file", str(tmp_path / "one"))
    assert refused.status == ExitCode.USAGE
    assert "not encrypted" in refused.err
