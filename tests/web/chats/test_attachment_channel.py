"""The channel between the export process and its parent."""

import io
import os
import socket
import threading
from collections.abc import Iterator
from typing import BinaryIO

import pytest

from holdfast.backup.errors import AttachmentDamaged, AttachmentMissing
from holdfast.hosting.errors import NoSuchStoredObject, StorageUnavailable
from holdfast.web.chats import attachment_channel
from holdfast.web.chats.attachment_channel import LARGEST_RANGE, AttachmentServer, RemoteAttachments

SMALL, LARGE, GONE, BROKEN, EMPTY, LOST = (character * 64 for character in "abcdef")
CONTENT = os.urandom(3 * LARGEST_RANGE + 5)


class CountedFile(io.BytesIO):
    """A file that records the sizes of reads."""

    def __init__(self, content: bytes, reads: list[int]) -> None:
        super().__init__(content)
        self.reads = reads

    def read(self, size: int | None = -1, /) -> bytes:
        """Read, and record how much was asked for."""
        assert size is not None
        self.reads.append(size)
        return super().read(size)


class StoredFiles:
    """Files of all kinds: in memory, missing, and on a store that fails."""

    def __init__(self) -> None:
        self.opened: list[CountedFile] = []
        self.reads: list[int] = []

    def has(self, media_name: str) -> bool:
        """Return whether there is a file of that name."""
        return media_name in {SMALL, LARGE, EMPTY}

    def open_encrypted(self, media_name: str) -> BinaryIO:
        """Open a file."""
        if media_name == BROKEN:
            raise AttachmentDamaged("x")
        if media_name == LOST:
            raise NoSuchStoredObject
        if not self.has(media_name):
            raise AttachmentMissing("x")
        content = {SMALL: CONTENT[:1000], LARGE: CONTENT, EMPTY: b""}[media_name]
        self.opened.append(CountedFile(content, self.reads))
        return self.opened[-1]


@pytest.fixture
def files() -> StoredFiles:
    """Make the files."""
    return StoredFiles()


@pytest.fixture
def remote(files: StoredFiles) -> Iterator[RemoteAttachments]:
    """Serve the files in a thread, until the channel is closed."""
    ours, theirs = socket.socketpair()
    server = AttachmentServer(ours, files)

    def serve() -> None:
        while server.respond():
            pass
        server.close()

    thread = threading.Thread(target=serve)
    with ours:
        thread.start()
        with theirs:
            yield RemoteAttachments(theirs)
        thread.join(30)
    assert not thread.is_alive()
    assert all(file.closed for file in files.opened)


def test_small_files_are_requested_once(remote: RemoteAttachments, files: StoredFiles) -> None:
    """The file that was read last is in memory."""
    for _ in range(3):
        with remote.open_encrypted(SMALL) as file:
            assert file.read() == CONTENT[:1000]
    assert len(files.reads) == 1
    with remote.open_encrypted(LARGE) as file:
        assert file.read() == CONTENT
    with remote.open_encrypted(SMALL) as file:
        assert file.read() == CONTENT[:1000]
    with remote.open_encrypted(EMPTY) as file:
        assert file.read() == b""
    assert len(files.opened) == 4


def test_large_files_are_read_in_ranges(
    remote: RemoteAttachments, files: StoredFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file above the limit is never in memory as a whole, on neither end, and can be read from any position."""
    monkeypatch.setattr(attachment_channel, "LARGEST_KEPT", len(CONTENT) - 1)
    with remote.open_encrypted(LARGE) as file:
        assert file.seek(0, os.SEEK_END) == len(CONTENT)
        assert file.read() == b""
        for start, size in ((0, 10), (LARGEST_RANGE - 3, 6), (len(CONTENT) - 4, 4), (5, 3 * LARGEST_RANGE)):
            assert file.seek(start) == file.tell() == start
            assert file.read(size) == CONTENT[start : start + size]
        file.seek(-4, os.SEEK_CUR)
        assert file.read(2) == CONTENT[3 * LARGEST_RANGE + 1 :][:2]
    assert remote.request(LARGE, 0, 3 * LARGEST_RANGE) == (len(CONTENT), CONTENT[:LARGEST_RANGE])
    assert remote.request(LARGE, 1 << 60, 1) == (len(CONTENT), b"")
    assert max(files.reads) <= LARGEST_RANGE
    assert len(files.opened) == 1


def test_files_that_cannot_be_read_are_reported(remote: RemoteAttachments) -> None:
    """A missing, a lost and a damaged file are errors of the attachment; the next one is read."""
    for name, error in ((GONE, AttachmentMissing), (LOST, AttachmentMissing), (BROKEN, AttachmentDamaged)):
        with pytest.raises(error, match=name):
            remote.open_encrypted(name)
        assert not remote.has(name)
        assert remote.has(SMALL)


def test_a_store_that_is_not_available_is_an_error_of_the_server() -> None:
    """It is not taken for a missing file."""

    class Unavailable(StoredFiles):
        def open_encrypted(self, media_name: str) -> BinaryIO:
            raise StorageUnavailable(media_name)

    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(attachment_channel.REQUEST.pack(bytes(32), 0, 1))
        with pytest.raises(StorageUnavailable):
            AttachmentServer(ours, Unavailable()).respond()


def test_the_server_does_not_wait_for_half_a_request(files: StoredFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    """A request that is not completed is a timeout, and a closed channel the end."""
    monkeypatch.setattr(attachment_channel, "TIMEOUT_S", 0.05)
    ours, theirs = socket.socketpair()
    server = AttachmentServer(ours, files)
    with ours:
        with theirs:
            theirs.sendall(b"half")
            with pytest.raises(TimeoutError):
                server.respond()
        assert not server.respond()
        with pytest.raises(ConnectionError):
            RemoteAttachments(ours).open_encrypted(SMALL)
