"""The README of a directory: which file it is, and how it is rendered."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from holdfast.hosting.git import trees
from holdfast.hosting.git.encoding import display_name
from holdfast.hosting.git.trees import TreeEntry
from holdfast.hosting.renderer.markdown import MarkdownContext, is_markdown, markdown
from holdfast.web.code.location import CodeLocation

__all__ = ["Readme", "markdown_context", "readme_of", "rendered", "rendered_blob"]

LARGEST: Final = 512 * 1024
# The size limits of a page; the README links to the file itself.
LONGEST_MARKDOWN: Final = 40_000
LONGEST_TEXT: Final = 40_000
README: Final = re.compile(r"readme(?:\.(?:md|markdown|mdown|mkd|txt|rst|adoc|org))?\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Readme:
    """A README: HTML if it is Markdown, otherwise plain text."""

    name: str
    address: str
    html: Markup | None
    text: str


def rank(entry: TreeEntry) -> tuple[bool, str]:
    """Return the sort key of README files: Markdown first."""
    return not is_markdown(entry.name), entry.name


def markdown_context(location: CodeLocation, path: bytes) -> MarkdownContext:
    """Return the Markdown context of a file: the URLs that relative links and images resolve to."""
    return MarkdownContext(
        repository=location.root,
        pages=location.address("src", b""),
        files=location.address("media", b""),
        folder=display_name(path.rpartition(b"/")[0]),
        deeper=1,
        anchors="text",
    )


def rendered(location: CodeLocation, path: bytes, content: bytes) -> Markup:
    """Render Markdown of a repository: relative links resolve to pages of the same tree, images to raw files."""
    return markdown(
        content.decode("utf-8-sig", "replace"), markdown_context(location, path), most=LONGEST_MARKDOWN
    )


def rendered_blob(location: CodeLocation, path: bytes, blob: str, *, most: int = LONGEST_MARKDOWN) -> Markup:
    """Render a Markdown file."""
    content = trees.read_blob(location.repo, blob)
    return markdown(content.decode("utf-8-sig", "replace"), markdown_context(location, path), most=most)


def readme_of(location: CodeLocation, entries: Iterable[TreeEntry]) -> Readme | None:
    """Return the README among the entries of a directory."""
    tree_entries = [
        tree_entry
        for tree_entry in entries
        if tree_entry.type == "file" and README.match(tree_entry.name) and tree_entry.size <= LARGEST
    ]
    if not tree_entries:
        return None
    entry = min(tree_entries, key=rank)
    address = location.address("src", entry.raw_path)
    if is_markdown(entry.name):
        return Readme(entry.name, address, rendered_blob(location, entry.raw_path, entry.id), "")
    return Readme(entry.name, address, None, display_name(trees.read_blob(location.repo, entry.id))[:LONGEST_TEXT])
