"""`holdfast archive encrypt`, `decrypt` and `passphrase`."""

import json
from pathlib import Path

import pytest

from holdfast import backup
from holdfast.backup import archives
from holdfast.backup.archives.archive_file import is_archive
from holdfast.cli import key_store
from holdfast.cli.exit_codes import ExitCode
from holdfast.cli.passphrases import VARIABLE
from tests.backup.archives.histories import PASSPHRASE, imported
from tests.backup.phone_folders import phone
from tests.backup.streams import KEYS
from tests.cli.conftest import Run

pytest.importorskip("sqlcipher3", reason="the extra `encryption` is not installed")
pytestmark = pytest.mark.usefixtures("quick_passphrases")

OTHER = "six words that nobody else knows"


@pytest.fixture
def place(tmp_path: Path, source: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Make an archive, and two files with passphrases."""
    monkeypatch.delenv(VARIABLE, raising=False)
    imported(tmp_path / "chats.db", Path(source))
    (tmp_path / "one").write_text(PASSPHRASE)
    (tmp_path / "other").write_text(OTHER)
    return str(tmp_path / "chats.db")


def test_an_archive_is_encrypted_changed_and_decrypted(run: Run, place: str, tmp_path: Path) -> None:
    """Each says what the archive is now."""
    one, other = ("--passphrase-file", str(tmp_path / "one")), ("--passphrase-file", str(tmp_path / "other"))
    ran = run("archive", "encrypt", place, *one)
    assert (ran.status, ran.out, ran.err) == (ExitCode.FINE, f"{place} is encrypted now.\n", "")
    assert Path(place).read_bytes()[:4] == b"HOLD"
    again = run("archive", "encrypt", place, *one)
    assert again.status == ExitCode.UNREADABLE
    assert "is encrypted already" in again.err
    ran = run("archive", "passphrase", place, *one, "--new-passphrase-file", str(tmp_path / "other"))
    assert (ran.status, ran.out) == (ExitCode.FINE, f"{place} has a new passphrase.\n")
    assert run("archive", "decrypt", place, *one).status == ExitCode.WRONG_KEY
    assert run("archive", "passphrase", place, *one, "--new-passphrase-file", str(tmp_path / "one")).status == 4
    ran = run("archive", "decrypt", place, *other, "--json")
    assert ran.status == ExitCode.FINE
    assert json.loads(ran.out) == {"archive": place, "encrypted": False, "files": 0, "damaged": 0}
    for command in ("decrypt", "passphrase"):
        refused = run("archive", command, place, *other)
        assert refused.status == ExitCode.UNREADABLE
        assert "is not encrypted" in refused.err


def test_a_new_passphrase_is_not_that_of_the_environment(
    run: Run, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which is the one the archive has: it would be changed to itself."""
    run("archive", "encrypt", place, "--passphrase-file", str(tmp_path / "one"))
    monkeypatch.setenv(VARIABLE, PASSPHRASE)
    refused = run("archive", "passphrase", place)
    assert refused.status == ExitCode.USAGE
    assert "a passphrase is needed" in refused.err
    assert run("archive", "passphrase", place, "--new-passphrase-file", str(tmp_path / "other")).status == 0
    assert run("archive", "chats", place).status == ExitCode.WRONG_KEY


def test_damaged_files_are_counted(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The archive is decrypted without them, and the status says that something is missing."""
    place = tmp_path / "kept" / "a.db"
    backup.keep(phone(tmp_path), place, KEYS)
    backup.encrypt_archive(place, PASSPHRASE)
    broken = next(path for path in place.with_name("a.db-media").rglob("*") if path.is_file())
    broken.write_bytes(broken.read_bytes()[:-1])
    monkeypatch.setenv(VARIABLE, PASSPHRASE)
    ran = run("archive", "decrypt", str(place))
    assert ran.status == ExitCode.NO
    assert ran.out.startswith(f"{place} is not encrypted any more, with ")
    assert "note: 1 file could not be decrypted: missing from now on" in ran.err


def test_what_cannot_be_encrypted_is_refused(run: Run, place: str, tmp_path: Path) -> None:
    """Without a passphrase, with a short one, and what is no archive; the archive stays as it is."""
    before = Path(place).read_bytes()
    assert run("archive", "encrypt", place).status == ExitCode.USAGE
    (tmp_path / "short").write_text("short")
    ran = run("archive", "encrypt", place, "--passphrase-file", str(tmp_path / "short"))
    assert ran.status == ExitCode.USAGE
    assert "fewer than 8 characters" in ran.err
    missing = run("archive", "encrypt", str(tmp_path / "none.db"), "--passphrase-file", str(tmp_path / "one"))
    assert missing.status == ExitCode.UNREADABLE
    assert Path(place).read_bytes() == before
    assert run("archive", "passphrase", place, "--remember", "--forget").status == ExitCode.USAGE


def test_the_passphrase_is_remembered_and_forgotten(
    run: Run, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change of it changes what is stored; a wrong one is not stored."""
    stored: dict[tuple[str, str], str] = {}

    class Keyring:
        get_password = staticmethod(lambda service, account: stored.get((service, account)))
        set_password = staticmethod(lambda service, name, secret: stored.__setitem__((service, name), secret))
        delete_password = staticmethod(lambda service, account: stored.__delitem__((service, account)))

    monkeypatch.setattr(key_store, "open_keyring", lambda: Keyring)
    run("archive", "encrypt", place, "--passphrase-file", str(tmp_path / "one"))
    wrong = run("archive", "passphrase", place, "--remember", "--passphrase-file", str(tmp_path / "other"))
    assert (wrong.status, stored) == (ExitCode.WRONG_KEY, {})
    right = run("archive", "passphrase", place, "--remember", "--passphrase-file", str(tmp_path / "one"))
    assert right.status == ExitCode.FINE
    assert list(stored.values()) == [PASSPHRASE]
    assert run("archive", "chats", place).status == ExitCode.FINE
    assert run("archive", "passphrase", place, "--new-passphrase-file", str(tmp_path / "other")).status == 0
    assert list(stored.values()) == [OTHER]
    assert run("archive", "chats", place).status == ExitCode.FINE
    assert "was removed" in run("archive", "passphrase", place, "--forget").err
    assert "is not in" in run("archive", "passphrase", place, "--forget").err
    assert run("archive", "chats", place).status == ExitCode.USAGE


def test_a_folder_is_kept_in_an_encrypted_archive(run: Run, source: str, place: str, tmp_path: Path) -> None:
    """`keep --encrypt` makes it, and needs the passphrase from then on."""
    target = tmp_path / "kept" / "chats.db"
    words = ("keep", source, "--archive", str(target), "--passphrase-file", str(tmp_path / "one"))
    assert run(*words, "--encrypt").status in {ExitCode.FINE, ExitCode.NO}
    assert is_archive(target)
    with archives.open(target, passphrase=PASSPHRASE) as opened:
        assert opened.encrypted
    assert run(*words).status in {ExitCode.FINE, ExitCode.NO}
    assert run(*words[:4]).status == ExitCode.USAGE
    refused = run("keep", source, "--archive", place, "--encrypt", "--passphrase-file", str(tmp_path / "one"))
    assert refused.status == ExitCode.USAGE
    assert "not encrypted" in refused.err
