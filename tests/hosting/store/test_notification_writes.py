"""Recipients and states of notifications, written with their event."""

import pytest
from sqlalchemy import insert, select, update

from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.comments import add_comment
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.issues import Issue, NewIssue, open_issue
from holdfast.hosting.store.notification_writes import (
    PINNED,
    READ,
    UNREAD,
    end_transfer,
    mentions,
    notify,
    notify_of_transfer,
)
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.tables import issue_subscriptions, notifications, users
from tests.hosting.repository_helpers import make_organization, make_people, make_team


@pytest.fixture
def issue(database: Database, repository: Repository, ada: Account) -> Issue:
    """Open an issue of ada's."""
    return open_issue(database, repository, ada, NewIssue(title="i", body="for @carol"))


def write_threads(
    database: Database, issue: Issue, actor: Account, part: str, action: str, **details: object
) -> None:
    """Write the notifications of an event."""
    with database.write() as connection:
        notify(
            connection,
            repository_id=issue.repository_id,
            issue_id=issue.id,
            actor_id=actor.id,
            part=part,
            action=action,
            details=details,
            now=2000,
        )


def thread_statuses(database: Database) -> dict[str, str]:
    """Return who has a thread, and in which status."""
    statement = select(users.c.name, notifications.c.status).join(users, users.c.id == notifications.c.user_id)
    with database.read() as connection:
        return {row.name: row.status for row in connection.execute(statement)}


def test_participants_are_notified_of_a_comment(database: Database, repository: Repository, issue: Issue) -> None:
    """The author and commenters are notified, but not the writer of the comment or an unsubscribed user."""
    bob, carol, dan = make_people(database, "bob", "carol", "dan")
    for person in (carol, dan):
        add_comment(database, repository, issue, person, "hello")
    with database.write() as connection:
        row = {"issue_id": issue.id, "user_id": dan.id, "is_subscribed": False}
        connection.execute(insert(issue_subscriptions), row)
        connection.execute(notifications.delete())
    write_threads(database, issue, bob, "comment", "created")
    assert thread_statuses(database) == {"admin": UNREAD, "carol": UNREAD}
    write_threads(database, issue, bob, "label", "label_updated")
    assert set(thread_statuses(database)) == {"admin", "carol"}


def test_a_read_thread_is_unread_again_and_a_pinned_one_stays_pinned(
    database: Database, repository: Repository, issue: Issue
) -> None:
    """A user has one thread for each issue, and a new event changes its status."""
    bob, carol = make_people(database, "bob", "carol")
    add_comment(database, repository, issue, carol, "hello")
    write_threads(database, issue, bob, "", "closed")
    with database.write() as connection:
        connection.execute(update(notifications).values(status=READ))
        connection.execute(update(notifications).where(notifications.c.user_id == carol.id).values(status=PINNED))
    write_threads(database, issue, bob, "", "reopened")
    assert thread_statuses(database) == {"admin": UNREAD, "carol": PINNED}


def test_mentioned_users_are_notified_without_a_subscription(
    database: Database, issue: Issue, ada: Account
) -> None:
    """Mentioned users, assignees and requested reviewers, also of a team, are notified, but not the actor."""
    bob, _, dan = make_people(database, "bob", "carol", "dan")
    write_threads(database, issue, ada, "assign", "assigned", assignee_ids=[bob.id, ada.id])
    assert set(thread_statuses(database)) == {"bob"}
    write_threads(database, issue, ada, "", "opened")
    assert set(thread_statuses(database)) == {"bob", "carol"}
    organization = make_organization(database, "guild", dan)
    make_team(database, organization, "pilots", [dan])
    with database.read() as connection:
        team = connection.exec_driver_sql("SELECT id FROM teams WHERE name = 'pilots'").scalar_one()
    write_threads(database, issue, ada, "review_request", "review_requested", team_id=team)
    assert set(thread_statuses(database)) == {"bob", "carol", "dan"}


def test_an_edit_notifies_only_newly_mentioned_users(database: Database, issue: Issue, ada: Account) -> None:
    """A user whom the old text mentioned, or an edit of the title only, causes no notification."""
    make_people(database, "carol")
    write_threads(database, issue, ada, "", "edited")
    write_threads(database, issue, ada, "", "edited", old_body="it was for @Carol before")
    assert thread_statuses(database) == {}
    write_threads(database, issue, ada, "", "edited", old_body="for nobody")
    assert thread_statuses(database) == {"carol": UNREAD}


def test_names_are_mentioned_by_words_that_begin_with_an_at_sign() -> None:
    """Email addresses and paths are no mentions; each name is returned once, and at most 50."""
    assert mentions("@Ada, (@bob) a@carol.org /@dan @ada. @e-f.g- @@x") == ["ada", "bob", "e-f.g"]
    assert len(mentions(" ".join(f"@p{number}" for number in range(90)))) == 50


def test_users_who_can_accept_a_transfer_are_notified_until_it_ends(
    database: Database, repository: Repository, ada: Account
) -> None:
    """Owners and users who may create repositories there are notified, but not who started the transfer."""
    bob, carol, dan = make_people(database, "bob", "carol", "dan")
    guild = make_organization(database, "guild", bob)
    make_team(database, guild, "readers", [dan], mode=1)
    make_team(database, guild, "more owners", [carol, ada], mode=4)
    with database.write() as connection:
        about = {"repository_id": repository.id, "actor_id": ada.id, "now": 5}
        notify_of_transfer(connection, recipient_id=guild.id, **about)
    assert thread_statuses(database) == {"bob": UNREAD, "carol": UNREAD}
    with database.write() as connection:
        end_transfer(connection, repository.id)
        notify_of_transfer(connection, recipient_id=dan.id, **about)
    assert thread_statuses(database) == {"dan": UNREAD}
