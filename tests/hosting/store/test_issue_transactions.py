"""Transactions that change issues: rollback and concurrent deletion."""

import pytest

from holdfast.hosting.errors import GoneMeanwhile, NoSuchIssue, NoSuchRepository, Outdated
from holdfast.hosting.store import comments, issues, labels, repositories
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.issues import IssueChanges, NewIssue
from tests.hosting.repository_helpers import make_repository, recorded_events


def test_a_failed_change_is_rolled_back(database: Database, ada: Account) -> None:
    """A failed change leaves the issue as it was, adds no event and uses up no issue number."""
    repository = make_repository(database, ada)
    gone = labels.add_label(database, repository, "gone", "f00")
    labels.delete_label(database, repository, gone.id)
    with pytest.raises(GoneMeanwhile):
        issues.open_issue(database, repository, ada, NewIssue(title="t", labels=[gone], assignees=[ada]))
    assert repositories.repository_by_id(database, repository.id).last_issue == 0
    assert recorded_events(database) == []
    issue = issues.open_issue(database, repository, ada, NewIssue(title="t"))
    with pytest.raises(Outdated):
        issues.change_issue(database, repository, issue, ada, IssueChanges(title="x", content_version=5))
    with pytest.raises(GoneMeanwhile):
        issues.change_issue(database, repository, issue, ada, IssueChanges(title="x", labels=[gone]))
    assert issues.find_issue(database, repository, 1) == issue
    assert len(recorded_events(database)) == 1


def test_an_issue_deleted_meanwhile_is_not_found(database: Database, ada: Account) -> None:
    """Changes of a deleted issue, and issues in a deleted repository, raise errors."""
    repository = make_repository(database, ada)
    issue = issues.open_issue(database, repository, ada, NewIssue(title="t"))
    issues.delete_issue(database, repository, issue, ada)
    with pytest.raises(NoSuchIssue):
        issues.change_issue(database, repository, issue, ada, IssueChanges(title="x"))
    with pytest.raises(GoneMeanwhile):
        comments.add_comment(database, repository, issue, ada, "b")
    with database.write() as connection:
        connection.exec_driver_sql("DELETE FROM repositories")
    with pytest.raises(NoSuchRepository):
        issues.open_issue(database, repository, ada, NewIssue(title="t"))
