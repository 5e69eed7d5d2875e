"""The response cache: invalidation, users, entity tags and size."""

import base64
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import httpx
import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine
from starlette.responses import Response

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.api import raw
from holdfast.hosting.app import App
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.http.context import EndpointRequest
from holdfast.hosting.http.response_cache import ResponseCache, add_entity_tag
from holdfast.hosting.services.revisions import open_git
from holdfast.hosting.store import accounts, sessions, tokens
from tests.hosting.api_clients import ServiceClients

ISSUES = "/repos/ada/ship/issues"
RAW = "/repos/ada/ship/raw/a.txt"
FILE_HEADERS = ("content-type", "last-modified", "content-disposition", "x-gitea-object-type", "content-length")


@pytest.fixture
def ada(clients: ServiceClients) -> httpx.Client:
    """Create a user with a repository and an issue."""
    ada = clients.user("ada")
    assert ada.post("/user/repos", json={"name": "ship"}).status_code == 201
    assert ada.post(ISSUES, json={"title": "One"}).status_code == 201
    return ada


@contextmanager
def queries() -> Iterator[list[str]]:
    """Record the queries about issues that are run."""
    results: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        if "FROM issues" in statement:
            results.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield results
    finally:
        event.remove(Engine, "before_cursor_execute", note)


def titles(client: httpx.Client) -> list[str]:
    """List the titles of the issues, and check that they are counted."""
    response = client.get(ISSUES)
    assert response.headers["x-total-count"] == str(len(response.json()))
    return [item["title"] for item in response.json()]


def test_an_unchanged_list_is_served_from_the_cache(clients: ServiceClients, ada: httpx.Client) -> None:
    """On SQLite an unchanged list needs no queries; on PostgreSQL it is queried again with the same response."""
    first = ada.get(ISSUES)
    with queries() as statements:
        again = ada.get(ISSUES)
    assert bool(statements) is not clients.database.is_sqlite
    assert again.content == first.content
    for name in ("content-type", "x-total-count", "etag", "vary", "cache-control", "x-content-type-options"):
        assert again.headers[name] == first.headers[name], name
    assert ada.head(ISSUES).headers["content-length"] == str(len(first.content))
    assert ada.get(ISSUES).json() == first.json()


def test_every_change_is_seen_at_once(clients: ServiceClients, ada: httpx.Client) -> None:
    """A change by the API or in the database, of an issue or of its author, is in the next response."""
    assert titles(ada) == ["One"]
    assert ada.post(ISSUES, json={"title": "Two"}).status_code == 201
    assert titles(ada) == ["Two", "One"]
    assert ada.patch(f"{ISSUES}/1", json={"title": "First"}).status_code == 201
    assert titles(ada) == ["Two", "First"]
    with clients.database.write() as connection:
        connection.exec_driver_sql("UPDATE issues SET title = 'Written elsewhere' WHERE number = 2")
    assert titles(ada) == ["Written elsewhere", "First"]
    assert ada.get(ISSUES).json()[0]["user"]["full_name"] == ""
    assert ada.patch("/user/settings", json={"full_name": "Ada L."}).status_code == 200
    assert ada.get(ISSUES).json()[0]["user"]["full_name"] == "Ada L."


