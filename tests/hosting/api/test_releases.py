"""The release endpoints, and the tags of releases."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from holdfast.hosting.store.repositories import find_repository
from tests.hosting.api_clients import PASSWORD, ServiceClients
from tests.hosting.git_client import Git, address
from tests.hosting.repository_helpers import READ, let_in
from tests.hosting.webhooks.event_helpers import recorded

HOME = "/repos/ada/ship"


@pytest.fixture
def ada(clients: ServiceClients) -> httpx.Client:
    """Give Ada a repository with a commit, and return her client."""
    client = clients.user("ada")
    client.post("/user/repos", json={"name": "ship", "auto_init": True})
    return client


def make(client: httpx.Client, tag: str = "v1", **fields: Any) -> dict[str, Any]:
    """Create a release."""
    response = client.post(f"{HOME}/releases", json={"tag_name": tag, **fields})
    assert response.status_code == 201, response.text
    body: dict[str, Any] = response.json()
    return body


def actions(clients: ServiceClients) -> list[str]:
    """Return the actions of the recorded release events."""
    return [event.details[11:].split('"')[0] for event in recorded(clients.database) if event.kind == "release"]


def test_a_release_creates_its_tag(ada: httpx.Client, clients: ServiceClients) -> None:
    """The tag points to the target; the release is found by id, by tag and as the latest, and is counted."""
    head = ada.get(f"{HOME}/branches/main").json()["commit"]["id"]
    release = make(ada, name="One", body="First.", target_commitish="main", tag_message="Signed off.")
    assert (release["tag_name"], release["name"], release["body"], release["target_commitish"]) == (
        "v1",
        "One",
        "First.",
        "main",
    )
    assert (release["draft"], release["prerelease"], release["assets"], release["author"]["login"]) == (
        False,
        False,
        [],
        "ada",
    )
    tag = ada.get(f"{HOME}/tags/v1").json()
    assert (tag["commit"]["sha"], tag["message"].strip()) == (head, "Signed off.")
    assert tag["id"] != head
    for path in (release["url"], f"{HOME}/releases/tags/v1", f"{HOME}/releases/latest"):
        assert ada.get(path).json() == release
    assert release["upload_url"] == f"{release['url']}/assets"
    assert release["tarball_url"].endswith("/ada/ship/archive/v1.tar.gz")
    assert release["html_url"].endswith("/ada/ship/releases/tag/v1")
    shown = ada.get(HOME).json()
    assert (shown["has_releases"], shown["release_counter"]) == (True, 1)
    assert actions(clients) == ["published"]


def test_a_release_of_an_existing_tag_leaves_it_where_it_is(ada: httpx.Client) -> None:
    """The target is ignored if the tag exists; a second release of a tag gives 409."""
    ada.post(f"{HOME}/tags", json={"tag_name": "release/1", "target": "main"})
    before = ada.get(f"{HOME}/tags/release/1").json()
    release = make(ada, "release/1", target_commitish="nowhere")
    assert ada.get(f"{HOME}/tags/release/1").json() == before
    assert ada.get(f"{HOME}/releases/tags/release/1").json() == release
    assert ada.post(f"{HOME}/releases", json={"tag_name": "release/1"}).status_code == 409


@pytest.mark.parametrize("name", ["-v1", "HEAD"])
def test_a_release_creates_no_tag_that_git_refuses(ada: httpx.Client, name: str) -> None:
    """A release that needs a new tag with such a name is refused with 422, also when a draft is published."""
    refused = ada.post(f"{HOME}/releases", json={"tag_name": name})
    assert (refused.status_code, refused.json()["message"]) == (422, f"invalid tag name [name: {name}]")
    draft = make(ada, name, draft=True)
    assert ada.patch(f"{HOME}/releases/{draft['id']}", json={"draft": False}).status_code == 422
    assert ada.get(f"{HOME}/releases/{draft['id']}").json()["draft"] is True


def test_drafts_have_no_tag_and_are_visible_to_writers_only(ada: httpx.Client, clients: ServiceClients) -> None:
    """Publishing a draft creates its tag and records the event `published` once."""
    reader = clients.user("eve")
    draft = make(ada, "v2", draft=True)
    assert ada.get(f"{HOME}/tags/v2").status_code == 404
    for path in (f"{HOME}/releases/{draft['id']}", f"{HOME}/releases/tags/v2"):
        assert reader.get(path).status_code == 404
        assert ada.get(path).status_code == 200
    assert reader.get(f"{HOME}/releases").json() == []
    assert reader.get(f"{HOME}/releases", params={"draft": "true"}).json() == []
    assert len(ada.get(f"{HOME}/releases").json()) == 1
    assert ada.get(f"{HOME}/releases/latest").status_code == 404
    assert ada.get(HOME).json()["release_counter"] == 0
    assert actions(clients) == []
    published = ada.patch(f"{HOME}/releases/{draft['id']}", json={"draft": False})
    assert (published.status_code, published.json()["draft"]) == (200, False)
    assert ada.get(f"{HOME}/tags/v2").status_code == 200
    assert reader.get(f"{HOME}/releases").json()[0]["tag_name"] == "v2"
    ada.patch(f"{HOME}/releases/{draft['id']}", json={"name": "Two"})
    assert actions(clients) == ["published", "updated"]


def test_lists_have_filters_and_pages(ada: httpx.Client) -> None:
    """Releases are listed newest first; the latest one is neither a draft nor a pre-release."""
    make(ada, "v1")
    make(ada, "v2-rc", prerelease=True)
    make(ada, "v3", draft=True)

    def tags(**query: str) -> list[str]:
        return [release["tag_name"] for release in ada.get(f"{HOME}/releases", params=query).json()]

    assert tags() == ["v3", "v2-rc", "v1"]
    assert tags(draft="true") == ["v3"]
    assert tags(draft="false") == ["v2-rc", "v1"]
    assert tags(**{"pre-release": "true"}) == ["v2-rc"]
    assert tags(**{"pre-release": "false", "draft": "false"}) == ["v1"]
    assert tags(limit="1", page="2") == ["v2-rc"]
    assert ada.get(f"{HOME}/releases/latest").json()["tag_name"] == "v1"
    assert ada.get(f"{HOME}/releases").headers["x-total-count"] == "3"


def test_an_edit_changes_only_the_given_fields(ada: httpx.Client) -> None:
    """A new tag name creates the tag, and that of another release gives 409."""
    release = make(ada, name="One", body="First.")
    make(ada, "v2")
    path = f"{HOME}/releases/{release['id']}"
    changed = ada.patch(path, json={"body": "", "prerelease": True, "tag_name": ""}).json()
    assert changed == {**release, "body": "", "prerelease": True}
    moved = ada.patch(path, json={"tag_name": "v1.1"})
    assert (moved.status_code, moved.json()["tag_name"]) == (200, "v1.1")
    assert {tag["name"] for tag in ada.get(f"{HOME}/tags").json()} == {"v1", "v1.1", "v2"}
    assert ada.patch(path, json={"tag_name": "v2"}).status_code == 409


def test_deleting_a_release_keeps_its_tag(ada: httpx.Client, clients: ServiceClients) -> None:
    """A release is deleted by id or by tag, and its tag stays."""
    release = make(ada)
    make(ada, "v2")
    assert ada.delete(f"{HOME}/releases/{release['id']}").status_code == 204
    assert ada.delete(f"{HOME}/releases/tags/v2").status_code == 204
    assert ada.delete(f"{HOME}/releases/tags/v2").status_code == 404
    assert ada.get(f"{HOME}/releases").json() == []
    assert {tag["name"] for tag in ada.get(f"{HOME}/tags").json()} == {"v1", "v2"}
    assert ada.get(HOME).json()["release_counter"] == 0
    assert actions(clients) == ["published", "published", "deleted", "deleted"]


def test_a_tag_with_a_release_is_not_deleted(ada: httpx.Client) -> None:
    """The same holds for a draft, whose tag need not exist; the tag can be deleted after its release."""
    for tag, is_draft in (("v1", False), ("v2", True)):
        release = make(ada, tag, draft=is_draft)
        refused = ada.delete(f"{HOME}/tags/{tag}")
        assert (refused.status_code, refused.json()["message"]) == (
            409,
            "a tag attached to a release cannot be deleted directly",
        )
        assert ada.delete(release["url"]).status_code == 204
        assert ada.delete(f"{HOME}/tags/{tag}").status_code == (404 if is_draft else 204)


def test_the_release_of_a_deleted_tag_becomes_a_draft(
    ada: httpx.Client, clients: ServiceClients, tmp_path: Path
) -> None:
    """A release whose tag is deleted by a push keeps its text and is not counted."""
    release = make(ada, body="Notes.")
    work = Git(tmp_path / "ship")
    work("init", "--quiet")
    work("push", "--quiet", address(clients.service.url, "ada", PASSWORD, "ada/ship"), ":refs/tags/v1")
    stored = ada.get(f"{HOME}/releases/{release['id']}").json()
    assert (stored["draft"], stored["body"]) == (True, "Notes.")
    assert ada.get(HOME).json()["release_counter"] == 0


def test_invalid_releases_are_refused(ada: httpx.Client, clients: ServiceClients) -> None:
    """Invalid names, unknown targets, empty repositories and readers are refused."""
    for body in ({}, {"tag_name": "a..b"}, {"tag_name": "x" * 101}, {"tag_name": "v1", "name": "x" * 256}):
        assert ada.post(f"{HOME}/releases", json=body).status_code == 422, body
    assert ada.post(f"{HOME}/releases", json={"tag_name": "v1", "target_commitish": "x"}).status_code == 404
    assert ada.get(f"{HOME}/releases").json() == []
    ada.post("/user/repos", json={"name": "empty"})
    assert ada.post("/repos/ada/empty/releases", json={"tag_name": "v1"}).status_code == 404
    release = make(ada)
    assert ada.get(f"/repos/ada/empty/releases/{release['id']}").status_code == 404
    eve = clients.account("eve")
    let_in(clients.database, find_repository(clients.database, "ada", "ship"), eve, READ)
    assert clients.with_token(eve).post(f"{HOME}/releases", json={"tag_name": "v2"}).status_code == 403
    assert ada.get(f"{HOME}/releases").json() == [release]
    assert [tag["name"] for tag in ada.get(f"{HOME}/tags").json()] == ["v1"]
