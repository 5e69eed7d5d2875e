"""Kinds of findings: ids and advice."""

import re

from holdfast.hosting.doctor.findings import DoctorFinding, FindingKind


def test_every_kind_has_an_id_and_an_advice() -> None:
    """Ids have only lowercase letters and hyphens, and equality of findings ignores the repair."""
    for kind in FindingKind:
        assert re.fullmatch(r"[a-z-]+", kind.value)
        assert kind.advice
    assert DoctorFinding(FindingKind.EMPTY, "a/b", "is wrong", lambda: None) == DoctorFinding(
        FindingKind.EMPTY, "a/b", "is wrong"
    )
