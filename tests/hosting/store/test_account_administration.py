"""Administration of accounts: demotion, deletion, unique email addresses and rollback."""

import pytest
from sqlalchemy import func, select

from holdfast.hosting.errors import EmailTaken, LastAdmin, NoSuchUser, StillInUse
from holdfast.hosting.store import account_administration, accounts, organizations, repositories, tokens
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.tables import comments, events, issues, members, users
from holdfast.secret import Secret
from tests.hosting.repository_helpers import make_people
from tests.hosting.store.concurrency import run_concurrently

PASSWORD = Secret("long enough")


def test_two_administrators_cannot_demote_each_other_at_once(database: Database) -> None:
    """Of two concurrent changes that would leave no administrator, one is refused with LastAdmin."""
    for round_ in range(3):
        admin = accounts.find_user(database, "admin")
        (other,) = make_people(database, f"other{round_}")
        other = account_administration.change_user(database, other, is_admin=True)
        failed = run_concurrently(
            lambda admin=admin: account_administration.change_user(database, admin, is_admin=False),  # type: ignore[misc]  # mypy does not infer a lambda with a default value
            lambda other=other: account_administration.change_user(database, other, may_not_log_in=True),  # type: ignore[misc]  # mypy does not infer a lambda with a default value
        )
        assert sorted(type(error).__name__ for error in failed) == ["LastAdmin", "NoneType"]
        if failed[0] is None:
            account_administration.change_user(database, admin, is_admin=True)
            account_administration.change_user(database, other, is_admin=False)


def test_issues_and_comments_outlive_their_author(database: Database) -> None:
    """A deleted user's issues and comments keep their text without an author; repositories need a purge."""
    admin, (ada,) = accounts.find_user(database, "admin"), make_people(database, "ada")
    tokens.create_token(database, ada, "laptop", ("all",))
    guild = organizations.create_organization(database, admin, "guild")
    with database.write() as connection:
        mine = repositories.add_repository(connection, ada, "notes", default_branch="main")
        its = repositories.add_repository(connection, guild, "engine", default_branch="main")
        issue = connection.execute(
            issues.insert().returning(issues.c.id),
            {"repository_id": its, "number": 1, "author_id": ada.id, "title": "It is broken"},
        ).scalar_one()
        connection.execute(
            comments.insert(), {"issue_id": issue, "kind": "comment", "author_id": ada.id, "body": "Still"}
        )
    with pytest.raises(StillInUse, match="owns a repository;"):
        account_administration.delete_user(database, ada, actor=admin)
    assert account_administration.delete_user(database, ada, actor=admin, purge=True) == (mine,)
    with database.read() as connection:
        assert connection.execute(select(issues.c.title, issues.c.author_id)).all() == [("It is broken", None)]
        assert connection.execute(select(comments.c.body, comments.c.author_id)).all() == [("Still", None)]
        assert connection.execute(select(func.count()).select_from(members)).scalar_one() == 1
        assert "ada/notes" in connection.execute(select(events.c.details)).scalar_one()
    with pytest.raises(NoSuchUser):
        account_administration.delete_user(database, ada, actor=admin, purge=True)
    with pytest.raises(NoSuchUser):
        account_administration.change_user(database, ada, full_name="Ada")


def test_no_account_gets_the_id_of_a_deleted_one(database: Database) -> None:
    """Neither a user nor an organization does, so nobody inherits a place in the rules of a protected branch."""
    admin, (ada,) = accounts.find_user(database, "admin"), make_people(database, "ada")
    account_administration.delete_user(database, ada, actor=admin)
    (ben,) = make_people(database, "ben")
    guild = organizations.create_organization(database, admin, "guild")
    organizations.delete_organization(database, guild)
    account_administration.delete_user(database, ben, actor=admin)
    crew = organizations.create_organization(database, admin, "crew")
    (eve,) = make_people(database, "eve")
    assert ada.id < ben.id < guild.id < crew.id < eve.id


def test_an_address_belongs_to_one_person(database: Database) -> None:
    """Email addresses are compared without regard to case, and an organization may have one of a user."""
    ada = account_administration.register(database, "ada", PASSWORD, email="ada@example.org")
    with pytest.raises(EmailTaken, match="already exists"):
        account_administration.register(database, "bob", PASSWORD, email="ADA@example.org")
    organizations.create_organization(database, ada, "guild", email="ada@example.org")
    assert account_administration.change_user(database, ada, email="Ada@example.org").email == "Ada@example.org"


def test_a_refused_change_changes_nothing(database: Database) -> None:
    """A refused demotion of the last administrator changes no other column either."""
    admin = accounts.find_user(database, "admin")
    with pytest.raises(LastAdmin):
        account_administration.change_user(database, admin, is_admin=False, full_name="Nobody")
    with database.read() as connection:
        assert connection.execute(select(users.c.full_name).where(users.c.id == admin.id)).scalar_one() == ""
