"""The cache of imported conversations, shared by all processes of a service."""

import dataclasses
import fcntl
import io
import os
import shutil
import sqlite3
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from holdfast.backup.conversion import OutputFormat
from holdfast.backup.errors import UnreadableBackup
from holdfast.backup.exports.zip_file import PROBLEMS
from holdfast.secret import Secret
from holdfast.settings import Settings
from holdfast.web.chats import cache as module
from holdfast.web.chats import export_process
from holdfast.web.chats.cache import ConversationCache, cache_of
from holdfast.web.chats.cache_entries import (
    CacheEntry,
    CacheLimits,
    ConversationSource,
    FileOrigin,
    ImportFailed,
    ImportNotStarted,
    ImportReady,
    ImportRunning,
    KeyRequired,
    State,
    UploadOrigin,
)
from holdfast.web.chats.encrypted_media import EncryptedMedia, media_of
from holdfast.web.chats.export_process import ExportFailed
from holdfast.web.chats.file_kinds import FileKind
from holdfast.web.chats.import_limits import ImportClient, ImportInProgress, ImportQueueFull, ImportRateLimited
from holdfast.web.chats.import_worker import ImportLimits, write_atomically
from holdfast_demo.sample import sample_records
from holdfast_demo.sample_writer import write_sample
from tests.backup.archives.histories import copies, write
from tests.backup.container.vectors import SET_B
from tests.backup.streams import KEY_FILE, KEYS
from tests.conftest import wait_for
from tests.web.chats.encrypted_conversations import unzipped, write_folder

NewCache = Callable[..., ConversationCache]
SECRET = Secret("s" * 43)
OTHER = Secret("o" * 43)
LIMITS = CacheLimits(1 << 30, 1 << 30, 100, ImportLimits(1 << 30, 60, 1 << 28))
VIEWER = ImportClient(1, "192.0.2.1", "session", may_write=True)
VISITOR = ImportClient(None, "192.0.2.2", may_start=False)


@pytest.fixture
def plain(tmp_path: Path) -> ConversationSource:
    """Write an unencrypted backup."""
    return ConversationSource(
        "plain", "one.binproto", FileKind.PLAIN, path=write(tmp_path / "one.binproto", *copies())
    )


@pytest.fixture
def sealed(tmp_path: Path) -> ConversationSource:
    """Write an encrypted backup."""
    path = tmp_path / "phone.backup"
    write_sample(sample_records(60, 1), path, OutputFormat.CONTAINER, seed=1, keys=KEYS)
    return ConversationSource("sealed", "phone.backup", FileKind.SEALED, path=path)


@pytest.fixture
def new_cache(tmp_path: Path) -> Iterator[NewCache]:
    """Return a function that makes a cache, as each process has one of the folder; all are emptied afterwards."""
    caches: list[ConversationCache] = []

    def make(limits: CacheLimits = LIMITS) -> ConversationCache:
        caches.append(ConversationCache(tmp_path / "cache", limits))
        return caches[-1]

    yield make
    for cache in caches:
        cache.drop(lambda _: True)


@pytest.fixture
def cache(new_cache: NewCache) -> ConversationCache:
    """Make an empty cache."""
    return new_cache()


def settled(
    cache: ConversationCache,
    source: ConversationSource,
    secret: Secret | None = None,
    viewer: ImportClient = VIEWER,
) -> State:
    """Wait until the import of a source is no longer running, and return its state."""
    states: list[State] = []

    def is_settled() -> bool:
        states.append(cache.look(source, viewer, secret))
        return not isinstance(states[-1], ImportRunning)

    wait_for(is_settled, 60)
    return states[-1]


def folders(cache: ConversationCache) -> list[str]:
    """List the conversations of a cache."""
    return sorted(path.name for path in cache.folder.iterdir() if path.is_dir())


def test_the_first_viewer_starts_the_import_and_all_see_the_result(
    new_cache: NewCache, plain: ConversationSource
) -> None:
    """Two processes that share the folder import the backup once, and both show it."""
    # A second import would be refused.
    limits = msgspec.structs.replace(LIMITS, per_hour=1)
    one, other = new_cache(limits), new_cache(limits)
    assert isinstance(one.look(plain, VIEWER), ImportRunning)
    assert isinstance(other.look(plain, VIEWER), ImportRunning)
    state = settled(other, plain)
    assert isinstance(state, ImportReady)
    with state.opened.reading() as archive:
        assert archive.chats()
    assert isinstance(one.look(plain, VIEWER), ImportReady)
    assert len([path for path in one.folder.iterdir() if path.is_dir()]) == 1
    with pytest.raises(ImportRateLimited):
        one.look(dataclasses.replace(plain, content="another"), VIEWER)


