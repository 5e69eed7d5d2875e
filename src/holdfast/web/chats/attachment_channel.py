"""A socket pair over which the export process reads the encrypted attachments of one backup.

The export process has no access to the database and the object store. It requests byte ranges of encrypted files
by name, one request at a time, and authenticates and decrypts them itself. The parent process responds between two
pieces of the output, so nothing is read from the store while the client does not read.

A request is a name, an offset and a length; a response is the size of the whole file, or why it cannot be read,
and the bytes.
"""

import io
import os
import socket
import struct
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO, Final, cast

from holdfast.backup.errors import AttachmentDamaged, AttachmentError, AttachmentMissing
from holdfast.hosting.errors import NoSuchStoredObject
from holdfast.web.chats.encrypted_media import EncryptedFiles

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

__all__ = ["LARGEST_RANGE", "AttachmentServer", "RemoteAttachments"]

REQUEST: Final = struct.Struct(">32sQI")
RESPONSE: Final = struct.Struct(">qI")
# What a response has instead of the size of a file.
MISSING: Final = -1
UNREADABLE: Final = -2
LARGEST_RANGE: Final = 1 << 20
# Files up to this size are requested once, and the last one is kept: each is read two or three times in a row.
LARGEST_KEPT: Final = 8 << 20
# How long one end waits for the other while a request or a response is under way.
TIMEOUT_S: Final = 60.0


class AttachmentServer:
    """The end of the parent process: responds to requests for files of one backup."""

    def __init__(self, channel: socket.socket, files: EncryptedFiles) -> None:
        channel.settimeout(TIMEOUT_S)
        self._channel = channel
        self._files = files
        # The file of the last request: the next one is usually for the range after it.
        self._name = ""
        self._file: BinaryIO = io.BytesIO()
        self._size = 0

    def fileno(self) -> int:
        """Return the file descriptor, which becomes readable when there is a request."""
        return self._channel.fileno()

    def respond(self) -> bool:
        """Respond to one request; return False if the other end is closed.

        A file that is missing or cannot be read is reported to the other end. Raises `StorageError` if the store
        is not available, and `TimeoutError` if the other end sends or reads nothing.
        """
        try:
            request = receive(self._channel, REQUEST.size)
            name, offset, length = REQUEST.unpack(request)
            size, piece = self._read(name.hex(), offset, min(length, LARGEST_RANGE))
            self._channel.sendall(RESPONSE.pack(size, len(piece)))
            self._channel.sendall(piece)
        except ConnectionError:
            return False
        return True

    def _read(self, name: str, offset: int, length: int) -> tuple[int, bytes]:
        """Return the size of a file and a range of it."""
        try:
            if name != self._name:
                self.close()
                self._file = self._files.open_encrypted(name)
                self._size = self._file.seek(0, os.SEEK_END)
                self._name = name
            self._file.seek(min(offset, self._size))
            return self._size, self._file.read(length)
        except (AttachmentMissing, NoSuchStoredObject):
            self._name = ""
            return MISSING, b""
        except AttachmentError:
            self._name = ""
            return UNREADABLE, b""

    def close(self) -> None:
        """Close the file of the last request."""
        self._name = ""
        # A damaged ZIP archive may fail again.
        with suppress(AttachmentError):
            self._file.close()


class RemoteAttachments:
    """The end of the export process: encrypted files that are read through the parent process."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._kept = ("", b"")

    def has(self, media_name: str) -> bool:
        """Return whether there is a file of that name."""
        try:
            self.request(media_name, 0, 0)
        except AttachmentError:
            return False
        return True

    def open_encrypted(self, media_name: str) -> BinaryIO:
        """Open a file; one of up to `LARGEST_KEPT` bytes is in memory, a larger one is read in ranges."""
        if self._kept[0] == media_name:
            return io.BytesIO(self._kept[1])
        self._kept = ("", b"")
        size, piece = self.request(media_name, 0, LARGEST_RANGE)
        if size > LARGEST_KEPT:
            return cast("BinaryIO", io.BufferedReader(RemoteFile(self, media_name, size), LARGEST_RANGE))
        content = bytearray(piece)
        while piece and len(content) < size:
            _, piece = self.request(media_name, len(content), LARGEST_RANGE)
            content += piece
        self._kept = (media_name, bytes(content))
        return io.BytesIO(self._kept[1])

    def request(self, media_name: str, offset: int, length: int) -> tuple[int, bytes]:
        """Return the size of a file and a range of it, which is shorter at the end of the file."""
        self._channel.sendall(REQUEST.pack(bytes.fromhex(media_name), offset, length))
        size, received = RESPONSE.unpack(receive(self._channel, RESPONSE.size))
        piece = receive(self._channel, received)
        if size == MISSING:
            raise AttachmentMissing(f"attachment {media_name} is not in the content store")
        if size == UNREADABLE:
            raise AttachmentDamaged(f"attachment {media_name} cannot be read: its file is damaged")
        return size, piece


class RemoteFile(io.RawIOBase):
    """An encrypted file that is read in ranges."""

    def __init__(self, attachments: RemoteAttachments, media_name: str, size: int) -> None:
        super().__init__()
        self._attachments = attachments
        self._media_name = media_name
        self._size = size
        self._position = 0

    def readable(self) -> bool:
        """Return true."""
        return True

    def seekable(self) -> bool:
        """Return true."""
        return True

    def tell(self) -> int:
        """Return the position."""
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Change the position; nothing is requested."""
        origin = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._size}[whence]
        self._position = max(0, origin + offset)
        return self._position

    def readinto(self, buffer: "WriteableBuffer") -> int:
        """Request the next range."""
        view = memoryview(buffer).cast("B")
        if not view or self._position >= self._size:
            return 0
        _, piece = self._attachments.request(self._media_name, self._position, min(len(view), LARGEST_RANGE))
        view[: len(piece)] = piece
        self._position += len(piece)
        return len(piece)


def receive(channel: socket.socket, size: int) -> bytes:
    """Receive a number of bytes; raise `ConnectionError` if the other end is closed before."""
    content = bytearray(size)
    view, received = memoryview(content), 0
    while received < size:
        count = channel.recv_into(view[received:])
        if not count:
            raise ConnectionError("the other end of the channel is closed")
        received += count
    return bytes(content)
