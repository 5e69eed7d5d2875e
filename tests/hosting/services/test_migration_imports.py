"""Migration of issues and releases from the APIs of other services."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from sqlalchemy import Table, select

from holdfast.hosting.app import App
from holdfast.hosting.errors import RemoteFailed
from holdfast.hosting.services import migration_imports, migration_sources, remotes, repositories
from holdfast.hosting.services.migration_imports import ImportParts
from holdfast.hosting.services.repositories import NewRepository
from holdfast.hosting.store import accounts, tables
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.repositories import Repository, repository_by_id
from holdfast.secret import Secret
from holdfast.server.app import build
from holdfast.settings import Settings
from tests.conftest import Service
from tests.hosting.api.migration_helpers import migrate, push_sample_history
from tests.hosting.api_clients import ServiceClients, open_clients
from tests.hosting.services.http_stub import HttpStub, http_stub
from tests.shared_server import SharedServer

EVERYTHING = ImportParts(labels=True, milestones=True, issues=True, pull_requests=True, releases=True)
# What is not the same on both sides: ids, addresses, and who it belongs to.
OWN = {"id", "url", "html_url", "user", "repository", "issue_url", "original_author", "author", "upload_url"}
OWN |= {"tarball_url", "zipball_url", "pull_request_url", "content_version"}


@pytest.fixture
def clients(settings: Settings, database: Database, shared_server: SharedServer) -> Iterator[ServiceClients]:
    """Run a service that may migrate from itself."""
    inwards = msgspec.structs.replace(settings, migration_allowed_hosts="loopback")
    with shared_server.serving(build(inwards)) as url:
        yield from open_clients(Service(url, inwards, database))


def same(value: Any) -> Any:
    """Return what must be the same on both sides."""
    if isinstance(value, dict):
        return {key: same(inner) for key, inner in value.items() if key not in OWN}
    return [same(item) for item in value] if isinstance(value, list) else value


def listed(client: httpx.Client, path: str) -> Any:
    """Return a list in an order of its own."""
    return sorted(map(same, client.get(path).json()), key=str)


def test_issues_and_releases_of_another_service_are_the_same_afterwards(
    clients: ServiceClients, tmp_path: Path
) -> None:
    """Both APIs return the same fields, and the names of foreign authors are kept as text."""
    ada, bob = clients.user("ada"), clients.user("bob")
    ada.post("/user/repos", json={"name": "ship", "default_branch": "trunk"})
    push_sample_history(clients, tmp_path)
    ship = "/repos/ada/ship"
    label = ada.post(f"{ship}/labels", json={"name": "kind/leak", "color": "#aa0000", "exclusive": True}).json()[
        "id"
    ]
    stone = ada.post(f"{ship}/milestones", json={"title": "Spring", "due_on": "2030-01-01T00:00:00Z"}).json()["id"]
    first = {"title": "Hull", "body": "é", "labels": [label], "milestone": stone, "assignees": ["ada"]}
    assert ada.post(f"{ship}/issues", json=first).status_code == 201
    bob.post(f"{ship}/issues", json={"title": "Sail"})
    ada.post(f"{ship}/issues", json={"title": "Mast"})
    ada.delete(f"{ship}/issues/3")
    ada.post(f"{ship}/issues", json={"title": "Oar"})
    ada.patch(f"{ship}/issues/4", json={"state": "closed"})
    bob.post(f"{ship}/issues/1/comments", json={"body": "Me too"})
    ada.post(f"{ship}/issues/1/dependencies", json={"index": 2})
    assert ada.post(f"{ship}/releases", json={"tag_name": "v1", "name": "One", "body": "New"}).status_code == 201
    given = {"service": "gitea", "issues": True, "labels": True, "milestones": True, "releases": True}
    response = migrate(ada, clients, **given)
    assert response.status_code == 201, response.text
    assert (response.json()["open_issues_count"], response.json()["release_counter"]) == (2, 1)
    for path in ("labels", "milestones?state=all", "issues?state=all", "issues/comments", "releases"):
        results = listed(ada, f"/repos/ada/copy/{path}")
        assert results == listed(ada, f"{ship}/{path}"), path
        assert results
    assert [assignee["login"] for assignee in ada.get("/repos/ada/copy/issues/1").json()["assignees"]] == ["ada"]
    blockers = ada.get("/repos/ada/copy/issues/1/dependencies").json()
    assert [blocker["number"] for blocker in blockers] == [2]
    assert ada.get("/repos/ada/copy/issues/2").json()["original_author"] == "bob"
    (comment,) = ada.get("/repos/ada/copy/issues/1/comments").json()
    assert (comment["original_author"], comment["user"]["login"]) == ("bob", "ada")
    # The next issue has the next number.
    assert bob.post("/repos/ada/copy/issues", json={"title": "Next"}).json()["number"] == 5
    assert ada.patch("/repos/ada/copy/issues/1", json={"state": "closed"}).status_code == 412


@pytest.fixture
def allow_local_addresses(app: App) -> App:
    """Let APIs on this machine be read."""
    return replace(app, settings=msgspec.structs.replace(app.settings, migration_allowed_hosts="127.0.0.1/32"))


GITHUB: dict[str, Any] = {
    "labels": [{"id": 1, "name": "bug", "color": "d73a4a", "description": None, "default": True}],
    "milestones?state=all": [
        {
            "number": 3,
            "title": "Spring",
            "description": None,
            "state": "closed",
            "due_on": None,
            "created_at": "2020-01-01T00:00:00Z",
            "updated_at": "2020-01-02T00:00:00Z",
            "closed_at": "2020-01-03T00:00:00Z",
        }
    ],
    "issues?state=all&sort=created&direction=asc": [
        {
            "number": 2,
            "title": "Leak",
            "body": None,
            "user": {"login": "octocat", "id": 5},
            "labels": [{"name": "bug", "color": "d73a4a"}],
            "milestone": {"title": "Spring", "number": 3},
            "state": "open",
            "state_reason": None,
            "locked": True,
            "created_at": "2020-02-01T00:00:00Z",
            "updated_at": "2020-02-02T00:00:00Z",
            "closed_at": None,
            "issue_dependencies_summary": {"blocked_by": 2, "blocking": 0},
        },
        {
            "number": 4,
            "title": "Fix",
            "body": "a\u0000b",
            "user": None,
            "labels": [],
            "milestone": None,
            "state": "open",
            "created_at": "2020-03-01T00:00:00Z",
            "updated_at": "2020-03-01T00:00:00Z",
            "closed_at": None,
            "pull_request": {"url": "x"},
            "issue_dependencies_summary": {"blocked_by": 1, "blocking": 1},
        },
    ],
    "issues/comments?sort=created&direction=asc": [
        {
            "body": "Me too",
            "user": {"login": "hubot"},
            "issue_url": "https://api.github.com/repos/octo/ship/issues/2",
            "created_at": "2020-02-03T00:00:00Z",
            "updated_at": "2020-02-03T00:00:00Z",
        },
        {"body": "of none", "user": None, "issue_url": "https://api.github.com/repos/octo/ship/issues/99"},
    ],
    "issues/2/dependencies/blocked_by": [
        {"number": 4, "repository_url": "https://api.github.com/repos/octo/ship"},
        {"number": 4, "repository_url": "https://api.github.com/repos/octo/other"},
        {"number": 77, "repository_url": "https://api.github.com/repos/octo/ship"},
    ],
    # It would close a cycle.
    "issues/4/dependencies/blocked_by": [
        {"number": 2, "repository_url": "https://api.github.com/repos/octo/ship"}
    ],
    "releases": [
        {
            "tag_name": "v1",
            "target_commitish": "main",
            "name": None,
            "body": "New",
            "draft": False,
            "prerelease": True,
            "created_at": "2020-04-01T00:00:00Z",
            "published_at": "2020-04-02T00:00:00Z",
            "author": {"login": "octocat"},
        }
    ],
}


def answers(shapes: dict[str, Any]) -> dict[str, tuple[int, bytes]]:
    """Return what GitHub answers: a page with everything, and an empty one."""
    results = {}
    for path, shape in shapes.items():
        start = f"/api/v3/repos/octo/ship/{path}{'&' if '?' in path else '?'}page="
        results[f"{start}1&per_page=100"] = (200, msgspec.json.encode(shape))
        results[f"{start}2&per_page=100"] = (200, b"[]")
    return results


def imported(app: App, stub: HttpStub) -> Repository:
    """Import everything from a stub of GitHub."""
    ada = accounts.create_user(app.database, "ada", Secret("a-password-for-tests"), email="ada@example.org")
    repository = repositories.create(app, ada, ada, NewRepository(name="copy"))
    url = remotes.parse_address(f"{stub.url}/octo/ship.git", "CloneAddr")
    source = migration_sources.open_source(app, "github", url, token="t0ken", credentials=remotes.Credentials())
    migration_imports.import_parts(app, repository, ada, source, EVERYTHING)
    return repository_by_id(app.database, repository.id)


def rows_of(app: App, table: Table, *names: str) -> list[tuple[Any, ...]]:
    """Read columns of a table."""
    with app.database.read() as connection:
        return [tuple(row) for row in connection.execute(select(*(table.c[name] for name in names)))]


def test_responses_of_github_are_parsed(allow_local_addresses: App) -> None:
    """A pull request becomes a closed issue, and what belongs to other repositories is left out."""
    with http_stub(answers(GITHUB)) as stub:
        repository = imported(allow_local_addresses, stub)
    assert {request.authorization for request in stub.seen} == {"token t0ken"}
    assert (repository.last_issue, repository.open_issues, repository.release_count) == (4, 1, 0)
    assert rows_of(allow_local_addresses, tables.labels, "name", "color", "description") == [("bug", "d73a4a", "")]
    assert rows_of(allow_local_addresses, tables.milestones, "title", "is_closed", "closed_at") == [
        ("Spring", True, 1_578_009_600)
    ]
    results = rows_of(
        allow_local_addresses,
        tables.issues,
        "number",
        "title",
        "body",
        "original_author",
        "is_closed",
        "is_locked",
        "comment_count",
    )
    assert sorted(results) == [
        (2, "Leak", "", "octocat", False, True, 1),
        (4, "Fix", "ab", "", True, False, 0),
    ]
    assert rows_of(allow_local_addresses, tables.comments, "body", "original_author") == [("Me too", "hubot")]
    assert len(rows_of(allow_local_addresses, tables.issue_labels, "issue_id")) == 1
    assert len(rows_of(allow_local_addresses, tables.issue_dependencies, "issue_id")) == 1
    # Its tag is not there.
    assert rows_of(allow_local_addresses, tables.releases, "tag_name", "is_draft", "is_prerelease") == [
        ("v1", True, True)
    ]


@pytest.mark.parametrize(
    "damaged",
    [(200, b"{}"), (200, b"<html>"), (200, b'[{"name": 5}]'), (403, b"[]"), (500, b"[]"), (200, b'["\xff"]')],
)
def test_a_response_that_is_not_a_list_ends_the_import(
    allow_local_addresses: App, damaged: tuple[int, bytes]
) -> None:
    """A response that is no list of records is reported as a failure of the other service."""
    given = {**answers(GITHUB), "/api/v3/repos/octo/ship/labels?page=1&per_page=100": damaged}
    with http_stub(given) as stub, pytest.raises(RemoteFailed, match="the API of the other service"):
        imported(allow_local_addresses, stub)


def test_an_api_at_an_address_that_is_not_allowed_is_not_read(app: App) -> None:
    """The setting `migration_allowed_hosts` applies to the API as it does to git."""
    with http_stub(answers(GITHUB)) as stub, pytest.raises(RemoteFailed, match="migration_allowed_hosts"):
        imported(app, stub)
    assert stub.seen == []
