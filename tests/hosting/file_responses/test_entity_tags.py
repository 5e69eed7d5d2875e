"""Parsing of entity tags in If-Match and If-None-Match."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.hosting.file_responses.entity_tags import Tags, tags_in

INSIDE = st.characters(min_codepoint=0x21, max_codepoint=0xFF, exclude_characters='"\x7f')
OPAQUE = st.lists(st.text(INSIDE, max_size=8), max_size=4)


@given(strong=OPAQUE, weak=OPAQUE, gap=st.sampled_from([",", " , ", ",\t,"]))
def test_every_list_of_tags_is_parsed(strong: list[str], weak: list[str], gap: str) -> None:
    """Commas inside tags and empty list elements are allowed, and an empty list is no condition."""
    listed = [f'"{tag}"' for tag in strong] + [f'W/"{tag}"' for tag in weak]
    expected = Tags(strong=frozenset(strong), weak=frozenset(weak)) if listed else None
    assert tags_in(gap.join(listed)) == expected
    assert tags_in(f",{gap.join(listed)} ,") == expected


@pytest.mark.parametrize("value", [" * ", "*"])
def test_an_asterisk_matches_any_tag(value: str) -> None:
    """An asterisk, with or without spaces around it, stands for any tag."""
    assert tags_in(value) == Tags(any=True)


@given(st.text(st.characters(max_codepoint=0xFF), max_size=40))
def test_any_header_is_parsed_without_an_error(value: str) -> None:
    """Any header value is parsed as a condition or as none, without an error."""
    tags = tags_in(value)
    assert tags is None or tags.any or tags.strong or tags.weak
