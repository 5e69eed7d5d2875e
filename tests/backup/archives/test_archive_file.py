"""Opening archives, and refusing other files."""

import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from threading import Thread

import pytest

from holdfast import backup
from holdfast.backup import archives
from holdfast.backup.archives import archive_file, schema
from holdfast.backup.archives.archive_file import (
    CACHE_KIB,
    MAX_TEXT_BYTES,
    archive_keys,
    resolve_key,
)
from holdfast.backup.archives.file_paths import KEEP_STATE
from holdfast.backup.archives.passphrases import SALT, ArchiveKey, is_encrypted
from holdfast.backup.errors import (
    ArchiveError,
    ArchiveTooNew,
    NotAnArchive,
    PassphraseMissing,
    PassphraseRefused,
    WrongPassphrase,
)
from holdfast.backup.file_types import ENCRYPTED_ARCHIVE
from tests.backup.archives.histories import PASSPHRASE, copies, write

# A key that takes no derivation.
KEY = ArchiveKey(b"k" * 32, ENCRYPTED_ARCHIVE.ljust(SALT, b"s"))
PLAIN = b"SQLite format 3\x00"


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """Make an encrypted archive of nothing."""
    pytest.importorskip("sqlcipher3", reason="the extra `encryption` is not installed")
    archives.open(tmp_path / "secret.db", create=True, key=KEY).close()
    return tmp_path / "secret.db"


def connection_of(error: BaseException) -> sqlite3.Connection:
    """Find the connection that a failed opening has made."""
    trace, connection = error.__traceback__, None
    while trace is not None:
        connection = trace.tb_frame.f_locals.get("connection", connection)
        trace = trace.tb_next
    assert isinstance(connection, sqlite3.Connection)
    return connection


def is_closed(connection: sqlite3.Connection) -> bool:
    """Return whether a connection is closed."""
    try:
        connection.execute("SELECT 1")
    except sqlite3.ProgrammingError:
        return True
    return False


