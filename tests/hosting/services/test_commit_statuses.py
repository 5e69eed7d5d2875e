"""Commit statuses: permissions, validation and events."""

import json

import pytest
from msgspec import structs

from holdfast.hosting.access import ANONYMOUS, Actor
from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    Forbidden,
    InvalidField,
    InvalidValue,
    LoginRequired,
    NoSuchRevision,
    RepositoryArchived,
    TooManyAtOnce,
)
from holdfast.hosting.services import commit_statuses as service
from holdfast.hosting.services import repositories
from holdfast.hosting.services.commit_statuses import NewStatus
from holdfast.hosting.services.repositories import NewRepository
from holdfast.hosting.store.accounts import Account, find_user
from holdfast.hosting.store.repositories import Repository
from tests.hosting.repository_helpers import READ, let_in, make_people
from tests.hosting.services.scenario import accessed
from tests.hosting.webhooks.event_helpers import add_hook, last

PASSED = NewStatus(state="success")


@pytest.fixture
def ada(app: App) -> Account:
    """Return the owner of the repository."""
    return find_user(app.database, "admin")


@pytest.fixture
def ship(app: App, ada: Account) -> Repository:
    """Create a repository with one commit."""
    return repositories.create(app, ada, ada, NewRepository(name="ship"), {"a.txt": b"one\n"})


def test_an_event_has_the_status_and_its_commit(app: App, ada: Account, ship: Repository) -> None:
    """The payload of the webhook has the fields of the status, and an empty context is `default`."""
    add_hook(app.database, ada, events="status")
    actor = Actor(ada)
    target = accessed(app, actor, ship)
    new = NewStatus(state="failure", description="2 of 3", target_url="https://ci.example.org/1")
    status = service.create(app, actor, target, "main", new)
    assert (status.context, status.state, status.creator_id) == ("default", "failure", ada.id)
    payload = json.loads(last(app.database, "status").payload)
    assert (payload["id"], payload["sha"]) == (status.id, status.sha)
    assert (payload["state"], payload["context"]) == ("failure", "default")
    assert (payload["description"], payload["target_url"]) == ("2 of 3", "https://ci.example.org/1")
    assert (payload["commit"]["id"], payload["repository"]["name"]) == (status.sha, "ship")
    assert payload["sender"]["login"] == ada.name


def test_only_those_who_may_write_code_add_statuses(app: App, ada: Account, ship: Repository) -> None:
    """The service itself refuses readers, anonymous users and archived repositories."""
    (eve,) = make_people(app.database, "eve")
    let_in(app.database, ship, eve, READ)
    with pytest.raises(Forbidden):
        service.create(app, Actor(eve), accessed(app, Actor(eve), ship), "main", PASSED)
    with pytest.raises(LoginRequired):
        service.create(app, ANONYMOUS, accessed(app, ANONYMOUS, ship), "main", PASSED)
    archived = structs.replace(ship, archived_at=1)
    with pytest.raises(RepositoryArchived):
        service.create(app, Actor(ada), accessed(app, Actor(ada), archived), "main", PASSED)


def test_invalid_statuses_are_refused(
    app: App, ada: Account, ship: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unknown commits and states, unsafe or overlong fields, and more statuses than the limit are refused."""
    actor = Actor(ada)
    target = accessed(app, actor, ship)
    with pytest.raises(NoSuchRevision):
        service.create(app, actor, target, "1" * 40, PASSED)
    with pytest.raises(InvalidValue, match="State"):
        service.create(app, actor, target, "main", NewStatus(state="purple"))
    with pytest.raises(InvalidValue, match="TargetURL"):
        service.create(app, actor, target, "main", NewStatus(state="success", target_url="javascript:alert(1)"))
    for new in (
        NewStatus(state="success", context="x" * 256),
        NewStatus(state="success", description="x" * 4097),
        NewStatus(state="success", target_url="https://" + "a" * 2048),
    ):
        with pytest.raises(InvalidField):
            service.create(app, actor, target, "main", new)
    service.create(app, actor, target, "main", PASSED)
    monkeypatch.setattr(service, "MOST_PER_COMMIT", 1)
    with pytest.raises(TooManyAtOnce):
        service.create(app, actor, target, "main", PASSED)


@pytest.mark.parametrize("url", ["javascript:alert(1)", "ci.example.org", "/1", "data:text/html,x", "http://[x"])
def test_addresses_that_a_page_must_not_link_to(url: str) -> None:
    """A target URL that is not an absolute HTTP URL is refused."""
    with pytest.raises(InvalidValue, match="TargetURL"):
        service.check_target_url(url)
