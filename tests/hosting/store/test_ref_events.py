"""Events of ref updates."""

import pytest

from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.ref_events import MANY, record_updates
from holdfast.hosting.store.ref_updates import RefUpdate
from holdfast.hosting.store.repositories import Repository
from tests.hosting.repository_helpers import recorded_events
from tests.hosting.webhooks.event_helpers import add_hook, stored_payloads

NONE, ONE, TWO = "0" * 40, "1" * 40, "2" * 40


def kinds(database: Database, repository: Repository, *updates: RefUpdate) -> list[str]:
    """Record the events of updates, and return their kinds."""
    with database.quick_write() as link:
        record_updates(link, repository, repository.owner.id, updates)
    return [kind for kind, _ in recorded_events(database)]


@pytest.mark.parametrize(
    ("update", "expected"),
    [
        (RefUpdate("refs/heads/a", NONE, ONE), ["create", "push"]),
        (RefUpdate("refs/heads/a", ONE, TWO), ["push"]),
        (RefUpdate("refs/heads/a", ONE, NONE), ["delete"]),
        (RefUpdate("refs/tags/v1", NONE, ONE), ["push", "create"]),
        (RefUpdate("refs/tags/v1", ONE, TWO), ["push"]),
        (RefUpdate("refs/tags/v1", ONE, NONE), ["push", "delete"]),
        (RefUpdate("refs/heads/a", ONE, ONE), []),
        (RefUpdate("refs/heads/a", NONE, NONE), []),
        (RefUpdate("refs/notes/a", NONE, ONE), []),
        (RefUpdate("refs/pull/1/head", NONE, ONE), []),
    ],
)
def test_an_update_has_the_events_of_its_kind(
    database: Database, repository: Repository, update: RefUpdate, expected: list[str]
) -> None:
    """An update of a ref has the expected events in order; one that is neither branch nor tag has none."""
    assert kinds(database, repository, update) == expected


def test_an_event_says_which_ref_went_where(database: Database, repository: Repository) -> None:
    """The push event has the push options, and a ref name that is not UTF-8 has replacement characters."""
    name = b"refs/heads/caf\xe9".decode(errors="surrogateescape")
    with database.quick_write() as link:
        record_updates(link, repository, None, [RefUpdate(name, NONE, ONE)], options=["ci.skip"])
    (_, created), (_, pushed) = recorded_events(database)
    assert created == {"ref": "refs/heads/caf\ufffd", "before": NONE, "after": ONE, "ref_type": "branch"}
    assert pushed == {**created, "push_options": ["ci.skip"]}


def test_many_updates_are_recorded_as_few_are(database: Database, repository: Repository) -> None:
    """Each of many updates has a push and a create event, in the order of the updates."""
    updates = [RefUpdate(f"refs/tags/v{number}", NONE, ONE) for number in range(MANY)]
    assert kinds(database, repository, *updates) == ["push", "create"] * MANY
    assert [details["ref"] for _, details in recorded_events(database)][::2] == [update.ref for update in updates]


def test_webhooks_are_told_of_each_of_many_updates(
    database: Database, repository: Repository, ada: Account
) -> None:
    """Each of many updates has a payload, rendered with the preloaded data where there is some."""
    database.render_with(lambda _link, event, known: f"{event.kind} {known}")
    add_hook(database, ada)
    updates = [RefUpdate(f"refs/tags/v{number}", NONE, ONE) for number in range(MANY)]
    with database.quick_write() as link:
        record_updates(link, repository, None, updates, preloaded={updates[0]: "read before"})
    assert list(stored_payloads(database).values()) == ["push read before", *["push None"] * (MANY - 1)]
