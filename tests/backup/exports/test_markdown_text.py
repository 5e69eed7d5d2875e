"""Text escaped as Markdown round-trips through a renderer."""

from html.parser import HTMLParser

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from holdfast.backup.bidi import CONTROLS
from holdfast.backup.exports.markdown_text import block, heading, inline, item, normalize, prefix_lines
from holdfast.backup.exports.schemas import ExportedTextRange
from tests.examples import examples

RENDERERS = (
    MarkdownIt("commonmark", {"html": True}),
    MarkdownIt("commonmark", {"html": False}),
    MarkdownIt("default", {"html": True}),
)
GFM = RENDERERS[2]
STYLES = ["BOLD", "ITALIC", "SPOILER", "STRIKETHROUGH", "MONOSPACE"]
# Letters are dull; what means something to Markdown, HTML or a spreadsheet is not.
SIGNS = st.sampled_from("ab1 \n\t\\`*_{}[]()#+-.!<>&|~=:\"'/;$^%@\u00a0é😀\ufffc\u3000")
PARTS = st.sampled_from(
    (
        "<script>alert(1)</script>",
        "[x](javascript:alert(1))",
        "![x](y)",
        "&lt;",
        "&#60;",
        "```\n",
        "    x",
        "1. a",
        "- a",
        "> q",
        "# h",
        "a\n===",
        "a\n---",
        "|a|b|\n|-|-|",
        "<!-- ",
        "<javascript:x>",
        "[a]: b\n",
        "\\\n",
        "~~~",
    )
)
TEXTS = st.lists(SIGNS | PARTS | st.characters(exclude_categories=["Cs"]), max_size=24).map("".join)


class TextParser(HTMLParser):
    """An HTML parser that collects the text of a page, with line breaks, and its elements."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.text = ""
        self.elements: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.elements.append(tag)
        assert not attrs

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record an element without content."""
        self.handle_starttag(tag, attrs)

    def handle_data(self, data: str) -> None:
        """Gather text."""
        self.text += data

    def handle_comment(self, data: str) -> None:
        """Fail on a comment."""
        raise AssertionError(data)


def parse(html: str) -> TextParser:
    """Read a page."""
    parser = TextParser()
    parser.feed(html)
    parser.close()
    return parser


@pytest.mark.parametrize("renderer", RENDERERS)
@settings(max_examples=examples(600), deadline=None)
@given(text=TEXTS)
@example("a\n\n\nb")
@example("\n")
@example(" a \n  b  ")
@example("\ta\n\u3000")
@example("\x1b[31m\x00")
def test_a_text_comes_out_as_it_went_in(renderer: MarkdownIt, text: str) -> None:
    """An escaped text is rendered unchanged, as one paragraph with its line breaks."""
    page = parse(renderer.render(f"**Ada**\n\n{block(text)}\n\nend\n"))
    assert page.text == (f"Ada\n{normalize(text)}\nend\n" if text else "Ada\nend\n")
    assert set(page.elements) <= {"p", "br", "strong"}
    assert page.elements.count("p") == (3 if text else 2)


@pytest.mark.parametrize("renderer", RENDERERS)
@settings(max_examples=examples(60), deadline=None)
@given(text=TEXTS)
def test_a_quoted_text_stays_in_its_quote(renderer: MarkdownIt, text: str) -> None:
    """A text in a block quote stays one paragraph of it, whatever its lines begin with."""
    page = parse(renderer.render(f"{prefix_lines('x ' + block(text), '> ')}\n\nafter"))
    assert page.elements[:2] == ["blockquote", "p"]
    assert set(page.elements) <= {"blockquote", "p", "br"}
    assert page.elements.count("p") == 2


