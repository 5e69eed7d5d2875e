"""Archives are encrypted, decrypted and given another passphrase atomically."""

import io
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tarfile
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from holdfast import backup
from holdfast.backup import archives
from holdfast.backup.archives import Archive, archive_file, encryption
from holdfast.backup.archives.encryption import change_passphrase, decrypt_archive, encrypt_archive, rewrite
from holdfast.backup.archives.media_cipher import MAGIC
from holdfast.backup.archives.passphrases import ArchiveKey, make_key
from holdfast.backup.errors import (
    ArchiveBusy,
    ArchiveError,
    PassphraseMissing,
    PassphraseRefused,
    WrongPassphrase,
)
from tests.backup.archives.histories import PASSPHRASE, copies, write
from tests.backup.phone_folders import add_snapshot, later, phone
from tests.backup.streams import KEYS, sample

pytest.importorskip("sqlcipher3", reason="the extra `encryption` is not installed")

OTHER = "six words that nobody else knows"


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Keep a phone's folder in an archive, with attachments, once."""
    home = tmp_path_factory.mktemp("kept")
    backup.keep(phone(home), home / "kept" / "a.db", KEYS)
    return home / "kept"


@pytest.fixture
def place(kept: Path, tmp_path: Path) -> Path:
    """Copy it."""
    shutil.copytree(kept, tmp_path / "copy")
    return tmp_path / "copy" / "a.db"


def content_of(opened: Archive) -> tuple[list[str], list[tuple[str, str]]]:
    """Return what an archive says, and the content of its attachments."""
    run = opened.connection.execute
    query = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'"
    tables = [name for (name,) in run(query)]
    rows: list[str] = []
    for table in sorted(set(tables) - {"encryption", "media"}):
        rows += sorted(map(repr, run(f'SELECT * FROM "{table}"')))
    files: list[tuple[str, str]] = []
    for name, digest, path in run("SELECT media_name, sha256, path FROM media ORDER BY media_name").fetchall():
        found = opened.kept_file(path)
        assert found is not None
        assert found.digest() == bytes.fromhex(digest)
        files.append((name, digest))
    return rows, files


def words_of(opened: Archive) -> list[bytes]:
    """Return long texts, names and hashes that must be found nowhere on a disk."""
    run = opened.connection.execute
    texts = [text for (text,) in run("SELECT text FROM message WHERE length(text) > 12")]
    names = [name for (name,) in run("SELECT name FROM recipient WHERE length(name) > 5")]
    assert len(texts) > 20
    assert names
    return [word.encode() for word in [*texts, *names]]


def leaks(home: Path, words: list[bytes]) -> list[str]:
    """Return the files below a folder that have one of some words, or begin like a SQLite file."""
    found = []
    for path in home.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            if content.startswith(b"SQLite") or any(word in content for word in words):
                found.append(path.name)
    return found


def test_an_archive_is_encrypted_changed_and_decrypted(place: Path) -> None:
    """With everything in it, and nothing of it left in another form."""
    with archives.open(place) as opened:
        before, words = content_of(opened), words_of(opened)
        digests = [digest for _, digest in before[1]]
    assert leaks(place.parent, words)
    done = encrypt_archive(place, PASSPHRASE)
    assert (done.files, done.damaged) == (len({digest for _, digest in before[1]}), 0)
    assert leaks(place.parent, words) == []
    assert not [path for path in place.parent.rglob("*") if any(digest in path.name for digest in digests)]
    with archives.open(place, passphrase=PASSPHRASE) as opened:
        assert opened.encrypted
        assert content_of(opened) == before
    change_passphrase(place, PASSPHRASE, OTHER)
    with pytest.raises(WrongPassphrase):
        archives.open(place, passphrase=PASSPHRASE)
    with archives.open(place, passphrase=OTHER) as opened:
        assert content_of(opened) == before
    decrypt_archive(place, OTHER)
    with archives.open(place) as opened:
        assert not opened.encrypted
        assert content_of(opened) == before
    assert not [path for path in place.parent.rglob("*") if path.is_file() and path.read_bytes().startswith(MAGIC)]
    assert sorted(path.name for path in place.parent.iterdir()) == ["a.db", "a.db-media"]


