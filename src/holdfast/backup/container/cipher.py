"""The encrypted container: where its parts lie, how it is opened and how it is written.

    legacy    sealed content                              local folders, device transfer, older remote backups
    modern    magic | length | metadata | sealed content  remote backups

The content is one gzip member and zeros after it. The metadata is neither encrypted nor authenticated.
"""

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final

from holdfast.backup.container.chunks import Sink, as_file, read_chunks
from holdfast.backup.container.keys import MessageKeys
from holdfast.backup.container.metadata import FORWARD_SECRECY_LIMIT, ForwardSecrecy
from holdfast.backup.container.padding import padded
from holdfast.backup.container.sealed import BadPadding, Changed, Opened, Sealer, Span, authenticate, first_block
from holdfast.backup.errors import DamagedBackup, WrongKey
from holdfast.backup.wire.varint import encode_varint, read_varint

__all__ = ["MAGIC", "Layout", "decrypt", "encrypt", "find_layout"]

NAME: Final = b"SBACKUP"
VERSION: Final = 1
MAGIC: Final = NAME + bytes([VERSION])
GZIP: Final = b"\x1f\x8b\x08"


@dataclass(frozen=True, slots=True)
class Layout:
    """Where a container's sealed part lies, and what stands before it in the modern layout.

    `unknown_version` is set for a file that begins like the modern layout in a version we do not know. It is
    read as legacy all the same, since an iv may begin with any bytes.
    """

    span: Span
    forward_secrecy: ForwardSecrecy | None = None
    unknown_version: int | None = None

    @property
    def modern(self) -> bool:
        """Whether the container's keys take a forward-secrecy token."""
        return self.forward_secrecy is not None


def find_layout(source: BinaryIO) -> Layout:
    """Take a seekable file apart as far as that needs no key."""
    end = source.seek(0, io.SEEK_END)
    source.seek(0)
    start = b"".join(read_chunks(source, len(MAGIC)))
    if start != MAGIC:
        span = Span(0, end)
        version = start[-1] if len(start) == len(MAGIC) and start.startswith(NAME) else None
        layout = Layout(span, unknown_version=version)
    else:
        layout = _modern_layout(source, end)
    problem = layout.span.problem()
    if problem is not None:
        raise DamagedBackup(problem, offset=end)
    return layout


def _modern_layout(source: BinaryIO, end: int) -> Layout:
    size = read_varint(source)
    begin = source.tell()
    if size > FORWARD_SECRECY_LIMIT:
        problem = (
            f"the forward-secrecy metadata claims {size} bytes, more than the {FORWARD_SECRECY_LIMIT} allowed"
        )
        raise DamagedBackup(problem, offset=len(MAGIC))
    raw = b"".join(read_chunks(source, size))
    if len(raw) != size:
        raise DamagedBackup("the file ends in the middle of the forward-secrecy metadata", offset=end)
    return Layout(Span(begin + size, end), ForwardSecrecy.parse(raw, offset=begin))


def decrypt(source: BinaryIO, layout: Layout, keys: MessageKeys) -> BinaryIO:
    """Authenticate the container, then return its content as a file that is decrypted while it is read.

    The content is only proven unchanged once it was read to its end. The source belongs to that file until then.
    """
    opened = authenticate(source, layout.span, keys)
    gzip = first_block(source, layout.span, keys).startswith(GZIP)
    if opened is None:
        if gzip:
            problem = "the key fits, but the file was changed or cut since it was written: its MAC does not match"
            raise DamagedBackup(problem, offset=layout.span.mac)
        raise WrongKey(f"the key does not fit this file, or its first bytes are damaged{_version_hint(layout)}")
    if not gzip:
        raise WrongKey("the HMAC key fits this file, but the AES key does not")
    return as_file(_content(opened))


def _content(opened: Opened) -> Iterator[bytes]:
    try:
        yield from opened.chunks()
    except Changed:
        problem = "the file changed while it was being read: what was read from it is not to be used"
        raise DamagedBackup(problem, offset=opened.span.mac) from None
    except BadPadding:
        problem = "the encrypted content does not end as it must, although it is as it was written"
        raise DamagedBackup(problem, offset=opened.span.mac) from None


def _version_hint(layout: Layout) -> str:
    if layout.unknown_version is None:
        return ""
    return (
        f"; it begins like a remote backup of version {layout.unknown_version}, which this program does not know"
    )


def encrypt(
    target: Sink,
    keys: MessageKeys,
    *,
    forward_secrecy: ForwardSecrecy | None = None,
    iv: bytes | None = None,
    padding: Callable[[int], int] = padded,
) -> Sealer:
    """Begin a container and return what its compressed content is to be written to.

    With `forward_secrecy` it is of the modern layout, which needs keys derived with that token.
    """
    if forward_secrecy is not None:
        target.write(MAGIC + encode_varint(len(forward_secrecy.raw)) + forward_secrecy.raw)
    return Sealer(target, keys, iv=iv, padding=padding)
