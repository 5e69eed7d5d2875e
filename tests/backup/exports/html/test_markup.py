"""Escaped text, styled and linked, round-trips through an HTML parser."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.backup.archives.model import TextRange
from holdfast.backup.exports.html.markup import ENTITIES, SPECIAL, escape, insert_names, is_only_emoji, rich_text
from tests.backup.exports.sample_messages import PageParser

HOSTILE = [
    "<script>canary()</script>",
    "</p></li></ol><img src=x onerror=canary()>",
    '" onmouseover="canary()" x="',
    "<!-- --><![CDATA[ ]]><?php ?>",
    "&lt;script&gt; &#60; &amp;amp; &notanentity",
    "javascript:canary() data:text/html,<script>1</script>",
    'https://example.org/"onclick="canary()//<svg/onload=canary()>',
    "http://a.b/'><script>canary()</script>",
    "\x00<\x00script>\x0c\x1b\x7f\x85\ufffe",
    "\u202e\u2066evil\u2069 https://example.org/\u202egpj.exe",
    "]]></style></title></textarea></noscript><plaintext>",
]
TEXTS = st.one_of(st.text(max_size=60), st.sampled_from(HOSTILE), st.lists(st.sampled_from(HOSTILE)).map("".join))
RANGES = st.builds(
    TextRange,
    st.integers(0, 70) | st.just((1 << 32) - 1),
    st.integers(0, 70) | st.just((1 << 32) - 1),
    st.sampled_from(["BOLD", "ITALIC", "SPOILER", "STRIKETHROUGH", "MONOSPACE", "NONE"]),
    st.none(),
    st.none(),
)


def without_invalid_characters(text: str) -> str:
    """Leave out what no page may hold, as the writer does."""
    return SPECIAL.sub(lambda match: match[0] if match[0] in ENTITIES else "", text).replace("\r", "\n")


@settings(max_examples=150)
@given(TEXTS)
def test_text_comes_out_as_it_went_in(text: str) -> None:
    """As the text of an element and as an attribute."""
    parsed = PageParser(f'<p title="{escape(text)}">{escape(text)}</p>')
    assert parsed.text == without_invalid_characters(text)
    assert parsed.tags == ["p"]


@settings(max_examples=150)
@given(TEXTS, st.lists(RANGES, max_size=6))
def test_styles_and_links_change_no_text(text: str, ranges: list[TextRange]) -> None:
    """Ranges that overlap or lie outside make whole elements, and addresses lead to the web only."""
    parsed = PageParser(f"<p>{rich_text(text, ranges)}</p>")
    assert parsed.text == without_invalid_characters(text)
    assert set(parsed.tags) <= {"p", "a", "b", "i", "s", "code", "span"}
    assert all(re.match("https?://", link, re.IGNORECASE) for link in parsed.links)


def test_ranges_count_utf16_units() -> None:
    """An emoji counts as two, and a range that ends inside one takes it whole or not at all."""
    text = "👋 bold 🎉!"
    assert rich_text(text, [TextRange(3, 4, "BOLD", None, None)]) == "👋 <b>bold</b> 🎉!"
    assert rich_text(text, [TextRange(8, 2, "ITALIC", None, None)]) == "👋 bold <i>🎉</i>!"
    assert rich_text("a🎉b", [TextRange(0, 2, "BOLD", None, None)]) == "<b>a</b>🎉b"
    assert rich_text("a🎉b", [TextRange(3, 9, "BOLD", None, None)]) == "a🎉<b>b</b>"


def test_ranges_that_overlap_do_not_cross() -> None:
    """Each piece has all styles that cover it."""
    ranges = [TextRange(0, 4, "BOLD", None, None), TextRange(2, 4, "ITALIC", None, None)]
    assert rich_text("abcdef", ranges) == "<b>ab</b><b><i>cd</i></b><i>ef</i>"


def test_mentions_are_names() -> None:
    """The placeholder is replaced by who is meant, whatever the name is."""
    mention = TextRange(3, 1, None, 5, "<b>Ada")
    assert rich_text("Hi \ufffc!", [mention]) == 'Hi <span class="at"><bdi>@&lt;b&gt;Ada</bdi></span>!'
    assert (
        rich_text("Hi \ufffc", [TextRange(3, 1, None, None, None)])
        == 'Hi <span class="at"><bdi>@Unknown</bdi></span>'
    )
    assert insert_names("Hi \ufffc and \ufffc", [mention, TextRange(9, 1, None, 6, "Bo")]) == "Hi @<b>Ada and @Bo"
    assert insert_names("Hi", [mention]) == "Hi"


@pytest.mark.parametrize(
    ("text", "link"),
    [
        ("see https://example.org/a?b=1&c=2.", "https://example.org/a?b=1&c=2"),
        ("(https://example.org/a_(b))", "https://example.org/a_(b)"),
        ("HTTPS://EXAMPLE.ORG!", "HTTPS://EXAMPLE.ORG"),
        ("https://ex\u202eample.org", "https://ex"),
        ("«https://example.org/é»", "https://example.org/é"),
    ],
)
def test_addresses_end_where_they_end(text: str, link: str) -> None:
    """Punctuation after them is not part of them, nor is what cannot be seen."""
    assert PageParser(f"<p>{rich_text(text)}</p>").links == [link]


@pytest.mark.parametrize(
    "text", ["javascript:alert(1)", "ftp://example.org", "https://", "data:,x", "file:///etc"]
)
def test_nothing_else_is_a_link(text: str) -> None:
    """Only addresses of the web are."""
    assert "<a" not in rich_text(text)


def test_many_ranges_are_quick() -> None:
    """A hostile message costs in proportion to its size."""
    ranges = [TextRange(n, 5000, "BOLD", None, None) for n in range(5000)]
    assert PageParser(f"<p>{rich_text('x' * 10_000, ranges)}</p>").text == "x" * 10_000


def test_a_few_emoji_are_large() -> None:
    """But not words, numbers, or a wall of them."""
    assert is_only_emoji("🎉")
    assert is_only_emoji("👨‍👩‍👧‍👦 👋🏽")
    assert not is_only_emoji("🎉 yes")
    assert not is_only_emoji("12")
    assert not is_only_emoji("é")
    assert not is_only_emoji("🎉" * 100)


def test_signs_that_can_be_seen_are_special_only_where_they_are_looked_for() -> None:
    """Texts of signs that can be seen, without these four, are taken as they are."""
    characters = "".join(map(chr, range(0x110000)))
    assert {sign for sign in SPECIAL.findall(characters) if sign.isprintable()} == set('&<>"')
