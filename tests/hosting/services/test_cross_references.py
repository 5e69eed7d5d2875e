"""Cross-references between issues: mentions, permissions and limits."""

import pytest
from sqlalchemy import event

from holdfast.hosting.access import Actor
from holdfast.hosting.app import App
from holdfast.hosting.errors import Outdated
from holdfast.hosting.services import comments, issues, reviews
from holdfast.hosting.services.cross_references import (
    LONGEST_REVIEW,
    MOST_OF_REVIEW,
    MOST_REFERENCES,
    references_of_issue,
    references_of_review,
    references_of_text,
)
from holdfast.hosting.services.issues import IssueDraft, IssueEdit
from holdfast.hosting.services.reviews import ReviewDraft
from holdfast.hosting.store import issues as store
from holdfast.hosting.store.issues import Branches, Issue, NewIssue
from holdfast.hosting.store.repositories import Repository
from tests.hosting.repository_helpers import READ, WRITE, PublicOnly, let_in, make_people, make_repository
from tests.hosting.services.scenario import Scenario, accessed, make_scenario
from tests.hosting.store.query_plans import recorded

Entry = tuple[str, str, str]


@pytest.fixture
def scenario(app: App) -> Scenario:
    """Create the users and the repository."""
    return make_scenario(app)


def entries(app: App) -> list[Entry]:
    """Return all cross-references: the issue, the kind of the entry, and where it is mentioned."""
    asked = (
        "SELECT r.name, i.number, c.kind, s.name, j.number FROM comments c JOIN issues i ON i.id = c.issue_id "
        "JOIN repositories r ON r.id = i.repository_id JOIN issues j ON j.id = c.source_issue_id "
        "JOIN repositories s ON s.id = j.repository_id ORDER BY c.id"
    )
    with app.database.read() as connection:
        rows = connection.exec_driver_sql(asked).all()
    return [
        (f"{name}#{number}", kind, f"{repository}#{source}") for name, number, kind, repository, source in rows
    ]


def open_in(app: App, repository: Repository, *, count: int = 1, head: str = "") -> list[Issue]:
    """Open issues of the owner's, or a pull request."""
    new = NewIssue(title="It leaks", branches=Branches(head, "main") if head else None)
    return [store.open_issue(app.database, repository, repository.owner, new) for _ in range(count)]


def test_every_text_of_an_issue_adds_entries(scenario: Scenario) -> None:
    """Titles, bodies and comments add entries, and edits and deletions remove them.

    Repeated mentions, mentions in code and those of the issue itself add none.
    """
    app, eve = scenario.app, scenario.caller(scenario.reader)
    open_in(app, scenario.repository, count=4)
    issue = issues.create(*eve, IssueDraft(title="Like #1", body="or #1, `#2`, #5 and #99"))
    assert entries(app) == [("ship#1", "issue_ref", "ship#5")]
    comment = comments.create(*eve, issue, "See #2, #2, ADA/Ship#2 and #5")
    assert entries(app)[1:] == [("ship#2", "comment_ref", "ship#5")]
    comment = comments.edit(*eve, (comment, issue), "See #3")
    assert entries(app)[1:] == [("ship#3", "comment_ref", "ship#5")]
    changed = issues.edit(*eve, issue, IssueEdit(title="Like #4"))
    assert entries(app)[2:] == [("ship#4", "issue_ref", "ship#5")]
    assert ("ship#1", "issue_ref", "ship#5") in entries(app)
    issues.edit(*eve, changed, IssueEdit(body="", state="closed"))
    assert entries(app) == [("ship#3", "comment_ref", "ship#5"), ("ship#4", "issue_ref", "ship#5")]
    comments.delete(*eve, (comment, issue))
    assert entries(app) == [("ship#4", "issue_ref", "ship#5")]


def test_an_edit_of_something_else_leaves_the_entries(scenario: Scenario) -> None:
    """An edit that sends the same title and body again makes no queries for cross-references."""
    app, ada = scenario.app, scenario.caller(scenario.owner)
    open_in(app, scenario.repository)
    issue = issues.create(*ada, IssueDraft(title="t", body="#1"))
    with app.database.read() as connection:
        before = connection.exec_driver_sql("SELECT * FROM comments").all()
    with recorded(app.database, "source_issue_id") as queries:
        issues.edit(*ada, issue, IssueEdit(title="t", body="#1", ref="main"))
    assert queries == []
    with app.database.read() as connection:
        assert connection.exec_driver_sql("SELECT * FROM comments").all()[: len(before)] == before


