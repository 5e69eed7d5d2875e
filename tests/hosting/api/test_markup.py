"""The Markdown rendering endpoints."""

import httpx
import pytest

from tests.hosting.api_clients import ServiceClients


@pytest.fixture
def ada(clients: ServiceClients) -> httpx.Client:
    """Return a client of a signed-in user."""
    return clients.user("ada")


def rendered(client: httpx.Client, path: str, **options: object) -> str:
    """Render a text."""
    response = client.post(path, json=options)
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    return response.text


def test_a_text_is_rendered_and_sanitized(ada: httpx.Client) -> None:
    """Markdown is rendered without scripts, and keys of the body match in any case."""
    text = "# Ship\n\n<script>alert(1)</script>\n\n**bold** <a href='javascript:alert(1)'>x</a>"
    for path, options in (("/markdown", {"Text": text}), ("/markup", {"text": text})):
        html = rendered(ada, path, **options)
        assert "<h1>Ship</h1>" in html
        assert "<strong>bold</strong>" in html
        assert "script" not in html
    raw = ada.post("/markdown/raw", content="*ä*".encode(), headers={"Content-Type": "text/plain"})
    assert (raw.status_code, raw.text) == (200, "<p><em>ä</em></p>\n")


@pytest.mark.parametrize("context", ["ada/ship", "/ada/ship/src/branch/main", "{root}/ada/ship"])
def test_references_are_links_in_the_context(ada: httpx.Client, clients: ServiceClients, context: str) -> None:
    """In comments with a context `#1` is a link to the issue; an `href` in the text is left unchanged."""
    root = clients.service.url
    place = context.format(root=root)
    html = rendered(ada, "/markdown", Text='#1 and href="/x"', Mode="comment", Context=place)
    assert f'<a href="{root}/ada/ship/issues/1"' in html
    assert 'and href="/x"' in html
    assert "<a" not in rendered(ada, "/markdown", Text="#1", Mode="markdown", Context=place)
    assert "<a" not in rendered(ada, "/markdown", Text="#1", Mode="comment")


def test_files_are_rendered_by_their_name(ada: httpx.Client, clients: ServiceClients) -> None:
    """Only Markdown files up to a size limit are rendered, and only for signed-in users."""
    assert "<em>" in rendered(ada, "/markup", Text="*x*", Mode="file", FilePath="docs/README.MD")
    refused = ada.post("/markup", json={"Text": "*x*", "Mode": "file", "FilePath": "main.c"})
    assert (refused.status_code, "main.c" in refused.json()["message"]) == (422, True)
    assert clients.anonymous.post("/markdown", json={"Text": "x"}).status_code == 401
    assert ada.post("/markdown", json={"Text": "x" * (1 << 20)}).status_code == 413
