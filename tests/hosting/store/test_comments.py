"""Comments in the database."""

import pytest

from holdfast.hosting.errors import NoSuchComment
from holdfast.hosting.store import comments, issues
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.issues import NewIssue
from tests.hosting.repository_helpers import make_repository, recorded_events


def test_words_that_stay_the_same_are_no_change(database: Database, ada: Account) -> None:
    """Nobody is told."""
    repository = make_repository(database, ada)
    issue = issues.open_issue(database, repository, ada, NewIssue(title="t"))
    made = comments.add_comment(database, repository, issue, ada, "b")
    before = recorded_events(database)
    assert comments.edit_comment(database, repository, issue, made, actor=ada, body="b") == made
    assert recorded_events(database) == before


def test_a_comment_knows_its_place(database: Database, ada: Account) -> None:
    """Among everything else that happened to its issue, in the same second and later."""
    repository = make_repository(database, ada)
    issue = issues.open_issue(database, repository, ada, NewIssue(title="t"))
    issues.lock_issue(database, repository, issue, ada, "")
    other = issues.open_issue(database, repository, ada, NewIssue(title="u"))
    comments.add_comment(database, repository, other, ada, "elsewhere")
    made = [comments.add_comment(database, repository, issue, ada, word) for word in ("a", "b", "c")]
    assert [comments.entries_before(database, one) for one in made] == [1, 2, 3]


def test_a_comment_is_deleted_once(database: Database, ada: Account) -> None:
    """The second time it is missing, and the count stays right."""
    repository = make_repository(database, ada)
    issue = issues.open_issue(database, repository, ada, NewIssue(title="t"))
    made = comments.add_comment(database, repository, issue, ada, "b")
    comments.delete_comment(database, repository, issue, made, actor=ada)
    with pytest.raises(NoSuchComment):
        comments.delete_comment(database, repository, issue, made, actor=ada)
    with pytest.raises(NoSuchComment):
        comments.edit_comment(database, repository, issue, made, actor=ada, body="c")
    assert issues.find_issue(database, repository, 1).comment_count == 0