def test_what_keep_remembers_is_encrypted_and_used(kept: Path, tmp_path: Path) -> None:
    """It names chats and people; the second run reads it."""
    folder = phone(tmp_path)
    target = tmp_path / "kept" / "a.db"
    assert backup.keep(folder, target, KEYS, passphrase=PASSPHRASE).complete
    with archives.open(target, passphrase=PASSPHRASE) as opened:
        assert leaks(target.parent, words_of(opened)) == []
    assert target.with_name("a.db-keep.json").read_bytes().startswith(MAGIC)
    assert backup.keep(folder, target, KEYS, passphrase=PASSPHRASE).unchanged
    add_snapshot(folder, later(sample(80), 1, without=3))
    again = backup.keep(folder, target, KEYS, passphrase=PASSPHRASE)
    assert again.complete
    assert not again.unchanged
    with pytest.raises(WrongPassphrase):
        backup.keep(folder, target, KEYS, passphrase=OTHER)
    with pytest.raises(PassphraseMissing):
        backup.keep(folder, target, KEYS)


class OnePass(io.RawIOBase):
    """A stream that is read once, as a pipe is."""

    def __init__(self, content: bytes) -> None:
        super().__init__()
        self._content = io.BytesIO(content)

    def readable(self) -> bool:
        """Return true."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read on."""
        return self._content.readinto(buffer)


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs the open files of a process")
def test_no_word_is_on_the_disk_while_a_backup_is_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither in the journal nor in temporary files, also those that have no name."""
    content = write(tmp_path / "one", *copies(400)).read_bytes()
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(home))
    seen: list[bytes] = []

    def look(_done: int, _total: int, _messages: int) -> None:
        for handle in Path("/proc/self/fd").iterdir():
            try:
                if str(handle.readlink()).startswith(str(home)):
                    seen.append(handle.read_bytes())
            except OSError:
                continue
        seen.extend(path.read_bytes() for path in home.rglob("*") if path.is_file())

    with archives.open(home / "a.db", create=True, passphrase=PASSPHRASE) as opened:
        with backup.open(io.BufferedReader(OnePass(content))) as found:
            opened.add(found, progress=look)
        opened.connection.execute("PRAGMA cache_size = 1")
        words = words_of(opened)
    assert any(len(one) > 50_000 for one in seen), "the spool was not seen"
    assert not [word for word in words if any(word in one for one in seen)]
    assert leaks(home, words) == []


def test_a_wrong_passphrase_a_missing_one_and_damage_are_three_errors(
    encrypted_file: Path, tmp_path: Path
) -> None:
    """No two of them are the same; none repeats a passphrase."""
    copy = tmp_path / "a.db"
    shutil.copy(encrypted_file, copy)
    with pytest.raises(PassphraseMissing, match="is encrypted"):
        archives.open(copy)
    with pytest.raises(WrongPassphrase, match="does not fit") as wrong:
        archives.open(copy, passphrase=OTHER)
    assert OTHER not in repr(wrong.value)
    content = bytearray(copy.read_bytes())
    content[100] ^= 1
    copy.write_bytes(content)
    with pytest.raises(ArchiveError, match="is damaged") as damaged:
        archives.open(copy, passphrase=PASSPHRASE)
    assert not isinstance(damaged.value, WrongPassphrase)
    content[100] ^= 1
    for start in range(3 * 4096, len(content), 4096):
        content[start + 9] ^= 1
    copy.write_bytes(content)
    with (
        pytest.raises(ArchiveError, match=r"is damaged|cannot be read") as damaged,
        archives.open(copy, passphrase=PASSPHRASE) as opened,
    ):
        opened.statistics()
    assert not isinstance(damaged.value, WrongPassphrase)


def test_without_the_extra_the_error_names_it(encrypted_file: Path) -> None:
    """Where the package is not installed."""
    code = (
        "import sys; sys.modules['sqlcipher3'] = None\n"
        "import holdfast.backup as hb\n"
        "try:\n    hb.archive(sys.argv[1], passphrase='x' * 9)\n"
        "except hb.ExtraMissing as error:\n    print(error)"
    )
    words = [sys.executable, "-c", code, str(encrypted_file)]
    ran = subprocess.run(words, capture_output=True, text=True, check=True)
    assert "holdfast[encryption]" in ran.stdout


def test_only_what_can_be_changed_is(place: Path, tmp_path: Path) -> None:
    """A short passphrase, a plain archive, a file that is none; each leaves all as it was."""
    before = place.read_bytes()
    with pytest.raises(PassphraseRefused):
        encrypt_archive(place, "short")
    for change in (decrypt_archive, lambda path, old: change_passphrase(path, old, OTHER)):
        with pytest.raises(ArchiveError, match="is not encrypted"):
            change(place, PASSPHRASE)
    with pytest.raises(ArchiveError, match="is not encrypted"):
        archives.open(place, create=True, passphrase=PASSPHRASE)
    with pytest.raises(ArchiveError, match="there is no archive"):
        encrypt_archive(tmp_path / "none" / "a.db", PASSPHRASE)
    assert place.read_bytes() == before
    encrypt_archive(place, PASSPHRASE)
    with pytest.raises(PassphraseMissing):
        encrypt_archive(place, PASSPHRASE)
    with pytest.raises(WrongPassphrase):
        decrypt_archive(place, OTHER)


def test_a_link_to_an_archive_stays_one_and_an_export_keeps_its_files(place: Path, tmp_path: Path) -> None:
    """The archive itself is written anew; what an export shares with it is not overwritten."""
    link = tmp_path / "link.db"
    link.symlink_to(place)
    backup.export(place, tmp_path / "pages", "html")
    shared = [path for path in (tmp_path / "pages" / "media").rglob("*") if path.is_file()]
    contents = [path.read_bytes() for path in shared]
    assert shared
    encrypt_archive(link, PASSPHRASE)
    assert link.is_symlink()
    assert [path.read_bytes() for path in shared] == contents
    with archives.open(link, passphrase=PASSPHRASE) as opened:
        assert opened.chats()


def test_an_export_of_an_encrypted_archive_is_that_of_a_plain_one(place: Path, tmp_path: Path) -> None:
    """With the same names and contents; a damaged attachment is left out."""
    plain = backup.export(place, tmp_path / "plain", "json")
    encrypt_archive(place, PASSPHRASE)
    done = backup.export(place, tmp_path / "encrypted", "json", passphrase=PASSPHRASE)
    assert done.written == plain.written
    for one in (tmp_path / "plain" / "media").rglob("*"):
        other = tmp_path / "encrypted" / one.relative_to(tmp_path / "plain")
        assert one.is_dir() or other.read_bytes() == one.read_bytes()
    broken = next(path for path in place.with_name("a.db-media").rglob("*") if path.is_file())
    broken.write_bytes(broken.read_bytes()[:-1])
    again = backup.export(place, tmp_path / "again", "html", passphrase=PASSPHRASE)
    assert again.written
    assert decrypt_archive(place, PASSPHRASE).damaged == 1


@pytest.mark.parametrize("statement", ["BEGIN IMMEDIATE", "BEGIN"])
def test_who_reads_or_writes_meanwhile_is_waited_for(
    place: Path, monkeypatch: pytest.MonkeyPatch, statement: str
) -> None:
    """And if they take too long, nothing is changed; another process, as locks are those of a process."""
    monkeypatch.setattr(encryption, "BUSY_TIMEOUT_S", 0.1)
    before = place.read_bytes()
    code = (
        "import sys, sqlite3\nother = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "other.execute(sys.argv[2])\nother.execute('SELECT count(*) FROM chat').fetchone()\n"
        "print('locked', flush=True)\nsys.stdin.read()\n"
    )
    words = [sys.executable, "-c", code, str(place), statement]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "locked\n"
        with pytest.raises(ArchiveBusy):
            rewrite(place, None, make_key(PASSPHRASE))
        process.kill()
    assert place.read_bytes() == before
    assert not place.with_name("a.db-new").exists()


def test_what_is_written_after_the_copy_is_not_lost(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the copy and the replacement somebody else can write: then nothing is replaced."""
    locked = encryption.locked
    code = (
        "import sys, sqlite3\nwith sqlite3.connect(sys.argv[1]) as one:\n    one.execute('DELETE FROM reaction')"
    )

    def interrupted(connection: sqlite3.Connection, how: str) -> AbstractContextManager[None]:
        if how == "EXCLUSIVE":
            subprocess.run([sys.executable, "-c", code, str(place)], check=True)
        return locked(connection, how)

    monkeypatch.setattr(encryption, "locked", interrupted)
    with pytest.raises(ArchiveBusy, match="has written to the archive"):
        encrypt_archive(place, PASSPHRASE)
    with archives.open(place) as opened:
        assert opened.connection.execute("SELECT count(*) FROM reaction").fetchone() == (0,)


