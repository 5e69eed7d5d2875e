"""Replaced text has the size of the original, and none of its content."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.backup.redaction.texts import KNOWN_TYPES, Texts
from holdfast.backup.rules.graphemes import count_graphemes
from tests.examples import examples

WAYS = ("words", "token", "emoji", "numeral", "url", "blur", "currency")


def replace(treatment: str, text: str, seed: int = 1) -> str:
    """Replace a text with a treatment."""
    new = getattr(Texts(random.Random(seed)), treatment)(text.encode())
    assert isinstance(new, bytes)
    return new.decode()


@settings(max_examples=200)
@given(way=st.sampled_from(WAYS), text=st.text(max_size=40), seed=st.integers(0, 1000))
def test_every_way_keeps_lengths_and_nothing_else(way: str, text: str, seed: int) -> None:
    """A replaced text has as many bytes, code points and UTF-16 units, and is not the original."""
    new = replace(way, text, seed)
    assert len(new.encode()) == len(text.encode())
    assert len(new) == len(text)
    assert len(new.encode("utf-16")) == len(text.encode("utf-16"))
    if len(text.encode()) > 4 and not text.startswith("http"):
        assert new != text


@settings(max_examples=examples(200))
@given(
    text=st.text(min_size=1, max_size=30)
    | st.lists(st.sampled_from(["🇩🇪", "e\u0301", "\r\n", "한", "👨‍👩‍👧"])).map("".join)
)
def test_counted_text_has_as_many_characters(text: str) -> None:
    """A replaced text has as many grapheme clusters: a flag is one, a letter with its accent too."""
    new = replace("counted", text)
    assert len(new.encode()) == len(text.encode())
    assert count_graphemes(new) == count_graphemes(text)
    assert new != text or not text


def test_mentions_stay_where_they_are() -> None:
    """The placeholders of mentions stay at their positions, which ranges refer to."""
    new = replace("words", "Ask \ufffc and \ufffc, ok?")
    assert [index for index, sign in enumerate(new) if sign == "\ufffc"] == [4, 10]
    assert replace("words", "\ufffc\ufffc") != "\ufffc\ufffc"


def test_an_emoji_stays_one() -> None:
    """Joiners and variation selectors of an emoji are kept, and its other parts are replaced."""
    assert [sign for sign in replace("emoji", "👨‍👩‍👧") if sign == "\u200d"] == ["\u200d"] * 2
    assert replace("emoji", "❤️").endswith("\ufe0f")
    assert replace("emoji", "❤️")[0] in "⚀⚁⚂⚃⚄⚅"
    assert replace("emoji", "\ufe0f" * 3) != "\ufe0f" * 3


def test_numbers_stay_numbers() -> None:
    """Digits are replaced by digits, and the punctuation between them stays."""
    new = replace("numeral", "+1 (555) 010-1234")
    assert [sign for sign in new if not sign.isdigit()] == list("+ () -")
    assert replace("numeral", "12.50").replace(".", "").isdigit()
    assert replace("numeral", "call me").isalpha()


def test_an_address_keeps_its_scheme() -> None:
    """A replaced URL keeps `https://` and nothing of its host, and a relative path keeps no slash."""
    assert replace("url", "https://example.org/secret").startswith("https://")
    assert "example" not in replace("url", "https://example.org/secret")
    assert "/" not in replace("url", "avatars/secret")


@pytest.mark.parametrize("content_type", sorted(KNOWN_TYPES))
def test_types_that_every_client_writes_stay(content_type: bytes) -> None:
    """Common media types are kept, since they say how to show a file and not what is in it."""
    assert replace("content_type", content_type.decode()) == content_type.decode()


def test_of_other_types_the_first_part_stays() -> None:
    """The first part of another media type is kept only if it is a known one."""
    assert replace("content_type", "image/secret").startswith("image/")
    assert "secret" not in replace("content_type", "image/secret")
    assert "secret" not in replace("content_type", "secret/jpeg")


@pytest.mark.parametrize("version", ["Android 7.23.1", "FooClient 2.0.0", "7.1.0-beta.2", "Desktop v7.70.0"])
def test_versions_of_apps_stay(version: str) -> None:
    """Versions of apps are kept, since a report needs them."""
    assert replace("version", version) == version


@pytest.mark.parametrize("text", ["Meet me at 7.30", "Hello, world", "+15550100123", "a.b", "Jo 7.2 secret"])
def test_what_is_no_version_does_not(text: str) -> None:
    """Text in a version field is replaced if it is not the version of an app."""
    assert replace("version", text) != text


def test_a_currency_becomes_the_one_for_tests() -> None:
    """A currency becomes XTS, the code for tests, since it would reveal the country of a person."""
    assert replace("currency", "CHF") == "XTS"
