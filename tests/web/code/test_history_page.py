"""The commit history of a branch or a path."""

import pytest

from holdfast.web.code import history_page
from tests.hosting.api_clients import ServiceClients
from tests.hosting.git_client import Git
from tests.web.browser import visitor
from tests.web.code.page_helpers import NOTES_URL


def test_commits_are_grouped_by_day(clients: ServiceClients, git: Git) -> None:
    """Commits are listed newest first, and authors with an account are linked."""
    page = visitor(clients).get(f"{NOTES_URL}/commits/branch/main").text
    assert page.index("2 January 2025") < page.index("6 May 2024")
    assert page.index("second") < page.index("first")
    assert 'href="/ada"' in page


def test_a_path_has_a_history_of_its_own(clients: ServiceClients, git: Git) -> None:
    """Only commits that changed the path are listed; a path that no commit changed has none."""
    site = visitor(clients)
    page = site.get(f"{NOTES_URL}/commits/branch/main/README.md").text
    assert "><bdi>first</bdi></a>" in page
    assert "><bdi>second</bdi></a>" not in page
    assert "No commits for" in site.get(f"{NOTES_URL}/commits/branch/main/nothing").text


def test_pages_follow_each_other(clients: ServiceClients, git: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each page links to the next until the last; an invalid page number is no error."""
    monkeypatch.setattr(history_page, "PER_PAGE", 1)
    site = visitor(clients)
    first, second = (site.get(f"{NOTES_URL}/commits/tag/v2.0", params={"page": n}).text for n in (1, 2))
    assert "Older" in first
    assert "Newer" not in first
    assert "Newer" in second
    assert "Older" not in second
    assert "No more commits" in site.get(f"{NOTES_URL}/commits/tag/v2.0?page=9999").text
    for page in ("x", "-1", "0", "1e9", "٣"):
        assert site.get(f"{NOTES_URL}/commits/tag/v2.0", params={"page": page}).status_code == 200