def test_who_has_opened_the_archive_before_cannot_write_to_what_was_replaced(place: Path) -> None:
    """Nothing is lost in a file that has no name any more."""
    code = (
        "import sys, sqlite3\nfrom holdfast.backup import archives\n"
        "opened = archives.open(sys.argv[1], create=True)\nprint('open', flush=True)\nsys.stdin.readline()\n"
        "try:\n    opened.connection.execute('DELETE FROM chat_version')\n"
        "except sqlite3.Error as error:\n    print('refused', flush=True)\n"
    )
    words = [sys.executable, "-c", code, str(place)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        encrypt_archive(place, PASSPHRASE)
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "refused\n"


def killed_at(event: int, place: Path, old: ArchiveKey | None, new: ArchiveKey | None) -> bool:
    """Rewrite an archive in a process that kills itself at an access to a file; return whether it did."""
    child = os.fork()
    if child == 0:
        left = event

        def count(name: str, _arguments: object) -> None:
            nonlocal left
            if name in {"open", "os.rename", "os.remove", "os.truncate", "sqlite3.connect", "tempfile.mkstemp"}:
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(count)
        try:
            rewrite(place, old, new)
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def form_of(place: Path, keys: tuple[ArchiveKey | None, ...]) -> int:
    """Return which of the keys, or of none, opens the archive; exactly one does."""
    fits = []
    for number, key in enumerate(keys):
        try:
            with archives.open(place, key=key) as opened:
                if opened.encrypted == (key is not None):
                    fits.append(number)
        except ArchiveError:
            continue
    (only,) = fits
    return only


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("what", ["encrypt", "decrypt", "passphrase"])
def test_one_whole_archive_is_left_wherever_it_is_killed(kept: Path, tmp_path: Path, what: str) -> None:
    """At any access to a file: each time all is there, in one of the two forms, and it can be run again."""
    start = tmp_path / "start"
    shutil.copytree(kept, start)
    old: ArchiveKey | None = None
    new: ArchiveKey | None = make_key(PASSPHRASE)
    with archives.open(start / "a.db") as opened:
        before, words = content_of(opened), words_of(opened)
    if what != "encrypt":
        rewrite(start / "a.db", None, new)
        old, new = new, (None if what == "decrypt" else make_key(OTHER))
    forms = set()
    # Every access in the beginning and around the replacement, some in between.
    event = 0
    while True:
        event += 1 if event < 12 else 3
        home = tmp_path / "run"
        shutil.copytree(start, home)
        killed = killed_at(event, home / "a.db", old, new)
        form = form_of(home / "a.db", (old, new))
        forms.add((form, killed))
        key = (old, new)[form]
        with archives.open(home / "a.db", create=True, key=key) as opened:
            assert content_of(opened) == before
        if key is not None and what == "encrypt":
            assert leaks(home, words) == []
        if form == 0:
            rewrite(home / "a.db", old, new)
            with archives.open(home / "a.db", key=new) as opened:
                assert content_of(opened) == before
        assert not (home / "a.db-new").exists()
        shutil.rmtree(home)
        if not killed:
            break
    assert {(0, True), (1, False)} <= forms


def test_an_archive_of_the_first_version_is_brought_up_to_date_and_encrypted(tmp_path: Path) -> None:
    """As when it is imported into."""
    with tarfile.open(Path(__file__).with_name("version-1.tar.xz")) as packed:
        packed.extractall(tmp_path, filter="data")
    (place,) = tmp_path.rglob("*.db")
    encrypt_archive(place, PASSPHRASE)
    with archives.open(place, passphrase=PASSPHRASE) as opened:
        assert opened.chats()
    assert archive_file.is_archive(place)
