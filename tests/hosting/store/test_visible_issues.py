"""Visibility of issues in SQL, compared with the decisions of `access.py`."""

from typing import Any

from sqlalchemy import event

from holdfast.hosting import access
from holdfast.hosting.store import visible_issues
from holdfast.hosting.store.accounts import all_users
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.issue_lists import Filter, list_issues
from holdfast.hosting.store.visible_issues import Reader
from tests.hosting.dependency_helpers import relate
from tests.hosting.repository_helpers import access_for, every_role


def test_everybody_may_read_what_access_lets_them(database: Database) -> None:
    """Each user may read those blockers of an issue that `access` allows, with every role and repository."""
    repositories = every_role(database)
    issues, total = list_issues(database, [], Filter(), skip=0, limit=1000)
    first, *others = sorted(issues, key=lambda issue: issue.id)
    relate(database, [(first.id, other.id) for other in others])
    for person in [None, *all_users(database)]:
        for public_only in (False, True) if person is not None else (False,):
            reader = Reader(person, public_only)
            seen, counted = visible_issues.blockers_of(database, first, reader, skip=0, limit=1000)
            assert counted == total - 1 == len(seen)
            may = {
                place.id: access_for(database, person, place, public_only=public_only) for place in repositories
            }
            for other_item in seen:
                unit = access.issue_unit(is_pull=other_item.issue.is_pull)
                assert other_item.is_readable is may[other_item.repository.id].may_read(unit)
    page, counted = visible_issues.blocked_by(database, others[0], Reader(), skip=0, limit=5)
    assert ([item.issue for item in page], counted) == ([first], 1)
    assert visible_issues.blocked_by(database, others[0], Reader(), skip=5, limit=5) == ([], 1)


def test_issues_by_id_read_each_repository_once(database: Database) -> None:
    """The rows of issues do not repeat their repository, which has twice as many columns as an issue."""
    repositories = every_role(database)
    issues, _ = list_issues(database, [], Filter(), skip=0, limit=1000)
    selected: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_arguments: Any) -> None:
        selected.append(statement.partition("FROM")[0])

    for person in [None, *all_users(database)]:
        with database.read() as connection:
            event.listen(database.engine, "before_cursor_execute", note)
            found = visible_issues.visible_issues_by_id(connection, [issue.id for issue in issues], Reader(person))
            event.remove(database.engine, "before_cursor_execute", note)
        assert {number: item.issue for number, item in found.items()} == {issue.id: issue for issue in issues}
        for item in found.values():
            place = next(place for place in repositories if place.id == item.issue.repository_id)
            unit = access.issue_unit(is_pull=item.issue.is_pull)
            assert (item.repository.id, item.repository.full_name) == (place.id, place.full_name)
            assert item.is_readable is access_for(database, person, place, public_only=False).may_read(unit)
    assert [columns for columns in selected if "issues.title" in columns and "default_branch" in columns] == []
    with database.read() as connection:
        assert visible_issues.visible_issues_by_id(connection, [0], Reader()) == {}
