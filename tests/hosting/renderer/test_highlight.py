"""Syntax highlighting."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markupsafe import Markup, escape

from holdfast.hosting.renderer import highlight
from holdfast.hosting.renderer.highlight import Text, coloured, language, plain
from holdfast.hosting.renderer.render_process import RENDERER, RenderFailed, RenderProcess

TAG = re.compile(r'</?span(?: class="[a-z]{1,2}")?>')


def text_in(lines: Text) -> list[str]:
    """Return the lines without their markup."""
    return [Markup(TAG.sub("", line)).unescape() for line in lines]


@settings(max_examples=60)
@given(st.text(alphabet=st.sampled_from("ab\"'<>&#/*\n\r\t {}()=:;\\`é\u202e\x0b\x00"), max_size=80))
def test_highlighting_keeps_the_text(text: str) -> None:
    """Highlighted lines without their markup are the lines of the plain text, for any content."""
    for name in ("a.py", "a.js", "a.html", "a.c"):
        lines = coloured(f"{name}{text}", name, text)
        assert text_in(lines) == [line.unescape() for line in plain(text)]


def test_languages_are_recognized_by_the_file_name() -> None:
    """A file of an unknown language is escaped and not highlighted."""
    assert (language("x.py"), language("Makefile"), language("notes")) == ("Python", "Makefile", "")
    assert coloured("1", "x.py", "def go(): pass\n") == [
        '<span class="k">def</span> <span class="f">go</span>(): <span class="k">pass</span>'
    ]
    assert list(coloured("1", "notes", "def <go>")) == ["def &lt;go&gt;"]


def test_a_comment_over_several_lines_is_coloured_on_each() -> None:
    """Each line has its own markup, so that it can be linked to."""
    assert coloured("2", "x.c", "/* a\n b */\n") == ['<span class="c">/* a</span>', '<span class="c"> b */</span>']


def test_slow_code_is_not_highlighted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Large files, very long lines and code over the CPU limit are shown as plain text."""
    assert list(coloured("3", "x.py", "def go(): pass\n" * 20_000)) == ["def go(): pass"] * 20_000
    assert list(coloured("4", "x.py", f"x = '{'a' * 5000}'")) == [escape(f"x = '{'a' * 5000}'")]
    slow = RenderProcess(cpu_seconds=0.000_001)
    monkeypatch.setattr(highlight, "RENDERER", slow)
    assert list(coloured("5", "x.py", "def late(): pass\n")) == ["def late(): pass"]
    slow.close()


def test_highlighted_code_is_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    """Code that took too long is cached as plain text too, so that it is not tried at every view."""
    tries: list[str] = []

    def fail(kind: str, *_rest: object) -> None:
        tries.append(kind)
        raise RenderFailed

    first = coloured("6", "x.py", "def once(): pass\n")
    monkeypatch.setattr(RENDERER, "run", fail)
    assert coloured("6", "x.py", "def once(): pass\n") == first
    for _ in range(2):
        assert list(coloured("7", "x.py", "def late(): pass\n")) == ["def late(): pass"]
    assert len(tries) == 1


def test_a_very_long_line_is_cut() -> None:
    """A line of 20,000 characters is cut to about half of that, with a note."""
    (line,) = plain("a" * 20_000)
    assert len(line) < 10_100
    assert "cut here" in line


def test_only_the_lines_that_are_read_are_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page of a long text without highlighting does not pay for the lines of the other pages."""
    escaped: list[str] = []
    cut = highlight.cut

    def counted(line: str) -> Markup:
        escaped.append(line)
        return cut(line)

    monkeypatch.setattr(highlight, "cut", counted)
    lines = plain("<first>\n" + "other\n" * 50_000)
    assert (len(lines), list(lines[:2])) == (50_001, ["&lt;first&gt;", "other"])
    assert escaped == ["<first>", "other"]
