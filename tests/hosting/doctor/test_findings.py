"""What the doctor can find."""

import re

from holdfast.hosting.doctor.findings import DoctorFinding, FindingKind


def test_every_kind_has_an_id_and_an_advice() -> None:
    """No two share an id."""
    for kind in FindingKind:
        assert re.fullmatch(r"[a-z-]+", kind.value)
        assert kind.advice
    assert DoctorFinding(FindingKind.EMPTY, "a/b", "is wrong", lambda: None) == DoctorFinding(
        FindingKind.EMPTY, "a/b", "is wrong"
    )
