"""Notification threads of a user: counts and read states."""

import pytest

from holdfast.hosting.access import ANONYMOUS, Actor
from holdfast.hosting.app import App
from holdfast.hosting.errors import InvalidValue, LoginRequired
from holdfast.hosting.services import issues, notifications, transfers
from holdfast.hosting.services.issues import IssueDraft
from holdfast.hosting.store.issues import Issue
from holdfast.hosting.store.notifications import NotificationFilter
from tests.hosting.services.scenario import Scenario, make_scenario


@pytest.fixture
def scenario(app: App) -> Scenario:
    """Create the users and the repository."""
    return make_scenario(app)


@pytest.fixture
def leak(scenario: Scenario) -> Issue:
    """Open an issue that mentions the writer."""
    return issues.create(*scenario.caller(scenario.owner), IssueDraft(title="Leak", body="@bob, a leak"))


def test_unread_threads_are_counted_until_the_issue_is_opened(scenario: Scenario, leak: Issue) -> None:
    """Only the user who opens the issue marks it as read; other users and anonymous ones change nothing."""
    app, bob, eve = scenario.app, Actor(scenario.writer), Actor(scenario.reader)
    notifications.read_issue(app, ANONYMOUS, leak)
    notifications.read_issue(app, eve, leak)
    counts = [notifications.count_for_badge(app, actor) for actor in (bob, eve, ANONYMOUS)]
    assert counts == [1, 0, 0]
    assert notifications.count_unread(app, bob) == 1
    notifications.read_issue(app, bob, leak)
    assert (notifications.count_for_badge(app, bob), notifications.count_unread(app, bob)) == (0, 0)


def test_a_thread_is_marked_and_returned_as_it_is_then(scenario: Scenario, leak: Issue) -> None:
    """An unknown status is refused, and a thread that has the status already is not returned as changed."""
    app, bob = scenario.app, Actor(scenario.writer)
    (thread,), total = notifications.list_threads(app, bob, NotificationFilter(), skip=0, limit=5)
    assert total == 1
    for status in ("pinned", "read", "unread"):
        assert notifications.mark(app, bob, thread.notification.id, status).notification.status == status
    with pytest.raises(InvalidValue):
        notifications.mark(app, bob, thread.notification.id, "gone")
    with pytest.raises(InvalidValue):
        notifications.mark_all(app, bob, NotificationFilter(), "gone", limit=5)
    every = NotificationFilter(statuses=("unread", "read", "pinned"))
    changed = notifications.mark_all(app, bob, every, "read", limit=5)
    assert [item.notification.status for item in changed] == ["read"]
    assert notifications.mark_all(app, bob, every, "read", limit=5) == []
    assert notifications.find(app, bob, thread.notification.id).notification.status == "read"


def test_a_visitor_has_no_threads(scenario: Scenario) -> None:
    """Anonymous users have to log in to list, count, find or mark notifications."""
    for call in (
        lambda: notifications.list_threads(scenario.app, ANONYMOUS, NotificationFilter(), skip=0, limit=5),
        lambda: notifications.count_unread(scenario.app, ANONYMOUS),
        lambda: notifications.find(scenario.app, ANONYMOUS, 1),
        lambda: notifications.mark(scenario.app, ANONYMOUS, 1, "read"),
        lambda: notifications.mark_all(scenario.app, ANONYMOUS, NotificationFilter(), "read", limit=5),
        lambda: notifications.read_transfers(scenario.app, ANONYMOUS),
        lambda: transfers.list_waiting(scenario.app, ANONYMOUS),
    ):
        with pytest.raises(LoginRequired):
            call()


def test_a_transfer_waits_and_its_thread_is_read_with_it(scenario: Scenario) -> None:
    """Only the new owner has the pending transfer, and reading the transfers marks the notification as read."""
    app, bob = scenario.app, Actor(scenario.writer)
    transfers.start(*scenario.caller(scenario.owner), "bob")
    assert [waiting_transfer.name for waiting_transfer in transfers.list_waiting(app, bob)] == ["ship"]
    assert transfers.list_waiting(app, Actor(scenario.reader)) == []
    assert notifications.count_unread(app, bob) == 1
    notifications.read_transfers(app, bob)
    assert notifications.count_unread(app, bob) == 0
