"""Backups that are damaged in fifty ways."""

import gzip
import struct
import zipfile
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path

from holdfast.backup.wire.varint import encode_varint
from tests.backup.streams import (
    HEADER,
    KEY_FILE,
    container_of,
    folder_of,
    lines_of,
    small_sample,
    stream_of,
    zip_of,
)

__all__ = ["write_broken"]


def write_broken(folder: Path) -> list[str]:
    """Write fifty backups that cannot be read, and return their names."""
    folder.mkdir(parents=True, exist_ok=True)
    names: list[str] = []
    for name, content in broken_files():
        (folder / name).write_bytes(content)
        names.append(name)
    for name, breaking in FOLDERS.items():
        snapshot = folder_of(small_sample(), folder / name)
        (folder / name / "SignalBackups.key").write_text(KEY_FILE.partition("\n")[0])
        breaking(snapshot)
        names.append(f"{name}--SignalBackups--{snapshot.name}")
    sealed = container_of(small_sample())
    keys = {
        "no-key": None,
        "empty-key": "",
        "no-such-key": "hunter2",
        "other-key": KEY_FILE.replace(KEY_FILE[15:19], "aaaa", 1),
        "binary-key": "\0" * 100,
    }
    for name, key in keys.items():
        (folder / name).write_bytes(sealed)
        if key is not None:
            (folder / f"{name}.key").write_text(key)
        names.append(name)
    return sorted(names)


def broken_files() -> Iterator[tuple[str, bytes]]:
    """Yield the name and the content of each file."""
    plain, lines = stream_of(small_sample()), lines_of(small_sample())
    packed, zipped = gzip.compress(plain), zip_of(small_sample())
    yield "empty", b""
    yield "zeros", bytes(5000)
    yield "text", b"Dear diary, nothing happened today.\n" * 20
    yield "picture", b"\x89PNG\r\n\x1a\n" + bytes(500)
    yield "database", b"SQLite format 3\0" + bytes(4000)
    yield "program", b"\x7fELF" + bytes(4000)
    yield "html", b"<!DOCTYPE html><html><body>no</body></html>"
    yield "pdf", b"%PDF-1.7\n" + bytes(400)
    yield "random", bytes((n * 7919 + n * n) % 251 for n in range(6000))
    for n, size in enumerate((1, 3, len(HEADER), len(plain) // 3, len(plain) // 2, len(plain) - 1)):
        yield f"cut-{n}", plain[:size]
    for n, size in enumerate((12, len(packed) // 2, len(packed) - 9, len(packed) - 1)):
        yield f"gzip-cut-{n}", packed[:size]
    flipped = bytearray(packed)
    flipped[len(packed) // 2] ^= 0xFF
    yield "gzip-flipped", bytes(flipped)
    yield "gzip-checksum", packed[:-8] + struct.pack("<I", 1) + packed[-4:]
    yield "gzip-of-text", gzip.compress(b"not a backup at all, only words\n" * 50)
    yield "gzip-of-nothing", gzip.compress(b"")
    header = encode_varint(len(HEADER)) + HEADER
    yield "long-record", header + encode_varint(1 << 40) + b"x"
    yield "bad-varint", header + b"\xff" * 12
    yield "bad-tag", header + b"\x02\x07\x07"
    yield "bad-utf8", header + frame(b"\x12\x02\xff\xfe")
    yield "bad-group", header + b"\x02\x0c\x0c"
    yield "deep", header + nested(200)
    yield "lines-cut", lines[: len(lines) // 2]
    yield "lines-no-json", lines.replace(b"\n", b"\n{oops}\n", 2)
    yield "lines-unknown", lines + b'{"chatItem": {"chatId": "seven"}}\n'
    yield "array-open", b"[" + lines.replace(b"\n", b",\n")
    yield "json-number", b"42"
    yield "json-object", b'{"hello": "world"}'
    yield "zip-cut", zipped[: len(zipped) // 2]
    yield "zip-empty", empty_zip()
    yield "zip-of-other-things", zip_with("notes.txt", b"nothing")
    yield "zip-of-broken-lines", zip_with("main.jsonl", lines[: len(lines) // 2])
    yield "sealed-cut", container_of(small_sample())[:-40]


def frame(text: bytes) -> bytes:
    """Write a frame with an ordinary message."""
    message = b"\x5a" + encode_varint(len(text)) + text
    item = b"\x22" + encode_varint(len(message)) + message
    return encode_varint(len(item)) + item


def nested(depth: int) -> bytes:
    """Write a frame with revisions inside of revisions."""
    item = b""
    for _ in range(depth):
        item = b"\x32" + encode_varint(len(item)) + item
    item = b"\x22" + encode_varint(len(item)) + item
    return encode_varint(len(item)) + item


def empty_zip() -> bytes:
    """Write a ZIP without files."""
    out = BytesIO()
    zipfile.ZipFile(out, "w").close()
    return out.getvalue()


def zip_with(name: str, content: bytes) -> bytes:
    """Write a ZIP with one file."""
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(name, content)
    return out.getvalue()


def remove(part: str) -> Callable[[Path], None]:
    """Remove a part of a snapshot."""
    return lambda snapshot: (snapshot / part).unlink()


def cut(part: str, size: int) -> Callable[[Path], None]:
    """Cut off a part of a snapshot."""
    return lambda snapshot: change(snapshot / part, lambda content: content[:size])


def flip(part: str, offset: int) -> Callable[[Path], None]:
    """Change one byte of a part of a snapshot."""

    def flipped(content: bytes) -> bytes:
        changed = bytearray(content)
        changed[offset] ^= 1
        return bytes(changed)

    return lambda snapshot: change(snapshot / part, flipped)


def change(path: Path, edit: Callable[[bytes], bytes]) -> None:
    """Change a file."""
    path.write_bytes(edit(path.read_bytes()))


FOLDERS: dict[str, Callable[[Path], None]] = {
    "phone-without-metadata": remove("metadata"),
    "phone-empty-metadata": cut("metadata", 0),
    "phone-cut": cut("main", 200),
    "phone-flipped": flip("main", 100),
    "phone-empty": cut("main", 0),
}
