"""File names in Content-Disposition."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.hosting.file_responses.files import disposition


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("README.md", "inline; filename=README.md"),
        ("a b.txt", 'inline; filename="a b.txt"'),
        ('a"b\\.txt', 'inline; filename="a\\"b\\\\.txt"'),
        ("näme.txt", "inline; filename=\"n_me.txt\"; filename*=utf-8''n%C3%A4me.txt"),
        ("a\r\nSet-Cookie: x", "inline; filename=\"a__Set-Cookie: x\"; filename*=utf-8''a%0D%0ASet-Cookie%3A%20x"),
        ("", 'inline; filename=""'),
    ],
)
def test_a_file_name_is_encoded_for_a_header(name: str, header: str) -> None:
    """A file name is quoted if necessary, and percent-encoded as UTF-8 if it is not ASCII."""
    assert disposition(name) == header


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_file_name_adds_no_parameters(name: str) -> None:
    """No file name ends the header or its quoted string."""
    header = disposition(name, "attachment")
    assert header.isascii()
    assert header.isprintable()
    inside = header.removeprefix("attachment; filename=")
    if inside.startswith('"'):
        quoted = inside[1:].replace("\\\\", "").replace('\\"', "")
        assert quoted.partition('"')[2] == "" or quoted.partition('"')[2].startswith("; filename*=utf-8''")
