"""Git sessions over HTTP: authentication, repository lookup and permissions."""

import asyncio
import uuid
from collections.abc import Iterable

import pytest
from starlette.types import Message

from holdfast.hosting.app import App
from holdfast.hosting.authentication import Authenticator
from holdfast.hosting.errors import BodyDamaged, NoSuchRepository
from holdfast.hosting.git_server.session import GitSession, body_of, challenge, find_repository, open_session
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.store import accounts, repositories, tokens
from holdfast.hosting.store.accounts import Account
from tests.hosting.repository_helpers import READ, WRITE, let_in, make_people, make_repository


def request_of(app: App, name: str, user: Account | None = None, *scopes: str) -> RequestContext:
    """Make a request for a repository of ada's, with a token of a user or without credentials."""
    headers = []
    if user is not None:
        _, token = tokens.create_token(app.database, user, uuid.uuid4().hex, scopes or ("all",))
        headers.append((b"authorization", f"token {token.reveal()}".encode()))
    scope = {"type": "http", "method": "GET", "query_string": b"", "headers": headers}
    return RequestContext(app, scope, path={"owner": "ada", "repo": name})


def opened(request: RequestContext, *, writing: bool = False) -> GitSession | int:
    """Open a session, or return the status of the refusal."""
    try:
        return open_session(Authenticator(), request, writing=writing)
    except ApiError as refusal:
        return refusal.status


@pytest.fixture
def people(app: App) -> list[Account]:
    """Make ada with repositories, bob who may write to them, eve who may read them, and a user without access."""
    created_accounts = make_people(app.database, "ada", "bob", "eve", "mallory")
    _, bob, eve, _ = created_accounts
    for name, columns in (("open", {}), ("private", {"is_private": True}), ("archived", {"archived_at": 1})):
        repository = make_repository(app.database, created_accounts[0], name, **columns)
        let_in(app.database, repository, bob, WRITE)
        let_in(app.database, repository, eve, READ)
    make_repository(app.database, created_accounts[0], "mirror", is_mirror=True)
    return created_accounts


def test_anonymous_clients_read_what_is_public_and_are_challenged_for_the_rest(
    app: App, people: list[Account]
) -> None:
    """Private and missing repositories and all writes give the same 401 to anonymous clients."""
    del people
    assert isinstance(opened(request_of(app, "open")), GitSession)
    for name, writing in (("private", False), ("gone", False), ("open", True)):
        with pytest.raises(ApiError) as excinfo:
            open_session(Authenticator(), request_of(app, name), writing=writing)
        assert excinfo.value.status == 401
        assert excinfo.value.headers == {"WWW-Authenticate": 'Basic realm="Gitea"'}
        assert str(excinfo.value.message) == "credentials are needed"


def test_users_do_what_their_permissions_allow(app: App, people: list[Account]) -> None:
    """A user without read access gets the same 404 for a private repository as for a missing one."""
    _, bob, eve, mallory = people
    assert isinstance(opened(request_of(app, "private", bob), writing=True), GitSession)
    assert isinstance(opened(request_of(app, "private", eve)), GitSession)
    assert opened(request_of(app, "private", eve), writing=True) == 403
    assert opened(request_of(app, "private", mallory)) == opened(request_of(app, "gone", mallory)) == 404


def test_a_token_reaches_as_far_as_its_scopes(app: App, people: list[Account]) -> None:
    """A read scope does not permit a push, and a scope for issues permits nothing."""
    ada = people[0]
    assert isinstance(opened(request_of(app, "open", ada, "read:repository")), GitSession)
    assert opened(request_of(app, "open", ada, "read:repository"), writing=True) == 403
    assert opened(request_of(app, "private", ada, "write:issue")) == 403


@pytest.mark.parametrize("name", ["archived", "mirror"])
def test_archived_repositories_and_mirrors_are_read_only(app: App, people: list[Account], name: str) -> None:
    """The owner may read an archived repository or a mirror, and a write gets 403."""
    assert isinstance(opened(request_of(app, name, people[0])), GitSession)
    assert opened(request_of(app, name, people[0]), writing=True) == 403


def test_a_repository_is_found_by_its_former_names(app: App, people: list[Account]) -> None:
    """A repository is found by former names of itself, of its owner, or of both, in any case."""
    repository = repositories.find_repository(app.database, "ada", "open")
    with app.database.write() as connection:
        repositories.rename_repository(connection, repository, "new")
    accounts.rename_account(app.database, people[0], "countess")
    for owner, name in (("countess", "new"), ("countess", "open"), ("ada", "new"), ("ADA", "Open")):
        assert find_repository(app.database, owner, name).id == repository.id, (owner, name)
    with pytest.raises(NoSuchRepository):
        find_repository(app.database, "ada", "gone")


def test_wrong_credentials_are_challenged_with_the_reason() -> None:
    """A refusal of credentials becomes a 401 with WWW-Authenticate, so that git prompts for others."""
    refusal = challenge(ApiError(403, "wrong password"))
    assert (refusal.status, refusal.message) == (401, "wrong password")
    assert "WWW-Authenticate" in (refusal.headers or {})


def read(app: App, messages: Iterable[Message]) -> list[bytes]:
    """Read the body of a request that arrives in messages."""
    waiting = iter(messages)

    async def receive() -> Message:
        return next(waiting)

    async def run() -> list[bytes]:
        return [chunk async for chunk in body_of(request_of(app, "open"), receive)]

    return asyncio.run(run())


def test_a_body_is_read_in_chunks_until_its_end(app: App) -> None:
    """A body that ends with a disconnect raises `BodyDamaged`, so that it is never taken for complete."""
    part = {"type": "http.request", "body": b"ab", "more_body": True}
    empty = {"type": "http.request", "more_body": True}
    assert read(app, [part, empty, {"type": "http.request", "body": b"c"}]) == [b"ab", b"c"]
    with pytest.raises(BodyDamaged, match="disconnected"):
        read(app, [part, {"type": "http.disconnect"}])
