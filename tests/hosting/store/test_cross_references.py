"""Cross-references of issues in the database, and their visibility."""

import json
import threading

from sqlalchemy import delete, select

from holdfast.hosting.access import Unit
from holdfast.hosting.store import comments, issues, review_changes, reviews
from holdfast.hosting.store.accounts import Account, find_user
from holdfast.hosting.store.comments import Comment
from holdfast.hosting.store.cross_references import CrossReferences, referenced_repositories
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.issues import Branches, Issue, IssueChanges, NewIssue
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.review_changes import NewReview
from holdfast.hosting.store.reviews import ReviewState
from holdfast.hosting.store.tables import comments as table
from holdfast.hosting.store.tables import repositories
from holdfast.hosting.store.visible_issues import Reader
from tests.hosting.repository_helpers import access_for, every_role, make_people, make_repository, recorded_events
from tests.hosting.store.query_plans import is_by_index, plan_of, recorded

ALL = {"skip": 0, "limit": 1000}


def open_issue(
    database: Database, repository: Repository, *mentioned: Issue, action: str = "none", head: str = ""
) -> Issue:
    """Open an issue that mentions others; with a head it is a pull request."""
    wanted = NewIssue(
        title="t",
        branches=Branches(head, "main") if head else None,
        references=references_to(repository, *mentioned, action=action),
    )
    return issues.open_issue(database, repository, repository.owner, wanted)


def references_to(repository: Repository, *mentioned: Issue, action: str = "none") -> CrossReferences:
    """Return the references of a text in a repository."""
    return CrossReferences(
        {issue.id: action for issue in mentioned},
        frozenset(issue.repository_id for issue in mentioned) - {repository.id},
    )


def visible_references(
    database: Database, issue: Issue, user: Account | None = None
) -> list[tuple[str, int | None, int | None]]:
    """Return the cross-references that a user is shown: the kind, and where the issue is mentioned."""
    entries, total = comments.entries_of(database, issue, plain=False, reader=Reader(user), skip=0, limit=50)
    assert total == len(entries)
    return [(entry.kind, entry.source_issue_id, entry.source_comment_id) for entry in entries]


def stored(database: Database) -> list[Comment]:
    """Return all cross-references there are."""
    columns = [table.c[name] for name in Comment.__dataclass_fields__]
    with database.read() as connection:
        rows = connection.execute(
            select(*columns).where(table.c.source_issue_id.is_not(None)).order_by(table.c.id)
        )
        return [Comment(*row) for row in rows]


def test_each_kind_of_text_has_its_kind_of_entry(database: Database, ada: Account) -> None:
    """A mention in an issue, a pull request or a comment adds an entry of its kind, and no event of its own."""
    repository = make_repository(database, ada)
    first = open_issue(database, repository)
    with database.write() as connection:
        connection.exec_driver_sql("UPDATE issues SET updated_at = 5")
    before = issues.find_issue(database, repository, 1)
    second = open_issue(database, repository, first)
    pull = open_issue(database, repository, first, head="fix", action="closes")
    other = open_issue(database, repository)
    comment = comments.add_comment(
        database, repository, other, ada, "b", references=references_to(repository, first)
    )
    assert visible_references(database, first) == [
        ("issue_ref", second.id, None),
        ("pull_ref", pull.id, None),
        ("comment_ref", other.id, comment.id),
    ]
    entries = stored(database)
    assert [entry.happening.ref_action for entry in entries] == ["none", "closes", "none"]
    assert {(entry.author_id, entry.body) for entry in entries} == {(ada.id, "")}
    assert issues.find_issue(database, repository, 1) == before
    assert [details["number"] for _, details in recorded_events(database)] == [1, 2, 3, 4, 4]


def test_an_issue_that_mentions_itself_has_no_entry(database: Database, ada: Account) -> None:
    """An issue that mentions itself in a comment or in its own text gets no entry."""
    repository = make_repository(database, ada)
    issue = open_issue(database, repository)
    own = references_to(repository, issue)
    comments.add_comment(database, repository, issue, ada, "b", references=own)
    issues.change_issue(database, repository, issue, ada, IssueChanges(body="b", references=own))
    assert stored(database) == []


