"""Isolation of right-to-left names in sentences."""

import pytest

from holdfast.backup.archives.sentences import sentence
from holdfast.backup.bidi import isolated
from holdfast.backup.exports.html.bubbles import sentence_html
from holdfast.backup.exports.markdown_text import heading, inline

HEBREW = "\u05d3\u05e0\u05d4"


@pytest.mark.parametrize("text", ["", "Ada", "Zoë Müller", "山田", "👩‍👩‍👧", "You"])
def test_other_names_stay_as_they_are(text: str) -> None:
    """Names without bidirectional text are returned unchanged."""
    assert isolated(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (HEBREW, f"\u2068{HEBREW}\u2069"),
        ("\u0645\u0631\u064a\u0645", "\u2068\u0645\u0631\u064a\u0645\u2069"),
        ("Ada\u202etxt.exe", "\u2068Adatxt.exe\u2069"),
        ("\u2066\u2067open", "\u2068open\u2069"),
        ("a\u2069b", "\u2068ab\u2069"),
        ("\u200fAda\u061c", "\u2068Ada\u2069"),
        ("\U0001e900", "\u2068\U0001e900\u2069"),
    ],
)
def test_what_turns_the_direction_is_kept_inside(text: str, expected: str) -> None:
    """A name with right-to-left text is put in isolates, without controls that would end them."""
    assert isolated(text) == expected


def test_sentences_and_markdown_isolate_names() -> None:
    """Names in sentences and Markdown are put in isolates, without overriding controls."""
    text = sentence("groupMemberAddedUpdate", {"updaterAci": "a", "newMemberAci": "b"}, None, lambda _who: HEBREW)
    assert text.count(f"\u2068{HEBREW}\u2069") == 2
    renamed = sentence("groupNameUpdate", {"newGroupName": "x\u202ey"}, None, lambda _who: "Ada")
    assert "\u202e" not in renamed
    assert inline(HEBREW) == heading(HEBREW) == f"\u2068{HEBREW}\u2069"
    assert inline("*\u202eb*") == "\u2068\\*b\\*\u2069"


def test_pages_isolate_names_by_markup() -> None:
    """Isolates around a name become `<bdi>`, and a single isolate character in a text is kept."""
    assert sentence_html(f"\u2068{HEBREW}\u2069 joined.") == f"<bdi>{HEBREW}</bdi> joined."
    assert sentence_html("<b>\u2069") == "&lt;b&gt;\u2069"