def test_bytes_of_a_source_are_written_first_and_deleted_afterwards(
    new_cache: NewCache, plain: ConversationSource
) -> None:
    """A source that cannot be read is a failed import, which can be started again."""
    path = plain.path
    assert path is not None
    asked: list[Path] = []

    def write_to(target: Path) -> None:
        asked.append(target)
        if len(asked) == 1:
            raise OSError("no store")
        target.write_bytes(path.read_bytes())

    cache = new_cache()
    source = ConversationSource("elsewhere", "one.binproto", FileKind.PLAIN, write=write_to)
    assert isinstance(settled(cache, source), ImportFailed)
    cache.forget(source, VIEWER)
    assert isinstance(settled(cache, source), ImportReady)
    assert not asked[1].exists()


def test_a_folder_of_a_source_is_written_first_and_deleted_afterwards(tmp_path: Path, new_cache: NewCache) -> None:
    """Attachments are read from the media of the source, and the entry belongs to one upload."""
    write_sample(sample_records(60, 1), tmp_path / "phone", OutputFormat.FOLDER, seed=1, keys=KEYS)
    written: list[Path] = []

    def write_to(target: Path) -> None:
        written.append(target)
        shutil.copytree(tmp_path / "phone", target)

    media = media_of(tmp_path / "phone")
    cache = new_cache()
    source = ConversationSource(
        "folder", "phone", FileKind.SEALED, write=write_to, origin=UploadOrigin(3, 8), media=lambda: media
    )
    cache.begin(source, VIEWER, SECRET, Secret(KEY_FILE))
    state = settled(cache, source, SECRET)
    assert isinstance(state, ImportReady)
    assert state.opened.media is media
    assert not written[0].exists()
    ((_, record),) = cache._entries()
    assert record is not None
    assert (record.origin, record.owner) == (UploadOrigin(3, 8), 8)
    elsewhere = msgspec.structs.replace(UploadOrigin(3, 8), backup=4)
    assert cache.look(dataclasses.replace(source, origin=elsewhere), VIEWER, SECRET) == KeyRequired()
    entry = written[0].parent
    (entry / "source").mkdir()
    (entry / "source" / "main").write_bytes(b"left by a service that was killed")
    cache.clear_leftovers()
    assert not (entry / "source").exists()
    assert isinstance(cache.look(source, VIEWER, SECRET), ImportReady)


def test_a_conversation_that_is_ready_is_exported(
    cache: ConversationCache, plain: ConversationSource, sealed: ConversationSource
) -> None:
    """An encrypted conversation is exported only with its secret, and exports count towards the import limits."""
    assert cache.begin_export(plain, VIEWER, "json") is None
    assert isinstance(settled(cache, plain), ImportReady)
    first = cache.begin_export(plain, VIEWER, "json")
    assert first is not None
    assert zipfile.is_zipfile(io.BytesIO(b"".join(first)))
    cache.begin(sealed, VIEWER, SECRET, Secret(KEY_FILE))
    assert isinstance(settled(cache, sealed, SECRET), ImportReady)
    for secret in (None, OTHER):
        assert cache.begin_export(sealed, VIEWER, "html", secret) is None
    two = [cache.begin_export(sealed, VIEWER, "html", SECRET) for _ in range(2)]
    with pytest.raises(ImportQueueFull):
        cache.begin_export(plain, VIEWER, "html")
    for pieces in two:
        assert pieces is not None
        assert zipfile.is_zipfile(io.BytesIO(b"".join(pieces)))
    limited = ConversationCache(cache.folder.parent, msgspec.structs.replace(LIMITS, per_hour=1))
    with pytest.raises(ImportRateLimited):
        limited.begin_export(plain, VIEWER, "html")
    third = cache.begin_export(plain, VIEWER, "html")
    assert third is not None
    third.close()


