"""Jupyter notebooks (nbformat 4) as a page: Markdown, code and the outputs that were saved with it.

No code of a notebook runs. HTML in outputs is sanitised like Markdown, and images are checked to be images.
"""

import base64
import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import msgspec
from markupsafe import Markup

from holdfast.hosting.renderer.highlight import Text, coloured
from holdfast.hosting.renderer.markdown import MarkdownContext, markdown, sanitized

__all__ = ["LARGEST_NOTEBOOK", "CellOutput", "Notebook", "NotebookCell", "is_notebook", "read_notebook"]

LARGEST_NOTEBOOK: Final = 8 * 2**20
# The limits of one page; the rest of a longer notebook is shown only in its source.
MOST_CELLS: Final = 200
MOST_OUTPUTS: Final = 50
MOST_HTML: Final = 150_000
MOST_IMAGE_BYTES: Final = 3 * 2**20
# A longer output is truncated; a longer table is shown as its text.
LONGEST_OUTPUT: Final = 10_000
LONGEST_HTML: Final = 50_000
LONGEST_CELL: Final = 40_000
PER_LINE: Final = 20
ANSI: Final = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|[\x00-\x08\x0b-\x1f\x7f]")
EXTENSION: Final = re.compile(r"\.[A-Za-z0-9]{1,10}")
IMAGES: Final = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}
TAG: Final = re.compile(r"<[^>]*>")

# nbformat stores a text as one string or as a list of lines.
Multiline = str | list[str]


class LanguageInfo(msgspec.Struct, frozen=True):
    """The language that the kernel of a notebook runs."""

    file_extension: str = ".py"


class NotebookMetadata(msgspec.Struct, frozen=True):
    """The metadata of a notebook."""

    language_info: LanguageInfo = LanguageInfo()


class SavedOutput(msgspec.Struct, frozen=True):
    """An output as stored in the file; `data` is a MIME bundle: the same content in several media types."""

    output_type: str = ""
    name: str = ""
    text: Multiline = ""
    data: dict[str, msgspec.Raw] = {}
    ename: str = ""
    evalue: str = ""
    traceback: Multiline = ""


class SavedCell(msgspec.Struct, frozen=True):
    """A cell as stored in the file."""

    cell_type: str
    source: Multiline = ""
    execution_count: int | None = None
    outputs: list[SavedOutput] = []


class SavedNotebook(msgspec.Struct, frozen=True):
    """A file of nbformat 4."""

    cells: list[SavedCell]
    nbformat: int
    metadata: NotebookMetadata = NotebookMetadata()


@dataclass(frozen=True, slots=True)
class CellOutput:
    """An output of a cell: either a text, HTML, or the URL of an image."""

    text: str = ""
    html: Markup | None = None
    image: str = ""
    is_error: bool = False
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class NotebookCell:
    """A cell as its page shows it: rendered, or lines of code with their outputs."""

    html: Markup | None = None
    lines: Text = field(default_factory=list)
    is_code: bool = False
    execution_count: int | None = None
    outputs: list[CellOutput] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Notebook:
    """The cells of a notebook that fit into a page."""

    cells: list[NotebookCell]
    total: int

    @property
    def hidden(self) -> int:
        """How many cells are not shown."""
        return self.total - len(self.cells)


def is_notebook(name: str) -> bool:
    """Return whether a file name has the extension of a notebook."""
    return name.lower().endswith(".ipynb")


def joined(text: Multiline) -> str:
    """Return a text that may be stored as lines; lone surrogates are replaced."""
    whole = text if isinstance(text, str) else "".join(text)
    return whole.encode("utf-8", "replace").decode()


def read_notebook(content: bytes, blob: str, around: MarkdownContext) -> Notebook | None:
    """Parse a notebook for a page; None if the file is not one. `blob` is the cache key of highlighted code."""
    try:
        saved = msgspec.json.decode(content.removeprefix(b"\xef\xbb\xbf"), type=SavedNotebook)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return None
    if saved.nbformat != 4:
        return None
    extension = saved.metadata.language_info.file_extension
    name = f"cell{extension if EXTENSION.fullmatch(extension) else '.py'}"
    reader = CellReader(blob, name, around)
    cells: list[NotebookCell] = []
    for number, cell in enumerate(saved.cells[:MOST_CELLS]):
        notebook_cell = reader.cell(number, cell)
        if reader.html_left < 0 and cells:
            break
        cells.append(notebook_cell)
    return Notebook(cells, len(saved.cells))


