"""Formulas in Markdown: TeX between dollar signs, by GitHub's rules.

A formula is left as written, dollar signs included, in an element of the class `math`; a script of the page
converts it to MathML. Fenced code of the language `math` is a formula too, and needs no handling here.
"""

import re
from collections.abc import Sequence
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererProtocol
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from mdit_py_plugins.dollarmath import dollarmath_plugin

__all__ = ["formulas_plugin"]

# No letter or digit before the first dollar sign or after the last, and no blank inside of them: "$5 and $6" and
# "$HOME/$USER" are not formulas. Possessive quantifiers, so that each dollar sign is searched from once.
INLINE: Final = re.compile(
    r"(?<![\w$])(?:"
    r"\$\$(?=\S)(?:[^$\\]|\\.)++(?<!\s)\$\$"
    r"|\$`[^`$]++`\$"
    r"|\$(?=[^\s`])(?:[^$\\`]|\\.)++(?<!\s)\$"
    r")(?![\w$])",
    re.DOTALL,
)


def inline_formula(state: StateInline, silent: bool) -> bool:  # noqa: FBT001  # called by the parser
    """Parse a formula in a paragraph."""
    if state.src[state.pos] != "$":
        return False
    match = INLINE.match(state.src, state.pos, state.posMax)
    if match is None:
        return False
    if not silent:
        state.push("math_inline", "math", 0).content = match[0]
    state.pos = match.end()
    return True


def render_formula(
    renderer: RendererProtocol,  # noqa: ARG001  # called by the renderer
    tokens: Sequence[Token],
    index: int,
    options: OptionsDict,  # noqa: ARG001  # called by the renderer
    env: EnvType,  # noqa: ARG001  # called by the renderer
) -> str:
    """Return a formula as written."""
    token = tokens[index]
    content = escapeHtml(token.content)
    if token.type == "math_inline":
        return f'<span class="math">{content}</span>'
    return f'<div class="math">$${content}$$</div>\n'


def formulas_plugin(markdown_it: MarkdownIt) -> None:
    """Add formulas to a parser; block formulas are parsed by the plugin, inline formulas here."""
    markdown_it.use(dollarmath_plugin, allow_labels=False, allow_blank_lines=False)
    markdown_it.inline.ruler.at("math_inline", inline_formula)
    markdown_it.add_render_rule("math_inline", render_formula)
    markdown_it.add_render_rule("math_block", render_formula)
