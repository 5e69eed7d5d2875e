"""Validates written backups."""

from holdfast import backup
from holdfast.backup.order import OrderChecker
from holdfast.backup.rules import Severity
from tests.backup.compare.snapshots import opened


def errors(raw: bytes) -> list[str]:
    """List the errors of the strict profile in a stream."""
    with opened(raw) as source:
        findings = backup.validate(source, profile="strict")
        return [
            f"{finding.frame}: {finding.problem}" for finding in findings if finding.severity is Severity.ERROR
        ]


def check(raw: bytes) -> None:
    """Assert that a stream passes the ordering rules and the strict profile."""
    order = OrderChecker()
    with opened(raw) as source:
        for frame in source:
            order.check(frame.raw)
    assert errors(raw) == []
