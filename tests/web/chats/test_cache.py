"""Conversations brought in for all processes of a service."""

import fcntl
import os
import time
from pathlib import Path

import pytest

from holdfast.backup.convert import To
from holdfast.backup.made_up import write_sample
from holdfast.backup.sample import sample_records
from holdfast.secret import Secret
from holdfast.web.chats import cache as module
from holdfast.web.chats.cache import Cache, Failed, NeedsKey, Ready, Source, State, Working, cache_of
from holdfast.web.chats.recognising import Kind
from tests.backup.archive.histories import copies, write
from tests.backup.container.vectors import SET_B
from tests.backup.streams import KEY_FILE, KEYS
from tests.conftest import wait_for

SECRET = Secret("s" * 43)
OTHER = Secret("o" * 43)


@pytest.fixture
def plain(tmp_path: Path) -> Source:
    """Write a backup in the clear."""
    return Source("plain", "one.binproto", Kind.PLAIN, path=write(tmp_path / "one.binproto", *copies()))


@pytest.fixture
def sealed(tmp_path: Path) -> Source:
    """Write an encrypted one."""
    path = tmp_path / "phone.backup"
    write_sample(sample_records(60, 1), path, To.CONTAINER, seed=1, keys=KEYS)
    return Source("sealed", "phone.backup", Kind.SEALED, path=path)


def settled(cache: Cache, source: Source, secret: Secret | None = None) -> State:
    """Wait until it is no longer being brought in."""
    wait_for(lambda: not isinstance(cache.look(source, secret), Working), 60)
    return cache.look(source, secret)


def test_whoever_looks_first_begins_and_all_see_the_result(tmp_path: Path, plain: Source) -> None:
    """Two processes share the folder: the second finds what the first began, and nothing is done twice."""
    one, other = Cache(tmp_path / "cache"), Cache(tmp_path / "cache")
    assert isinstance(one.look(plain, None), Working)
    assert isinstance(other.look(plain, None), Working)
    state = settled(other, plain)
    assert isinstance(state, Ready)
    with state.room.reading() as archive:
        assert archive.chats()
    assert isinstance(one.look(plain, None), Ready)
    assert len([path for path in one.folder.iterdir() if path.is_dir()]) == 1
    assert one.look(plain, None) == one.look(plain, None)


def test_bytes_from_elsewhere_are_written_first_and_not_kept(tmp_path: Path, plain: Source) -> None:
    """What cannot be got is a problem that is said, and can be tried again."""
    path = plain.path
    assert path is not None
    asked: list[Path] = []

    def write_to(target: Path) -> None:
        asked.append(target)
        if len(asked) == 1:
            raise OSError("no store")
        target.write_bytes(path.read_bytes())

    cache = Cache(tmp_path / "cache")
    source = Source("elsewhere", "one.binproto", Kind.PLAIN, write=write_to)
    assert isinstance(settled(cache, source), Failed)
    cache.forget(source, None)
    assert isinstance(settled(cache, source), Ready)
    assert not asked[1].exists()


def test_a_key_opens_it_for_one_browser_only(tmp_path: Path, sealed: Source) -> None:
    """A wrong one is said to be wrong; the right one is written nowhere, nor is what it opens."""
    cache = Cache(tmp_path / "cache")
    assert cache.look(sealed, None) == NeedsKey()
    assert cache.look(sealed, SECRET) == NeedsKey()
    cache.begin(sealed, SECRET, Secret(f"recovery-key = {'b' * 64}\naccount-id = {SET_B.aci}"))
    wrong = settled(cache, sealed, SECRET)
    assert isinstance(wrong, NeedsKey)
    assert wrong.problem
    cache.begin(sealed, SECRET, Secret(KEY_FILE))
    state = settled(cache, sealed, SECRET)
    assert isinstance(state, Ready)
    with state.room.reading() as archive:
        text = next(
            message.text for chat in archive.chats() for message in archive.messages(chat.id) if message.text
        )
    assert cache.look(sealed, OTHER) == NeedsKey()
    assert cache.look(sealed, None) == NeedsKey()
    kept = b"".join(path.read_bytes() for path in (tmp_path / "cache").rglob("*") if path.is_file())
    for secret in (text, str(SET_B.pool), SECRET.reveal(), "SQLite format"):
        assert secret.encode() not in kept
    again = Cache(tmp_path / "cache")
    assert isinstance(again.look(sealed, SECRET), Ready)
    cache.forget(sealed, SECRET)
    assert cache.look(sealed, SECRET) == NeedsKey()


def test_what_was_interrupted_is_begun_again(tmp_path: Path, plain: Source) -> None:
    """A lock whose holder is gone holds nobody up."""
    cache = Cache(tmp_path / "cache")
    entry = cache._entry(plain, None)
    entry.mkdir(parents=True)
    with (entry / "lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert isinstance(cache.look(plain, None), Working)
        assert not (entry / "chats.db").exists()
    (entry / "new.db").write_bytes(b"half of it")
    assert isinstance(settled(cache, plain), Ready)


def test_what_nobody_looks_at_is_removed(tmp_path: Path, plain: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sealed ones after a day, others after a month; rooms are closed when there are too many."""
    cache = Cache(tmp_path / "cache")
    for name, days in {"s" + "0" * 64: 2, "1" * 64: 2, "2" * 64: 40}.items():
        (cache.folder / name).mkdir(parents=True)
        past = time.time() - days * 86_400
        os.utime(cache.folder / name, (past, past))
    assert isinstance(settled(cache, plain), Ready)
    left = {path.name for path in cache.folder.iterdir() if path.is_dir()}
    assert left == {"1" * 64, cache._entry(plain, None).name}
    monkeypatch.setattr(module, "ROOMS", 0)
    state = cache.look(plain, None)
    assert isinstance(state, Ready)
    assert cache_of(tmp_path) is cache_of(tmp_path)
