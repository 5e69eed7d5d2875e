"""Labels on issues in the database."""

import threading

from sqlalchemy import select

from holdfast.hosting.store import comments, issue_labels, issues, labels
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.issue_transactions import issue_transaction
from holdfast.hosting.store.issues import IssueChanges, NewIssue
from holdfast.hosting.store.tables import issue_labels as label_rows
from tests.hosting.repository_helpers import make_repository, recorded_events
from tests.hosting.store.concurrency import run_concurrently


def test_labels_that_are_there_already_change_nothing(database: Database, ada: Account) -> None:
    """Adding a label that is set, or removing one that is not, adds no event and no timeline entry."""
    repository = make_repository(database, ada)
    bug, hull = (labels.add_label(database, repository, name, "f00") for name in ("bug", "hull"))
    issue = issues.open_issue(database, repository, ada, NewIssue(title="t", labels=[bug]))
    before = recorded_events(database)
    issue_labels.add_labels(database, repository, issue, ada, [bug])
    issue_labels.replace_labels(database, repository, issue, ada, [bug])
    issue_labels.remove_labels(database, repository, issue, ada, [hull])
    assert recorded_events(database) == before
    assert comments.entries_of(database, issue, plain=False, skip=0, limit=9)[1] == 1
    issue_labels.remove_labels(database, repository, issue, ada, [bug])
    assert recorded_events(database)[-1][1]["action"] == "label_cleared"


def test_labels_that_are_added_while_an_issue_is_closed_have_its_state(database: Database, ada: Account) -> None:
    """Whichever comes first, the row of the label has the state that the issue has in the end."""
    repository = make_repository(database, ada)
    bug = labels.add_label(database, repository, "bug", "f00")
    opened = [issues.open_issue(database, repository, ada, NewIssue(title=f"{number}")) for number in range(6)]
    actions = []
    closing = IssueChanges(is_closed=True)
    for issue in opened:
        actions += [
            lambda issue=issue: issues.change_issue(database, repository, issue, ada, closing),
            lambda issue=issue: issue_labels.add_labels(database, repository, issue, ada, [bug]),
        ]
    assert run_concurrently(*actions) == [None] * len(actions)
    with database.read() as connection:
        assert connection.execute(select(label_rows.c.is_closed)).scalars().all() == [True] * len(opened)


def test_a_label_is_deleted_while_issues_are_closed_without_a_deadlock(database: Database, ada: Account) -> None:
    """A merge closes issues in any order; deleting their label waits for it before it locks any of the rows."""
    repository = make_repository(database, ada)
    bug = labels.add_label(database, repository, "bug", "f00")
    first, second = (
        issues.open_issue(database, repository, ada, NewIssue(title=title, labels=[bug])) for title in "ab"
    )
    results: list[list[BaseException | None]] = []
    deleting = threading.Thread(
        target=lambda: results.append(run_concurrently(lambda: labels.delete_label(database, repository, bug.id)))
    )
    with issue_transaction(database, repository, ada, graph=True) as change:
        issues.close(change, second)
        deleting.start()
        deleting.join(timeout=0.5)
        assert deleting.is_alive()
        issues.close(change, first)
    deleting.join()
    assert results == [[None]]
    with database.read() as connection:
        assert connection.execute(select(label_rows)).all() == []
