"""Escaped text, styled and linked, round-trips through an HTML parser."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.backup.archives.model import TextRange
from holdfast.backup.exports.html.markup import ENTITIES, SPECIAL, escape, insert_names, is_only_emoji, rich_text
from tests.backup.exports.hostile import TEXT_OR_MARKUP
from tests.backup.exports.sample_messages import PageParser

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


class TitleParser(PageParser):
    """A parser that keeps the title of an element."""

    title: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Check an element, and keep its title."""
        super().handle_starttag(tag, attrs)
        self.title = dict(attrs)["title"]


@settings(max_examples=150)
@given(TEXT_OR_MARKUP)
def test_text_comes_out_as_it_went_in(text: str) -> None:
    """Escaped text is parsed back unchanged, in an element and in an attribute."""
    parsed = TitleParser(f'<p title="{escape(text)}">{escape(text)}</p>')
    assert parsed.text == parsed.title == without_invalid_characters(text)
    assert parsed.tags == ["p"]


@settings(max_examples=150)
@given(TEXT_OR_MARKUP, st.lists(RANGES, max_size=6))
def test_styles_and_links_change_no_text(text: str, ranges: list[TextRange]) -> None:
    """Ranges that overlap or lie outside give balanced elements, and links are http or https only."""
    parsed = PageParser(f"<p>{rich_text(text, ranges)}</p>")
    assert parsed.text == without_invalid_characters(text)
    assert set(parsed.tags) <= {"p", "a", "b", "i", "s", "code", "span"}
    assert all(re.match("https?://", link, re.IGNORECASE) for link in parsed.links)


def test_ranges_count_utf16_units() -> None:
    """An emoji counts as two units, and a range that ends inside one styles it as a whole or not at all."""
    text = "👋 bold 🎉!"
    assert rich_text(text, [TextRange(3, 4, "BOLD", None, None)]) == "👋 <b>bold</b> 🎉!"
    assert rich_text(text, [TextRange(8, 2, "ITALIC", None, None)]) == "👋 bold <i>🎉</i>!"
    assert rich_text("a🎉b", [TextRange(0, 2, "BOLD", None, None)]) == "<b>a</b>🎉b"
    assert rich_text("a🎉b", [TextRange(3, 9, "BOLD", None, None)]) == "a🎉<b>b</b>"


def test_ranges_that_overlap_do_not_cross() -> None:
    """Overlapping ranges are split into pieces that have all the styles that cover them."""
    ranges = [TextRange(0, 4, "BOLD", None, None), TextRange(2, 4, "ITALIC", None, None)]
    assert rich_text("abcdef", ranges) == "<b>ab</b><b><i>cd</i></b><i>ef</i>"


def test_mentions_are_names() -> None:
    """The placeholder of a mention is replaced by the escaped name, or by "Unknown"."""
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
    """Punctuation and invisible characters after a URL are not part of its link."""
    assert PageParser(f"<p>{rich_text(text)}</p>").links == [link]


@pytest.mark.parametrize(
    "text", ["javascript:alert(1)", "ftp://example.org", "https://", "data:,x", "file:///etc"]
)
def test_nothing_else_is_a_link(text: str) -> None:
    """URLs of other schemes than http and https are not linked."""
    assert "<a" not in rich_text(text)


def test_many_ranges_are_quick() -> None:
    """A text with 5,000 overlapping ranges is rendered with its text unchanged."""
    ranges = [TextRange(n, 5000, "BOLD", None, None) for n in range(5000)]
    assert PageParser(f"<p>{rich_text('x' * 10_000, ranges)}</p>").text == "x" * 10_000


def test_a_few_emoji_are_large() -> None:
    """A text of a few emoji counts as emoji only; words, numbers and long rows of emoji do not."""
    assert is_only_emoji("🎉")
    assert is_only_emoji("👨‍👩‍👧‍👦 👋🏽")
    assert not is_only_emoji("🎉 yes")
    assert not is_only_emoji("12")
    assert not is_only_emoji("é")
    assert not is_only_emoji("🎉" * 100)


def test_signs_that_can_be_seen_are_special_only_where_they_are_looked_for() -> None:
    """The only printable characters that are escaped are &, <, > and the double quote."""
    characters = "".join(map(chr, range(0x110000)))
    assert {sign for sign in SPECIAL.findall(characters) if sign.isprintable()} == set('&<>"')
