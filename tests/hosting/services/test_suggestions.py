"""Suggested changes in review comments; the tests of the pull request pages apply them."""

import pytest

from holdfast.hosting.services.suggestions import suggestion_in, with_line


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("no fence", None),
        ("```\nplain\n```", None),
        ("Better:\n```suggestion\nline ten\n```\nor so", "line ten\n"),
        ("```suggestion\r\none\r\ntwo\r\n```", "one\ntwo\n"),
        ("```suggestion\n```", ""),
        ("````suggestion\n```\ninner\n```\n````", "```\ninner\n```\n"),
        ("```suggestion\nnever closed", None),
        ("```suggestion\n<b>&amp; \t'\"\n```", "<b>&amp; \t'\"\n"),
        ("<!--\n```suggestion\nhidden\n```\n-->", None),
        ("<!--\n```suggestion\nhidden\n```\n-->\n\n```suggestion\nshown\n```", "shown\n"),
        ("<script>\n```suggestion\nhidden\n```\n</script>\n\n```suggestion\nshown\n```", "shown\n"),
        ("<div><style>\n\n```suggestion\nhidden\n```\n\n</style></div>\n\n```suggestion\nshown\n```", "shown\n"),
        ("````text\n```suggestion\nquoted\n```\n````", None),
        ("<details>\n\n```suggestion\none\n```\n\n</details>\n\n```suggestion\nother\n```", None),
    ],
)
def test_a_suggestion_is_found(body: str, expected: str | None) -> None:
    """A suggestion is the only code block with the language `suggestion` that readers of the comment see."""
    assert suggestion_in(body) == expected


@pytest.mark.parametrize(
    ("content", "line", "text", "expected"),
    [
        (b"a\nb\nc\n", 2, "B\n", b"a\nB\nc\n"),
        (b"a\nb\nc\n", 2, "", b"a\nc\n"),
        (b"a\nb", 2, "B\nC\n", b"a\nB\nC"),
        (b"a\r\nb\r\n", 1, "A\nAA\n", b"A\r\nAA\r\nb\r\n"),
        (b"a\x0cb\nc\n", 1, "x\n", b"x\nc\n"),
        (b"", 1, "x\n", b"x"),
    ],
)
def test_a_line_is_replaced(content: bytes, line: int, text: str, expected: bytes) -> None:
    """A line is replaced by any number of lines, and the line endings of the file are kept."""
    assert with_line(content, line, text) == expected
