"""Digests of what an export is made from: as long as they stay the same, so does the export."""

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cache
from importlib.resources import files
from typing import Final

import msgspec

import holdfast
from holdfast.backup.archives import Archive
from holdfast.backup.exports.choice import ChatSelection

__all__ = ["account_digests", "digest", "export_stamp", "program_digest", "zone_offsets"]

# What makes exports.
PACKAGES: Final = (
    "holdfast.backup",
    "holdfast.backup.archives",
    "holdfast.backup.exports",
    "holdfast.backup.exports.html",
)
# The days on which time zones are compared, from 1970 on.
COMPARED_DAYS: Final = range(80 * 366)
# Where a SQLite file counts the transactions that have changed it.
CHANGE_COUNTER: Final = slice(24, 28)


def digest(*values: object) -> str:
    """Make a digest of facts."""
    return hashlib.sha256(msgspec.msgpack.encode(values)).hexdigest()[:32]


def account_digests(archive: Archive) -> tuple[tuple[str, ...], ...]:
    """List of each account of an archive, in digests, what it can be recognised by in any of its backups."""
    rows = archive.connection.execute("SELECT account_id, kind, value FROM account_evidence ORDER BY 1, 2, 3")
    digests: dict[int, list[str]] = {}
    for account, kind, value in rows:
        digests.setdefault(account, []).append(digest("account", kind, value))
    return tuple(map(tuple, digests.values()))


@cache
def program_digest() -> str:
    """Make a digest of what draws pages: one that was changed draws others, whatever its version says."""
    hasher = hashlib.blake2b(digest_size=16)
    for folder in (*map(files, PACKAGES), files(PACKAGES[-1]) / "static"):
        for source in sorted(folder.iterdir(), key=lambda entry: entry.name):
            if source.name.endswith((".py", ".css", ".js")):
                hasher.update(source.read_bytes())
    return hasher.hexdigest()


def zone_offsets(zone: tzinfo) -> tuple[str, Sequence[int]]:
    """Name a time zone, and list how far it is ahead of UTC from day to day: what is known of it may change."""
    if zone is UTC:
        return str(zone), ()
    start = datetime(1970, 1, 1, tzinfo=UTC)
    shifts = ((start + timedelta(days=day)).astimezone(zone).utcoffset() for day in COMPARED_DAYS)
    return str(zone), [int(shift.total_seconds()) if shift else 0 for shift in shifts]


def export_stamp(archive: Archive, choice: ChatSelection, form: str, zone: tzinfo, *options: bool) -> str:
    """Make a digest of all that an export is made from.

    What an archive says comes from the backups that were imported and from the files beside it. Should anybody
    else have written to it, its file says so.
    """
    execute = archive.connection.execute
    snapshots = execute("SELECT id, account_id, digest, imported_ms FROM snapshot ORDER BY id").fetchall()
    media = execute("SELECT media_name, path FROM media ORDER BY media_name")
    media_files = [(name, path, archive.kept_file(path) is not None) for name, path in media]
    with archive.path.open("rb") as file:
        changes = file.read(CHANGE_COUNTER.stop)[CHANGE_COUNTER].hex()
    selection = (choice.chats, choice.since_ms, choice.until_ms)
    return digest(
        program_digest(),
        holdfast.__version__,
        dict(archive.table),
        (selection, form, zone_offsets(zone), options),
        (str(archive.path.absolute()), changes, snapshots, media_files),
    )