def test_every_name_of_the_package_can_be_used() -> None:
    """Each name is imported on first use; another one is an AttributeError, as of every module."""
    assert all(getattr(archives, name).__name__ == name for name in archives.__all__)
    assert archives.__all__ == sorted(archives.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'missing'"):
        archives.missing  # noqa: B018  # the access is what is tested


def test_an_archive_of_a_later_version_is_refused(filled: Path) -> None:
    """The error of a too new archive says which versions are known, to read as to write."""
    with closing(sqlite3.connect(filled)) as plain:
        plain.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
    for create in (False, True):
        with pytest.raises(ArchiveTooNew, match="knows versions up to"):
            archives.open(filled, create=create)


def test_an_archive_from_before_the_first_release_is_only_read(filled: Path) -> None:
    """An archive without the identity column of the first release can be read, and is never written to."""
    with closing(sqlite3.connect(filled)) as plain, plain:
        plain.execute("ALTER TABLE identity RENAME COLUMN alias TO another")
    plain.close()
    before = filled.read_bytes()
    with archives.open(filled) as opened:
        assert opened.chats()
    with pytest.raises(ArchiveError, match="before the first release"):
        archives.open(filled, create=True)
    assert filled.read_bytes() == before


def test_other_databases_are_left_alone(tmp_path: Path) -> None:
    """A SQLite database that is no archive is refused, to read as to write, and stays the same byte by byte."""
    other = tmp_path / "other.db"
    with closing(sqlite3.connect(other)) as plain, plain:
        plain.execute("CREATE TABLE mine (a)")
    plain.close()
    before = other.read_bytes()
    for create in (False, True):
        with pytest.raises(NotAnArchive):
            archives.open(other, create=create)
    assert other.read_bytes() == before
    assert list(tmp_path.iterdir()) == [other]


@pytest.mark.parametrize("content", [b"just text", b"", b"SQLite format 3\x00 and no more"])
def test_what_is_no_archive_is_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    """A text, an empty file and the beginning of a database are refused with an error of one line."""
    path = tmp_path / "no.db"
    path.write_bytes(content)
    with pytest.raises(ArchiveError) as caught:
        archives.open(path)
    assert "\n" not in str(caught.value)


def test_a_missing_archive_is_said_to_be_missing(tmp_path: Path) -> None:
    """Opening a missing archive to read it is an error, and creates no file."""
    with pytest.raises(ArchiveError, match="there is no archive"):
        archives.open(tmp_path / "none.db")
    assert list(tmp_path.iterdir()) == []


def test_an_archive_is_only_read_unless_it_may_be_written(filled: Path) -> None:
    """An archive is opened read-only by default, with a cache of a fixed size, and is usable in another thread."""
    with archives.open(filled) as opened:
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            opened.connection.execute("DELETE FROM stored_message")
        assert opened.connection.execute("PRAGMA cache_size").fetchone() == (-CACHE_KIB,)
        assert opened.restricted == ()
        seen: list[int] = []
        reader = Thread(target=lambda: seen.append(len(opened.chats())))
        reader.start()
        reader.join()
        assert seen == [len(opened.chats())]
    assert is_closed(opened.connection)
    with archives.open(filled, create=True) as opened:
        opened.connection.execute("DELETE FROM sticker_pack")
        assert opened.connection.execute("PRAGMA foreign_keys").fetchone() == (0,)


def test_what_cannot_be_opened_is_closed(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The connection is closed when the archive is too new and when another process is writing to it."""
    with closing(sqlite3.connect(filled)) as plain:
        plain.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
    plain.close()
    with pytest.raises(ArchiveTooNew) as too_new:
        archives.open(filled)
    assert is_closed(connection_of(too_new.value))
    monkeypatch.setattr(archive_file, "BUSY_TIMEOUT_S", 0)
    other = sqlite3.connect(filled.with_name("new.db"), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(ArchiveError, match="another process is writing") as locked:
        archives.open(filled.with_name("new.db"), create=True)
    other.close()
    assert is_closed(connection_of(locked.value))


def test_an_archive_that_is_written_to_is_for_its_owner_alone(filled: Path) -> None:
    """Opening to write restricts the archive, its journal and its media folders, and lists them.

    Opening to read changes no permissions. A symbolic link in the media folder is not followed, and media files
    are left as they are.
    """
    media, elsewhere = filled.with_name("a.db-media"), filled.with_name("elsewhere")
    (media / "ab").mkdir(parents=True)
    elsewhere.mkdir()
    (media / "link").symlink_to(elsewhere)
    (media / "file").write_bytes(b"")
    journal = filled.with_name("a.db-journal")
    journal.write_bytes(b"")
    parts = [filled, journal, media, media / "ab"]
    for part in (*parts, elsewhere, media / "file"):
        part.chmod(0o755 if part.is_dir() else 0o644)
    archives.open(filled).close()
    assert stat.S_IMODE(filled.stat().st_mode) == 0o644
    with archives.open(filled, create=True) as opened:
        assert set(opened.restricted) == set(parts)
    modes = [
        stat.S_IMODE(part.stat().st_mode) for part in (filled, media, media / "ab", elsewhere, media / "file")
    ]
    assert modes == [0o600, 0o700, 0o700, 0o755, 0o644]


def test_a_new_archive_is_for_its_owner_alone(tmp_path: Path) -> None:
    """A new archive has mode 0600 with a umask of 0, and its folder is not created."""
    before = os.umask(0)
    try:
        archives.open(tmp_path / "new.db", create=True).close()
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new.db").stat().st_mode) == 0o600
    with pytest.raises(ArchiveError, match="there is no archive"):
        archives.open(tmp_path / "none" / "new.db", create=True)
    assert not (tmp_path / "none").exists()


def test_an_archive_that_another_writes_to_is_said_to_be_locked(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An exclusive lock of another connection makes opening fail, and it succeeds once the lock is gone."""
    monkeypatch.setattr(archive_file, "BUSY_TIMEOUT_S", 0)
    other = sqlite3.connect(filled, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(ArchiveError, match="cannot be opened: database is locked"):
        archives.open(filled)
    other.close()
    archives.open(filled).close()


def test_long_texts_are_read_from_the_folder_of_media(filled: Path) -> None:
    """A text that is too long, is not UTF-8, is missing or is a symbolic link is read as None."""
    folder = filled.with_name("a.db-media")
    folder.mkdir()
    (folder / "longest").write_text("ä" * (MAX_TEXT_BYTES // 2))
    (folder / "longer").write_text("x" * (MAX_TEXT_BYTES + 1))
    (folder / "broken").write_bytes(b"\xff")
    filled.with_name("elsewhere").write_text("of somebody else")
    (folder / "link").symlink_to(filled.with_name("elsewhere"))
    with archives.open(filled) as opened:
        assert opened.media_folder == folder
        assert opened.long_text("longest") == "ä" * (MAX_TEXT_BYTES // 2)
        assert [opened.long_text(name) for name in ("longer", "broken", "none", "link")] == [None] * 4


def test_what_was_read_before_an_import_or_a_removal_is_forgotten(tmp_path: Path) -> None:
    """Lists are read again after an import or a removal.

    A removal also deletes the state of `keep`; a dry run does not.
    """
    path, state = tmp_path / "a.db", tmp_path / f"a.db{KEEP_STATE}"
    with archives.open(path, create=True) as opened:
        assert opened.people() == []
        with backup.open(write(tmp_path / "one", *copies())) as source:
            assert opened.add(source).messages > 0
        assert len(opened.people()) > 1
        assert {person.name for person in opened.people()} != {"Unknown"}
        state.write_text("{}")
        chat = opened.chats()[0].id
        counted = opened.remove(chat=chat, dry_run=True)
        assert state.exists()
        assert opened.remove(chat=chat) == counted
        assert not state.exists()
        assert chat not in {row.id for row in opened.chats()}


def test_the_key_of_an_archive_follows_from_how_it_begins() -> None:
    """An encrypted archive needs its passphrase or its former key, and a plain one has no key."""
    path = Path("a.db")
    with pytest.raises(PassphraseMissing):
        resolve_key(path, KEY.salt, None, None, create=False)
    assert resolve_key(path, KEY.salt, None, KEY, create=False) is KEY
    assert resolve_key(path, KEY.salt, PASSPHRASE, KEY, create=False) is KEY
    derived = resolve_key(path, KEY.salt, PASSPHRASE, None, create=False)
    assert derived is not None
    assert (derived.salt, derived.key != KEY.key) == (KEY.salt, True)
    with pytest.raises(WrongPassphrase, match="another passphrase now"):
        resolve_key(path, ENCRYPTED_ARCHIVE.ljust(SALT, b"t"), None, KEY, create=False)
    assert resolve_key(path, PLAIN, None, None, create=True) is None
    for passphrase, key in ((PASSPHRASE, None), (None, KEY)):
        assert resolve_key(path, PLAIN, passphrase, key, create=False) is None
        with pytest.raises(ArchiveError, match="is not encrypted"):
            resolve_key(path, PLAIN, passphrase, key, create=True)


def test_a_new_archive_with_a_passphrase_has_a_key_of_its_own() -> None:
    """A new archive gets a key with a salt of its own, and an empty passphrase is refused."""
    path = Path("a.db")
    assert resolve_key(path, b"", None, None, create=True) is None
    assert resolve_key(path, b"", None, KEY, create=True) is KEY
    key = resolve_key(path, b"", PASSPHRASE, None, create=True)
    assert key is not None
    assert is_encrypted(key.salt)
    assert key.salt != KEY.salt
    with pytest.raises(PassphraseRefused):
        resolve_key(path, b"", "", None, create=True)


def test_an_encrypted_archive_has_a_key_of_its_media(secret: Path, filled: Path) -> None:
    """An encrypted archive has a media key; one that is not encrypted or missing has no keys.

    A key that does not fit is reported as a wrong passphrase.
    """
    with archives.open(secret, key=KEY) as opened:
        assert opened.encrypted
        assert opened.media.key is not None
    with archives.open(filled) as opened:
        assert not opened.encrypted
        assert opened.media.key is None
    assert archive_keys(filled, None) == (None, None)
    assert archive_keys(filled.with_name("none.db"), PASSPHRASE) == (None, None)
    with pytest.raises(PassphraseMissing):
        archive_keys(secret, None)
    with pytest.raises(WrongPassphrase, match="does not fit"):
        archives.open(secret, key=ArchiveKey(b"x" * 32, KEY.salt))


def test_a_changed_page_of_an_encrypted_archive_is_damage(secret: Path) -> None:
    """One changed page is damage and not a wrong passphrase, as the other pages still fit the key."""
    content = bytearray(secret.read_bytes())
    content[100] ^= 1
    secret.write_bytes(content)
    with pytest.raises(ArchiveError, match="is damaged") as caught:
        archives.open(secret, key=KEY)
    assert not isinstance(caught.value, WrongPassphrase)