def test_an_edit_adds_and_removes_entries(database: Database, ada: Account) -> None:
    """An edit changes the entries of the edited text only; an entry that stays takes the new closing keyword."""
    place, boat = make_repository(database, ada), make_repository(database, ada, "boat")
    first, second, third = open_issue(database, place), open_issue(database, place), open_issue(database, boat)
    pull = open_issue(database, place, first, second, head="fix")
    posted_comment = comments.add_comment(database, place, pull, ada, "b", references=references_to(place, first))
    comment = stored(database)[0]
    edited = {first.id: "closes", third.id: "none"}
    changes = IssueChanges(body="b", references=CrossReferences(edited, frozenset({boat.id})))
    issues.change_issue(database, place, pull, ada, changes)
    assert [visible_references(database, issue) for issue in (first, second, third)] == [
        [("pull_ref", pull.id, None)],
        [],
        [("pull_ref", pull.id, None)],
    ]
    entries = {entry.id: entry for entry in stored(database)}
    assert json.loads(entries[comment.id].details) == {"ref_action": "closes"}
    issues.change_issue(database, place, pull, ada, IssueChanges(title="u"))
    assert len(stored(database)) == 3
    comments.edit_comment(
        database, place, pull, posted_comment, actor=ada, body="c", references=references_to(place, second)
    )
    issues.change_issue(database, place, pull, ada, IssueChanges(body="c", references=CrossReferences()))
    assert visible_references(database, first) == visible_references(database, third) == []
    assert visible_references(database, second) == [("comment_ref", pull.id, posted_comment.id)]


def test_an_edit_keeps_entries_that_its_author_may_not_add(database: Database, ada: Account) -> None:
    """An edit by somebody who may not add a reference keeps an entry that exists and adds no new one."""
    repository = make_repository(database, ada)
    first, second = open_issue(database, repository), open_issue(database, repository)
    issue = open_issue(database, repository, first)
    others = CrossReferences(others=frozenset({first.id, second.id}))
    issues.change_issue(database, repository, issue, ada, IssueChanges(body="b", references=others))
    assert (len(visible_references(database, first)), len(visible_references(database, second))) == (1, 0)


def test_several_mentions_of_one_issue_are_shown_once(database: Database, ada: Account) -> None:
    """The mention in the issue's own text is shown, else the oldest; when it is deleted, the next one."""
    repository = make_repository(database, ada)
    first, second = open_issue(database, repository), open_issue(database, repository)
    mention = references_to(repository, first)
    posted_comments = [
        comments.add_comment(database, repository, second, ada, "b", references=mention) for _ in range(3)
    ]
    own = comments.add_comment(database, repository, first, ada, "mine")
    assert visible_references(database, first)[0] == ("comment_ref", second.id, posted_comments[0].id)
    assert len(visible_references(database, first)) == 2
    assert comments.entries_before(database, own) == 1
    comments.delete_comment(database, repository, second, posted_comments[0], actor=ada)
    assert visible_references(database, first)[0] == ("comment_ref", second.id, posted_comments[1].id)
    issues.change_issue(database, repository, second, ada, IssueChanges(body="b", references=mention))
    assert visible_references(database, first)[1:] == [("issue_ref", second.id, None)]
    issues.change_issue(database, repository, second, ada, IssueChanges(body="", references=CrossReferences()))
    assert visible_references(database, first)[0] == ("comment_ref", second.id, posted_comments[1].id)


def test_entries_go_with_either_issue(database: Database, ada: Account) -> None:
    """Entries are deleted with the mentioned issue, with the mentioning one, and with its repository."""
    repository, boat = make_repository(database, ada), make_repository(database, ada, "boat")
    first = open_issue(database, repository)
    second, third = open_issue(database, repository, first), open_issue(database, boat, first)
    comment = comments.add_comment(database, boat, third, ada, "b", references=references_to(boat, first, second))
    assert referenced_repositories(database, third) == {repository.id}
    assert referenced_repositories(database, second) == set()
    assert len(stored(database)) == 4
    issues.delete_issue(database, repository, second, ada)
    assert [entry.source_comment_id for entry in stored(database)] == [None, comment.id]
    with database.write() as connection:
        connection.execute(delete(repositories).where(repositories.c.id == boat.id))
    assert stored(database) == []
    assert visible_references(database, first) == []


def test_an_issue_deleted_meanwhile_is_skipped(database: Database, ada: Account) -> None:
    """A mention of an issue that was deleted meanwhile adds no entry, and the text is stored."""
    repository = make_repository(database, ada)
    first, second = open_issue(database, repository), open_issue(database, repository)
    mention = references_to(repository, first, second)
    issues.delete_issue(database, repository, first, ada)
    third = issues.open_issue(database, repository, ada, NewIssue(title="t", references=mention))
    assert [(entry.issue_id, entry.source_issue_id) for entry in stored(database)] == [(second.id, third.id)]


