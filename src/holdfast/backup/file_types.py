"""Recognises files of other types by their signature, to tell the user what to do with them."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from holdfast.backup.errors import UnsupportedFormat

__all__ = [
    "ARCHIVE_ID",
    "CONTAINER_MAGIC",
    "CONTAINER_NAME",
    "ENCRYPTED_ARCHIVE",
    "LOOKED_FOR",
    "is_random",
    "is_utf8_text",
    "refuse_binary",
    "refuse_desktop_database",
    "refuse_desktop_folder",
    "refuse_exported_chat",
    "refuse_json",
    "refuse_text",
    "refuse_zip",
]

LOOKED_FOR: Final = (
    "a frame stream (also gzipped), an encrypted backup, a local backup folder, "
    "an export (main.jsonl, its folder or its ZIP), and an array of records in JSON"
)
# An encrypted backup in the modern layout begins with the name and its version.
CONTAINER_NAME: Final = b"SBACKUP"
CONTAINER_MAGIC: Final = CONTAINER_NAME + b"\x01"
# The SQLite application id of an archive; see `archives.schema`.
ARCHIVE_ID: Final = 0x484F4C44
# The first bytes of an encrypted archive: the beginning of its salt. No text and no SQLite file begins with them.
ENCRYPTED_ARCHIVE: Final = b"HOLD\x89\x04"
SQLITE: Final = b"SQLite format 3\x00"
APPLICATION_ID: Final = slice(68, 72)
# The page size of Signal Desktop's encrypted database.
SQLCIPHER_PAGE: Final = 4096
BACKUP_IN_SIGNAL: Final = (
    "make a backup with the app: in Signal's settings under Backups, on this device, and give its folder here"
)
SIGNAL_ONLY: Final = "Holdfast reads backups of Signal only"
WHATSAPP: Final = "Holdfast reads backups of Signal; there is nothing here that reads those of WhatsApp"
TELEGRAM_ONLY: Final = "Holdfast reads backups of Signal; there is nothing here that reads those of Telegram"
INTO_ARCHIVE: Final = (
    "look into it with `holdfast archive chats`, `search`, `show` and `export`; "
    "what is imported into an archive is a backup"
)
# Every signature has at least four bytes: an encrypted backup begins with random ones.
SIGNATURES: Final[tuple[tuple[int, bytes, str, str], ...]] = (
    (0, ENCRYPTED_ARCHIVE, "an encrypted archive of Holdfast", INTO_ARCHIVE),
    (0, b"\x89PNG\r\n\x1a\n", "a picture (PNG)", ""),
    (0, b"\xff\xd8\xff\xe0", "a picture (JPEG)", ""),
    (0, b"\xff\xd8\xff\xe1", "a picture (JPEG)", ""),
    (0, b"\xff\xd8\xff\xdb", "a picture (JPEG)", ""),
    (0, b"\xff\xd8\xff\xee", "a picture (JPEG)", ""),
    (0, b"GIF87a", "a picture (GIF)", ""),
    (0, b"GIF89a", "a picture (GIF)", ""),
    (8, b"WEBPVP8", "a picture (WebP)", ""),
    (8, b"WAVEfmt", "a sound (WAV)", ""),
    (8, b"AVI LIST", "a video (AVI)", ""),
    (4, b"ftyp", "a video, sound or picture (MP4 or HEIC)", ""),
    (0, b"\x1a\x45\xdf\xa3", "a video (Matroska or WebM)", ""),
    (0, b"OggS", "a sound (Ogg)", ""),
    (0, b"ID3\x03", "a sound (MP3)", ""),
    (0, b"ID3\x04", "a sound (MP3)", ""),
    (0, b"fLaC", "a sound (FLAC)", ""),
    (0, b"%PDF-", "a document (PDF)", ""),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a document of an older office program", ""),
    (257, b"ustar", "a tar archive", "unpack it and give the folder or file that is in it"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", "unpack it and give the folder or file that is in it"),
    (0, b"Rar!\x1a\x07", "a RAR archive", "unpack it and give the folder or file that is in it"),
    (0, b"\xfd7zXZ\x00", "an xz file", "unpack it with `unxz` and give what is in it"),
    (0, b"\x28\xb5\x2f\xfd", "a Zstandard file", "unpack it with `unzstd` and give what is in it"),
    (0, b"BZh91AY&SY", "a bzip2 file", "unpack it with `bunzip2` and give what is in it"),
    (0, b"ANDROID BACKUP\n", "a backup that `adb` made", BACKUP_IN_SIGNAL),
    (0, b"age-encryption.org/", "a file encrypted with age", "decrypt it and give what is in it"),
    (0, b"Salted__", "a file encrypted with OpenSSL", "decrypt it and give what is in it"),
    (0, b"-----BEGIN PGP MESSAGE", "a file encrypted with PGP", "decrypt it and give what is in it"),
    (0, b"LUKS\xba\xbe", "an encrypted disk", "open it and give the backup that is on it"),
    (0, b"bplist00", "a property list of Apple", ""),
    (0, b"\x7fELF", "a program", ""),
    (0, b"PAR1", "a Parquet file", "it is an export; give the backup it was made of"),
    (0, b"# v2 git bundle", "a git bundle", "clone it and give the backup that is in it"),
    (0, b"PACK\x00\x00\x00\x02", "a git pack", "clone the repository and give the backup that is in it"),
)
# Text in the schema of a database, and the type of file it identifies.
TABLES: Final[tuple[tuple[bytes, str, str], ...]] = (
    (b"ZWAMESSAGE", "the database of WhatsApp on an iPhone", WHATSAPP),
    (b"message_add_on", "the database of WhatsApp on Android", WHATSAPP),
    (b"legacy_available_messages_view", "the database of WhatsApp on Android", WHATSAPP),
    (b"signedPreKeys", "the database of Signal Desktop", BACKUP_IN_SIGNAL),
    (b"signed_prekeys", "the database of Signal on Android", BACKUP_IN_SIGNAL),
    (b"chat_message_join", "the database of Apple's Messages", SIGNAL_ONLY),
)
POINTER: Final = b"version https://git-lfs.github.com/spec/v1"
# `[31.12.20, 23:59:59] Name: text` or `12/31/20, 11:59 PM - Name: text`, with marks for the direction before it.
WHATSAPP_LINE: Final = re.compile(
    r"[\u200e\u200f\ufeff]*(?:\[\d{1,4}[./-]\d{1,2}[./-]\d{1,4},? .{4,16}\] |"
    r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4},? .{4,16} - )"
)
WHATSAPP_NAME: Final = re.compile(r"(?i)(?:.*/)?(?:_chat\.txt|whatsapp chat.*\.txt)")
# The first fields of one exported chat, or of all of them.
TELEGRAM: Final = re.compile(
    rb'\{\s*(?:"name":\s*(?:null|"(?:[^"\\]|\\.){0,1000}"),\s*"type":\s*"\w+",\s*"id":\s*\d|'
    rb'"about":\s*"Here is the data you requested)'
)
OFFICE: Final = ("word/document.xml", "xl/workbook.xml", "ppt/presentation.xml", "content.xml")
SIGNAL_FOLDER: Final = re.compile(r"(?:.*/)?signal-backup[^/]*/(?:main|metadata)")
TEXT: Final = 512
CONTROLS: Final = re.compile(rb"[\x00-\x08\x0b\x0e-\x1f]")
# The number of bytes that are tested for randomness, and a chi-square statistic that random bytes never reach: its
# mean is 255, its standard deviation 22.6.
SAMPLE: Final = 4096
MOST_CHI_SQUARE: Final = 700
CONFIGURATION: Final = ("key", "encryptedKey")


@dataclass(frozen=True, slots=True)
class FileType:
    """A type of file: its description, and advice for the user."""

    name: str
    advice: str

    def refusal(self) -> UnsupportedFormat:
        """Return the error for a file of this type."""
        advice = self.advice or f"looked for {LOOKED_FOR}"
        return UnsupportedFormat(f"this is {self.name}, not a chat backup in any form known here; {advice}")


def refuse_binary(head: bytes) -> None:
    """Raise an error for a file with the signature of another type."""
    if head.startswith(SQLITE):
        raise database(head).refusal()
    if is_android_backup(head):
        raise FileType(
            "a backup of Signal on Android in its old format (.backup, opened with a passphrase of 30 digits)",
            "it cannot be read here: restore it on a phone, then " + BACKUP_IN_SIGNAL,
        ).refusal()
    if head.startswith(POINTER):
        raise FileType(
            "the pointer to a file that is kept with Git LFS",
            "fetch the file itself with `git lfs pull` or `holdfast backup pull`",
        ).refusal()
    for at, signature, name, advice in SIGNATURES:
        if head[at : at + len(signature)] == signature:
            raise FileType(name, advice).refusal()


def database(head: bytes) -> FileType:
    """Return the type of a SQLite database."""
    if head[APPLICATION_ID] == ARCHIVE_ID.to_bytes(4, "big"):
        return FileType("an archive of Holdfast", INTO_ARCHIVE)
    for mark, name, advice in TABLES:
        if mark in head:
            return FileType(name, advice)
    return FileType("a SQLite database of another program", "")


def is_android_backup(head: bytes) -> bool:
    """Return whether a file has Signal's old format: a length, then a frame with an iv and a salt."""
    size = int.from_bytes(head[:4], "big")
    return (
        size < 0x80
        and head[4:5] == b"\x0a"
        and head[5:6] == bytes([max(size - 2, 0)])
        and head[6:8] == b"\x0a\x10"
        and head[24:26] == b"\x12\x20"
    )


