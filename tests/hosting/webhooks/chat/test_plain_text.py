"""Text in chat messages: single lines, truncation, links and URLs."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.hosting.webhooks.chat.plain_text import address, cut, cut_bytes, line, passage, unlinked
from tests.hosting.webhooks.chat.samples import hostile


def test_a_line_is_one_line() -> None:
    """Line breaks, control characters and bidirectional overrides are removed from a line."""
    assert line(" a\r\n\tb\u202ec\x00d\u2028e ", 100) == "a b c d e"
    assert passage("a\r\nb\x00\rc\u202e", 100) == "a\nb\nc"


def test_long_text_is_cut_and_marked() -> None:
    """Long text is cut by characters or by bytes, never inside a character, and ends with an ellipsis."""
    assert (cut("abcdef", 6), cut("abcdefg", 6), cut("abcd  gh", 7)) == ("abcdef", "abcde…", "abcd…")
    assert (cut_bytes("abcdef", 6), cut_bytes("abcdefg", 6), cut_bytes("äöü", 5)) == ("abcdef", "abc…", "ä…")


@given(text=hostile, longest=st.integers(4, 50))
def test_cuts_keep_to_their_length(text: str, longest: int) -> None:
    """Cut text of any content is at most as long as the limit, and a line has no line break."""
    assert len(cut(text, longest)) <= longest
    assert len(cut_bytes(line(text, 10_000), longest).encode()) <= longest
    assert "\n" not in line(text, longest)


def test_links_are_broken_up_but_look_the_same() -> None:
    """Zero-width spaces break URLs, host names, mentions, channels and Markdown links."""
    for text in ("see https://evil.example/x", "www.evil.example", "@room", "#general", "a@b.example", "[a](b)"):
        result = unlinked(text)
        assert result != text
        assert result.replace("\u200b", "") == text
        assert not any(mark in result for mark in ("s://", "l.e", "@r", "#g", "@b", "]("))
    assert unlinked("It leaks. Badly: a/b 50% #") == "It leaks. Badly: a/b 50% #"


@given(text=hostile)
def test_a_url_closes_no_link_markup(text: str) -> None:
    """A URL contains no character that could end a link in the markup of any service."""
    assert not set(address(f"https://git.example.org/{text}")) & set(" ()[]<>|\"'`*\\{}\n")


def test_a_url_is_not_changed() -> None:
    """A valid URL is unchanged except for square brackets, which are percent-encoded."""
    for url in ("https://git.example.org:8443/a/b.c?x=1&y=%20#issuecomment-1", "http://[::1]/"):
        assert address(url) == url.replace("[", "%5B").replace("]", "%5D")
