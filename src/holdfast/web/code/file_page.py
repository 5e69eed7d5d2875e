"""The page of a file: highlighted source, rendered Markdown, a table, an image, a video, or its size and type."""

import mimetypes
from dataclasses import dataclass, replace
from typing import Final, Literal

from markupsafe import Markup

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.file_responses.blobs import blob_media_type
from holdfast.hosting.file_responses.media_types import TEXT
from holdfast.hosting.git import trees
from holdfast.hosting.git.encoding import display_name
from holdfast.hosting.git.trees import TreeEntry
from holdfast.hosting.lfs.pointer import MOST_BYTES, LfsPointer
from holdfast.hosting.renderer.highlight import Text, highlighted, language
from holdfast.hosting.renderer.markdown import is_markdown
from holdfast.hosting.renderer.symbols import Symbol
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.store import lfs
from holdfast.web.code.csv_table import CsvTable, is_csv, read_table
from holdfast.web.code.location import CodeLocation
from holdfast.web.code.notebook import LARGEST_NOTEBOOK, Notebook, is_notebook, read_notebook
from holdfast.web.code.readme import markdown_context, rendered_blob

__all__ = ["LARGEST_TEXT", "FileShown", "LineRange", "file_shown", "line_range", "text_shown"]

# The largest text that is shown as lines; of a larger one only the raw file is linked.
LARGEST_TEXT: Final = 2 * 2**20
# The size limit of the HTML of a text on one page; the rest is on the next pages.
MOST_HTML: Final = 150_000
PER_LINE: Final = 50
LONGEST_MARKDOWN: Final = 100_000
# The limit of the script that draws diagrams.
LARGEST_DIAGRAM: Final = 20_000
DIAGRAM: Final = Markup('<pre tabindex="0"><code class="language-mermaid">%s</code></pre>')
NO_NOTEBOOK: Final = "This file is not a notebook in the format 4 of Jupyter, so it is shown as text."
WAYS: Final = {"image": "image", "audio": "audio", "video": "video"}

Way = Literal["text", "rendered", "table", "notebook", "image", "audio", "video", "pdf", "link", "large", "other"]


@dataclass(frozen=True, slots=True)
class LineRange:
    """A page of lines of a text, and where the previous and next pages start."""

    first: int
    lines: list[Markup]
    total: int
    before: int | None
    after: int | None

    @property
    def last(self) -> int:
        """The number of its last line."""
        return self.first + len(self.lines) - 1


@dataclass(frozen=True, slots=True)
class FileShown:
    """A file as its page shows it."""

    way: Way
    size: int
    language: str = ""
    line_range: LineRange | None = None
    symbols: tuple[Symbol, ...] = ()
    html: Markup | None = None
    has_source: bool = False
    is_source: bool = False
    is_stored_apart: bool = False
    is_missing: bool = False
    target: str = ""
    is_text: bool = False
    table: CsvTable | None = None
    notebook: Notebook | None = None
    remark: str = ""


def line_range(lines: Text, first: int, most: int = MOST_HTML, each: int = PER_LINE) -> LineRange:
    """Return the lines of a text that fit into a page, from line `first` on."""
    first = min(max(first, 1), max(len(lines), 1))
    chosen: list[Markup] = []
    budget = most
    for line in lines[first - 1 :]:
        budget -= len(line) + each
        if budget < 0 and chosen:
            break
        chosen.append(line)
    after = first + len(chosen)
    # The previous page ends where this one starts; the lines that fit are counted backwards.
    before, budget = first, most
    while before > 1 and budget - len(lines[before - 2]) - each >= 0:
        before -= 1
        budget -= len(lines[before - 1]) + each
    if first > 1:
        before = min(before, first - 1)
    return LineRange(
        first, chosen, len(lines), before if first > 1 else None, after if after <= len(lines) else None
    )


def display_kind(kind: str) -> Way:
    """Return how to show a file of a media type."""
    if kind == "application/pdf":
        return "pdf"
    return WAYS.get(kind.partition("/")[0], "other")  # type: ignore[return-value]  # the values of the table are of that type


