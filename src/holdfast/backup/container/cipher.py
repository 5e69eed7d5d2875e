"""The encrypted container: its layout, decryption and encryption.

    legacy    sealed content                              local folders, device transfer, older remote backups
    modern    magic | length | metadata | sealed content  remote backups

The content is one gzip member and zeros after it. The metadata is neither encrypted nor authenticated.
"""

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import BinaryIO, Final

from holdfast.backup.container.chunks import Sink, as_file, read_chunks
from holdfast.backup.container.faults import OnFault, report_fault
from holdfast.backup.container.keys import MessageKeys
from holdfast.backup.container.metadata import FORWARD_SECRECY_LIMIT, ForwardSecrecy
from holdfast.backup.container.padding import padded
from holdfast.backup.container.sealed import (
    BLOCK,
    MAC,
    BadPadding,
    Changed,
    Sealer,
    Span,
    VerifiedSpan,
    authenticate,
    first_block,
    unproven,
)
from holdfast.backup.errors import DamagedBackup, DamagedContainer, WrongKey
from holdfast.backup.file_types import CONTAINER_MAGIC, CONTAINER_NAME
from holdfast.backup.parts import Part
from holdfast.backup.wire.varint import encode_varint, read_varint
from holdfast.redacted_repr import redacted

__all__ = ["ContainerLayout", "decrypt", "encrypt", "find_layout"]

GZIP: Final = b"\x1f\x8b\x08"
# The page size of Signal Desktop's encrypted database, which is as random as a container.
SQLCIPHER_PAGE: Final = 4096


@redacted
@dataclass(frozen=True, slots=True)
class ContainerLayout:
    """The range of a container's sealed part, and the metadata before it in the modern layout.

    `unknown_version` is set for a file that begins like the modern layout in an unknown version. It is read as
    legacy, since an iv may begin with any bytes. The keys of a `modern` container need a forward-secrecy token. A
    `cut` container has lost its MAC; the span ends where the MAC would end.
    """

    span: Span
    forward_secrecy: ForwardSecrecy | None = None
    unknown_version: int | None = None
    modern: bool = False
    cut: bool = False


def find_layout(source: BinaryIO, *, on_fault: OnFault | None = None) -> ContainerLayout:
    """Parse the layout of a seekable file, which needs no key.

    With `on_fault`, faults are reported to it instead of raised, if the content can still be decrypted.
    """
    end = source.seek(0, io.SEEK_END)
    source.seek(0)
    start = b"".join(read_chunks(source, len(CONTAINER_MAGIC)))
    if start != CONTAINER_MAGIC:
        span = Span(0, end)
        version = start[-1] if len(start) == len(CONTAINER_MAGIC) and start.startswith(CONTAINER_NAME) else None
        layout = ContainerLayout(span, unknown_version=version)
    else:
        layout = _modern_layout(source, end, on_fault)
    problem = layout.span.problem()
    if problem is None:
        return layout
    fault = DamagedContainer(problem, part=Part.LENGTH, offset=end)
    begin = layout.span.start
    blocks = (end - begin) // BLOCK - 1
    if blocks < 1:
        raise fault
    report_fault(fault, on_fault)
    return replace(layout, span=Span(begin, begin + (1 + blocks) * BLOCK + MAC), cut=True)


def _modern_layout(source: BinaryIO, end: int, on_fault: OnFault | None) -> ContainerLayout:
    size = read_varint(source)
    begin = source.tell()
    if size > FORWARD_SECRECY_LIMIT:
        problem = (
            f"the forward-secrecy metadata claims {size} bytes, more than the {FORWARD_SECRECY_LIMIT} allowed"
        )
        raise DamagedContainer(problem, part=Part.TOKENS, offset=len(CONTAINER_MAGIC))
    raw = b"".join(read_chunks(source, size))
    if len(raw) != size:
        problem = "the file ends in the middle of the forward-secrecy metadata"
        raise DamagedContainer(problem, part=Part.TOKENS, offset=end)
    forward_secrecy = None
    try:
        forward_secrecy = ForwardSecrecy.parse(raw, offset=begin)
    except DamagedContainer as fault:
        # The token is part of the keys; the encrypted token in the file is not needed for decryption.
        report_fault(fault, on_fault)
    return ContainerLayout(Span(begin + size, end), forward_secrecy, modern=True)


def decrypt(
    source: BinaryIO, layout: ContainerLayout, keys: MessageKeys, *, on_fault: OnFault | None = None
) -> BinaryIO:
    """Authenticate the container, then return its content as a file that is decrypted while it is read.

    The content is verified once it has been read to its end. Until then the source must not be used otherwise.
    With `on_fault`, faults are reported to it instead of raised, and the content is decrypted without
    authentication.
    """
    opened = None if layout.cut else authenticate(source, layout.span, keys)
    gzip = first_block(source, layout.span, keys).startswith(GZIP)
    if opened is None:
        if gzip:
            if not layout.cut:
                problem = (
                    "the key fits, but the file was changed or cut since it was written: its MAC does not match"
                )
                report_fault(DamagedContainer(problem, part=Part.MAC, offset=layout.span.mac), on_fault)
            return as_file(unproven(source, layout.span, keys))
        raise WrongKey(f"the key does not fit this file, or its first bytes are damaged{_version_hint(layout)}")
    if not gzip:
        raise WrongKey("the HMAC key fits this file, but the AES key does not")
    return as_file(_content(opened, on_fault))


def _content(opened: VerifiedSpan, on_fault: OnFault | None) -> Iterator[bytes]:
    try:
        yield from opened.chunks()
    except Changed:
        problem = "the file changed while it was being read: what was read from it is not to be used"
        raise DamagedBackup(problem, offset=opened.span.mac) from None
    except BadPadding as padding:
        problem = "the encrypted content does not end as it must, although it is as it was written"
        report_fault(DamagedContainer(problem, part=Part.PADDING, offset=opened.span.mac), on_fault)
        yield padding.content


def _version_hint(layout: ContainerLayout) -> str:
    if layout.unknown_version is None:
        if layout.modern or layout.span.end % SQLCIPHER_PAGE:
            return ""
        return "; a file of this size may also be a database of Signal Desktop, which cannot be read here"
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
    """Start a container and return the object that its compressed content is written to.

    With `forward_secrecy` it has the modern layout, which needs keys derived with that token.
    """
    if forward_secrecy is not None:
        target.write(CONTAINER_MAGIC + encode_varint(len(forward_secrecy.raw)) + forward_secrecy.raw)
    return Sealer(target, keys, iv=iv, padding=padding)
