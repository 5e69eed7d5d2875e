"""Highlighting of the fenced code blocks of Markdown."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markupsafe import Markup

from holdfast.hosting.renderer.code_blocks import MOST
from holdfast.hosting.renderer.markdown import NOWHERE, markdown, render
from holdfast.hosting.renderer.render_process import RENDERER, RenderBusy, RenderFailed

SPAN = re.compile(r'</?span(?: class="[a-z]{1,2}")?>')


def test_code_is_highlighted_in_the_language_of_its_fence() -> None:
    """Identifiers are those of other sites, in any case; each block has its own."""
    html = markdown('```py\nif x < "<b>":\n    pass\n```\n\n```C++\nreturn 1;\n```\n\n```sh\necho # x\n```\n')
    assert '<span class="k">if</span> x &lt; <span class="s">&#34;</span><span class="s">&lt;b&gt;</span>' in html
    assert '<span class="k">return</span> <span class="n">1</span>;\n</code></pre>' in html
    assert '<span class="c"># x</span>' in html


@pytest.mark.parametrize("identifier", ["", "nolanguage", "math", "mermaid", "suggestion", "../etc"])
def test_code_of_an_unknown_language_stays_plain(identifier: str) -> None:
    """Scripts of the page draw formulas and diagrams from the plain text."""
    text = f"```{identifier}\nif x: pass\n```\n"
    assert markdown(text) == render(text, NOWHERE)


@settings(max_examples=40)
@given(st.text(alphabet=st.sampled_from("ab\"'<>&#/*\n\t {}()=:;\\é\u202e\xa0"), max_size=60))
def test_highlighting_keeps_the_code(code: str) -> None:
    """Without the elements of the highlighting, the text of a block is what it was, whatever it contains."""
    text = f"~~~~js\n{code}\n~~~~\n"
    assert Markup(SPAN.sub("", markdown(text))).unescape() == Markup(render(text, NOWHERE)).unescape()


def test_code_beyond_a_limit_stays_plain() -> None:
    """Markup makes a page several times as long as its code."""
    short, long = "```py\npass\n```\n\n", "pass\n" * (MOST // 5)
    html = markdown(f"{short}```py\n{long}```\n\n{short}")
    assert html.count('<span class="k">pass</span>') == 1


@pytest.mark.parametrize(("problem", "times"), [(RenderFailed, 1), (RenderBusy, 2)])
def test_code_that_takes_too_long_stays_plain(
    monkeypatch: pytest.MonkeyPatch, problem: type[Exception], times: int
) -> None:
    """The rest of the text is rendered; it is not tried again, unless the render process was only busy."""
    tries: list[str] = []

    def fail(kind: str, *_rest: object) -> None:
        tries.append(kind)
        raise problem

    monkeypatch.setattr(RENDERER, "run", fail)
    text = f"*tide*\n\n```py\nreturn {times}\n```\n"
    for _ in range(2):
        assert markdown(text) == render(text, NOWHERE)
    assert tries == ["highlight_blocks"] * times
