"""The pages about an archive's imports and about the findings of the validator."""

import sqlite3
from typing import Final

from holdfast.backup.rules import RULES
from holdfast.web.chats.validation_results import frame_json, read_findings
from holdfast.web.chats.view import (
    ConversationRequest,
    PageNotFound,
    TemplateResult,
    page_number,
    parse_id,
    to_datetime,
)

__all__ = ["show_about", "show_findings", "show_frame"]

SKIPPED: Final = 200
FINDINGS: Final = 100


def show_about(view: ConversationRequest) -> TemplateResult:
    """List the imported backups, and what was skipped in each."""
    skipped = []
    for skipped_record in view.archive.skipped():
        skipped.append(skipped_record)
        if len(skipped) > SKIPPED:
            break
    snapshots = view.archive.snapshots()[-SKIPPED:]
    return TemplateResult(
        "chats/about.html",
        "About",
        {
            "snapshots": [(snapshot, to_datetime(snapshot.made_ms)) for snapshot in snapshots],
            "skipped": skipped[:SKIPPED],
            "more_skipped": len(skipped) > SKIPPED,
            "has_findings": has_findings(view),
        },
    )


def has_findings(view: ConversationRequest) -> bool:
    """Return whether the backup was validated when it was imported."""
    connection: sqlite3.Connection = view.archive.connection
    row = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'page_verdict'").fetchone()
    return row is not None


def show_findings(view: ConversationRequest) -> TemplateResult:
    """List the validation findings of the backup, each with a link to its frame."""
    if not has_findings(view):
        raise PageNotFound
    number = page_number(view)
    verdict, findings = read_findings(view.archive.connection, FINDINGS, (number - 1) * FINDINGS)
    rules = {rule.id: rule for rule in RULES}
    return TemplateResult(
        "chats/findings.html",
        "Findings",
        {
            "verdict": verdict,
            "findings": [(finding_row, rules.get(finding_row.rule)) for finding_row in findings],
            "size": FINDINGS,
            "page": number,
            "pages_address": f"{view.address('findings')}?page=",
        },
    )


def show_frame(view: ConversationRequest, number: str) -> TemplateResult:
    """Show a frame that has a finding, as JSON."""
    if not has_findings(view):
        raise PageNotFound
    wanted = parse_id(number)
    text = frame_json(view.archive.connection, wanted)
    if text is None:
        raise PageNotFound
    return TemplateResult("chats/frame.html", f"Frame {wanted}", {"number": wanted, "text": text})
