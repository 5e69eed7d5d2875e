"""Holds what was written to the rules."""

from holdfast import backup
from holdfast.backup.order import OrderChecker
from holdfast.backup.rules import Severity
from tests.backup.compare.snapshots import opened


def errors(raw: bytes) -> list[str]:
    """List what the strict profile has against a stream."""
    with opened(raw) as source:
        findings = backup.validate(source, profile="strict")
        return [
            f"{finding.frame}: {finding.problem}" for finding in findings if finding.severity is Severity.ERROR
        ]


def check(raw: bytes) -> None:
    """Hold a stream to the ordering rules and to the strict profile."""
    order = OrderChecker()
    with opened(raw) as source:
        for frame in source:
            order.check(frame.raw)
    assert errors(raw) == []
