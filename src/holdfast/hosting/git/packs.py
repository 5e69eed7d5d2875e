"""Packs: the format in which git stores and sends many objects as one file.

The service writes packs without deltas of the objects it creates itself (commits through the API, tags); git
writes all others. Packs without deltas can be decoded here; those with deltas are left to `git index-pack`.
"""

import hashlib
import zlib
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec
from zlib_ng import zlib_ng

from holdfast.hosting.errors import GitDamaged
from holdfast.hosting.git.repository import Kind

__all__ = ["PackedObject", "decode_pack", "encode_pack", "merge_packs", "object_count", "object_id", "pack_name"]

SIGNATURE: Final = b"PACK\0\0\0\2"
HEADER_BYTES: Final = 12
CHECKSUM_BYTES: Final = 20
TYPES: Final[dict[Kind, int]] = {"commit": 1, "tree": 2, "blob": 3, "tag": 4}
KINDS: Final[dict[int, Kind]] = {number: kind for kind, number in TYPES.items()}
DELTA_TYPES: Final = frozenset({6, 7})
LEVEL: Final = 1


class PackedObject(msgspec.Struct, frozen=True):
    """An object of a pack."""

    kind: Kind
    content: bytes


def object_id(kind: Kind, content: bytes) -> str:
    """Return the id of an object."""
    digest = hashlib.sha1(b"%s %d\0" % (kind.encode(), len(content)), usedforsecurity=False)
    digest.update(content)
    return digest.hexdigest()


def encode_pack(objects: Iterable[PackedObject]) -> bytes:
    """Encode a pack without deltas."""
    entries = [
        entry_header(packed_object.kind, len(packed_object.content))
        + zlib_ng.compress(packed_object.content, LEVEL)
        for packed_object in objects
    ]
    body = b"".join([SIGNATURE, len(entries).to_bytes(4, "big"), *entries])
    return body + hashlib.sha1(body, usedforsecurity=False).digest()


def entry_header(kind: Kind, size: int) -> bytes:
    """Encode the type and size of an entry: 4 bits of the size, then 7 bits per byte, lowest first."""
    first = TYPES[kind] << 4 | size & 0x0F
    size >>= 4
    header = bytearray()
    while size:
        header.append(first | 0x80)
        first = size & 0x7F
        size >>= 7
    header.append(first)
    return bytes(header)


def pack_name(pack: bytes) -> str:
    """Return the trailing checksum of a pack, by which git names its file."""
    return pack[-CHECKSUM_BYTES:].hex()


def object_count(pack: bytes) -> int:
    """Return the number of objects in the header of a pack."""
    return int.from_bytes(pack[8:12], "big")


def merge_packs(packs: Sequence[bytes]) -> bytes:
    """Concatenate packs to one; delta offsets are relative, so entries stay unchanged."""
    for pack in packs:
        check_pack(pack)
    count = sum(map(object_count, packs))
    bodies = [memoryview(pack)[HEADER_BYTES:-CHECKSUM_BYTES] for pack in packs]
    body = b"".join([SIGNATURE, count.to_bytes(4, "big"), *bodies])
    return body + hashlib.sha1(body, usedforsecurity=False).digest()


def check_pack(pack: bytes) -> None:
    """Raise `GitDamaged` for a pack that does not match its trailing checksum."""
    body = memoryview(pack)[:-CHECKSUM_BYTES]
    if pack[:8] != SIGNATURE or hashlib.sha1(body, usedforsecurity=False).digest() != pack[-CHECKSUM_BYTES:]:
        raise GitDamaged("a pack does not match its checksum")


def decode_pack(pack: bytes) -> list[PackedObject] | None:
    """Decode the objects of a pack; None if one of them is a delta."""
    check_pack(pack)
    body = memoryview(pack)[:-CHECKSUM_BYTES]
    packed_objects: list[PackedObject] = []
    position = HEADER_BYTES
    try:
        for _ in range(object_count(pack)):
            byte = pack[position]
            number, size, shift = byte >> 4 & 7, byte & 0x0F, 4
            position += 1
            while byte & 0x80:
                byte = pack[position]
                size |= (byte & 0x7F) << shift
                shift += 7
                position += 1
            if number in DELTA_TYPES:
                return None
            inflate = zlib.decompressobj()
            content = inflate.decompress(body[position:], size + 1)
            if not inflate.eof:
                content += inflate.decompress(inflate.unconsumed_tail, 1)
            if len(content) != size or not inflate.eof:
                raise GitDamaged("an object of a pack has another size than its header says")
            packed_objects.append(PackedObject(KINDS[number], content))
            position = len(body) - len(inflate.unused_data)
    except (IndexError, KeyError, zlib.error) as error:
        raise GitDamaged("a pack cannot be read") from error
    return packed_objects