@pytest.mark.parametrize("renderer", RENDERERS)
@settings(max_examples=examples(60), deadline=None)
@example(name="\u2066")
@given(name=TEXTS)
def test_a_name_stays_in_its_place(renderer: MarkdownIt, name: str) -> None:
    """A name in a heading, a list, a link or bold text adds no element and is shown unchanged.

    Directional controls are ignored in the comparison.
    """
    plain = " ".join(CONTROLS.sub("", normalize(name)).split())
    for template, write, elements in (
        ("# {}", heading, ["h1"]),
        ("- {}", item, ["ul", "li"]),
        ("[{}](y)", inline, ["p", "a"]),
        ("**{}** 14:05", inline, ["p", "strong"]),
    ):
        if plain:
            parser = LinkParser()
            parser.feed(renderer.render(template.format(write(name))))
            text_shown = CONTROLS.sub("", parser.text)
            assert " ".join(text_shown.split()).removesuffix(" 14:05") == plain
            assert parser.elements == elements


def test_addresses_and_sums_stay_readable() -> None:
    """Characters that are no markup where they are, are not escaped."""
    for text in (
        "https://example.org/snake_case?a=1&b=2#c",
        "1 < 2 > 1",
        "+1 555 0120 (a|b)",
        "C# & D",
        "50% - 3",
    ):
        assert inline(text) == text


class LinkParser(TextParser):
    """A parser of pages that may have links."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.elements.append(tag)
        assert attrs == ([("href", "y")] if tag == "a" else [])


RANGES = st.lists(
    st.builds(
        ExportedTextRange,
        start=st.integers(0, 12),
        length=st.integers(0, 20) | st.just(2**32 - 1),
        style=st.sampled_from(STYLES),
    ),
    max_size=5,
)


@settings(max_examples=examples(200), deadline=None)
@given(text=TEXTS.filter(lambda text: "\r" not in text), ranges=RANGES)
@example("a*b*c", [ExportedTextRange(1, 3, "BOLD")])
@example("(a)b", [ExportedTextRange(0, 3, "BOLD")])
@example("ab", [ExportedTextRange(0, 1, "BOLD"), ExportedTextRange(1, 1, "ITALIC")])
@example("a`b", [ExportedTextRange(1, 2, "MONOSPACE")])
@example("ab", [ExportedTextRange(0, 2, "STRIKETHROUGH"), ExportedTextRange(0, 1, "BOLD")])
def test_styles_change_no_text(text: str, ranges: list[ExportedTextRange]) -> None:
    """Overlapping styles leave the text unchanged, and are rendered as elements."""
    page = parse(GFM.render(f"x\n\n{block(text, ranges)}"))
    visible = page.text.removeprefix("x\n").rstrip("\n")
    if any(text_range.style == "SPOILER" for text_range in ranges):
        visible, text = visible.replace("|", ""), text.replace("|", "")
    assert visible.strip() == normalize(text).strip()
    assert set(page.elements) <= {"p", "br", "strong", "em", "s", "code"}


def test_styles_are_shown() -> None:
    """Each style has its Markdown syntax, and a spoiler is put between double bars."""
    ranges = [ExportedTextRange(n * 2, 1, style) for n, style in enumerate(STYLES)]
    html = GFM.render(block("a b c d e", ranges))
    expected = "<strong>a</strong> <em>b</em> ||c|| <s>d</s> <code>e</code>"
    assert html == f"<p>{expected}</p>\n"


def test_places_count_as_the_format_counts_them() -> None:
    """The offsets of ranges count UTF-16 units, of which an emoji has two."""
    assert GFM.render(block("😀bold😀", [ExportedTextRange(2, 4, "BOLD")])) == "<p>😀<strong>bold</strong>😀</p>\n"


def test_mentions_become_names() -> None:
    """Mentions become escaped names, and an unknown person becomes "Unknown"."""
    ranges = [
        ExportedTextRange(0, 1, mention_id=1, mention="*Ada*"),
        ExportedTextRange(5, 1, mention_aci="unknown"),
    ]
    assert GFM.render(block("\ufffc or \ufffc", ranges)) == "<p>@*Ada* or @Unknown</p>\n"
