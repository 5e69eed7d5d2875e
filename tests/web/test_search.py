"""The search for repositories, issues and file names."""

from pathlib import Path

import pytest

from holdfast.web import search
from tests.hosting.api.file_helpers import make_files
from tests.hosting.api_clients import PASSWORD, ServiceClients
from tests.hosting.conftest import clients
from tests.web.browser import visitor

__all__ = ["clients"]


def test_all_kinds_are_found_with_their_counts(clients: ServiceClients, tmp_path: Path) -> None:
    """Repositories, issues and files are found, and unusual searches are no error."""
    make_files(clients, tmp_path)
    asked = {"title": "Notes <b>sink</b>"}
    clients.anonymous.post("/repos/ada/Notes/issues", json=asked, auth=("ada", PASSWORD))
    site = visitor(clients)
    page = site.get("/-/search?q=notes").text
    assert 'href="/ada/Notes"' in page
    assert "Notes &lt;b&gt;sink" in site.get("/-/search?q=sink").text
    assert 'href="/ada/Notes/issues/1"' in site.get("/-/search?q=notes&tab=issues").text
    files = site.get("/-/search?q=FILE sub").text
    assert 'href="/ada/Notes/src/branch/main/dir/sub/file.txt"' in files
    assert 'href="/ada/Notes/src/branch/main/dir/100%25%20n%C3%A4me%3F.txt"' in site.get("/-/search?q=näme").text
    assert site.get("/-/search").status_code == 200
    for words in ("zzz", "<script>", "%", "' OR 1=1 --", "x" * 5000, "\u202e", "#1"):
        response = site.get("/-/search", params={"q": words, "tab": "files", "page": "3"})
        assert response.status_code == 200
        assert "<script>" not in response.text


def test_private_results_are_hidden(clients: ServiceClients, tmp_path: Path) -> None:
    """A private repository, its issues and its files are neither listed nor counted for others."""
    make_files(clients, tmp_path, private=True)
    clients.account("stranger")
    asked = {"title": "sinking"}
    clients.anonymous.post("/repos/ada/Notes/issues", json=asked, auth=("ada", PASSWORD))
    for who, result in ((None, False), ("stranger", False), ("ada", True)):
        site = visitor(clients, who)
        for words in ("notes", "sinking", "large.bin"):
            page = site.get("/-/search", params={"q": words}).text
            assert ("/ada/Notes" in page) == result, (who, words)
            assert result or page.count('<span class="badge">0</span>') == 3


def test_a_search_is_bounded(clients: ServiceClients, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the limit of files or time, the page says that not all files were searched."""
    make_files(clients, tmp_path)
    site = visitor(clients)
    monkeypatch.setattr(search, "FILES_SHOWN", 1)
    page = site.get("/-/search?q=e&tab=files").text
    assert "Not all files were searched" in page
    assert "1+" in page
    monkeypatch.setattr(search, "SECONDS", -1.0)
    assert "Not all files were searched" in site.get("/-/search?q=e&tab=files").text
