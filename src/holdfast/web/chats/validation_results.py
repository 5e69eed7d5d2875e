"""Validation findings of an imported backup, stored in the archive with the frames they refer to."""

import sqlite3
from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from holdfast.backup.backup_reader import Backup
from holdfast.backup.errors import BackupError
from holdfast.backup.rules import ValidationRun
from holdfast.backup.wire import header_to_json
from holdfast.web.chats.message_page import format_json

__all__ = ["FindingRow", "ValidationSummary", "frame_json", "read_findings", "store_findings"]

# The number of findings that are stored; the rest are only counted.
LISTED: Final = 2000
FRAMES: Final = 500
TABLES: Final = """
CREATE TABLE page_verdict (
  valid INTEGER, frames INTEGER, errors INTEGER, warnings INTEGER, notes INTEGER, edition TEXT);
CREATE TABLE page_finding (n INTEGER PRIMARY KEY, rule TEXT, severity TEXT, frame INTEGER, path TEXT, detail TEXT);
CREATE TABLE page_frame (frame INTEGER PRIMARY KEY, json TEXT);
"""


class ValidationSummary(Struct, frozen=True):
    """The validation result: whether the backup is valid, and the number of findings."""

    valid: bool
    frames: int
    errors: int
    warnings: int
    notes: int
    edition: str
    listed: int


class FindingRow(Struct, frozen=True):
    """A stored validation finding."""

    rule: str
    severity: str
    frame: int | None
    path: str
    detail: str
    shown: bool


def store_findings(connection: sqlite3.Connection, backup: Backup) -> None:
    """Validate a backup, and store the findings in its archive."""
    validation = ValidationRun(backup, profile="strict", edition="auto", purpose="remote", media=None, threads=1)
    rows: list[tuple[object, ...]] = []
    wanted: dict[int, None] = {}
    for finding in validation:
        if len(rows) >= LISTED:
            continue
        rows.append(
            (len(rows), finding.rule.id, finding.severity.value, finding.frame, finding.path, finding.detail)
        )
        if finding.frame is not None and len(wanted) < FRAMES:
            wanted[finding.frame] = None
    counts = {severity.value: count for severity, count in validation.counts.items()}
    verdict = (
        validation.valid,
        validation.frames,
        counts.get("error", 0),
        counts.get("warning", 0),
        counts.get("note", 0),
        validation.edition.value if validation.edition else "",
    )
    connection.execute("BEGIN")
    for statement in TABLES.strip().split(";\n"):
        connection.execute(statement.rstrip(";\n"))
    connection.execute("INSERT INTO page_verdict VALUES (?, ?, ?, ?, ?, ?)", verdict)
    connection.executemany("INSERT INTO page_finding VALUES (?, ?, ?, ?, ?, ?)", rows)
    connection.executemany("INSERT OR IGNORE INTO page_frame VALUES (?, ?)", frames_as_json(backup, set(wanted)))
    connection.execute("COMMIT")


def frames_as_json(backup: Backup, wanted: set[int]) -> Iterable[tuple[int, str]]:
    """Yield some frames as JSON; number 0 is the header."""
    if 0 in wanted:
        wanted.discard(0)
        try:
            yield 0, header_to_json(backup.header).decode(errors="replace")
        except BackupError as error:
            yield 0, str(error)
    if not wanted:
        return
    last = max(wanted)
    try:
        for frame in backup:
            if frame.index in wanted:
                yield frame.index, frame_text(frame.raw)
            if frame.index >= last:
                return
    except BackupError:
        # A damaged part of the file has no frames to show.
        return


def frame_text(raw: bytes) -> str:
    """Return one frame as JSON, or its bytes if it cannot be parsed."""
    try:
        return format_json(raw)
    except BackupError as error:
        return f"{error}\n\n{raw[:2000].hex(' ', 2)}"


def read_findings(
    connection: sqlite3.Connection, limit: int, skip: int
) -> tuple[ValidationSummary, list[FindingRow]]:
    """Read the summary and a page of the findings."""
    (row,) = connection.execute("SELECT *, (SELECT count(*) FROM page_finding) FROM page_verdict").fetchall()
    rows = connection.execute(
        "SELECT f.rule, f.severity, f.frame, f.path, f.detail, p.frame IS NOT NULL FROM page_finding f "
        "LEFT JOIN page_frame p ON p.frame = f.frame ORDER BY f.n LIMIT ? OFFSET ?",
        (limit, skip),
    )
    findings = [
        FindingRow(rule, severity, frame, path, detail, bool(is_shown))
        for rule, severity, frame, path, detail, is_shown in rows
    ]
    return ValidationSummary(bool(row[0]), *row[1:]), findings


def frame_json(connection: sqlite3.Connection, number: int) -> str | None:
    """Return a frame that a finding is about."""
    row = connection.execute("SELECT json FROM page_frame WHERE frame = ?", (number,)).fetchone()
    return None if row is None else str(row[0])
