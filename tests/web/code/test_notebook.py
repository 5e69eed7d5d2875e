"""Jupyter notebooks: cells, outputs, limits and sanitizing."""

import base64
import json
import time
from typing import Any

import pytest

from holdfast.hosting.renderer.markdown import NOWHERE
from holdfast.web.code import notebook
from holdfast.web.code.notebook import CellOutput, Notebook, is_notebook, read_notebook
from tests.hosting.api_clients import ServiceClients
from tests.web.browser import visitor

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20
Json = dict[str, Any]


def code(source: object = "", *outputs: Json, count: int | None = 1) -> Json:
    """Return a code cell."""
    return {"cell_type": "code", "source": source, "execution_count": count, "outputs": list(outputs)}


def data(**kinds: object) -> Json:
    """Return an output in several media types, with `_` for the slash."""
    return {"output_type": "display_data", "data": {kind.replace("_", "/"): text for kind, text in kinds.items()}}


def encoded(*cells: Json, **more: object) -> bytes:
    """Write a notebook."""
    return json.dumps({"cells": list(cells), "nbformat": 4, "nbformat_minor": 5, **more}).encode()


def read(*cells: Json, **more: object) -> Notebook:
    """Read a notebook that is valid."""
    content = encoded(*cells, **more)
    found_notebook = read_notebook(content, str(hash(content)), NOWHERE)
    assert found_notebook is not None
    return found_notebook


def outputs(*saved: Json) -> list[CellOutput]:
    """Read the outputs of one cell."""
    return read(code("", *saved)).cells[0].outputs


def test_names_of_notebooks() -> None:
    """A notebook is recognised by its extension, in upper or lower case."""
    names = ("a.ipynb", "A.IPYNB", "ipynb", "a.ipynb.txt")
    assert [is_notebook(name) for name in names] == [True, True, False, False]


def test_cells_are_rendered_by_their_kind() -> None:
    """Markdown is sanitised, code is highlighted with its execution count, and raw text is escaped."""
    found_notebook = read(
        {"cell_type": "markdown", "source": ["# Tides\n", "*low* <script>x</script>"]},
        code(["def level():\n", "    pass"], count=7),
        {"cell_type": "raw", "source": "def <b>"},
        code("x", count=None),
    )
    first, second, third, fourth = found_notebook.cells
    assert first.html is not None
    assert "<em>low</em>" in first.html
    assert "script" not in first.html
    assert not first.is_code
    assert second.html is None
    assert second.execution_count == 7
    assert second.is_code
    assert '<span class="k">def</span>' in second.lines[0]
    assert len(second.lines) == 2
    assert [str(line) for line in third.lines] == ["def &lt;b&gt;"]
    assert not third.is_code
    assert fourth.execution_count is None
    assert found_notebook.hidden == 0


def test_the_language_is_that_of_the_kernel() -> None:
    """The file extension of the kernel selects the language, and an invalid one selects Python."""
    cell = code("const a = 1")
    javascript = read(cell, metadata={"language_info": {"file_extension": ".js"}})
    strange = read(code("def a(): pass"), metadata={"language_info": {"file_extension": "/../.js"}})
    assert '<span class="k">const</span>' in javascript.cells[0].lines[0]
    assert '<span class="k">def</span>' in strange.cells[0].lines[0]


def test_streams_and_errors_are_text_without_colours() -> None:
    """Escape sequences are removed, and a carriage return overwrites its line as in a terminal."""
    stream, warning, error, short = outputs(
        {"output_type": "stream", "name": "stdout", "text": ["10%\r50%\r", "100%\n\x1b[1mdone\x1b[0m\r\n"]},
        {"output_type": "stream", "name": "stderr", "text": "careful\n"},
        {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["\x1b[0;31mE\x1b[0m", "<line> 1"]},
        {"output_type": "error", "ename": "KeyError", "evalue": "'a'"},
    )
    assert stream == CellOutput(text="100%\ndone\n")
    assert warning == CellOutput(text="careful\n", is_error=True)
    assert error == CellOutput(text="E\n<line> 1", is_error=True)
    assert short == CellOutput(text="KeyError: 'a'", is_error=True)


def test_images_are_checked_and_shown() -> None:
    """A PNG with the right signature is shown; for any other image the plain text is shown."""
    good = base64.encodebytes(PNG).decode()
    image, wrong, svg = outputs(
        data(image_png=good, text_plain="<Figure>", text_html="<b>no</b>"),
        data(image_png=base64.b64encode(b"<svg onload=x>").decode(), text_plain="one"),
        {"output_type": "execute_result", "data": {"image/svg+xml": "<svg onload='x'/>", "text/plain": "two"}},
    )
    assert image == CellOutput(text="<Figure>", image=f"data:image/png;base64,{base64.b64encode(PNG).decode()}")
    assert wrong == CellOutput(text="one")
    assert svg == CellOutput(text="two")
    assert outputs(data(image_png='x"><script>', text_plain="three")) == [CellOutput(text="three")]


def test_html_goes_through_the_sanitiser() -> None:
    """Tables stay, scripts, styles and frames are removed, and without any content the text is shown."""
    table, widget, rich, tex = outputs(
        data(text_html="<style>b{}</style><table onclick=x><tr><td>3</td></tr></table><iframe src=/></iframe>"),
        data(text_html="<div id=plot></div><script>alert(1)</script>", text_plain="Figure(1)"),
        data(text_markdown="**bold**", text_plain="plain"),
        data(text_latex="$x^2$", text_plain="x**2"),
    )
    assert table.html is not None
    assert "<td>3</td>" in table.html
    assert not any(word in table.html for word in ("onclick", "style", "b{}", "iframe", "script"))
    assert widget == CellOutput(text="Figure(1)")
    assert rich.html is not None
    assert "<strong>bold</strong>" in rich.html
    assert tex.html is not None
    assert '<span class="math">$x^2$</span>' in tex.html


