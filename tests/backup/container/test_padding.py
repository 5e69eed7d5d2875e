"""Padding: sizes are rounded up in steps of five percent."""

from math import ceil, floor, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.backup.container.padding import padded

SIZES = st.integers(0, 2**40)


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (0, 541),
        (1, 541),
        (541, 541),
        (542, 568),
        (568, 568),
        (569, 596),
        (1000, 1020),
        (10_000, 10_110),
        (1_000_000, 1_041_743),
    ],
)
def test_known_sizes(size: int, expected: int) -> None:
    """The published sizes are padded as published, and empty content like one byte."""
    assert expected == padded(size)


@given(SIZES)
def test_never_smaller_and_at_most_five_percent_larger(size: int) -> None:
    """Padding only adds, and beyond the smallest size adds no more than a step."""
    assert size <= padded(size) <= max(541, size * 1.05 + 1)


@given(SIZES, SIZES)
def test_larger_content_never_makes_a_smaller_file(one: int, other: int) -> None:
    """The padded size never decreases when the content grows."""
    small, large = sorted((one, other))
    assert padded(small) <= padded(large)


@given(SIZES.filter(lambda size: size > 0))
def test_it_is_the_formula_of_the_format(size: int) -> None:
    """The padded size is that of the format's formula, or the size itself where doubles round below it."""
    assert padded(size) == max(size, 541, floor(1.05 ** ceil(log(size) / log(1.05))))


def test_a_step_is_its_own_padded_size() -> None:
    """Every step a backup can reach stays where it is when padded again."""
    steps = [floor(1.05**power) for power in range(130, 455)]
    assert steps == [padded(step) for step in steps]


def test_a_negative_size_is_a_mistake() -> None:
    """A negative size is a ValueError."""
    with pytest.raises(ValueError, match="negative"):
        padded(-1)