def file_shown(
    request: RequestContext,
    target: RepositoryAccess,
    location: CodeLocation,
    entry: TreeEntry,
    *,
    source: bool = False,
    first: int = 1,
) -> FileShown:
    """Return a file as its page shows it; `source` selects the text of a file that would be rendered."""
    if entry.type == "symlink":
        return FileShown("link", entry.size, target=display_name(trees.read_blob(location.repo, entry.id)))
    if entry.size <= MOST_BYTES:
        pointer = LfsPointer.parse(trees.read_blob(location.repo, entry.id))
        if pointer is not None:
            return lfs_file(request, target, entry, pointer)
    kind = blob_media_type(location.repo.folder, entry.id)
    if kind == "image/svg+xml" and source:
        return text_shown(location, entry, first, has_source=True)
    if not kind.startswith(TEXT):
        return FileShown(display_kind(kind), entry.size, has_source=kind == "image/svg+xml")
    if is_notebook(entry.name) and not source and entry.size <= LARGEST_NOTEBOOK:
        content = trees.read_blob(location.repo, entry.id)
        notebook = read_notebook(content, entry.id, markdown_context(location, entry.raw_path))
        if notebook is not None:
            is_text = entry.size <= LARGEST_TEXT
            kind = "Jupyter Notebook"
            return FileShown("notebook", entry.size, kind, notebook=notebook, has_source=True, is_text=is_text)
        if entry.size <= LARGEST_TEXT:
            return replace(text_shown(location, entry, first, has_source=False), remark=NO_NOTEBOOK)
    if entry.size > LARGEST_TEXT:
        return FileShown("large", entry.size, is_text=True)
    if is_markdown(entry.name) and not source:
        html = rendered_blob(location, entry.raw_path, entry.id, most=LONGEST_MARKDOWN)
        return FileShown("rendered", entry.size, "Markdown", html=html, has_source=True, is_text=True)
    if is_diagram(entry.name) and not source and entry.size <= LARGEST_DIAGRAM:
        html = DIAGRAM % text_of(location, entry)
        return FileShown("rendered", entry.size, "Mermaid", html=html, has_source=True, is_text=True)
    if is_csv(entry.name):
        table = None if source else read_table(entry.name, text_of(location, entry), first)
        if table is not None:
            kind = entry.name[-3:].upper()
            return FileShown("table", entry.size, kind, table=table, has_source=True, is_text=True)
    is_rendered = is_markdown(entry.name) or (
        source and (is_csv(entry.name) or is_diagram(entry.name) or is_notebook(entry.name))
    )
    return text_shown(location, entry, first, has_source=is_rendered)


def is_diagram(name: str) -> bool:
    """Return whether a file name has the extension of a Mermaid diagram."""
    return name.lower().endswith((".mmd", ".mermaid"))


def text_of(location: CodeLocation, entry: TreeEntry) -> str:
    """Return the text of a file, with its encoding detected."""
    content = trees.read_blob(location.repo, entry.id)
    charset = blob_media_type(location.repo.folder, entry.id).partition("charset=")[2] or "utf-8"
    return content.decode(charset, "replace").removeprefix("\ufeff")


def text_shown(
    location: CodeLocation, entry: TreeEntry, first: int, *, has_source: bool, each: int = PER_LINE
) -> FileShown:
    """Return a text as highlighted lines."""
    text = highlighted(entry.id, entry.name, text_of(location, entry))
    return FileShown(
        "text",
        entry.size,
        language(entry.name),
        line_range(text.lines, first, each=each),
        symbols=text.symbols,
        has_source=has_source,
        is_source=has_source,
        is_text=True,
    )


def lfs_file(
    request: RequestContext, target: RepositoryAccess, entry: TreeEntry, pointer: LfsPointer
) -> FileShown:
    """Return a file stored with Git LFS; its type is guessed from its name, since reading it would be slow."""
    is_stored = lfs.linked_at(request.app.database, target.repository, pointer.oid) is not None
    kind = mimetypes.guess_type(entry.name)[0] or ""
    kind_of_display = display_kind(kind) if is_stored else "other"
    return FileShown(kind_of_display, pointer.size, is_stored_apart=True, is_missing=not is_stored)