@pytest.mark.parametrize("value", [None, 5, {"a": 1}, [1], "", " \n"])
def test_output_that_is_not_text_is_not_shown(value: object) -> None:
    """A value of another type and an empty text are ignored."""
    assert outputs(data(text_plain=value)) == []
    assert outputs(data(text_html=value, image_png=value, text_plain="here")) == [CellOutput(text="here")]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"{}",
        b'{"nbformat": 4}',
        b'{"nbformat": 3, "cells": []}',
        b'{"nbformat": 4, "cells": 5}',
        b'{"nbformat": 4, "cells": [5]}',
        b'{"nbformat": 4, "cells": [{"source": "x"}]}',
        b'{"nbformat": 4, "cells": [{"cell_type": "code", "source": [1]}]}',
        b'{"nbformat": 4, "cells": [], "more": ' + b"[" * 100_000,
        b'{"nbformat": 4, "cells": [{"cell_type": "\xff"}]}',
    ],
)
def test_an_invalid_notebook_is_not_rendered(content: bytes) -> None:
    """Invalid JSON, an older format, wrong types and deep nesting are refused."""
    assert read_notebook(content, "blob", NOWHERE) is None


def test_a_page_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells, outputs, characters and bytes of images are limited, and omitted cells are counted."""
    many = read(*[code("x")] * 500)
    assert (len(many.cells), many.hidden) == (notebook.MOST_CELLS, 500 - notebook.MOST_CELLS)
    wordy = read(*[code("", {"output_type": "stream", "text": "y" * 9_000})] * 100)
    assert 10 < len(wordy.cells) < 20
    assert wordy.hidden == 100 - len(wordy.cells)
    (cut,) = outputs({"output_type": "stream", "text": "z" * 1_000_000})
    assert (len(cut.text), cut.is_cut) == (notebook.LONGEST_OUTPUT, True)
    several = outputs(*[{"output_type": "stream", "text": "s"}] * 60)
    assert (len(several), several[-1]) == (notebook.MOST_OUTPUTS + 1, CellOutput(is_cut=True))
    monkeypatch.setattr(notebook, "MOST_IMAGE_BYTES", 2 * len(PNG))
    images = outputs(*[data(image_png=base64.b64encode(PNG).decode())] * 3)
    assert [bool(image.image) for image in images] == [True, True, False]
    assert images[2].is_cut
    long_table = f"<table><tr><td>{'x' * notebook.LONGEST_HTML}</td></tr></table>"
    assert outputs(data(text_html=long_table, text_plain="rows")) == [CellOutput(text="rows")]


def test_one_large_cell_is_shown_alone() -> None:
    """The first cell is shown although it is larger than a page, and the others are counted as hidden."""
    found_notebook = read(code("a = 1\n" * 20_000), code("b"))
    assert (len(found_notebook.cells), found_notebook.hidden) == (1, 1)


def test_hostile_texts_take_little_time() -> None:
    """Unterminated escape sequences and long attributes are processed in less than two seconds."""
    before = time.process_time()
    outputs({"output_type": "stream", "text": "\x1b]" * 500_000})
    outputs({"output_type": "stream", "text": "\x1b[" * 500_000})
    outputs(data(text_html=f"<a href='{'x' * 49_000}'></a>", text_plain="x"))
    assert time.process_time() - before < 2


def test_the_page_of_a_notebook(clients: ServiceClients) -> None:
    """The page has the cells and a source view, and an invalid notebook is shown as text with a message."""
    ada = clients.user("ada")
    ada.post("/user/repos", json={"name": "lab"})
    files = {
        "lab.ipynb": encoded(
            {"cell_type": "markdown", "source": "see [more](more.md)"},
            code(
                "1 < 2", data(image_png=base64.b64encode(PNG).decode()), {"output_type": "stream", "text": "<b>"}
            ),
            *[code("x")] * 300,
        ),
        "broken.ipynb": b'{"cells": [',
        "empty.ipynb": encoded(),
    }
    for name, content in files.items():
        body = {"content": base64.b64encode(content).decode(), "message": "Write"}
        assert ada.post(f"/repos/ada/lab/contents/{name}", json=body).status_code == 201
    browser = visitor(clients)
    page = browser.get("/ada/lab/src/branch/main/lab.ipynb").text
    assert 'href="/ada/lab/src/branch/main/more.md"' in page
    assert "[1]:" in page
    assert '<img class="output" src="data:image/png;base64,' in page
    assert "&lt;b&gt;</pre>" in page
    assert "102 more cells are not shown here" in page
    assert "Jupyter Notebook</span>" in page
    source = browser.get("/ada/lab/src/branch/main/lab.ipynb?view=source").text
    assert '<pre class="code"' in source
    assert 'aria-current="true">Source' in source
    broken = browser.get("/ada/lab/src/branch/main/broken.ipynb")
    assert broken.status_code == 200
    assert "This file is not a notebook" in broken.text
    assert "{&#34;cells&#34;: [" in broken.text.replace('<span class="s">', "").replace("</span>", "")
    assert "This notebook has no cells." in browser.get("/ada/lab/src/branch/main/empty.ipynb").text
