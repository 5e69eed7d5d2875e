"""Transfers of repositories: who may start, accept and reject them, and their teams."""

from dataclasses import replace

import msgspec
import pytest

from holdfast.hosting.access import Actor, WebhookOwner
from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    Forbidden,
    InvalidField,
    InvalidValue,
    LoginRequired,
    NoSuchAccount,
    NoSuchTransfer,
    Violation,
)
from holdfast.hosting.services import push_mirrors, repositories, transfers, webhooks
from holdfast.hosting.services.remotes import Credentials
from holdfast.hosting.services.repositories import RepositoryEdit
from holdfast.hosting.services.webhooks import NewWebhook
from holdfast.hosting.store import hooks
from holdfast.hosting.store.accounts import Account, find_user
from holdfast.hosting.store.repositories import repository_by_id
from holdfast.hosting.store.transfers import WaitingTransfer
from tests.hosting.repository_helpers import make_organization, make_people, make_repository
from tests.hosting.services.scenario import Scenario, accessed, make_scenario

pytestmark = pytest.mark.parametrize("settings", ["sqlite"], indirect=True)


@pytest.fixture
def scenario(app: App) -> Scenario:
    """Create the users and the repository."""
    return make_scenario(app)


def test_a_transfer_needs_a_new_owner(scenario: Scenario) -> None:
    """Without a name the field is required, and the name of nobody is an unknown account."""
    with pytest.raises(InvalidField) as excinfo:
        transfers.start(*scenario.caller(scenario.owner), "")
    assert (excinfo.value.field, excinfo.value.violation) == ("NewOwner", Violation.REQUIRED)
    with pytest.raises(NoSuchAccount):
        transfers.start(*scenario.caller(scenario.owner), "nobody")
    assert transfers.find(scenario.app, scenario.repository) is None


def test_only_an_owner_starts_a_transfer(scenario: Scenario) -> None:
    """Writers and readers may not give the repository away, not even to themselves, nor may anonymous users."""
    for user in (scenario.writer, scenario.reader):
        with pytest.raises(Forbidden):
            transfers.start(*scenario.caller(user), user.name)
    with pytest.raises(LoginRequired):
        transfers.start(*scenario.caller(None), "bob")
    assert transfers.find(scenario.app, scenario.repository) is None


def test_only_the_new_owner_may_accept(scenario: Scenario) -> None:
    """Everybody else is forbidden, also the old owner; without a transfer nobody may accept one."""
    app, ship = scenario.app, scenario.repository
    assert not transfers.may_accept(app, Actor(scenario.writer), ship)
    with pytest.raises(NoSuchTransfer):
        transfers.accept(*scenario.caller(scenario.writer))
    assert transfers.start(*scenario.caller(scenario.owner), "bob") == ship
    for user in (scenario.owner, scenario.reader, None):
        arguments = scenario.caller(user)
        assert not transfers.may_accept(app, arguments[1], ship)
        with pytest.raises((Forbidden, LoginRequired)):
            transfers.accept(*arguments)
    assert transfers.may_accept(app, Actor(scenario.writer), ship)
    assert transfers.accept(*scenario.caller(scenario.writer)).owner == scenario.writer
    assert transfers.find(app, ship) is None