def test_the_export_of_an_encrypted_conversation_ends_with_its_entry(
    cache: ConversationCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends when the entry is deleted or no longer current, and an entry that is exported counts as used."""
    monkeypatch.setattr(export_process, "CHECK_INTERVAL_S", 0)
    folder = tmp_path / "phone"
    write_folder(folder)
    source = ConversationSource("phone", "phone", FileKind.SEALED, path=folder, media=lambda: media_of(folder))
    cache.begin(source, VIEWER, SECRET, Secret(KEY_FILE))
    assert isinstance(settled(cache, source, SECRET), ImportReady)
    ((entry, record),) = cache._entries()
    os.utime(entry, (1, 1))
    whole = cache.begin_export(source, VIEWER, "json", SECRET, is_current=lambda checked: checked == record)
    assert whole is not None
    names = unzipped(b"".join(whole))
    assert any(name.startswith("media/") for name in names)
    assert PROBLEMS not in names
    assert entry.stat().st_mtime > 1
    with pytest.raises(ExportFailed):
        cache.begin_export(source, VIEWER, "json", SECRET, is_current=lambda checked: checked != record)
    forgotten = cache.begin_export(source, VIEWER, "json", SECRET)
    assert forgotten is not None
    cache.forget(source, VIEWER, SECRET)
    with pytest.raises(ExportFailed):
        list(forgotten)


def test_an_export_whose_attachments_cannot_be_opened_fails(
    cache: ConversationCache, sealed: ConversationSource
) -> None:
    """It fails before the response starts, and takes no slot."""

    def unreadable() -> EncryptedMedia:
        raise UnreadableBackup("the list of files of this ZIP archive cannot be read")

    cache.begin(sealed, VIEWER, SECRET, Secret(KEY_FILE))
    assert isinstance(settled(cache, sealed, SECRET), ImportReady)
    for _ in range(3):
        with pytest.raises(ExportFailed):
            cache.begin_export(dataclasses.replace(sealed, media=unreadable), VIEWER, "json", SECRET)


def test_an_encrypted_backup_is_opened_for_one_browser_only(
    tmp_path: Path, new_cache: NewCache, sealed: ConversationSource
) -> None:
    """A wrong key is reported, and neither the key nor plain text of the backup is stored."""
    cache = new_cache()
    assert cache.look(sealed, VIEWER, None) == KeyRequired()
    assert cache.look(sealed, VIEWER, SECRET) == KeyRequired()
    cache.begin(sealed, VIEWER, SECRET, Secret(f"recovery-key = {'b' * 64}\naccount-id = {SET_B.aci}"))
    wrong = settled(cache, sealed, SECRET)
    assert isinstance(wrong, KeyRequired)
    assert wrong.problem
    cache.begin(sealed, VIEWER, SECRET, Secret(KEY_FILE))
    state = settled(cache, sealed, SECRET)
    assert isinstance(state, ImportReady)
    with state.opened.reading() as archive:
        text = next(
            message.text for chat in archive.chats() for message in archive.messages(chat.id) if message.text
        )
    assert cache.look(sealed, VIEWER, OTHER) == KeyRequired()
    assert cache.look(sealed, VIEWER, None) == KeyRequired()
    stored = b"".join(path.read_bytes() for path in (tmp_path / "cache").rglob("*") if path.is_file())
    for secret in (text, str(SET_B.pool), SECRET.reveal(), "SQLite format"):
        assert secret.encode() not in stored
    again = new_cache()
    assert isinstance(again.look(sealed, VIEWER, SECRET), ImportReady)
    cache.forget(sealed, VIEWER, SECRET)
    assert cache.look(sealed, VIEWER, SECRET) == KeyRequired()


def test_a_decrypted_conversation_that_is_closed_meanwhile_is_read(
    cache: ConversationCache, sealed: ConversationSource
) -> None:
    """Between the look and the reading of a request, another one may close it, as unused or one of too many."""
    cache.begin(sealed, VIEWER, SECRET, Secret(KEY_FILE))
    state = settled(cache, sealed, SECRET)
    assert isinstance(state, ImportReady)
    with state.opened.reading():
        pass
    state.opened.close()
    with state.opened.reading() as archive:
        assert archive.chats()
    with pytest.raises(sqlite3.ProgrammingError, match="closed database"):
        archive.connection.execute("SELECT 1")


def test_an_interrupted_import_is_started_again(new_cache: NewCache, plain: ConversationSource) -> None:
    """An entry is running while it is locked, and is imported again once the lock is free."""
    cache = new_cache()
    entry = cache._entry(plain, VIEWER, None)
    entry.mkdir(parents=True)
    with (entry / "lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert isinstance(cache.look(plain, VIEWER), ImportRunning)
        assert not (entry / "chats.db").exists()
    (entry / "new.db").write_bytes(b"half of it")
    assert isinstance(settled(cache, plain), ImportReady)


def test_unused_entries_are_deleted(
    tmp_path: Path, new_cache: NewCache, plain: ConversationSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Encrypted entries are deleted after a day without use, and others after a month."""
    cache = new_cache()
    for name, days in {"s" + "0" * 64: 2, "1" * 64: 2, "2" * 64: 40}.items():
        (cache.folder / name).mkdir(parents=True)
        (cache.folder / name / "chats.db").touch()
        past = time.time() - days * 86_400
        os.utime(cache.folder / name, (past, past))
    assert isinstance(settled(cache, plain), ImportReady)
    assert set(folders(cache)) == {"1" * 64, cache._entry(plain, VIEWER, None).name}
    monkeypatch.setattr(module, "MAX_OPEN", 0)
    state = cache.look(plain, VIEWER)
    assert isinstance(state, ImportReady)
    assert cache_of(Settings(data=tmp_path)) is cache_of(Settings(data=tmp_path))


def test_visitors_see_finished_imports_and_start_none(
    cache: ConversationCache, plain: ConversationSource, sealed: ConversationSource
) -> None:
    """A visitor's request starts no import, and shows the one that another viewer finished."""
    assert cache.look(plain, VISITOR) == ImportNotStarted()
    assert cache.look(sealed, VISITOR) == ImportNotStarted()
    assert not cache.folder.exists()
    assert isinstance(settled(cache, plain), ImportReady)
    assert isinstance(cache.look(plain, VISITOR), ImportReady)


def test_a_file_is_read_once_at_a_time_for_each_kind_of_viewer(
    cache: ConversationCache, sealed: ConversationSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second import with another key is refused without a new folder, and so is one beyond the queue's limit."""
    monkeypatch.setattr(module, "AT_ONCE", 1)
    cache._mutex().__enter__()
    with (cache.folder / "running0").open("ab") as running:
        fcntl.flock(running, fcntl.LOCK_EX)
        first = cache.begin(sealed, VIEWER, SECRET, Secret(KEY_FILE))
        assert first is not None
        assert cache.begin(sealed, VIEWER, SECRET, Secret(KEY_FILE)) is None
        for number in range(20):
            with pytest.raises(ImportInProgress):
                cache.begin(
                    sealed, ImportClient(7, "192.0.2.7", may_write=True), Secret(f"{number:043}"), Secret("a" * 64)
                )
        assert len(folders(cache)) == 1
        monkeypatch.setattr(module, "QUEUE", 1)
        with pytest.raises(ImportQueueFull) as full:
            cache.begin(sealed, ImportClient(8, "192.0.2.8"), OTHER, Secret("a" * 64))
        assert full.value.status == 503
        assert len(folders(cache)) == 1
    first.thread.join(60)
    assert isinstance(cache.look(sealed, VIEWER, SECRET), ImportReady)


def test_the_imports_of_a_viewer_are_limited_by_the_hour(new_cache: NewCache, sealed: ConversationSource) -> None:
    """Imports of all processes are counted together, also those with a wrong key."""
    limits = CacheLimits(1 << 30, 1 << 30, 2, LIMITS.imports)
    one, other = new_cache(limits), new_cache(limits)
    for cache in (one, other):
        begun = cache.begin(sealed, VIEWER, SECRET, Secret("a" * 64))
        assert begun is not None
        begun.thread.join(60)
    with pytest.raises(ImportRateLimited) as excinfo:
        one.begin(sealed, VIEWER, SECRET, Secret("a" * 64))
    assert 3500 < excinfo.value.seconds <= 3601


def test_a_wrong_key_leaves_no_entry(cache: ConversationCache, sealed: ConversationSource) -> None:
    """The entry is deleted once its error was read, or after a minute without a request for it."""
    begun = cache.begin(sealed, VIEWER, SECRET, Secret("a" * 64))
    assert begun is not None
    begun.thread.join(60)
    problem = cache.problem_of(begun)
    assert problem is not None
    assert problem.key
    assert folders(cache) == []
    cache.begin(sealed, VIEWER, SECRET, Secret("a" * 64))
    state = settled(cache, sealed, SECRET)
    assert isinstance(state, KeyRequired)
    assert state.problem
    assert folders(cache) == []
    begun = cache.begin(sealed, VIEWER, SECRET, Secret("a" * 64))
    assert begun is not None
    begun.thread.join(60)
    cache.tidy()
    assert len(folders(cache)) == 1
    os.utime(begun.entry, (time.time() - 61, time.time() - 61))
    cache.tidy()
    assert folders(cache) == []


def test_an_opened_backup_belongs_to_one_session(cache: ConversationCache, sealed: ConversationSource) -> None:
    """Another session, another user or a visitor with the same browser must give the key again."""
    cache.begin(sealed, VIEWER, SECRET, Secret(KEY_FILE))
    assert isinstance(settled(cache, sealed, SECRET), ImportReady)
    for viewer in (ImportClient(), ImportClient(1, session="another"), ImportClient(2, session="session")):
        assert cache.look(sealed, viewer, SECRET) == KeyRequired()
    cache.forget_browser(OTHER)
    assert isinstance(cache.look(sealed, VIEWER, SECRET), ImportReady)
    cache.forget_browser(SECRET)
    assert folders(cache) == []
    assert not cache._open_archives


def test_the_size_of_the_cache_is_limited(new_cache: NewCache) -> None:
    """Limits per owner and in total evict the least recently used entries, except locked ones."""
    cache = new_cache(CacheLimits(3500, 2500, 100, LIMITS.imports))

    def add(name: str, owner: int, age: int) -> None:
        folder = cache.folder / name
        folder.mkdir(parents=True)
        (folder / "chats.db").touch()
        (folder / "lock").touch()
        write_atomically(
            folder / "record",
            CacheEntry(name, FileOrigin(owner, owner, True, "branch", "main", b"", "0"), size=1000),
        )
        os.utime(folder, (time.time() - age, time.time() - age))

    for age, (name, owner) in enumerate((("a", 1), ("b", 1), ("c", 2), ("d", 1))):
        add(name, owner, 100 - age)
    cache.tidy()
    assert folders(cache) == ["b", "c", "d"]
    add("e", 3, 10)
    with (cache.folder / "b" / "lock").open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        cache.tidy()
    assert folders(cache) == ["b", "d", "e"]


def test_entries_left_by_a_killed_service_are_deleted_at_the_start(
    cache: ConversationCache, plain: ConversationSource
) -> None:
    """Unfinished imports, copies of files and older layouts are deleted, unless they are locked."""
    assert isinstance(settled(cache, plain), ImportReady)
    ready = cache._entry(plain, VIEWER, None)
    (ready / "source").write_bytes(b"a copy")
    half, running, older = cache.folder / ("h" * 64), cache.folder / ("r" * 64), cache.folder.parent / "1-1"
    for folder in (half, running, older):
        folder.mkdir()
        (folder / "new.db").write_bytes(b"half of it")
    with (running / "lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        cache.clear_leftovers()
    assert folders(cache) == sorted([ready.name, running.name])
    assert not older.exists()
    assert not (ready / "source").exists()
    assert isinstance(cache.look(plain, VIEWER), ImportReady)


def test_folders_and_files_are_private(cache: ConversationCache, plain: ConversationSource) -> None:
    """No file is accessible to others with a umask of 0, or when the folder had mode 755 before."""
    cache.folder.mkdir(parents=True)
    cache.folder.chmod(0o755)
    before = os.umask(0)
    try:
        assert isinstance(settled(cache, plain), ImportReady)
    finally:
        os.umask(before)
    for path in cache.folder.parent.rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path


def test_an_evicted_entry_is_missing_for_every_process(new_cache: NewCache, plain: ConversationSource) -> None:
    """A process that had the archive open closes it and no longer shows it."""
    one, other = new_cache(), new_cache()
    assert isinstance(settled(one, plain), ImportReady)
    assert isinstance(other.look(plain, VIEWER), ImportReady)
    seen: list[CacheEntry] = []

    def every(record: CacheEntry) -> bool:
        seen.append(record)
        return True

    one.drop(every)
    assert [record.viewer for record in seen] == ["writer"]
    other.close_removed()
    assert not other._open_archives
    assert other.look(plain, VISITOR) == ImportNotStarted()