def test_edits_of_title_and_body_at_the_same_time_keep_the_entries_of_both(scenario: Scenario) -> None:
    """The entries follow the texts that the issue has after each edit, not those that the request has read."""
    app, ada = scenario.app, scenario.caller(scenario.owner)
    open_in(app, scenario.repository, count=3)
    issue = issues.create(*ada, IssueDraft(title="t", body="b"))
    issues.edit(*ada, issue, IssueEdit(title="Like #1"))
    edited = issues.edit(*ada, issue, IssueEdit(body="Like #2"))
    assert (edited.title, edited.body) == ("Like #1", "Like #2")
    both = [("ship#1", "issue_ref", "ship#4"), ("ship#2", "issue_ref", "ship#4")]
    assert entries(app) == both
    issues.edit(*ada, issue, IssueEdit(title="t", body="See #3"))
    assert entries(app) == [("ship#3", "issue_ref", "ship#4")]
    issues.edit(*ada, issue, IssueEdit(title="t", body="b"))
    assert entries(app) == []
    with pytest.raises(Outdated, match="content_version"):
        issues.edit(*ada, issue, IssueEdit(title="New", content_version=issue.content_version))


def test_an_edit_by_another_user_removes_no_entry(scenario: Scenario) -> None:
    """An entry stays while the text mentions the issue, even if the editor may not mention it.

    An edit that removes the mention removes the entry.
    """
    app, ada, bob = scenario.app, scenario.caller(scenario.owner), scenario.caller(scenario.writer)
    boat = make_repository(app.database, scenario.owner, "boat", is_private=True)
    open_in(app, boat, count=2)
    issue = issues.create(*ada, IssueDraft(title="t", body="ada/boat#1"))
    there = [("boat#1", "issue_ref", "ship#1")]
    issue = issues.edit(*bob, issue, IssueEdit(title="t", body="ada/boat#1", ref="main"))
    issue = issues.edit(*bob, issue, IssueEdit(body="Yes: ada/boat#1, ada/boat#2"))
    assert entries(app) == there
    issues.edit(*bob, issue, IssueEdit(body="No"))
    assert entries(app) == []


def test_full_urls_are_references(scenario: Scenario) -> None:
    """URLs of issues are references if they belong to this site."""
    app, ada = scenario.app, scenario.caller(scenario.owner)
    first, _ = open_in(app, scenario.repository, count=2)
    text = f"{app.root}/ada/ship/issues/1 https://example.org/ada/ship/issues/2"
    references = references_of_text(*ada, text)
    assert (list(references.actions), references.repository_ids) == ([first.id], frozenset())


@pytest.mark.parametrize(
    ("mode", "columns", "allowed"),
    [
        (None, {}, False),
        (READ, {}, False),
        (WRITE, {}, True),
        (WRITE, {"is_private": True}, True),
        (READ, {"is_private": True}, False),
        (WRITE, {"archived_at": 1}, False),
        (WRITE, {"has_issues": False}, False),
    ],
)
def test_another_repository_takes_write_access(
    scenario: Scenario, mode: int | None, columns: dict[str, bool | int], *, allowed: bool
) -> None:
    """A mention in another repository needs write access there, as for commits.

    The repository must have issues and must not be archived; otherwise no entry is added.
    """
    app, bob = scenario.app, scenario.writer
    boat = make_repository(app.database, scenario.owner, "boat", **columns)
    if mode is not None:
        let_in(app.database, boat, bob, mode)
    open_in(app, boat)
    issues.create(*scenario.caller(bob), IssueDraft(title="t", body="Ada/BOAT#1, nobody/boat#1, ada/nothing#1"))
    assert entries(app) == ([("boat#1", "issue_ref", "ship#1")] if allowed else [])


def test_the_same_repository_takes_read_access(scenario: Scenario) -> None:
    """A reader mentions a locked issue, and pull requests are not mentioned where they are disabled."""
    app, eve = scenario.app, scenario.reader
    boat = make_repository(app.database, scenario.owner, "boat", has_pulls=False)
    open_in(app, boat)
    open_in(app, boat, head="fix")
    issues.lock(*scenario.caller(scenario.owner, boat), store.find_issue(app.database, boat, 1))
    issues.create(*scenario.caller(eve, boat), IssueDraft(title="#1", body="#2"))
    assert entries(app) == [("boat#1", "issue_ref", "boat#3")]


def test_a_token_for_public_repositories_mentions_no_private_issue(scenario: Scenario) -> None:
    """A `public-only` token adds no reference to a private repository, which its owner could add."""
    app, ada = scenario.app, scenario.owner
    open_in(app, scenario.repository)
    boat = make_repository(app.database, ada, "boat")
    actor = Actor(ada, token=PublicOnly())  # type: ignore[arg-type]  # has the one method that is called
    assert references_of_text(app, actor, accessed(app, actor, boat), "ada/ship#1").actions == {}
    whole = Actor(ada)
    references = references_of_text(app, whole, accessed(app, whole, boat), "ada/ship#1")
    assert references.repository_ids == {scenario.repository.id}