def test_a_transfer_that_is_cancelled_while_it_is_accepted_does_not_happen(
    scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The repository stays with its owner, who was told that nobody has accepted it."""
    transfers.start(*scenario.caller(scenario.owner), "bob")
    may_create_for = repositories.may_create_for

    def cancel(app: App, actor: Actor, owner: Account) -> bool:
        monkeypatch.setattr(transfers, "may_create_for", may_create_for)
        transfers.reject(*scenario.caller(scenario.owner))
        return may_create_for(app, actor, owner)

    monkeypatch.setattr(transfers, "may_create_for", cancel)
    with pytest.raises(NoSuchTransfer):
        transfers.accept(*scenario.caller(scenario.writer))
    assert repository_by_id(scenario.app.database, scenario.repository.id).owner == scenario.owner


def test_a_new_owner_has_no_credentials_of_the_old_one(scenario: Scenario) -> None:
    """Webhooks lose their Authorization header, but not that of a default webhook, and push mirrors theirs.

    A transfer that is refused, or a rename, removes none.
    """
    app, ship = scenario.app, scenario.repository
    app = replace(app, settings=msgspec.structs.replace(app.settings, migration_allowed_hosts="127.0.0.1/32"))
    target = accessed(app, Actor(scenario.owner), ship)
    theirs, owner = WebhookOwner(target), Actor(scenario.owner)
    admin = find_user(app.database, "admin")
    hook = NewWebhook(
        type="gitea", url="https://ci.example/h", content_type="json", secret="s", authorization="Bearer ada"
    )
    service_hook = msgspec.structs.replace(hook, authorization="Bearer service")
    webhooks.create(app, Actor(admin), WebhookOwner(None), service_hook)
    webhooks.create(app, owner, theirs, hook)
    with app.database.write() as connection:
        hooks.copy_defaults(connection, ship.id)
    ids = [shown.id for shown in webhooks.list_webhooks(app, owner, theirs, skip=0, limit=9)[0]]
    with_password, without = (
        push_mirrors.create(app, owner, target, address="http://127.0.0.1:9/x.git", credentials=credentials).name
        for credentials in (Credentials("ada", "password"), Credentials())
    )

    def stored() -> tuple[list[str], list[tuple[str, str]]]:
        headers = [webhooks.find(app, owner, theirs, number).authorization for number in ids]
        mirrors = [push_mirrors.find(app, owner, target, name) for name in (with_password, without)]
        return [app.cipher.decrypt(header) for header in headers], [
            (mirror.username, app.cipher.decrypt(mirror.secret)) for mirror in mirrors
        ]

    before = stored()
    assert before == (["Bearer ada", "Bearer service"], [("ada", "password"), ("", "")])
    repositories.edit(app, owner, target, RepositoryEdit(name="boat"))
    transfers.start(app, owner, target, "bob")
    assert stored() == before
    transfers.accept(*scenario.caller(scenario.writer))
    assert stored() == (["", "Bearer service"], [("", ""), ("", "")])
    mirrors = [push_mirrors.find(app, owner, target, name) for name in (with_password, without)]
    assert ["was transferred" in mirror.last_error for mirror in mirrors] == [True, False]
    assert mirrors[0].next_sync_at is None
    assert webhooks.find(app, owner, theirs, ids[0]).secret


def test_the_new_owner_rejects_and_the_old_one_cancels(scenario: Scenario) -> None:
    """Readers and anonymous users may end no transfer."""
    for ending in (scenario.writer, scenario.owner):
        transfers.start(*scenario.caller(scenario.owner), "bob")
        with pytest.raises(Forbidden):
            transfers.reject(*scenario.caller(scenario.reader))
        with pytest.raises(LoginRequired):
            transfers.reject(*scenario.caller(None))
        assert transfers.find(scenario.app, scenario.repository) is not None
        assert transfers.reject(*scenario.caller(ending)) == scenario.repository
        assert transfers.find(scenario.app, scenario.repository) is None


def test_at_most_a_hundred_teams_are_named(scenario: Scenario) -> None:
    """Only an organization has teams; up to a hundred ids are looked up, and more are refused."""
    make_organization(scenario.app.database, "fleet", scenario.writer)
    for name, count, reason in (
        ("bob", 1, "only an organization has teams"),
        ("fleet", 100, "team 1000 does not belong to fleet"),
        ("fleet", 101, "at most 100 teams can be named"),
    ):
        with pytest.raises(InvalidValue) as excinfo:
            transfers.start(*scenario.caller(scenario.owner), name, range(1000, 1000 + count))
        assert (excinfo.value.field, excinfo.value.reason) == ("TeamIDs", reason)
    assert transfers.find(scenario.app, scenario.repository) is None


def test_the_newest_twenty_transfers_are_listed(scenario: Scenario) -> None:
    """Each names the repository, its owner and the new owner, the actor or an organization of theirs."""
    app, database = scenario.app, scenario.app.database
    make_organization(database, "fleet", scenario.writer)
    (rich,) = make_people(database, "rich")
    for number in range(21):
        boat = make_repository(database, rich, f"boat{number}")
        transfers.start(*scenario.caller(rich, boat), "fleet" if number == 20 else "bob")
    waiting = transfers.list_waiting(app, Actor(scenario.writer))
    assert [(transfer.name, transfer.recipient) for transfer in waiting] == [
        ("boat20", "fleet"),
        *((f"boat{number}", "bob") for number in range(19, 0, -1)),
    ]
    assert waiting[0] == WaitingTransfer("rich", "boat20", "fleet", waiting[0].created_at)
    assert transfers.list_waiting(app, Actor(rich)) == []