def refuse_exported_chat(head: bytes) -> None:
    """Raise an error for a chat that WhatsApp exported as text."""
    if is_utf8_text(head, TEXT) and any(map(WHATSAPP_LINE.match, text_of(head).splitlines()[:5])):
        raise FileType("a chat that WhatsApp exported as text", WHATSAPP).refusal()


def text_of(head: bytes) -> str:
    """Return the beginning of a text file."""
    return head[: 8 * TEXT].decode("utf-8", errors="ignore").lstrip("\ufeff")


def refuse_text(head: bytes) -> None:
    """Raise an error for a text file that is not JSON."""
    if not is_utf8_text(head, TEXT):
        return
    text = text_of(head)
    start = text.lstrip()[:200].lower()
    if start.startswith(("<!doctype html", "<html")):
        raise FileType(
            "a web page", "if it was downloaded, it may be a log-in page that came instead of the file"
        ).refusal()
    if start.startswith("<?xml") and "<smses" in text:
        raise FileType("a backup of text messages (SMS Backup & Restore)", SIGNAL_ONLY).refusal()
    raise FileType("a text", "").refusal()


def refuse_json(head: bytes) -> None:
    """Raise an error for a JSON file of another known type."""
    if TELEGRAM.match(head):
        raise FileType("a chat history that Telegram exported", TELEGRAM_ONLY).refusal()
    import json  # noqa: PLC0415  # loaded when it is needed, so that commands start at once

    try:
        document = json.loads(head)
    except (ValueError, RecursionError):
        return
    if isinstance(document, dict) and any(isinstance(document.get(name), str) for name in CONFIGURATION):
        raise FileType("the configuration of Signal Desktop", BACKUP_IN_SIGNAL).refusal()


