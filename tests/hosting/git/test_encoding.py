"""Conversion of names between bytes and text, and the format of object ids."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.hosting.git.encoding import argument, display_name, is_id, raw, well_formed


@given(st.binary())
def test_any_bytes_can_be_shown_and_passed_on(name: bytes) -> None:
    """Any bytes of a name have a valid text for display, and an argument that encodes to the same bytes."""
    display_name(name).encode()
    assert raw(argument(name)) == name == raw(name)


@given(st.binary(), st.text())
def test_any_text_can_be_made_printable(name: bytes, text: str) -> None:
    """Surrogates of undecodable bytes become replacement characters, and valid text does not change."""
    assert well_formed(argument(name)) == display_name(name)
    assert well_formed(text) == text


@given(st.text(st.characters(categories=None)))
def test_any_text_has_bytes(name: str) -> None:
    """Any text, lone surrogates included, is encoded to bytes; valid text is encoded as UTF-8."""
    assert isinstance(raw(name), bytes)
    assert raw("caf\u00e9") == b"caf\xc3\xa9"


def test_an_id_is_as_long_as_git_writes_it() -> None:
    """An object id has 40 or 64 lower-case hexadecimal digits."""
    assert is_id("0123456789abcdef" * 4)
    assert is_id("a" * 40)
    for wrong in ("a" * 39, "a" * 41, "A" * 40, "g" * 40, "a" * 40 + "\n", ""):
        assert not is_id(wrong)
