"""The declarations for the C compiler equal the Python source, and the schema fits their limits."""

import re
from pathlib import Path

from holdfast.backup.wire import layout, tables


def test_the_compiler_is_told_the_same_numbers() -> None:
    """The constants of `layout.py` and `layout.pxd` are the same."""
    text = Path(str(layout.__file__)).with_suffix(".pxd").read_text()
    declared = dict(re.findall(r"^    (\w+) = (\d+)$", text, re.MULTILINE))
    expected = {name: int(number) for name, number in declared.items()}
    assert {name: getattr(layout, name) for name in layout.__all__} == expected


def test_the_registers_have_room_for_every_message() -> None:
    """No bounds check covers them: there is a row for each level, and a place and a bit for each field number."""
    assert layout.LEVELS == layout.MAX_DEPTH + 2
    assert layout.REGISTERS == layout.LEVELS * layout.WIDTH
    assert max(tables.LIMITS) <= layout.WIDTH < 64


def test_what_is_known_of_a_message_fits_into_one_number() -> None:
    """The base and the limit of a message fit into their bits of one number."""
    assert max(tables.BASES) < 1 << layout.LIMIT_AT
    assert max(tables.LIMITS) < 1 << 8
    assert max(tables.TARGETS) < 1 << 32
