"""Error messages, and the documented tree of exceptions."""

import re

import pytest

from holdfast.backup import errors
from holdfast.backup.errors import BackupError, DamagedBackup, KeyIncomplete, UnfitJson


def family(root: type[BackupError], depth: int = 0) -> dict[str, int]:
    """Return the names of all subclasses of `root` with their depth in the tree."""
    tree = {root.__name__: depth}
    for child in root.__subclasses__():
        # One that was used by its public name shows that module instead of its own.
        if getattr(errors, child.__name__, None) is child:
            tree |= family(child, depth + 1)
    return tree


def test_the_tree_is_drawn_whole() -> None:
    """The tree in the docstring has every error class at its depth, and so has `__all__`."""
    tree_lines = re.findall(r"^((?:[│ ]   |[├└]── )*)([A-Z]\w+)(?:  |$)", errors.__doc__ or "", re.MULTILINE)
    actual = family(BackupError)
    assert {name: len(indent) // 4 for indent, name in tree_lines} == actual
    assert set(errors.__all__) == set(actual)


@pytest.mark.parametrize("name", errors.__all__)
def test_every_class_explains_itself(name: str) -> None:
    """The docstring of each error class begins with a sentence."""
    assert (getattr(errors, name).__doc__ or "").splitlines()[0].endswith(".")


def test_damage_inside_the_plain_stream_names_frame_and_byte() -> None:
    """The frame and the byte are in the message and in the attributes."""
    damage = DamagedBackup("the record is odd", frame=3, offset=70)
    assert str(damage) == "the record is odd (frame 3, byte 70)"
    assert (damage.problem, damage.frame, damage.offset) == ("the record is odd", 3, 70)
    assert damage.stream == "plain stream"


def test_damage_around_the_plain_stream_names_what_it_counts_in() -> None:
    """An error outside of the plain stream has the byte of the file or of the compressed stream."""
    assert str(DamagedBackup("it is cut", offset=9)) == "it is cut (byte 9 of the file)"
    damage = DamagedBackup("it is cut", offset=9, stream="compressed stream")
    assert str(damage) == "it is cut (byte 9 of the compressed stream)"
    assert (damage.frame, damage.stream) == (None, "compressed stream")


def test_a_missing_key_can_be_asked_for() -> None:
    """`missing` lists the missing keys, so a program can prompt for them."""
    assert KeyIncomplete("it needs more", missing=("the account id",)).missing == ("the account id",)


def test_damage_in_json_is_counted_in_lines_or_records() -> None:
    """An error in JSON has the number of the line or record in place of a byte."""
    damage = DamagedBackup("it is odd", offset=3, unit="line")
    assert str(damage) == "it is odd (line 3 of the file)"
    assert (damage.unit, damage.offset, damage.frame) == ("line", 3, None)


def test_a_path_in_json_is_shown_in_bounds() -> None:
    """A long path is shortened, and control characters in it are replaced."""
    assert str(UnfitJson("is wrong", path="")) == "the object is wrong"
    assert str(UnfitJson("is wrong", path="a\x1b[31m.b")) == "a?[31m.b is wrong"
    long = UnfitJson("is wrong", path="begin." + "x" * 100_000 + ".end")
    assert len(str(long)) < 200
    assert str(long).startswith("begin.")
    assert str(long).endswith(".end is wrong")
