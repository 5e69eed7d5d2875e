"""Digests of the inputs of an export; an export with an unchanged digest is not written again."""

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cache
from importlib.resources import files
from typing import Final

import msgspec

import holdfast
from holdfast.backup.archives import Archive
from holdfast.backup.archives.shared_file import read_head
from holdfast.backup.exports.choice import ChatSelection
from holdfast.backup.path_text import path_text

__all__ = ["account_digests", "change_counter", "digest", "export_stamp", "program_digest", "zone_offsets"]

# Packages whose source code affects exports.
PACKAGES: Final = (
    "holdfast.backup",
    "holdfast.backup.archives",
    "holdfast.backup.exports",
    "holdfast.backup.exports.html",
)
# Days since 1970 on which the offsets of time zones are compared.
COMPARED_DAYS: Final = range(80 * 366)
# The file change counter in the header of an SQLite database.
CHANGE_COUNTER: Final = slice(24, 28)


def digest(*values: object) -> str:
    """Return a digest of values."""
    return hashlib.sha256(msgspec.msgpack.encode(values)).hexdigest()[:32]


def account_digests(archive: Archive) -> tuple[tuple[str, ...], ...]:
    """Return digests of the identifying values of each account of an archive."""
    rows = archive.connection.execute("SELECT account_id, kind, value FROM account_evidence ORDER BY 1, 2, 3")
    digests: dict[int, list[str]] = {}
    for account, kind, value in rows:
        digests.setdefault(account, []).append(digest("account", kind, value))
    return tuple(map(tuple, digests.values()))


@cache
def program_digest() -> str:
    """Return a digest of the source code, style sheets and scripts of exports; versions may lag behind changes."""
    hasher = hashlib.blake2b(digest_size=16)
    for folder in (*map(files, PACKAGES), files(PACKAGES[-1]) / "static"):
        for source in sorted(folder.iterdir(), key=lambda entry: entry.name):
            if source.name.endswith((".py", ".css", ".js")):
                hasher.update(source.read_bytes())
    return hasher.hexdigest()


def zone_offsets(zone: tzinfo) -> tuple[str, Sequence[int]]:
    """Return the name of a time zone and its daily offsets from UTC; time zone data can change."""
    if zone is UTC:
        return str(zone), ()
    start = datetime(1970, 1, 1, tzinfo=UTC)
    shifts = ((start + timedelta(days=day)).astimezone(zone).utcoffset() for day in COMPARED_DAYS)
    return str(zone), [int(shift.total_seconds()) if shift else 0 for shift in shifts]


def change_counter(archive: Archive) -> str:
    """Return SQLite's file change counter of an archive."""
    return read_head(archive.path, CHANGE_COUNTER.stop)[CHANGE_COUNTER].hex()


def export_stamp(
    archive: Archive, changes: str, choice: ChatSelection, form: str, zone: tzinfo, *options: bool
) -> str:
    """Return a digest of all inputs of an export.

    The content of an archive is determined by the imported backups and its media files; other writes are detected
    by SQLite's file change counter.
    """
    execute = archive.connection.execute
    snapshots = execute("SELECT id, account_id, digest, imported_ms FROM snapshot ORDER BY id").fetchall()
    media = execute("SELECT media_name, path FROM media ORDER BY media_name")
    media_files = [(name, path, archive.kept_file(path) is not None) for name, path in media]
    selection = (choice.chats, choice.since_ms, choice.until_ms)
    return digest(
        program_digest(),
        holdfast.__version__,
        dict(archive.table),
        (selection, form, zone_offsets(zone), options),
        (path_text(archive.path.absolute()), changes, snapshots, media_files),
    )
