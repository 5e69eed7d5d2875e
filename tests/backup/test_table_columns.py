"""Columns of tables."""

import pytest

from holdfast.backup.table_columns import Column, columns


def test_columns_are_parsed() -> None:
    """A column without a kind is text; the other kinds have one letter."""
    assert columns("a b:l c:i d:f e:t") == (
        Column("a", "text"),
        Column("b", "label"),
        Column("c", "int"),
        Column("d", "flag"),
        Column("e", "time"),
    )
    with pytest.raises(KeyError):
        columns("a:x")