class CellReader:
    """Converts saved cells to shown ones, within the size limit of a page."""

    def __init__(self, blob: str, name: str, around: MarkdownContext) -> None:
        self._blob = blob
        self._name = name
        self._around = around
        self._image_bytes_left = MOST_IMAGE_BYTES
        self.html_left = MOST_HTML

    def cell(self, number: int, saved: SavedCell) -> NotebookCell:
        """Return one cell."""
        source = joined(saved.source)
        if saved.cell_type == "markdown":
            html = markdown(source, self._around, most=LONGEST_CELL)
            self.html_left -= len(html)
            return NotebookCell(html=html)
        is_code = saved.cell_type == "code"
        # Other cells are raw: text that nbconvert passes through.
        name = self._name if is_code else "cell.txt"
        lines = coloured(f"{self._blob}:{number}", name, source[:LONGEST_CELL])
        self.html_left -= sum(len(line) + PER_LINE for line in lines)
        outputs = list(self._outputs(saved)) if is_code else []
        return NotebookCell(lines=lines, is_code=is_code, execution_count=saved.execution_count, outputs=outputs)

    def _outputs(self, saved: SavedCell) -> Iterator[CellOutput]:
        """Yield the outputs of a cell, up to a number of them."""
        for output in saved.outputs[:MOST_OUTPUTS]:
            cell_output = self._output(output)
            if cell_output is not None:
                self.html_left -= len(cell_output.html or cell_output.text) + PER_LINE
                yield cell_output
        if len(saved.outputs) > MOST_OUTPUTS:
            yield CellOutput(is_cut=True)

    def _output(self, saved: SavedOutput) -> CellOutput | None:
        """Return one output; None if it has nothing to show."""
        if saved.output_type == "stream":
            return text_output(joined(saved.text), is_error=saved.name == "stderr")
        if saved.output_type == "error":
            separator = "" if isinstance(saved.traceback, str) else "\n"
            trace = separator.join(saved.traceback) or f"{saved.ename}: {saved.evalue}"
            return text_output(joined(trace), is_error=True)
        return self._image(saved) or self._rich_text(saved) or text_output(media(saved, "text/plain"))

    def _image(self, saved: SavedOutput) -> CellOutput | None:
        """Return the image of an output, if it has one that fits into the page."""
        for kind, beginning in IMAGES.items():
            try:
                content = base64.b64decode("".join(media(saved, kind).split()), validate=True)
            except (binascii.Error, ValueError):
                continue
            if content.startswith(beginning):
                if len(content) > self._image_bytes_left:
                    return CellOutput(is_cut=True)
                self._image_bytes_left -= len(content)
                text = media(saved, "text/plain").strip()[:200]
                return CellOutput(text=text, image=f"data:{kind};base64,{base64.b64encode(content).decode()}")
        return None

    def _rich_text(self, saved: SavedOutput) -> CellOutput | None:
        """Return the HTML, Markdown or TeX of an output, if its rendering is not empty."""
        html = media(saved, "text/html")
        if html and len(html) <= LONGEST_HTML:
            shown = sanitized(html, self._around)
            if "<img " in shown or TAG.sub("", shown).strip():
                return CellOutput(html=shown)
        text = media(saved, "text/markdown") or media(saved, "text/latex")
        return CellOutput(html=markdown(text, self._around, most=LONGEST_OUTPUT)) if text else None


def media(saved: SavedOutput, kind: str) -> str:
    """Return the text of an output in a media type; empty if there is none."""
    try:
        return joined(msgspec.json.decode(saved.data.get(kind, b'""'), type=Multiline))
    except msgspec.MsgspecError:
        return ""


def text_output(text: str, *, is_error: bool = False) -> CellOutput | None:
    """Return a text as an output, without ANSI escape sequences; None if it is empty."""
    # A progress bar overwrites one line with carriage returns; a terminal shows the last version.
    lines = [line.rstrip("\r").rpartition("\r")[2] for line in text[: 4 * LONGEST_OUTPUT].split("\n")]
    plain = ANSI.sub("", "\n".join(lines))
    if not plain.strip():
        return None
    is_cut = len(plain) > LONGEST_OUTPUT or len(text) > 4 * LONGEST_OUTPUT
    return CellOutput(text=plain[:LONGEST_OUTPUT], is_error=is_error, is_cut=is_cut)
