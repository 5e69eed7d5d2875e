"""The users who can be assigned, compared with the decisions of `access.py`."""

from holdfast.hosting.access import Unit
from holdfast.hosting.store import assignees
from holdfast.hosting.store.accounts import all_users, find_user
from holdfast.hosting.store.database import Database
from tests.hosting.repository_helpers import access_for, every_role, make_people, make_repository


def test_who_can_be_assigned_is_who_may_write(database: Database) -> None:
    """The assignable users are those who may write issues or pull requests, sorted by name."""
    for repository in every_role(database):
        if not (repository.has_issues and repository.has_pulls):
            continue
        listed, total = assignees.assignable(database, repository, skip=0, limit=100)
        expected = []
        for person in sorted(all_users(database), key=lambda one: one.name.casefold()):
            may = access_for(database, person, repository, public_only=False)
            if may.may_write(Unit.ISSUES) or may.may_write(Unit.PULLS):
                expected.append(person.name)
        assert [item.name for item in listed] == expected, repository.full_name
        assert total == len(expected)


def test_the_administrator_is_among_them(database: Database) -> None:
    """An administrator may write everywhere, and so can be assigned in another user's repository."""
    (owner,) = make_people(database, "owner")
    repository = make_repository(database, owner)
    named = assignees.assignable_users(database, repository, ["Admin", "owner", "admin"])
    assert named == (find_user(database, "admin"), owner)
