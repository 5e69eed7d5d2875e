"""Push mirrors: who manages them, their limits, and when a failed push is tried again."""

import time
from collections.abc import Callable
from dataclasses import replace

import msgspec
import pytest
from sqlalchemy import select, update

from holdfast.hosting.app import App
from holdfast.hosting.errors import Forbidden, InvalidField, LoginRequired, Permission, TooManyAtOnce
from holdfast.hosting.services import push_mirrors
from holdfast.hosting.services.push_mirrors import MOST
from holdfast.hosting.services.remotes import Credentials
from holdfast.hosting.store import push_mirrors as store
from holdfast.hosting.store.push_mirrors import PushMirror
from holdfast.hosting.store.tables import push_mirrors as table
from holdfast.hosting.store.tables import repositories
from tests.hosting.repository_helpers import add_commit
from tests.hosting.services.scenario import Caller, Scenario, make_scenario

pytestmark = pytest.mark.parametrize("settings", ["sqlite"], indirect=True)

# Nobody listens on this port.
ADDRESS = "http://127.0.0.1:1/copy"


@pytest.fixture
def scenario(app: App) -> Scenario:
    """Create the users and a repository with a commit, and allow remotes on this machine."""
    settings = msgspec.structs.replace(app.settings, migration_allowed_hosts="127.0.0.1/32", migration_timeout=60)
    made = make_scenario(replace(app, settings=settings))
    add_commit(app.database, made.repository, "main")
    with app.database.write() as connection:
        connection.execute(update(repositories).values(is_empty=False))
    return made


def create(scenario: Scenario, *, interval: str = "", sync_on_commit: bool = False) -> PushMirror:
    """Add a push mirror as the owner."""
    return push_mirrors.create(
        *scenario.caller(scenario.owner),
        address=ADDRESS,
        credentials=Credentials("ada", "x" * 2048),
        interval=interval,
        sync_on_commit=sync_on_commit,
    )


def test_only_administrators_of_the_repository_manage_push_mirrors(scenario: Scenario) -> None:
    """Writers see neither the mirrors, which show where the repository is copied to, nor request a push."""
    name = create(scenario).name
    calls: tuple[Callable[[Caller], object], ...] = (
        lambda caller: push_mirrors.create(*caller, address=ADDRESS, credentials=Credentials()),
        lambda caller: push_mirrors.list_push_mirrors(*caller, skip=0, limit=9),
        lambda caller: push_mirrors.find(*caller, name),
        lambda caller: push_mirrors.delete(*caller, name),
        lambda caller: push_mirrors.request_push(*caller),
    )
    for call in calls:
        with pytest.raises(LoginRequired):
            call(scenario.caller(None))
        with pytest.raises(Forbidden) as excinfo:
            call(scenario.caller(scenario.writer))
        assert excinfo.value.permission == Permission.ADMIN
    (listed,), total = push_mirrors.list_push_mirrors(*scenario.caller(scenario.owner), skip=0, limit=9)
    assert (listed.name, total) == (name, 1)


def test_credentials_and_the_number_of_mirrors_are_limited(scenario: Scenario) -> None:
    """A secret of 2048 characters and the last mirror are accepted, and one more of either is not."""
    caller = scenario.caller(scenario.owner)
    for credentials, field in (
        (Credentials("x" * 2049, ""), "RemoteUsername"),
        (Credentials("", "x" * 2049), "RemotePassword"),
    ):
        with pytest.raises(InvalidField) as excinfo:
            push_mirrors.create(*caller, address=ADDRESS, credentials=credentials)
        assert excinfo.value.field == field
    names = {create(scenario).name for _ in range(MOST)}
    assert len(names) == MOST
    with pytest.raises(TooManyAtOnce, match=f"at most {MOST}"):
        create(scenario)


@pytest.mark.parametrize(
    ("interval", "sync_on_commit", "wait"),
    [("0", False, None), ("0", True, 600), ("10m", False, 600), ("1h", False, 3600), ("1h", True, 3600)],
)
def test_a_failed_push_is_retried_after_ten_minutes_or_the_interval(
    scenario: Scenario, interval: str, *, sync_on_commit: bool, wait: int | None
) -> None:
    """A mirror that is pushed to on request only is not retried, and no mirror stays claimed."""
    create(scenario, interval=interval, sync_on_commit=sync_on_commit)
    before = int(time.time())
    assert push_mirrors.push_due(scenario.app) == 1
    with scenario.app.database.read() as connection:
        row = connection.execute(select(table)).one()
    assert "the remote repository cannot be reached" in row.last_error
    assert (row.claimed_until, row.last_update, row.pushed_version) == (0, 0, 0)
    if wait is None:
        assert row.next_sync_at is None
    else:
        assert before + wait <= row.next_sync_at <= int(time.time()) + wait
    assert push_mirrors.push_due(scenario.app) == 0


def test_a_push_that_fails_here_says_nothing_about_the_service(scenario: Scenario) -> None:
    """An error that is not the remote's is stored without its text, and the other mirrors are pushed to."""
    app = scenario.app
    first, second = create(scenario), create(scenario)
    with app.database.write() as connection:
        connection.execute(update(table).where(table.c.id == first.id).values(remote_address="ftp://wrong"))
    assert push_mirrors.push_due(app) == 2
    errors = [push_mirrors.find(*scenario.caller(scenario.owner), one.name).last_error for one in (first, second)]
    assert errors[0] == "the mirror could not be updated"
    assert "cannot be reached" in errors[1]


def test_a_mirror_is_claimed_for_longer_than_a_push_takes(
    scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process may push to it after the timeout of git and ten minutes, also if a push was requested."""
    create(scenario)
    claims: list[int] = []

    def push(app: App, mirror: PushMirror) -> None:
        with app.database.read() as connection:
            claims.append(connection.execute(select(table.c.claimed_until)).scalar_one() - int(time.time()))
        assert mirror.next_sync_at == int(time.time()) + claims[0]
        store.request_push(app.database, scenario.repository)

    monkeypatch.setattr(push_mirrors, "push", push)
    assert push_mirrors.push_due(scenario.app) == 1
    assert 60 + 600 - 5 < claims[0] <= 60 + 600
    later = int(time.time()) + claims[0]
    assert store.claim_due(scenario.app.database, seconds=1, now=later - 10) is None
    assert store.claim_due(scenario.app.database, seconds=1, now=later + 10) is not None


@pytest.mark.parametrize("sync_on_commit", [False, True])
def test_a_mirror_whose_push_was_interrupted_is_due_when_its_claim_ends(
    scenario: Scenario, monkeypatch: pytest.MonkeyPatch, *, sync_on_commit: bool
) -> None:
    """A process that is killed while it pushes, also after a failed push, does not end a mirror for good."""
    app, name = scenario.app, create(scenario, interval="1h", sync_on_commit=sync_on_commit).name
    assert push_mirrors.push_due(app) == 1
    assert push_mirrors.find(*scenario.caller(scenario.owner), name).last_error
    store.request_push(app.database, scenario.repository)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(push_mirrors, "push_refs", interrupted)
        with pytest.raises(KeyboardInterrupt):
            push_mirrors.push_due(app)
    now = int(time.time())
    assert store.claim_due(app.database, seconds=1, now=now + 60) is None
    claimed = store.claim_due(app.database, seconds=1, now=now + 60 + 600 + 10)
    assert claimed is not None
    assert claimed.name == name
