"""The APIs of other services, as migrations read them."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import msgspec
import pytest

from holdfast.hosting.app import App
from holdfast.hosting.errors import RemoteFailed
from holdfast.hosting.services.migration_sources import (
    ApiSource,
    SourceAsset,
    SourceComment,
    SourceService,
    open_source,
    seconds_of,
)
from holdfast.hosting.services.remotes import Credentials
from holdfast.http_client.urls import HttpUrl
from tests.hosting.services.http_stub import HttpStub, http_stub

on_sqlite = pytest.mark.parametrize("settings", ["sqlite"], indirect=True)


@pytest.fixture
def allow_local_addresses(app: App) -> App:
    """Let services on this machine be read."""
    settings = msgspec.structs.replace(app.settings, migration_allowed_hosts="127.0.0.1/32")
    return replace(app, settings=settings)


@pytest.fixture
def stub() -> Iterator[HttpStub]:
    """Run an HTTP stub without responses."""
    with http_stub({}) as running:
        yield running


def source(app: App, url: str, service: SourceService = "gitea", token: str = "t") -> ApiSource:
    """Open the API of a service."""
    return open_source(app, service, HttpUrl.parse(url), token=token, credentials=Credentials("ada", "pw"))


@on_sqlite
@pytest.mark.parametrize(
    ("service", "url", "api"),
    [
        ("gitea", "https://x.example/ada/ship.git", "https://x.example/api/v1/repos/ada/ship"),
        ("gitea", "https://x.example/git/ada/ship/", "https://x.example/git/api/v1/repos/ada/ship"),
        ("github", "https://github.com/ada/ship", "https://api.github.com/repos/ada/ship"),
        ("github", "https://x.example:8443/ada/ship", "https://x.example:8443/api/v3/repos/ada/ship"),
    ],
)
def test_the_api_is_found_by_the_address_to_clone_from(
    app: App, service: SourceService, url: str, api: str
) -> None:
    """The API of Gitea is below the clone URL, and that of GitHub has a host or path of its own."""
    api_source = source(app, url, service)
    assert (api_source.url.url, api_source.full_name) == (api, "ada/ship")


@on_sqlite
def test_an_address_without_a_repository_is_refused(app: App) -> None:
    """A URL whose path has no owner and repository is refused."""
    with pytest.raises(RemoteFailed, match="names no owner and repository"):
        source(app, "https://x.example/ship.git")


@on_sqlite
def test_lists_are_read_page_by_page(allow_local_addresses: App, stub: HttpStub) -> None:
    """Pages are read until one is empty or null.

    Requests have the token, or the credentials of the URL if there is no token.
    """
    path = "/api/v1/repos/ada/ship/labels"
    stub.answers[f"{path}?page=1&limit=50"] = (200, b'[{"name": "bug", "color": "f00"}, {"name": "idea"}]')
    stub.answers[f"{path}?page=2&limit=50"] = (200, b'[{"name": "late", "other": 1}]')
    stub.answers[f"{path}?page=3&limit=50"] = (200, b"null")
    pages = [
        [label.name for label in page] for page in source(allow_local_addresses, f"{stub.url}/ada/ship").labels()
    ]
    assert pages == [["bug", "idea"], ["late"]]
    list(source(allow_local_addresses, f"{stub.url}/ada/ship", token="").labels())
    assert {request.authorization for request in stub.seen} == {"token t", "Basic YWRhOnB3"}


@on_sqlite
@pytest.mark.parametrize("answer", [b"{}", b"[1]", b'[{"color": "f00"}]', b"<html>", b"\xff"])
def test_a_response_of_another_shape_is_an_error(
    allow_local_addresses: App, stub: HttpStub, answer: bytes
) -> None:
    """A response that is no list of labels, or no JSON, is an error."""
    stub.answers["/api/v1/repos/ada/ship/labels"] = (200, answer)
    with pytest.raises(RemoteFailed, match="something else than expected"):
        list(source(allow_local_addresses, f"{stub.url}/ada/ship").labels())


@on_sqlite
def test_pull_requests_are_left_out_unless_asked_for(allow_local_addresses: App, stub: HttpStub) -> None:
    """GitHub always lists pull requests among the issues, so they are filtered here."""
    path = "/api/v3/repos/ada/ship/issues"
    listed = [{"number": 1, "title": "i"}, {"number": 2, "title": "p", "pull_request": {}}]
    query = "state=all&sort=created&direction=asc&page={}&per_page=100"
    stub.answers[f"{path}?{query.format(1)}"] = (200, json.dumps(listed).encode())
    stub.answers[f"{path}?{query.format(2)}"] = (200, b"[]")
    api_source = source(allow_local_addresses, f"{stub.url}/ada/ship", "github")
    assert [[item.number for item in page] for page in api_source.issues(with_pulls=False)] == [[1]]
    assert [[item.number for item in page] for page in api_source.issues(with_pulls=True)] == [[1, 2]]


@on_sqlite
def test_only_blockers_of_the_same_repository_are_listed(allow_local_addresses: App, stub: HttpStub) -> None:
    """Blockers of other repositories are left out, because their numbers belong to other issues."""
    path = "/api/v1/repos/ada/ship/issues/7/dependencies"
    listed = [
        {"number": 1, "repository": {"full_name": "Ada/Ship"}},
        {"number": 2, "repository": {"full_name": "ada/other"}},
        {"number": 3, "repository_url": "https://x.example/api/v1/repos/ada/ship"},
        {"number": 4},
    ]
    stub.answers[f"{path}?page=1&limit=50"] = (200, json.dumps(listed).encode())
    stub.answers[f"{path}?page=2&limit=50"] = (200, b"[]")
    assert list(source(allow_local_addresses, f"{stub.url}/ada/ship").blockers(7)) == [[1, 3]]


def test_a_comment_knows_its_issue_by_the_end_of_an_address() -> None:
    """A URL that does not end with a valid issue number has the number 0."""
    for url, number in (("https://x/issues/12", 12), ("https://x/issues/", 0), ("https://x/1234567890", 0)):
        assert SourceComment(issue_url=url).number == number
    assert SourceComment(pull_request_url="https://x/pulls/3").number == 3


def test_empty_times_and_states_are_none() -> None:
    """The year 1 is the zero time of Go and counts as no time; an asset without a state is complete."""
    assert seconds_of(None) == seconds_of(datetime(1, 1, 1, tzinfo=UTC)) == 0
    assert seconds_of(datetime(1970, 1, 2, tzinfo=UTC)) == seconds_of(datetime(1970, 1, 2)) == 86_400  # noqa: DTZ001  # a time without a zone is what is tested
    assert [SourceAsset(name="a", state=state).is_whole for state in ("", "uploaded", "new")] == [
        True,
        True,
        False,
    ]