def test_closing_keywords_of_a_pull_request_are_stored(scenario: Scenario) -> None:
    """Keywords apply to issues, not to pull requests or in code; those in the text of an issue have no effect."""
    app, ada = scenario.app, scenario.caller(scenario.owner)
    open_in(app, scenario.repository, count=5)
    open_in(app, scenario.repository, head="fix")
    text = "#1\n\nResolves: ada/ship#2, #6. Reopens #3; `closes #4`, closes #5 and reopens #5"
    results = references_of_issue(*ada, "Fixes #1", text, is_pull=True).actions
    numbers = {issue.id: issue.number for issue in open_numbers(app, scenario.repository)}
    assert {numbers[key]: action for key, action in results.items()} == {
        1: "closes",
        2: "closes",
        6: "none",
        3: "reopens",
        5: "reopens",
    }
    assert set(references_of_issue(*ada, "Fixes #1", text, is_pull=False).actions.values()) == {"none"}


def open_numbers(app: App, repository: Repository) -> list[Issue]:
    """Return the first issues of a repository."""
    return [store.find_issue(app.database, repository, number) for number in range(1, 7)]


def test_a_review_mentions_issues_when_it_is_submitted(scenario: Scenario) -> None:
    """The body of a pending review adds entries when the review is submitted, and not before."""
    app, bob = scenario.app, scenario.caller(scenario.writer)
    open_in(app, scenario.repository, count=2)
    (pull,) = open_in(app, scenario.repository, head="fix")
    pending = reviews.create(*bob, pull, ReviewDraft(body="As in #1"))
    assert entries(app) == []
    reviews.submit(*bob, pull, pending, event="COMMENT", body="")
    assert entries(app) == [("ship#1", "comment_ref", "ship#3")]
    review = reviews.create(*bob, pull, ReviewDraft(body="As in #2", event="APPROVED"))
    assert entries(app)[1:] == [("ship#2", "comment_ref", "ship#3")]
    reviews.delete(*bob, pull, review)
    assert entries(app) == [("ship#1", "comment_ref", "ship#3")]


def test_texts_mention_a_bounded_number_of_issues(scenario: Scenario) -> None:
    """Only the first references of a text count, with as many queries as for one of them.

    A review has a limit for all its texts.
    """
    app, ada = scenario.app, scenario.caller(scenario.owner)
    opened = open_in(app, scenario.repository, count=MOST_REFERENCES + 20)
    text = " ".join(f"#{number}" for number in range(1, 1000))
    assert set(references_of_text(*ada, text).actions) == {issue.id for issue in opened[:MOST_REFERENCES]}
    counts = [count_queries(app, ada, body) for body in ("#1", text, "x")]
    assert counts[0] == counts[1]
    texts = [f"{number} {text}" for number in range(10)]
    results = references_of_review(*ada, texts)
    assert sum(len(references.actions) for references in results.values()) == MOST_OF_REVIEW
    results = references_of_review(*ada, ["#1", "x" * LONGEST_REVIEW, "#2"])
    assert list(results) == ["#1"]


def count_queries(app: App, caller: tuple[App, Actor, object], body: str) -> int:
    """Open an issue, and return how many statements that takes besides those that add one row each."""
    statements: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        statements.append(statement)

    event.listen(app.database.engine, "before_cursor_execute", note)
    try:
        issues.create(*caller, IssueDraft(title="t", body=body))  # type: ignore[arg-type]  # a tuple of the three leading arguments
    finally:
        event.remove(app.database.engine, "before_cursor_execute", note)
    return len(statements)


def test_a_mention_of_an_issue_notifies_no_one(scenario: Scenario) -> None:
    """A mention adds no notification for the author of the mentioned issue, and no event for webhooks."""
    app, eve = scenario.app, scenario.reader
    (ivy,) = make_people(app.database, "ivy")
    boat = make_repository(app.database, ivy, "boat")
    let_in(app.database, boat, eve, WRITE)
    store.open_issue(app.database, boat, ivy, NewIssue(title="t"))
    with app.database.read() as connection:
        events = connection.exec_driver_sql("SELECT count(*) FROM events").scalar_one()
    issues.create(*scenario.caller(eve), IssueDraft(title="t", body="ivy/boat#1"))
    assert entries(app) == [("boat#1", "issue_ref", "ship#1")]
    with app.database.read() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM events").scalar_one() == events + 1
        assert ivy.id not in set(connection.exec_driver_sql("SELECT user_id FROM notifications").scalars())
