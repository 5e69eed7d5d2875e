"""Removal of code and HTML comments from Markdown."""

import pytest

from holdfast.hosting.errors import ParsingBusy
from holdfast.hosting.renderer import outside_code as subject
from holdfast.hosting.renderer.markdown import SMALL
from holdfast.hosting.renderer.outside_code import outside_code
from holdfast.hosting.renderer.render_process import PARSER_PROCESS, RenderBusy, RenderFailed


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("`a` b", "` b"),
        ("a `` b ` c `` d", "a ` d"),
        ("a\n`b\nc` d", "a\n` d"),
        (r"\`a\` `b`", r"\`a\` `"),
        ("`a and ``b", "`a and ``b"),
        ("```\na\n```\nb", "b"),
        ("~~~text\na\n~~~\n\nb\n\n```\nunclosed", "b"),
        ("    a\n\nb\n    c", "b\n    c"),
        ("\ta\n\nb", "b"),
        ("  \ta\n\nb", "b"),
        ("> - a\n>\n>       b", "a"),
        ("| a | `b` |\n|---|---|\n| c | d |", "a\n\n`\n\nc\n\nd"),
        ("<!-- a\nb -->\nc", "`\n\n\nc"),
        ("a <!-- b --> c <!-- d", "a ` c `"),
        ("<details>\n`a` b <!-- c -->\n</details>", "<details>\n` b `\n</details>"),
    ],
)
def test_code_and_comments_are_removed(text: str, expected: str) -> None:
    """Code and comments inside a text are replaced by a backtick, so that the words around them are not joined."""
    assert outside_code(text) == expected


def test_a_long_text_is_parsed_in_the_render_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long text is parsed by the render process, and code is removed from it as well."""
    monkeypatch.setattr(subject, "text_blocks", None)
    assert outside_code("`a` b \udc80 " + "c " * SMALL) == "` b ? " + "c " * (SMALL - 1) + "c"


def test_a_long_text_is_left_whole_if_it_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text that cannot be parsed keeps its code, since a keyword in code is better than a lost one."""

    def fail(*_arguments: object) -> None:
        raise RenderFailed

    monkeypatch.setattr(PARSER_PROCESS, "run", fail)
    text = "`a` " * SMALL
    assert outside_code(text) == text


def test_a_long_text_is_refused_if_too_many_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pull request is not merged before it is known which of its keywords are in code."""

    def fail(*_arguments: object) -> None:
        raise RenderBusy

    monkeypatch.setattr(PARSER_PROCESS, "run", fail)
    with pytest.raises(ParsingBusy):
        outside_code("`a` " * SMALL)
    assert outside_code("`a` b") == "` b"


def test_a_text_without_code_is_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text without code or comments is returned without parsing it."""
    monkeypatch.setattr(subject, "BLOCKS", None)
    monkeypatch.setattr(PARSER_PROCESS, "run", None)
    text = "# Heading\n\nfixes #1 & ~~not~~ <b>this</b>\n   three spaces\n" * 500
    assert outside_code(text) is text
