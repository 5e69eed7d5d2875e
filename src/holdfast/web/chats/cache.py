"""Conversations that were brought in from backups, for all processes of the service.

Each has a folder of its own below `cache/chats`, named after the content it was made from. Whoever holds the lock
in it brings it in; the others see how far that is. Everything here can be deleted at any time.
"""

import fcntl
import hashlib
import hmac
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO, Final, TypeVar

import msgspec
import structlog

from holdfast.backup.archive import Archive
from holdfast.backup.archive.schema import VERSION
from holdfast.backup.errors import ArchiveError
from holdfast.secret import Secret
from holdfast.web.chats.bringing import PROBLEM, PROGRESS, READY, SEALED, Problem, Progress, Task, put
from holdfast.web.chats.recognising import Kind
from holdfast.web.chats.room import Room, room_of_file
from holdfast.web.chats.sealing import key_for, open_sealed

__all__ = ["Cache", "Failed", "NeedsKey", "Ready", "Source", "State", "Working", "cache_of"]

log = structlog.get_logger(__name__)
Note = TypeVar("Note", Progress, Problem)

# How many rooms stay open in one process, and for how long one that is sealed does.
ROOMS: Final = 8
SEALED_ROOMS: Final = 2
SEALED_IDLE_S: Final = 15 * 60
# How many backups are brought in at the same time by all processes together.
AT_ONCE: Final = 2
TRY_AGAIN_S: Final = 0.2
LOOKS: Final = 20
LOOK_S: Final = 0.01
DAY_S: Final = 86_400
KEPT_S: Final = 30 * DAY_S
SEALED_KEPT_S: Final = DAY_S
LAYOUT: Final = 1


@dataclass(frozen=True, slots=True)
class Source:
    """A file to show: `content` names its bytes, `write` puts them into a file unless they lie at `path`."""

    content: str
    name: str
    kind: Kind
    path: Path | None = None
    write: Callable[[Path], None] | None = None


@dataclass(frozen=True, slots=True)
class Ready:
    """It can be shown."""

    room: Room


@dataclass(frozen=True, slots=True)
class Working:
    """It is being brought in."""

    progress: Progress


@dataclass(frozen=True, slots=True)
class Failed:
    """It cannot be shown."""

    problem: str


@dataclass(frozen=True, slots=True)
class NeedsKey:
    """It is encrypted; `problem` tells what was wrong with the key that was given."""

    problem: str = ""


State = Ready | Working | Failed | NeedsKey


