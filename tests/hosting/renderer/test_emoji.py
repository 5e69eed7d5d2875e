"""Emoji short names."""

import pytest

from holdfast.hosting.renderer.emoji import OTHER_NAMES, with_emoji
from holdfast.hosting.renderer.markdown import NOWHERE, markdown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (":tada:", "🎉"),
        (":+1: and :-1:", "👍 and 👎"),
        ("Done :white_check_mark:.", "Done ✅\ufe0f."),
        (":heart:", "❤\ufe0f"),
        (":thinking:", "🤔"),
        (":tada: :tada:", "🎉 🎉"),
        ("(:bug:)", "(🐛)"),
    ],
)
def test_a_short_name_becomes_its_emoji(text: str, shown: str) -> None:
    """Emoji that are also text symbols are followed by a variation selector."""
    assert with_emoji(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "",
        ":",
        "::",
        ":no_such_name:",
        "a:tada:",
        ":tada:b",
        "::tada::",
        "12:00:30",
        ":Tada:",
        ":tada",
        "std::x::y",
    ],
)
def test_other_text_is_not_changed(text: str) -> None:
    """Unknown names, times and names in source code are not replaced."""
    assert with_emoji(text) == text


def test_every_added_name_has_an_emoji() -> None:
    """Each additional short name is replaced by an emoji."""
    for name in OTHER_NAMES:
        assert with_emoji(f":{name}:") != f":{name}:"


@pytest.mark.parametrize(
    ("text", "html"),
    [
        (":tada: **:tada:**", "<p>🎉 <strong>🎉</strong></p>\n"),
        ("`:tada:`", "<p><code>:tada:</code></p>\n"),
        ("    :tada:", '<pre tabindex="0"><code>:tada:\n</code></pre>\n'),
        (":tada: @ada", '<p>🎉 <a href="/ada" class="mention" rel="nofollow ugc noopener">@ada</a></p>\n'),
    ],
)
def test_texts_have_emoji_outside_of_code(text: str, html: str) -> None:
    """Short names are replaced in Markdown and beside links, but not in code."""
    assert str(markdown(text, NOWHERE)) == html


def test_urls_are_not_changed() -> None:
    """A short name in a URL is not replaced, and one in the text of a link is."""
    html = str(markdown("https://e.example/:tada: [:tada:](https://e.example/:bug:)", NOWHERE))
    assert 'href="https://e.example/:tada"' in html
    assert ">🎉</a>" in html
    assert "🐛" not in html