def test_a_review_has_entries_for_each_of_its_texts(database: Database, ada: Account) -> None:
    """A review has entries once it is submitted, and they are deleted with the review."""
    repository = make_repository(database, ada)
    first, pull = open_issue(database, repository), open_issue(database, repository, head="fix")
    mention = {"see": references_to(repository, first)}
    new = NewReview(state=ReviewState.PENDING, body="see", commit_id="a" * 40, references=mention)
    review = review_changes.save_review(database, repository, pull, ada, new)
    assert stored(database) == []
    assert review_changes.pending_texts(database, pull, ada) == ["see"]
    new = NewReview(state=ReviewState.COMMENT, body="", commit_id="a" * 40, references=mention)
    submitted = review_changes.submit_review(database, repository, pull, ada, review=review, new=new)
    ((kind, source, entry_id),) = visible_references(database, first)
    assert (kind, source) == ("comment_ref", pull.id)
    with database.read() as connection:
        assert comments.comments_by_id(connection, [entry_id or 0])[entry_id or 0].kind == "review"
    assert review_changes.pending_texts(database, pull, ada) == []
    review_changes.delete_review(database, repository, pull, ada, submitted)
    assert stored(database) == []
    assert reviews.reviews_of(database, pull, ada.id, skip=0, limit=5)[1] == 0


def test_mentions_are_shown_to_users_who_may_read_their_source(database: Database) -> None:
    """Every user sees, and has counted, the mentions in those issues and pull requests that they may read."""
    other_repositories = every_role(database)
    owner = other_repositories[0].owner
    target = open_issue(database, make_repository(database, owner, "target"))
    sources = {}
    for target_repository in other_repositories:
        for head, unit in (("", Unit.ISSUES), ("mention", Unit.PULLS)):
            sources[open_issue(database, target_repository, target, head=head).id] = target_repository, unit
    for name in ("", "owner", "stranger", "restricted", "guest", "codes", "reads", "admin"):
        user = find_user(database, name) if name else None
        entries, total = comments.entries_of(database, target, plain=False, reader=Reader(user), **ALL)
        expected = {
            number
            for number, (repository, unit) in sources.items()
            if access_for(database, user, repository, public_only=False).may_read(unit)
        }
        assert {entry.source_issue_id for entry in entries} == expected, name
        assert total == len(expected)
        reader = Reader(user, public_only=True)
        entries, total = comments.entries_of(database, target, plain=False, reader=reader, **ALL)
        expected = {
            number
            for number, (repository, unit) in sources.items()
            if access_for(database, user, repository, public_only=True).may_read(unit)
        }
        assert {entry.source_issue_id for entry in entries} == expected, name
        assert total == len(expected)


def test_cross_references_are_read_by_index(database: Database, ada: Account) -> None:
    """The page and the count are read by index for every reader, and need no access check without references."""
    (stranger,) = make_people(database, "stranger")
    repository = make_repository(database, ada)
    first = open_issue(database, repository)
    with recorded(database, "FROM comments") as queries:
        visible_references(database, first, stranger)
    assert len(queries) == 2
    assert not any("EXISTS" in statement for statement, _ in queries)
    for _ in range(3):
        open_issue(database, repository, first)
    for reader in (None, ada, stranger):
        with recorded(database, "EXISTS") as queries:
            assert len(visible_references(database, first, reader)) == 3
        assert len(queries) == 2
        for statement, parameters in queries:
            plan = plan_of(database, statement, parameters)
            for name in ("comments", "issues", "repositories", "users", "earlier"):
                assert is_by_index(database, plan, name), plan
    with recorded(database, "source_issue_id") as queries:
        referenced_repositories(database, first)
    assert "ix_comments_source_issue_id_source_comment_id" in plan_of(database, *queries[0])


def test_issues_that_mention_each_other_at_the_same_time(database: Database, ada: Account) -> None:
    """Concurrent mentions in one repository and across two cause no deadlock and lose no entry."""
    ship, boat = make_repository(database, ada), make_repository(database, ada, "boat")
    one, two, three = open_issue(database, ship), open_issue(database, boat), open_issue(database, ship)
    failures: list[BaseException] = []
    start = threading.Barrier(4)

    def mention(repository: Repository, issue: Issue, *others: Issue) -> None:
        try:
            start.wait()
            for number in range(8):
                references = references_to(repository, *others)
                comment = comments.add_comment(database, repository, issue, ada, "b", references=references)
                changes = IssueChanges(
                    body=f"{number}", references=references if number % 2 else CrossReferences()
                )
                issues.change_issue(database, repository, issue, ada, changes)
                if number % 2:
                    comments.delete_comment(database, repository, issue, comment, actor=ada)
        except BaseException as error:
            failures.append(error)
            raise

    work = [(ship, one, two, three), (boat, two, three, one), (ship, three, one), (boat, two, one)]
    threads = [threading.Thread(target=mention, args=arguments) for arguments in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    entries = [
        [source for _, source, _ in visible_references(database, issue) if source] for issue in (one, two, three)
    ]
    assert [sorted(sources) for sources in entries] == [[two.id, three.id], [one.id], [one.id, two.id]]
