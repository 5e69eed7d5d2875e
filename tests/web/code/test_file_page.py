"""The page of a file: pagination of long texts, and display by media type."""

import base64

from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from holdfast.web.code.file_page import LARGEST_DIAGRAM, display_kind, line_range
from tests.hosting.api_clients import ServiceClients
from tests.web.browser import visitor


@given(st.lists(st.integers(0, 300), max_size=60), st.integers(-5, 100), st.integers(60, 900))
def test_pages_of_a_text_hold_every_line_once(lengths: list[int], first: int, most: int) -> None:
    """The pages from the first to the last have all lines in order, and each has at least one."""
    lines = [Markup("x" * length) for length in lengths]
    seen: list[Markup] = []
    at: int | None = 1
    while at is not None:
        part = line_range(lines, at, most)
        assert part.first == at
        assert part.total == len(lines)
        assert part.lines or not lines
        assert (part.before is None) == (at == 1)
        assert part.before is None or 1 <= part.before < at
        seen += part.lines
        at = part.after
    assert seen == lines
    somewhere = line_range(lines, first, most)
    assert 1 <= somewhere.first <= max(len(lines), 1)


def test_a_type_decides_how_bytes_are_shown() -> None:
    """Images, audio, video and PDF are shown by their media type, and other types are not."""
    ways = [
        display_kind(kind) for kind in ("image/png", "audio/ogg", "video/mp4", "application/pdf", "text/html", "")
    ]
    assert ways == ["image", "audio", "video", "pdf", "other", "other"]


def test_a_diagram_is_code_for_the_script_that_draws_it(clients: ServiceClients) -> None:
    """A Mermaid file is recognised by its extension and has a source view; a large one is shown as text only."""
    ada = clients.user("ada")
    ada.post("/user/repos", json={"name": "flow"})
    files = {"a.mmd": "flowchart LR\n a --> <b>\n", "B.Mermaid": "pie\n", "long.mmd": "x" * (LARGEST_DIAGRAM + 1)}
    for name, text in files.items():
        body = {"content": base64.b64encode(text.encode()).decode(), "message": "Write"}
        assert ada.post(f"/repos/ada/flow/contents/{name}", json=body).status_code == 201
    browser = visitor(clients)
    response = browser.get("/ada/flow/src/branch/main/a.mmd")
    assert "frame-src 'self'" in response.headers["content-security-policy"]
    shown = response.text
    assert '<code class="language-mermaid">flowchart LR\n a --&gt; &lt;b&gt;\n</code>' in shown
    assert "Mermaid</span>" in shown
    assert "?view=source" in shown
    source = browser.get("/ada/flow/src/branch/main/a.mmd?view=source").text
    assert "language-mermaid" not in source
    assert '<pre class="code"' in source
    assert '<code class="language-mermaid">pie' in browser.get("/ada/flow/src/branch/main/B.Mermaid").text
    assert "language-mermaid" not in browser.get("/ada/flow/src/branch/main/long.mmd").text


def test_symbols_link_to_their_lines_on_any_page(clients: ServiceClients) -> None:
    """A link to a symbol of another page of the file loads that page; a file without symbols has no list."""
    ada = clients.user("ada")
    ada.post("/user/repos", json={"name": "tools"})
    text = "class Tide:\n    def high(self): pass\n" + "x = 1\n" * 4000 + "def last(): pass\n"
    for name, content in (("long.py", text), ("notes.txt", "def f(): pass\n")):
        body = {"content": base64.b64encode(content.encode()).decode(), "message": "Write"}
        assert ada.post(f"/repos/ada/tools/contents/{name}", json=body).status_code == 201
    browser = visitor(clients)
    first = browser.get("/ada/tools/src/branch/main/long.py").text
    assert 'Symbols <span class="badge">3</span>' in first
    assert '<li><a href="#L1">Tide</a></li><li class="indented"><a href="#L2">high</a></li>' in first
    assert '<li><a href="?view=source&amp;line=3993#L4003">last</a></li>' in first
    last = browser.get("/ada/tools/src/branch/main/long.py?view=source&line=3993").text
    assert '<a href="?view=source&amp;line=1#L1">Tide</a>' in last
    assert '<a href="#L4003">last</a>' in last
    assert "id=L4003" in last
    assert "Symbols" not in browser.get("/ada/tools/src/branch/main/notes.txt").text
