"""Formulas in Markdown."""

import time

import pytest

from holdfast.hosting.renderer.markdown import NOWHERE, render


def render_paragraph(text: str) -> str:
    """Render a text of one paragraph."""
    return render(text, NOWHERE).strip()


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("the level $h_1$ at noon", "$h_1$"),
        ("$a$ = 1", "$a$"),
        ("($x^2$)", "$x^2$"),
        ("$x$-axis, $", "$x$"),
        ("so $$\\sum_i x_i$$ then", "$$\\sum_i x_i$$"),
        ("it is $`a_{*}b*`$.", "$`a_{*}b*`$"),
        ("over $a +\nb$ lines", "$a +\nb$"),
        ("with $\\$5$ inside", "$\\$5$"),
        ("not linked: $#1 @admin$", "$#1 @admin$"),
        ("$a < b & c$", "$a &lt; b &amp; c$"),
        ("$<b>x</b>$", "$&lt;b&gt;x&lt;/b&gt;$"),
    ],
)
def test_a_formula_in_a_paragraph_keeps_its_source(text: str, formula: str) -> None:
    """A formula keeps its dollar signs, to be readable without scripts, and contains no Markdown or links."""
    html = render_paragraph(text)
    assert f'<span class="math">{formula}</span>' in html
    assert html.count("<span") == 1
    assert "<em>" not in html
    assert "<a" not in html


@pytest.mark.parametrize(
    "text",
    [
        "it costs $5 and $6",
        "between $5-$6",
        "$5, or 6$5",
        "US$5 or CA$6",
        "$HOME/$USER",
        "${a} ${b}",
        "$ x $",
        "$ x$",
        "$x $",
        "a lone $ sign",
        "$$",
        r"\$x\$",
        r"\$x$",
        "`$x$`",
        "$a `x$`",
        "x$y$",
        "$x$y",
    ],
)
def test_other_dollar_signs_are_text(text: str) -> None:
    """Prices, shell variables, code and escaped dollar signs are no formulas."""
    assert "math" not in render_paragraph(text)
    assert "$" in render_paragraph(text)


def test_a_formula_on_lines_of_its_own_is_a_block() -> None:
    """A block may have several lines, but no blank line."""
    assert render_paragraph("$$\na_1 < b\n$$") == '<div class="math">$$\na_1 &lt; b\n$$</div>'
    assert render_paragraph("$$x$$") == '<div class="math">$$x$$</div>'
    assert "math" not in render_paragraph("$$\nx\n\ny$$")


def test_fenced_code_of_the_language_is_a_formula_for_the_script() -> None:
    """Fenced code of the language `math` is a code block, which a script renders later."""
    assert '<code class="language-math">x^2' in render_paragraph("```math\nx^2\n```")


def test_formulas_stand_in_headings_lists_tables_and_links() -> None:
    """Formulas are recognized in headings, lists, tables and the text of links."""
    html = render("# On $x$\n\n- $y$\n\n|a|\n|-|\n|$z$|\n\n[$w$](https://example.org)", NOWHERE)
    for formula in "xyzw":
        assert f'<span class="math">${formula}$</span>' in html


@pytest.mark.parametrize("text", ["$a ", "$$a ", "$`", "$\\", "x$", "$$$$x"])
def test_unclosed_dollar_signs_take_linear_time(text: str) -> None:
    """Forty thousand characters with unclosed dollar signs are rendered within three seconds of CPU time."""
    before = time.process_time()
    assert 'class="math"' not in render(text * (40_000 // len(text)), NOWHERE)
    assert time.process_time() - before < 3