def refuse_zip(names: Iterable[str]) -> None:
    """Raise an error for a ZIP archive that is not an export, by the names of its files."""
    entry_names = list(names)
    if any(SIGNAL_FOLDER.fullmatch(name) for name in entry_names):
        raise FileType("a ZIP of the folder a phone wrote", "unpack it and give the folder").refusal()
    if any(WHATSAPP_NAME.fullmatch(name) for name in entry_names):
        raise FileType("a ZIP of a chat that WhatsApp exported", WHATSAPP).refusal()
    if any(name in OFFICE for name in entry_names):
        raise FileType("an office document", "").refusal()
    if "AndroidManifest.xml" in entry_names or "META-INF/MANIFEST.MF" in entry_names:
        raise FileType("a program", "").refusal()
    raise FileType(
        f"a ZIP of {len(entry_names):,} other files: no main.jsonl, which an export has, is among them",
        "if a backup is in it, unpack it and give that",
    ).refusal()


def refuse_desktop_database(path: Path, size: int) -> None:
    """Raise an error for the encrypted database of Signal Desktop, recognised by its path."""
    beside = (path.parent / "config.json", path.parent.parent / "config.json")
    if size % SQLCIPHER_PAGE == 0 and path.suffix == ".sqlite" and any(place.is_file() for place in beside):
        raise FileType(
            "the database of Signal Desktop, encrypted with a key of its own", BACKUP_IN_SIGNAL
        ).refusal()


def refuse_desktop_folder(path: Path) -> None:
    """Raise an error for the data folder of Signal Desktop."""
    if (path / "config.json").is_file() and (path / "sql" / "db.sqlite").is_file():
        raise UnsupportedFormat(f"{path} is the folder in which Signal Desktop keeps its data; {BACKUP_IN_SIGNAL}")


def is_utf8_text(head: bytes, size: int) -> bool:
    """Return whether the first bytes are UTF-8 without control characters; enough of them to rule out chance."""
    start = head[:size]
    try:
        start.decode()
    except UnicodeDecodeError as error:
        # A character may be truncated at the end of the sample.
        if error.reason != "unexpected end of data" or len(head) < size:
            return False
    return not CONTROLS.search(start)


def is_random(head: bytes) -> bool:
    """Return whether bytes can be encrypted: all byte values are about equally frequent."""
    sample = head[:SAMPLE]
    expected = len(sample) / 256
    counts = Counter(sample)
    squares = sum((count - expected) ** 2 for count in counts.values()) + (256 - len(counts)) * expected**2
    return squares <= MOST_CHI_SQUARE * expected