class Cache:
    """The conversations of one service."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / f"{LAYOUT}-{VERSION}"
        self._lock = threading.Lock()
        self._rooms: dict[str, Room] = {}

    def look(self, source: Source, secret: Secret | None) -> State:
        """Tell what state a conversation is in; one that needs no key is begun when nobody has begun it yet."""
        if source.kind is Kind.SEALED and secret is None:
            return NeedsKey()
        entry = self._entry(source, secret)
        room = self._room(entry, source, secret)
        if room is not None:
            return Ready(room)
        if is_locked(entry):
            return Working(read(entry / PROGRESS, Progress) or Progress())
        problem = read(entry / PROBLEM, Problem)
        if problem is not None:
            return NeedsKey(problem.text) if problem.key else Failed(problem.text)
        # It may have been finished between the two looks.
        room = self._room(entry, source, secret)
        if room is not None:
            return Ready(room)
        if source.kind is Kind.SEALED:
            return NeedsKey()
        self.begin(source)
        return Working(Progress())

    def begin(self, source: Source, secret: Secret | None = None, keys: Secret | None = None) -> None:
        """Begin to bring a conversation in, unless somebody does so already."""
        entry = self._entry(source, secret)
        entry.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = (entry / "lock").open("ab")
        if not taken(lock):
            lock.close()
            return
        (entry / PROBLEM).unlink(missing_ok=True)
        (entry / PROGRESS).unlink(missing_ok=True)
        key = b"" if secret is None or source.kind is not Kind.SEALED else key_for(secret, source.content)
        arguments = (source, entry, lock, "" if keys is None else keys.reveal(), key)
        threading.Thread(target=self._bring, args=arguments, daemon=True).start()

    def forget(self, source: Source, secret: Secret | None) -> None:
        """Let go of what is kept of a conversation, so that it is asked for or brought in anew."""
        entry = self._entry(source, secret)
        with self._lock:
            room = self._rooms.pop(entry.name, None)
        if room is not None:
            room.close()
        if not is_locked(entry):
            shutil.rmtree(entry, ignore_errors=True)

    def _entry(self, source: Source, secret: Secret | None) -> Path:
        """Return the folder of a conversation; one that is sealed has one for each browser."""
        name = hashlib.sha256(f"{source.kind.value} {source.content}".encode()).hexdigest()
        if source.kind is Kind.SEALED and secret is not None:
            name = "s" + hmac.new(secret.reveal().encode(), name.encode(), hashlib.sha256).hexdigest()
        return self.folder / name

    def _room(self, entry: Path, source: Source, secret: Secret | None) -> Room | None:
        """Return the opened room of a conversation that is ready."""
        with self._lock:
            self._tidy_rooms()
            room = self._rooms.pop(entry.name, None)
            if room is not None:
                self._rooms[entry.name] = room
                return room
        sealed = source.kind is Kind.SEALED
        file = entry / (SEALED if sealed else READY)
        if not file.is_file() or is_locked(entry):
            return None
        os.utime(entry)
        if sealed and secret is not None:
            key = key_for(secret, source.content)
            try:
                connection = open_sealed(file, key)
            except ArchiveError as error:
                put(entry / PROBLEM, Problem(f"{str(error).capitalize()}.", key=True))
                file.unlink(missing_ok=True)
                return None
            opened = Archive(entry / READY, connection)
            room = Room(source.name, lambda: opened, stamp=lambda: None, most=1)
        else:
            room = room_of_file(file, source.name)
        with self._lock:
            return self._rooms.setdefault(entry.name, room)

    def _tidy_rooms(self) -> None:
        """Close the rooms that were used longest ago, and sealed ones nobody has looked at for a while."""
        now = time.monotonic()
        names = list(self._rooms)
        sealed = [name for name in names if name.startswith("s")]
        gone = [name for name in sealed if now - self._rooms[name].used > SEALED_IDLE_S]
        gone += sealed[: max(0, len(sealed) - SEALED_ROOMS)]
        gone += names[: max(0, len(names) - ROOMS)]
        for name in dict.fromkeys(gone):
            self._rooms.pop(name).close()

    def _bring(self, source: Source, entry: Path, lock: BinaryIO, keys: str, key: bytes) -> None:
        """Bring a conversation in by a process of its own, and wait for it."""
        spooled = entry / "source"
        try:
            with lock, self._turn():
                self._tidy()
                path = source.path
                if path is None and source.write is not None:
                    source.write(spooled)
                    path = spooled
                task = Task(str(path), str(entry), source.name, source.kind is Kind.ARCHIVE, keys, key)
                status = run(task)
                spooled.unlink(missing_ok=True)
                if status != 0 and not (entry / PROBLEM).is_file():
                    put(entry / PROBLEM, Problem("It could not be read."))
                    log.error("conversation not brought in", status=status)
        except Exception as error:  # noqa: BLE001  # nobody waits for this thread; whoever looks finds the problem
            log.error("conversation not brought in", error=type(error).__name__)  # noqa: TRY400  # no paths or texts in logs
            try:
                put(entry / PROBLEM, Problem("It could not be read from where it is kept."))
                spooled.unlink(missing_ok=True)
            except OSError:
                return

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Wait until so few others are brought in that there is room for one more."""
        while True:
            for number in range(AT_ONCE):
                slot = (self.folder / f"slot{number}").open("ab")
                try:
                    fcntl.flock(slot, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    slot.close()
                    continue
                with slot:
                    yield
                return
            time.sleep(TRY_AGAIN_S)

    def _tidy(self) -> None:
        """Remove what nobody has looked at for long."""
        now = time.time()
        for entry in self.folder.iterdir():
            limit = SEALED_KEPT_S if entry.name.startswith("s") else KEPT_S
            if entry.is_dir() and now - entry.stat().st_mtime > limit and not is_locked(entry):
                shutil.rmtree(entry, ignore_errors=True)


def run(task: Task) -> int:
    """Run the process that brings a backup in; its input stays open for as long as this process lives."""
    command = [sys.executable, "-m", "holdfast.web.chats.bringing"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:  # noqa: S603  # our own program
        assert process.stdin is not None  # noqa: S101  # asked for above
        process.stdin.write(msgspec.json.encode(task) + b"\n")
        process.stdin.flush()
        return process.wait()


def taken(lock: BinaryIO) -> bool:
    """Take a lock; whoever only looks whether it is free holds it for a moment too, and is waited for."""
    for _ in range(LOOKS):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(LOOK_S)
        else:
            return True
    return False


def is_locked(entry: Path) -> bool:
    """Tell whether a conversation is being brought in, by whatever process."""
    try:
        with (entry / "lock").open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def read(path: Path, kind: type[Note]) -> Note | None:
    """Read a small file, if it is there."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, msgspec.DecodeError):
        return None


@lru_cache(maxsize=16)
def cache_of(data: Path) -> Cache:
    """Return the conversations of the service with this data folder."""
    return Cache(data / "cache" / "chats")
