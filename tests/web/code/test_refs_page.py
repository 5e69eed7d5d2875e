"""The pages of branches and tags."""

import httpx
import pytest

from holdfast.hosting.store import accounts
from holdfast.web.code import refs_page
from tests.hosting.api_clients import ServiceClients
from tests.hosting.git_client import Git
from tests.hosting.repository_helpers import make_repository
from tests.web.browser import visitor

AT = "/ada/Notes"


def test_branches_and_tags_are_listed(clients: ServiceClients, git: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lists have comparisons, messages of tags, a search by name, and pages."""
    site = visitor(clients)
    page = site.get(f"{AT}/branches").text
    assert "Default" in page
    assert f'href="{AT}/src/branch/feature/x"' in page
    assert f'href="{AT}/compare/main...feature/x"' in page
    assert "New branch" not in page
    assert page.index(f'href="{AT}/src/branch/main"') < page.index(f'href="{AT}/src/branch/feature/x"')
    assert "1 behind" in page
    assert "0 ahead" in page
    tags = site.get(f"{AT}/tags").text
    assert tags.index(f'href="{AT}/src/tag/v2.0"') < tags.index(f'href="{AT}/src/tag/v1.0"')
    assert "the second" in tags
    assert f'href="{AT}/src/tag/v1.0"' in tags
    result = site.get(f"{AT}/branches?q=FEAT").text
    assert f'href="{AT}/src/branch/feature/x"' in result
    assert f'href="{AT}/src/branch/main"' not in result
    assert "match your search" in site.get(f"{AT}/tags?q=zzz").text
    monkeypatch.setattr(refs_page, "PER_PAGE", 1)
    assert "Page 2 of 2" in site.get(f"{AT}/branches?page=2").text


def test_a_writer_creates_and_deletes_branches(clients: ServiceClients, git: Git, ada: httpx.Client) -> None:
    """Invalid and existing names are refused with an alert, and the default branch cannot be deleted."""
    response = ada.post(f"{AT}/branches", data={"name": "fix/it", "start": "v1.0"})
    assert (response.status_code, response.headers["location"]) == (303, f"{AT}/src/branch/fix/it")
    assert clients.anonymous.get("/repos/ada/Notes/branches/fix/it").status_code == 200
    for name, start in (("fix/it", "main"), ("bad name", "main"), ("other", "nowhere"), ("", "")):
        refused = ada.post(f"{AT}/branches", data={"name": name, "start": start})
        assert refused.status_code in {404, 409, 422}, name
        assert "GitRefName" not in refused.text
        assert 'role="alert"' in refused.text
    gone = ada.post(f"{AT}/branches/delete", data={"name": "fix/it"})
    assert (gone.status_code, gone.headers["location"]) == (303, f"{AT}/branches")
    assert ada.post(f"{AT}/branches/delete", data={"name": "main"}).status_code == 403
    assert ada.post(f"{AT}/branches/delete", data={"name": "nothing"}).status_code == 404


def test_a_branch_needs_a_commit_to_start_at(clients: ServiceClients, git: Git, ada: httpx.Client) -> None:
    """The page of an empty repository has no form to create a branch."""
    make_repository(clients.database, accounts.find_user(clients.database, "ada"), "empty")
    assert "New branch" in ada.get(f"{AT}/branches").text
    empty = ada.get("/ada/empty/branches")
    assert empty.status_code == 200
    assert "New branch" not in empty.text


def test_others_do_not_change_branches(clients: ServiceClients, git: Git) -> None:
    """A visitor who creates or deletes a branch is redirected to log in, and a reader gets status 403."""
    clients.account("reader")
    response = visitor(clients).post(f"{AT}/branches", data={"name": "x"})
    assert response.status_code == 303
    assert response.headers["location"].startswith("/login")
    assert visitor(clients, "reader").post(f"{AT}/branches", data={"name": "x"}).status_code == 403
    assert clients.anonymous.get("/repos/ada/Notes/branches/x").status_code == 404
    assert visitor(clients).post(f"{AT}/branches/delete", data={"name": "feature/x"}).status_code == 303
    assert visitor(clients, "reader").post(f"{AT}/branches/delete", data={"name": "feature/x"}).status_code == 403
    assert clients.anonymous.get("/repos/ada/Notes/branches/feature/x").status_code == 200


def test_a_name_that_is_not_utf8_is_linked_by_its_commit(clients: ServiceClients, git: Git) -> None:
    """Git allows such a branch name, but a URL here cannot contain it."""
    commit = git("rev-parse", "main")
    git("push", "-q", "origin", "main:refs/heads/odd-\udcff")
    page = visitor(clients).get(f"{AT}/branches").text
    assert f'href="{AT}/src/commit/{commit}"' in page
    assert visitor(clients).get(AT).status_code == 200
