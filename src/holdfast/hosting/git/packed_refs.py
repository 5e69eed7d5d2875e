"""The file `packed-refs`: read, changed and replaced under git's own lock, `packed-refs.lock`.

Replacing this one file moves thousands of refs with one fsync. Git and libgit2 notice that it was replaced by its
inode, size and time.
"""

import os
import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Final

from holdfast.hosting.errors import GitDamaged, RefBusy

__all__ = ["PackedRefs", "lock_packed_refs", "replace_packed_refs"]

PATIENCE: Final = 5.0
PAUSE: Final = 0.01
HEADER: Final = b"# pack-refs with: peeled fully-peeled sorted \n"


class PackedRefs:
    """The refs of one version of the file; looking up a few names searches its text and parses nothing."""

    def __init__(self, folder: str) -> None:
        try:
            with open(f"{folder}/packed-refs", "rb") as file:  # noqa: PTH123  # Path costs more than reading
                self._text = file.read()
        except FileNotFoundError:
            self._text = b""
        self._lines: dict[bytes, bytes] | None = None
        self._names: list[bytes] | None = None

    def get(self, name: bytes) -> str | None:
        """Return the id of a ref, or nothing when it is not packed."""
        if self._lines is not None:
            line = self._lines.get(name)
            return None if line is None else line.partition(b" ")[0].decode()
        found = self._text.find(b" %s\n" % name)
        if found < 0:
            return None
        return self._text[self._text.rfind(b"\n", 0, found) + 1 : found].decode(errors="replace")

    def below(self, name: bytes) -> Iterator[bytes]:
        """Return the packed refs whose names begin with a name and a slash."""
        prefix = name + b"/"
        if self._lines is None and b" " + prefix not in self._text:
            return
        names = self.names
        for index in range(bisect_left(names, prefix), len(names)):
            if not names[index].startswith(prefix):
                return
            yield names[index]

    @property
    def names(self) -> list[bytes]:
        """All names, sorted."""
        if self._names is None:
            self._names = sorted(self.lines)
        return self._names

    @property
    def lines(self) -> dict[bytes, bytes]:
        """Each ref's name and the text that stands for it: its line, and that of the object a tag leads to."""
        if self._lines is None:
            self._lines = parse(self._text)
        return self._lines

    @property
    def is_fully_peeled(self) -> bool:
        """Whether every ref that leads to a tag object says where that leads; files of old versions do not."""
        first = self._text.partition(b"\n")[0]
        return not self._text or (first.startswith(b"#") and b" fully-peeled" in first)


def parse(text: bytes) -> dict[bytes, bytes]:
    """Take the file apart."""
    lines: dict[bytes, bytes] = {}
    name = b""
    for line in text.splitlines(keepends=True):
        if line.startswith(b"#"):
            continue
        if line.startswith(b"^"):
            if not name:
                raise GitDamaged("packed-refs begins with the target of a tag that is not there")
            lines[name] += line
            continue
        oid, space, rest = line.partition(b" ")
        name = rest.rstrip(b"\n")
        if not space or not name or len(oid) != 40 or not line.endswith(b"\n"):
            raise GitDamaged("packed-refs has a line that names no ref")
        lines[name] = line
    return lines


@contextmanager
def lock_packed_refs(folder: str) -> Iterator[int]:
    """Hold git's lock of the file, waiting a while for whoever has it; yield the descriptor of the new file."""
    lock = f"{folder}/packed-refs.lock"
    descriptor = create_lock(lock)
    identity = os.fstat(descriptor)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
        # Once it was renamed, a lock of this name is somebody else's.
        with suppress(FileNotFoundError):
            if os.path.samestat(os.lstat(lock), identity):
                os.unlink(lock)  # noqa: PTH108  # a text, not a Path: on a hot path


def create_lock(path: str) -> int:
    """Make the file of a lock, waiting a while for whoever has it."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        except FileExistsError as error:
            if time.monotonic() > deadline:
                text = "something holds the packed refs; if nothing is running, remove packed-refs.lock"
                raise RefBusy(text) from error
        time.sleep(PAUSE)  # git tells nobody when it lets go of a lock


def replace_packed_refs(
    folder: str,
    descriptor: int,
    packed: PackedRefs,
    *,
    changed: Mapping[bytes, str],
    removed: Iterable[bytes],
    peel: Callable[[str], str | None],
) -> None:
    """Write the file anew, with some refs changed and others removed, and wait until it is on the disk.

    `peel` returns where the tag object of an id leads to, and nothing for other objects.
    """
    lines = dict(packed.lines)
    for name in removed:
        lines.pop(name, None)
    if not packed.is_fully_peeled:
        for name, line in lines.items():
            if b"\n^" not in line:
                lines[name] = entry(name, line[:40].decode(), peel)
    for name, oid in changed.items():
        lines[name] = entry(name, oid, peel)
    text = HEADER + b"".join(lines[name] for name in sorted(lines))
    view = memoryview(text)
    while view:
        view = view[os.write(descriptor, view) :]
    os.fsync(descriptor)
    os.rename(f"{folder}/packed-refs.lock", f"{folder}/packed-refs")  # noqa: PTH104  # a text, not a Path: on a hot path


def entry(name: bytes, oid: str, peel: Callable[[str], str | None]) -> bytes:
    """Write the text that stands for a ref."""
    leads_to = peel(oid)
    line = b"%s %s\n" % (oid.encode(), name)
    return line if leads_to is None else line + b"^%s\n" % leads_to.encode()
