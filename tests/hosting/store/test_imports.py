"""Imported issues and releases in the database."""

import pytest
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from holdfast.hosting.errors import NoSuchIssue
from holdfast.hosting.store import imports, issue_labels
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.issues import find_issue
from holdfast.hosting.store.repositories import Repository, repository_by_id
from holdfast.hosting.store.tables import comments, issue_assignees, issue_dependencies
from holdfast.hosting.store.tables import issue_labels as label_rows
from tests.hosting.repository_helpers import recorded_events


def issue_row(repository: Repository, number: int, **more: object) -> dict[str, object]:
    """Make the row of an issue as another service had it."""
    row = {"repository_id": repository.id, "number": number, "title": f"issue {number}", "body": ""}
    return {**row, "ref": "", "original_author": "", "is_closed": False, "created_at": 5, "updated_at": 6, **more}


def test_added_rows_are_found_by_what_names_them(database: Database, repository: Repository) -> None:
    """Imported rows are returned by name or number; an empty page adds nothing, and no event is recorded."""
    here = {"repository_id": repository.id}
    with database.write() as connection:
        labels = imports.add_labels(connection, [{**here, "name": name, "color": "ff0000"} for name in "ab"])
        milestones = imports.add_milestones(connection, [{**here, "title": "1.0"}])
        issues = imports.add_issues(connection, [issue_row(repository, number) for number in (7, 3)])
        releases = imports.add_releases(connection, [{**here, "tag_name": "v1"}])
        for add in (imports.add_labels, imports.add_milestones, imports.add_issues, imports.add_releases):
            assert add(connection, []) == {}
    assert set(labels) == {"a", "b"}
    assert set(milestones) == {"1.0"}
    assert set(releases) == {"v1"}
    assert {number: find_issue(database, repository, number).id for number in (3, 7)} == issues
    assert find_issue(database, repository, 7).created_at == 5
    assert recorded_events(database) == []


def test_rows_that_refer_to_issues_are_added(database: Database, repository: Repository, ada: Account) -> None:
    """Labels, assignees and dependencies of imported issues are added, and empty lists are accepted."""
    with database.write() as connection:
        label = imports.add_labels(connection, [{"repository_id": repository.id, "name": "a", "color": "0"}])["a"]
        ids = imports.add_issues(connection, [issue_row(repository, 1, is_closed=True), issue_row(repository, 2)])
        for add in (
            issue_labels.add_rows,
            imports.add_assignees,
            imports.add_comments,
            imports.add_dependencies,
        ):
            add(connection, [])
        issue_labels.add_rows(connection, [(ids[1], label)])
        imports.add_assignees(connection, [(ids[2], ada.id)])
        imports.add_dependencies(connection, [{"issue_id": ids[1], "blocker_id": ids[2]}])
        assert connection.execute(select(label_rows)).all() == [(ids[1], label, repository.id, False, True, 5)]
        assert connection.execute(select(issue_assignees)).all() == [(ids[2], ada.id)]
        (blocked,) = connection.execute(select(issue_dependencies)).all()
        assert (blocked.issue_id, blocked.blocker_id) == (ids[1], ids[2])


def test_a_number_that_is_taken_is_refused(database: Database, repository: Repository) -> None:
    """A page with a number that exists already raises IntegrityError, and nothing of it is added."""
    with database.write() as connection:
        imports.add_issues(connection, [issue_row(repository, 2)])
    with pytest.raises(IntegrityError), database.write() as connection:
        imports.add_issues(connection, [issue_row(repository, 1), issue_row(repository, 2)])
    with pytest.raises(NoSuchIssue):
        find_issue(database, repository, 1)


def test_counters_are_set_after_an_import(database: Database, repository: Repository, ada: Account) -> None:
    """The counters leave out pull requests, draft releases, and timeline entries that are no comments."""
    with database.write() as connection:
        rows = [issue_row(repository, 1), issue_row(repository, 4, is_closed=True), issue_row(repository, 9)]
        ids = imports.add_issues(connection, rows)
        imports.add_issues(connection, [issue_row(repository, 12, is_pull=True)])
        said = {"issue_id": ids[1], "author_id": ada.id, "body": "x", "created_at": 1, "updated_at": 1}
        imports.add_comments(connection, [{**said, "kind": kind} for kind in ("comment", "comment", "close")])
        releases = [
            {"repository_id": repository.id, "tag_name": str(item), "is_draft": item > 1} for item in range(4)
        ]
        imports.add_releases(connection, releases)
        imports.recount(connection, repository.id)
        known_rows = connection.execute(select(comments.c.kind).where(comments.c.repository_id == repository.id))
        assert list(known_rows.scalars()) == ["comment", "comment"]
    found_repository = repository_by_id(database, repository.id)
    assert (found_repository.open_issues, found_repository.release_count) == (2, 2)
    assert (found_repository.closed_issues, found_repository.last_issue) == (1, 12)
    assert find_issue(database, repository, 1).comment_count == 2
    assert find_issue(database, repository, 4).comment_count == 0
