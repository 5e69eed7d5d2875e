"""Conditions of file changes."""

import pytest

from holdfast.hosting.errors import ConditionFailed
from holdfast.hosting.services.file_changes import Condition

A, B = "a" * 40, "b" * 40


@pytest.mark.parametrize(
    ("condition", "on_a", "on_nothing"),
    [
        (Condition(), True, True),
        (Condition(is_there=True), True, False),
        (Condition(is_missing=True), False, True),
        (Condition(is_there=True, is_missing=True), False, False),
        (Condition(one_of=frozenset({A, B})), True, False),
        (Condition(one_of=frozenset({B})), False, False),
        (Condition(one_of=frozenset()), False, False),
        (Condition(none_of=frozenset({B})), True, True),
        (Condition(none_of=frozenset({A, B})), False, True),
    ],
)
def test_each_condition_accepts_or_refuses_a_file(condition: Condition, *, on_a: bool, on_nothing: bool) -> None:
    """Each condition is checked against an existing file and against a missing one."""
    for blob, expected in ((A, on_a), (None, on_nothing)):
        if expected:
            condition.check("x", blob)
        else:
            with pytest.raises(ConditionFailed, match=r"x|sha does not match"):
                condition.check("x", blob)