def test_a_confirmed_write_is_in_the_next_response(ada: httpx.Client) -> None:
    """A new issue is in the next list although other threads request the list all the time."""
    stopped = threading.Event()

    def poll() -> None:
        while not stopped.is_set():
            ada.get(ISSUES)

    threads = [threading.Thread(target=poll) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for number in range(15):
            created = ada.post(ISSUES, json={"title": f"New {number}"}).json()["title"]
            assert titles(ada)[0] == created
    finally:
        stopped.set()
        for thread in threads:
            thread.join()


def test_responses_are_cached_for_each_user(clients: ServiceClients, ada: httpx.Client) -> None:
    """A cached response is not served to others, after a token is revoked, or once the repository is private."""
    eve = clients.user("eve")
    assert ada.get(ISSUES).status_code == eve.get(ISSUES).status_code == 200
    assert ada.patch("/repos/ada/ship", json={"private": True}).status_code == 200
    assert ada.get(ISSUES).status_code == 200
    assert eve.get(ISSUES).status_code == clients.anonymous.get(ISSUES).status_code == 404
    assert clients.admin.get(ISSUES, headers={"Sudo": "eve"}).status_code == 404
    assert clients.admin.get(ISSUES).status_code == 200
    with clients.database.write() as connection:
        connection.exec_driver_sql("DELETE FROM tokens WHERE user_id = (SELECT id FROM users WHERE name = 'ada')")
    assert ada.get(ISSUES).status_code == 401


def test_the_same_credentials_may_belong_to_another_user_later(
    clients: ServiceClients, ada: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cached response is not served for a cross-site cookie or an expired token."""
    assert ada.patch("/repos/ada/ship", json={"private": True}).status_code == 200
    account = accounts.find_user(clients.database, "ada")
    session = sessions.start_session(clients.database, account, days=1)
    browser = clients.client(Cookie=f"{sessions.COOKIE}={session.reveal()}")
    for _ in range(2):
        assert browser.get(ISSUES).status_code == 200
    assert browser.get(ISSUES, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 404
    end = int(time.time()) + 3600
    _, value = tokens.create_token(clients.database, account, "short", ("all",), expires_at=end)
    holder = clients.client(Authorization=f"token {value.reveal()}")
    for _ in range(2):
        assert holder.get(ISSUES).status_code == 200
    monkeypatch.setattr(time, "time", partial(float, end))
    assert holder.get(ISSUES).status_code == 401


def test_urls_in_a_response_are_those_of_its_request(ada: httpx.Client) -> None:
    """URLs begin with that of the request; only clients that accept gzip get a compressed response."""
    for host in (ada.base_url.netloc.decode(), "other.example"):
        for _ in range(2):
            (issue,) = ada.get(ISSUES, headers={"Host": host}).json()
            assert issue["url"] == f"http://{host}/api/v1{ISSUES}/1"
    for _ in range(3):
        assert ada.post(ISSUES, json={"title": "Long", "body": "word " * 200}).status_code == 201
    packed = ada.get(ISSUES, headers={"Accept-Encoding": "gzip"})
    plain = ada.get(ISSUES, headers={"Accept-Encoding": "identity"})
    assert (packed.headers["content-encoding"], "content-encoding" in plain.headers) == ("gzip", False)
    assert packed.json() == plain.json()
    assert packed.headers["etag"] != plain.headers["etag"]


def test_a_cached_response_is_answered_with_304(ada: httpx.Client) -> None:
    """If-None-Match gives 304 with the same tag and no body, until the list changes."""
    tag = ada.get(ISSUES).headers["etag"]
    for wanted in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        response = ada.get(ISSUES, headers={"If-None-Match": wanted})
        assert (response.status_code, response.content, response.headers["etag"]) == (304, b"", tag)
    assert ada.get(ISSUES, headers={"If-None-Match": '"other"'}).status_code == 200
    assert ada.patch(f"{ISSUES}/1", json={"title": "Changed"}).status_code == 201
    changed = ada.get(ISSUES, headers={"If-None-Match": tag})
    assert (changed.status_code, changed.headers["etag"] != tag) == (200, True)


def write_file(client: httpx.Client, content: str, sha: str | None = None) -> str:
    """Commit a file, and return the id of its blob."""
    body = {"content": base64.b64encode(content.encode()).decode(), "message": "m", "sha": sha}
    response = client.request("POST" if sha is None else "PUT", "/repos/ada/ship/contents/a.txt", json=body)
    assert response.status_code in {200, 201}, response.text
    blob: str = response.json()["content"]["sha"]
    return blob


def test_a_file_is_read_again_only_after_a_change(
    clients: ServiceClients, ada: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The entity tag is the id of the blob, and conditions and ranges work as without a cache."""
    blob = write_file(ada, "first\n")
    opened: list[object] = []

    def count(app: App, target: RepositoryAccess) -> Repo:
        opened.append(target)
        return open_git(app, target)

    monkeypatch.setattr(raw, "open_git", count)
    first = ada.get(RAW)
    times = len(opened)
    for _ in range(3):
        again = ada.get(RAW)
        assert (again.content, again.headers["etag"]) == (b"first\n", f'"{blob}"')
        for name in FILE_HEADERS:
            assert again.headers[name] == first.headers[name], name
    assert (len(opened) == times) is clients.database.is_sqlite
    assert ada.head(RAW).headers["content-length"] == "6"
    part = ada.get(RAW, headers={"Range": "bytes=1-2"})
    assert (part.status_code, part.content) == (206, b"ir")
    assert ada.get(RAW, headers={"Range": "bytes=9-"}).status_code == 416
    response = ada.get(RAW, headers={"If-None-Match": f'"{blob}"'})
    assert (response.status_code, response.content, response.headers["etag"]) == (304, b"", f'"{blob}"')
    assert response.headers["cache-control"] == first.headers["cache-control"]
    assert ada.get(RAW, headers={"If-Modified-Since": first.headers["last-modified"]}).status_code == 304
    assert ada.get(RAW).content == b"first\n"
    write_file(ada, "second\n", blob)
    assert ada.get(RAW).content == b"second\n"
    assert ada.get(RAW, headers={"If-None-Match": f'"{blob}"'}).content == b"second\n"


def test_a_streamed_file_is_not_cached(ada: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """A large file is read again and served unchanged each time, with the id of its blob as entity tag."""
    blob = write_file(ada, "x" * 300_000)
    opened: list[object] = []

    def count(app: App, target: RepositoryAccess) -> Repo:
        opened.append(target)
        return open_git(app, target)

    monkeypatch.setattr(raw, "open_git", count)
    for _ in range(2):
        opened.clear()
        response = ada.get(RAW)
        assert (response.text, response.headers["etag"]) == ("x" * 300_000, f'"{blob}"')
        assert opened


class RequestOf(EndpointRequest):
    """A request whose caller is known."""

    caller: object = None


def request_for(
    path: str, *headers: tuple[bytes, bytes], caller: object = None, root: str = "https://example.org"
) -> EndpointRequest:
    """Make a request."""
    scope = {"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": list(headers)}

    async def receive() -> dict[str, object]:
        raise NotImplementedError

    request = RequestOf(scope, receive, {}, root)
    request.caller = caller
    return request


def response_of(body: bytes, status: int = 200) -> Response:
    """Make a response with a tag."""
    created = Response(body, status)
    add_entity_tag(created)
    return created


def test_the_size_of_the_cache_is_limited() -> None:
    """A full cache is emptied, and a response that is too large is never stored."""
    cache = ResponseCache(max_bytes=250)
    requests = [request_for(f"/{number}") for number in range(3)]
    for request in requests:
        cache.put(1, request, response_of(b"x" * 100))
    assert [cache.get(1, request) is not None for request in requests] == [False, False, True]
    cache.put(1, requests[2], response_of(b"y" * 100))
    cache.put(1, requests[1], response_of(b"x" * 100))
    assert [cache.get(1, request) is not None for request in requests] == [False, True, True]
    large = ResponseCache(max_bytes=4 * 2**20)
    large.put(1, requests[0], response_of(b"x" * (2**20 + 1)))
    assert large.get(1, requests[0]) is None


def test_only_equal_requests_of_one_version_share_a_response() -> None:
    """Errors are not cached, and nothing is if the version is unknown."""
    cache = ResponseCache()
    asked = request_for("/a", caller=7)
    asked.response_headers["X-Total-Count"] = "7"
    cache.put(1, asked, response_of(b"body"))
    equal = request_for("/a", (b"x-request-id", b"1"), caller=7)
    result = cache.get(1, equal)
    assert result is not None
    assert (result.body, equal.response_headers) == (b"body", {"X-Total-Count": "7"})
    others = [
        request_for("/a"),
        request_for("/a", caller=8),
        request_for("/b", caller=7),
        request_for("/a", (b"range", b"bytes=0-1"), caller=7),
        request_for("/a", (b"accept-encoding", b"gzip"), caller=7),
        request_for("/a", caller=7, root="http://other.example"),
    ]
    assert [cache.get(1, other) for other in others] == [None] * len(others)
    assert cache.get(2, asked) is cache.get(None, asked) is None
    cache.put(None, asked, response_of(b"body"))
    cache.put(2, asked, response_of(b"no", 404))
    assert cache.get(2, asked) is cache.get(None, asked) is None
