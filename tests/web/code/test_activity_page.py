"""The activity page of a repository."""

import re

import httpx
import pytest

from holdfast.web.code import activity_page
from tests.hosting.api_clients import ServiceClients
from tests.hosting.git_client import Git
from tests.web.browser import visitor

AT = "/ada/Notes"


def test_updates_are_listed(clients: ServiceClients, git: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    """The list can be filtered by ref and has pages, and a visitor sees no form to restore a branch."""
    site = visitor(clients)
    page = site.get(f"{AT}/activity").text
    assert "created" in page
    assert "<bdi>feature/x</bdi>" in page
    assert "Restore</summary>" not in page
    assert "90 days" in page
    filtered = site.get(f"{AT}/activity?ref=refs/heads/main").text
    assert "<bdi>feature/x</bdi>" not in filtered
    of_branch = site.get(f"{AT}/activity?ref=feature/x").text
    assert "<bdi>feature/x</bdi>" in of_branch
    assert "<bdi>main</bdi>" not in of_branch
    assert "No activity of" in site.get(f"{AT}/activity?ref=refs/heads/none").text
    monkeypatch.setattr(activity_page, "PER_PAGE", 1)
    assert "Page 2 of" in site.get(f"{AT}/activity?page=2").text


def test_a_writer_restores_a_deleted_branch(clients: ServiceClients, git: Git, ada: httpx.Client) -> None:
    """The branch has its last commit again, and a notice names it."""
    before = clients.anonymous.get("/repos/ada/Notes/branches/feature/x").json()["commit"]["id"]
    ada.post(f"{AT}/branches/delete", data={"name": "feature/x"})
    page = ada.get(f"{AT}/activity").text
    hits = re.search(r'name="version" value="(\d+)"', page)
    assert hits is not None
    restored = ada.post(f"{AT}/activity/restore", data={"version": hits[1]})
    assert (restored.status_code, restored.headers["location"]) == (303, f"{AT}/activity")
    assert "Branch feature/x restored." in ada.get(f"{AT}/activity").text
    assert clients.anonymous.get("/repos/ada/Notes/branches/feature/x").json()["commit"]["id"] == before


def test_the_head_of_a_pull_request_has_its_number(clients: ServiceClients, git: Git) -> None:
    """The ref of a pull request is shown as its number, and the page links to the releases."""
    pull = {"head": "feature/x", "base": "main", "title": "Add x"}
    number = clients.admin.post("/repos/ada/Notes/pulls", json=pull).json()["number"]
    page = visitor(clients).get(f"{AT}/activity").text
    assert f"<bdi>pull request #{number}</bdi>" in page
    assert f'href="{AT}/releases"' in page
    assert activity_page.short_name("refs/pull/x/head") == "refs/pull/x/head"
    assert activity_page.short_name("refs/tags/v1") == "v1"


@pytest.mark.parametrize("version", ["", "x", "1", "999999"])
def test_a_failed_restore_is_reported(clients: ServiceClients, git: Git, ada: httpx.Client, version: str) -> None:
    """An invalid or unknown version is answered with status 404 and an alert."""
    refused = ada.post(f"{AT}/activity/restore", data={"version": version})
    assert refused.status_code == 404
    assert 'role="alert"' in refused.text


def test_only_writers_restore_branches(clients: ServiceClients, git: Git, ada: httpx.Client) -> None:
    """A visitor is redirected to log in, a reader gets status 403, and the branch stays deleted."""
    clients.account("reader")
    ada.post(f"{AT}/branches/delete", data={"name": "feature/x"})
    hits = re.search(r'name="version" value="(\d+)"', ada.get(f"{AT}/activity").text)
    assert hits is not None
    form = {"version": hits[1]}
    assert visitor(clients).post(f"{AT}/activity/restore", data=form).status_code == 303
    assert visitor(clients, "reader").post(f"{AT}/activity/restore", data=form).status_code == 403
    assert clients.anonymous.get("/repos/ada/Notes/branches/feature/x").status_code == 404
