"""The parts of a Markdown text that are neither code nor an HTML comment, where closing keywords count."""

import re
from typing import Final

from markdown_it import MarkdownIt

from holdfast.hosting.errors import ParsingBusy
from holdfast.hosting.renderer.markdown import SMALL
from holdfast.hosting.renderer.render_process import PARSER_PROCESS, RenderBusy, RenderFailed

__all__ = ["outside_code", "text_blocks"]

# A text without any of these has neither code nor comments, and is not parsed: most texts.
HINT: Final = re.compile(r"`|~~~|<!--| {4}|\t")
# A code span begins and ends with equally many backticks; a backslash before the first makes it none.
CODE_SPAN: Final = re.compile(r"(?<![`\\])(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
COMMENT: Final = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
# What stands for code and comments, so that the words around them do not become neighbours.
REMOVED: Final = "`"
# Blocks only: what is inside a paragraph stays as it is written.
BLOCKS: Final = MarkdownIt("commonmark").enable("table").disable("inline")


def outside_code(text: str) -> str:
    """Return a Markdown text without its code and HTML comments.

    A long text is parsed in a separate process; if it takes too long, the whole text is returned. Raise
    `ParsingBusy` if too many long texts wait to be parsed.
    """
    if HINT.search(text) is None:
        return text
    if len(text) <= SMALL:
        return text_blocks(text)
    try:
        return str(PARSER_PROCESS.run("text_blocks", text.encode("utf-8", "replace").decode()))
    except RenderBusy:
        raise ParsingBusy from None
    except RenderFailed:
        return text


def text_blocks(text: str) -> str:
    """Return the paragraphs, headings, cells and HTML of a text without code, however long that takes."""
    blocks = [token.content for token in BLOCKS.parse(text) if token.type in {"inline", "html_block"}]
    return "\n\n".join(COMMENT.sub(REMOVED, CODE_SPAN.sub(REMOVED, block)) for block in blocks)
