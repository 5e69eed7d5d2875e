"""Labels on issues in the database."""

from holdfast.hosting.store import comments, issue_labels, issues, labels
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.issues import NewIssue
from tests.hosting.repository_helpers import make_repository, recorded_events


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
