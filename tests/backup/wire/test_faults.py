"""Faults of records: codes of the core, each with an error message."""

import pytest

from holdfast.backup.wire import faults
from tests.backup.wire.core import Core
from tests.backup.wire.encoding import delimited, group, tag, varint

NAMES = [name for name in faults.__all__ if name != "FAULTS"]
# A record for each fault.
RECORDS = {
    faults.CUT: delimited(4, b"ab")[:-1],
    faults.LONG_VARINT: tag(99, 0) + b"\x80" * 10 + b"\x00",
    faults.TOO_LONG: tag(9, 2) + varint(1 << 31),
    faults.BAD_TAG: tag(0, 0) + b"\x01",
    faults.BAD_WIRE_TYPE: tag(1, 6),
    faults.BAD_GROUP: tag(99, 4),
    faults.TOO_DEEP: b"".join([tag(99, 3)] * 200 + [tag(99, 4)] * 200),
    faults.BAD_TEXT: delimited(2, delimited(2, delimited(3, b"\xff"))),
    # Floats of a gradient: four bytes each.
    faults.BAD_LIST: delimited(1, delimited(9, delimited(19, delimited(3, delimited(3, b"abcde"))))),
}


def test_every_fault_has_words() -> None:
    """Every fault has a description and a number from 1 to 9."""
    numbers = [value for name, value in vars(faults).items() if name.isupper() and isinstance(value, int)]
    assert sorted(numbers) == sorted(faults.FAULTS) == list(range(1, 10))
    assert sorted(numbers) == sorted(getattr(faults, name) for name in NAMES)


def test_no_fault_is_the_number_for_no_fault(core: Core) -> None:
    """The number 0 means no fault, and is not that of a fault."""
    assert core.walk.walk_record(group(99, tag(1, 0) + b"\x01")).fault == 0
    assert 0 not in faults.FAULTS


def test_each_description_continues_a_sentence_and_is_used_once() -> None:
    """Each description is unique, begins with a verb, and has no period."""
    texts = list(faults.FAULTS.values())
    assert len(set(texts)) == len(texts)
    assert all(text.split()[0] in {"ends", "holds", "claims", "is"} and not text.endswith(".") for text in texts)


@pytest.mark.parametrize("fault", faults.FAULTS, ids=list(faults.FAULTS.values()))
def test_the_core_reports_the_fault_of_a_record_by_its_number(core: Core, fault: int) -> None:
    """Both cores report the number of the fault."""
    assert core.walk.walk_record(RECORDS[fault]).fault == fault
