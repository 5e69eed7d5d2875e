"""The issues and pull requests of this site that a text leads to when it is rendered."""

import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import quote, unquote

from holdfast.hosting.errors import ParsingBusy
from holdfast.hosting.renderer.markdown import HERE, LONGEST, PARSER, SMALL, MarkdownContext, references
from holdfast.hosting.renderer.render_process import PARSER_PROCESS, RenderBusy, RenderFailed

__all__ = ["LinkedIssue", "issue_links", "links_in", "title_links"]

LinkedIssue = tuple[str, str, int]
"""Owner and name of a repository as they are written, and the number of an issue or pull request."""

# Most texts have neither, and are not parsed.
HINT: Final = re.compile(r"#[1-9]|/(?:issues|pulls)/[1-9]")
ISSUE_PATH: Final = re.compile(r"/([^/?#]+)/([^/?#]+)/(?:issues|pulls)/([1-9]\d{0,8})(?:[/?#].*)?", re.DOTALL)


def issue_links(text: str, place: tuple[str, str], root: str) -> list[LinkedIssue]:
    """Return the issues that a Markdown text links to, each once and in its order.

    `place` is the owner and name of the repository that the text belongs to, and `root` the address of this site.
    As for a page, of a very long text only the beginning counts, and a text that takes too long has no links.
    Raise `ParsingBusy` if too many long texts wait to be parsed.
    """
    if HINT.search(text, 0, LONGEST) is None:
        return []
    excerpt = text[:LONGEST]
    if len(excerpt) <= SMALL:
        return links_in(excerpt, place, root)
    try:
        links = PARSER_PROCESS.run("issue_links", excerpt.encode("utf-8", "replace").decode(), place, root)
    except RenderBusy:
        raise ParsingBusy from None
    except RenderFailed:
        return []
    return [(owner, name, number) for owner, name, number in links]


def title_links(title: str, place: tuple[str, str], root: str) -> list[LinkedIssue]:
    """Return the issues that a title names, which is no Markdown; each once and in its order."""
    if HINT.search(title) is None:
        return []
    return linked_issues((target for _, target, _ in references(title, context_of(place))), root)


def links_in(text: str, place: tuple[str, str], root: str) -> list[LinkedIssue]:
    """Return the issues that a Markdown text links to, however long that takes."""
    tokens = PARSER.parse(text, {"around": context_of(place)})
    children = (child for token in tokens for child in token.children or ())
    return linked_issues(
        (str(child.attrs.get("href", "")) for child in children if child.type == "link_open"), root
    )


def context_of(place: tuple[str, str]) -> MarkdownContext:
    """Return the context in which `#12` is an issue of a repository."""
    owner, name = place
    return MarkdownContext(repository=f"/{quote(owner)}/{quote(name)}")


def linked_issues(addresses: Iterable[str], root: str) -> list[LinkedIssue]:
    """Return the issues that addresses lead to: short references, or addresses of this site."""
    issues: dict[LinkedIssue, None] = {}
    for address in addresses:
        scheme, here, path = address.partition(f"{HERE}:")
        if scheme or not here:
            if not address.casefold().startswith(root.casefold()):
                continue
            path = address[len(root) :]
        if match := ISSUE_PATH.fullmatch(path):
            issues[unquote(match[1]), unquote(match[2]), int(match[3])] = None
    return list(issues)
