"""Comments in the database."""

import pytest
from sqlalchemy import select

from holdfast.hosting.errors import NoSuchComment
from holdfast.hosting.store import comments, issues
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.issue_transactions import issue_transaction
from holdfast.hosting.store.issues import IssueChanges, NewIssue
from holdfast.hosting.store.tables import comments as table
from tests.hosting.repository_helpers import make_repository, recorded_events
from tests.hosting.store.query_plans import is_by_index, plan_of, recorded

BOTH = (False, True)


def test_words_that_stay_the_same_are_no_change(database: Database, ada: Account) -> None:
    """An edit with the same text changes nothing and records no event."""
    repository = make_repository(database, ada)
    issue = issues.open_issue(database, repository, ada, NewIssue(title="t"))
    comment = comments.add_comment(database, repository, issue, ada, "b")
    before = recorded_events(database)
    assert comments.edit_comment(database, repository, issue, comment, actor=ada, body="b") == comment
    assert recorded_events(database) == before


def test_a_comment_knows_its_place(database: Database, ada: Account) -> None:
    """The position of a comment counts all earlier timeline entries of its issue, also in the same second."""
    repository = make_repository(database, ada)
    issue = issues.open_issue(database, repository, ada, NewIssue(title="t"))
    issues.lock_issue(database, repository, issue, ada, "")
    other = issues.open_issue(database, repository, ada, NewIssue(title="u"))
    comments.add_comment(database, repository, other, ada, "elsewhere")
    created_comments = [comments.add_comment(database, repository, issue, ada, word) for word in ("a", "b", "c")]
    assert [comments.entries_before(database, item) for item in created_comments] == [1, 2, 3]


def test_a_text_of_a_timeline_is_found_by_its_id(database: Database, ada: Account) -> None:
    """Comments, line comments and reviews are found; events, pending comments and other issues' are not."""
    repository = make_repository(database, ada)
    issue, other = (issues.open_issue(database, repository, ada, NewIssue(title=title)) for title in "tu")
    kinds = ("comment", "code", "review", "pending_code", "close")
    with issue_transaction(database, repository, ada) as change:
        for kind in kinds:
            change.add_entries(issue, kind, [(kind, {})])
    with database.read() as connection:
        rows = connection.execute(select(table.c.kind, table.c.id).where(table.c.issue_id == issue.id)).all()
    assert {kind for kind, _ in rows} == set(kinds)
    results = {kind: comments.find_text(database, issue, number) for kind, number in rows}
    assert {kind: None if text is None else text.body for kind, text in results.items()} == {
        "comment": "comment",
        "code": "code",
        "review": "review",
        "pending_code": None,
        "close": None,
    }
    assert not any(comments.find_text(database, other, number) for _, number in rows)


def test_a_comment_is_deleted_once(database: Database, ada: Account) -> None:
    """Deleting or editing a deleted comment raises NoSuchComment, and the count stays right."""
    repository = make_repository(database, ada)
    issue = issues.open_issue(database, repository, ada, NewIssue(title="t"))
    comment = comments.add_comment(database, repository, issue, ada, "b")
    comments.delete_comment(database, repository, issue, comment, actor=ada)
    with pytest.raises(NoSuchComment):
        comments.delete_comment(database, repository, issue, comment, actor=ada)
    with pytest.raises(NoSuchComment):
        comments.edit_comment(database, repository, issue, comment, actor=ada, body="c")
    assert issues.find_issue(database, repository, 1).comment_count == 0


def test_the_comments_of_a_repository_are_read_by_index(database: Database, ada: Account) -> None:
    """Pages of a repository's comments are read by index, oldest first, without those of other repositories."""
    repository, other = (make_repository(database, ada, name) for name in ("here", "there"))
    created = []
    for number in range(3):
        issue = issues.open_issue(database, repository, ada, NewIssue(title="t"))
        created += [
            comments.add_comment(database, repository, issue, ada, f"{number} {word}").id for word in ("a", "b")
        ]
        issues.change_issue(database, repository, issue, ada, IssueChanges(is_closed=True))
        elsewhere = issues.open_issue(database, other, ada, NewIssue(title="t"))
        comments.add_comment(database, other, elsewhere, ada, "c")
    for size in range(1, 7):
        listed = []
        for skip in range(0, 8, size):
            with recorded(database, "ORDER BY comments") as statements:
                page, total = comments.comments_in(database, repository, kinds=BOTH, skip=skip, limit=size)
            assert total == 6
            assert statements or not page
            for statement, parameters in statements:
                plan = plan_of(database, statement, parameters)
                assert is_by_index(database, plan, "comments"), plan
            listed += [comment.id for comment, _ in page]
        assert listed == created, size
    assert comments.comments_in(database, repository, kinds=(True,), skip=0, limit=9) == ([], 0)
    of_issues, total = comments.comments_in(database, repository, kinds=(False,), skip=4, limit=9)
    assert ([comment.id for comment, _ in of_issues], total) == (created[4:], 6)
    future = 2**40
    assert comments.comments_in(database, repository, kinds=BOTH, since=future, skip=0, limit=9) == ([], 0)
    assert comments.comments_in(database, repository, kinds=BOTH, before=future, skip=0, limit=9)[1] == 6
