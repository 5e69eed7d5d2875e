"""Notifications in the database: visibility and query plans."""

from itertools import product

import pytest
from sqlalchemy import insert, select

from holdfast.hosting import access
from holdfast.hosting.store import accounts, issues, notifications
from holdfast.hosting.store.accounts import Account, all_users
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.issues import NewIssue
from holdfast.hosting.store.notifications import STATUSES, NotificationFilter
from holdfast.hosting.store.tables import issues as issue_table
from holdfast.hosting.store.tables import notifications as table
from holdfast.secret import Secret
from tests.hosting.repository_helpers import access_for, every_role, make_repository
from tests.hosting.store.query_plans import is_by_index, plan_of, recorded

KINDS = ((False, True), (False,), (True,))


def notify(database: Database, people: list[Account]) -> None:
    """Give each user a thread about every issue, in turn unread, read and pinned."""
    columns = (issue_table.c.id, issue_table.c.repository_id)
    with database.write() as connection:
        result = connection.execute(select(*columns).order_by(issue_table.c.id)).all()
        rows = [
            {
                "user_id": person.id,
                "repository_id": position,
                "issue_id": issue,
                "status": STATUSES[number % 3],
                "updated_at": 1000 + number // 2,
            }
            for person in people
            for number, (issue, position) in enumerate(result)
        ]
        connection.execute(insert(table), rows)


@pytest.mark.parametrize("most_hidden", [500, 0])
def test_threads_are_about_what_can_be_read(
    database: Database, monkeypatch: pytest.MonkeyPatch, most_hidden: int
) -> None:
    """Each user is shown, and has counted, only threads about issues and pull requests that they may read."""
    monkeypatch.setattr(notifications, "MOST_HIDDEN", most_hidden)
    repositories = every_role(database)
    people = list(all_users(database))
    notify(database, people)
    for person, public_only, kinds in product(people, (False, True), KINDS):
        which = NotificationFilter(statuses=STATUSES, kinds=kinds)
        found, total = notifications.list_notifications(
            database, person, which, public_only=public_only, skip=0, limit=1000
        )
        expected = set()
        for repository in repositories:
            may = access_for(database, person, repository, public_only=public_only)
            expected |= {(repository.id, is_pull) for is_pull in access.issue_kinds(may) if is_pull in kinds}
        shown = {(item.issue.repository_id, item.issue.is_pull) for item in found if item.issue is not None}
        assert shown == expected, person.name
        assert total == len(found)
        order = [(item.notification.updated_at, item.notification.id) for item in found]
        assert order == sorted(order, reverse=True)
        if len(kinds) == 2:
            unread = [item for item in found if item.notification.status == "unread"]
            assert notifications.count_unread(database, person, public_only=public_only) == len(unread)
            assert notifications.count_for_badge(database, person, public_only=public_only) == len(unread)


@pytest.mark.parametrize("statuses", [("unread", "pinned"), ("unread",), ("read",), STATUSES])
def test_threads_are_listed_by_index(database: Database, ada: Account, statuses: tuple[str, ...]) -> None:
    """Threads of any status are read by index, without a full scan or a sort."""
    repository = make_repository(database, ada)
    for number in range(6):
        issues.open_issue(database, repository, ada, NewIssue(title=str(number)))
    notify(database, [ada])
    which = NotificationFilter(statuses=statuses)
    with recorded(database, "notifications.user_id =") as statements:
        listed, total = notifications.list_notifications(database, ada, which, public_only=False, skip=0, limit=2)
    assert (len(listed), total) == (2, 2 * len(statuses))
    assert len(statements) == 4
    for statement, parameters in statements:
        plan = plan_of(database, statement, parameters)
        assert is_by_index(database, plan, "notifications"), (statement, plan)
    assert any("ORDER BY" in statement for statement, _ in statements)


def test_all_threads_that_can_be_seen_are_marked_at_once(database: Database) -> None:
    """Threads about issues that the user may not read keep their status."""
    every_role(database)
    people = list(all_users(database))
    notify(database, people)
    person = next(item for item in people if not item.is_admin)
    unread = NotificationFilter(statuses=("unread",))
    seen = notifications.count_unread(database, person, public_only=False)
    notifications.mark_all(database, person, unread, "read", public_only=False)
    assert notifications.count_unread(database, person, public_only=False) == 0
    with database.read() as connection:
        left = select(table.c.id).where(table.c.user_id == person.id, table.c.status == "unread")
        rest = len(connection.execute(left).all())
        total = len(connection.execute(select(issue_table.c.id)).all())
    assert seen > 0
    assert rest == -(-total // 3) - seen


def test_the_badge_looks_at_the_latest_and_counts_to_a_limit(
    database: Database, ada: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The badge is counted by index up to a limit, so that its cost does not grow with unread threads."""
    repository = make_repository(database, ada)
    for number in range(12):
        issues.open_issue(database, repository, ada, NewIssue(title=str(number)))
    notify(database, [ada])
    with recorded(database, "notifications.user_id =") as statements:
        assert notifications.count_for_badge(database, ada, public_only=False) == 4
    ((statement, parameters),) = statements
    plan = plan_of(database, statement, parameters)
    assert is_by_index(database, plan, "notifications"), (statement, plan)
    for name, most in (("MOST_COUNTED", 3), ("MOST_EXAMINED", 2)):
        monkeypatch.setattr(notifications, name, most)
        assert notifications.load_badge(database, (ada, False)) == most


def test_the_threads_of_an_issue_are_read_by_their_user_alone(database: Database, ada: Account) -> None:
    """Only an unread thread becomes read; a pinned one, other issues and other users do not change."""
    repository = make_repository(database, ada)
    opened = [issues.open_issue(database, repository, ada, NewIssue(title=str(number))) for number in range(4)]
    eve = accounts.create_user(database, "eve", Secret("a-password-for-tests"))
    notify(database, [ada, eve])
    for issue in opened[:3]:
        notifications.mark_issue_read(database, ada, issue)
    with database.read() as connection:
        rows = connection.execute(select(table.c.user_id, table.c.status).order_by(table.c.id)).all()
    assert [status for person, status in rows if person == ada.id] == ["read", "read", "pinned", "unread"]
    assert [status for person, status in rows if person == eve.id] == ["unread", "read", "pinned", "unread"]
