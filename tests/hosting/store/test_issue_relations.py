"""The number of queries that load the relations of a page of issues."""

from sqlalchemy import event

from holdfast.hosting.store import issue_lists, issues, labels, milestones
from holdfast.hosting.store.accounts import find_user
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.issue_relations import issue_parts
from holdfast.hosting.store.issues import NewIssue
from tests.hosting.repository_helpers import make_repository


def test_a_long_page_of_issues_takes_as_many_queries_as_a_short_one(database: Database) -> None:
    """Two queries read the related rows of two and of five issues."""
    admin = find_user(database, "admin")
    repository = make_repository(database, admin)
    label = labels.add_label(database, repository, "bug", "f00")
    milestone = milestones.add_milestone(database, repository, admin, "1.0")
    new = NewIssue(title="t", labels=[label], assignees=[admin], milestone_id=milestone.id)
    for _ in range(5):
        issues.open_issue(database, repository, admin, new)
    found_issues, _ = issue_lists.list_issues(database, [], issue_lists.Filter(), skip=0, limit=50)
    ran: list[str] = []

    def note(*arguments: object) -> None:
        ran.append(str(arguments[2]))

    counts = []
    event.listen(database.engine, "before_cursor_execute", note)
    for some in (found_issues[:2], found_issues):
        ran.clear()
        issue_parts(database, some)
        counts.append(len([text for text in ran if text.startswith(("SELECT", "WITH"))]))
    event.remove(database.engine, "before_cursor_execute", note)
    assert len(found_issues) == 5
    assert counts == [2, 2]
