"""Highlights the fenced code blocks of rendered Markdown."""

import re
from html import unescape
from typing import Final

from holdfast.hosting.renderer.highlight import coloured_blocks

__all__ = ["with_highlighted_blocks"]

# Markup makes a page several times as long as its code; what is beyond this many characters stays plain.
MOST: Final = 40_000
# The output of the sanitizer: the text of a block is escaped, so it ends at the next `<`.
BLOCK: Final = re.compile(r'<code class="language-([\w+#.-]+)">([^<]*)</code>')


def with_highlighted_blocks(html: str) -> str:
    """Return sanitized HTML with its code blocks highlighted, each in the language of its fence.

    `RenderBusy` is raised if too many texts wait for the render process.
    """
    blocks: list[tuple[str, str]] = []
    length = 0
    for match in BLOCK.finditer(html):
        length += len(match[2])
        if length > MOST:
            break
        blocks.append((match[1], unescape(match[2])))
    if not blocks:
        return html
    highlighted = iter(coloured_blocks(blocks))

    def replacement(match: re.Match[str]) -> str:
        lines = next(highlighted, None)
        if lines is None:
            return match[0]
        code = "\n".join(lines) + ("\n" if match[2].endswith("\n") else "")
        return f'<code class="language-{match[1]}">{code}</code>'

    return BLOCK.sub(replacement, html)
