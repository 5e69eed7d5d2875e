"""Issues: permissions, validation and labels."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from sqlalchemy import select

from holdfast.hosting.access import Actor
from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    Forbidden,
    InvalidField,
    InvalidReference,
    LoginRequired,
    NoSuchIssue,
    NoSuchLabel,
    Outdated,
    Permission,
    RepositoryArchived,
    UnknownState,
    Violation,
)
from holdfast.hosting.services import issues, labels, milestones
from holdfast.hosting.services.issues import IssueDraft, IssueEdit
from holdfast.hosting.services.labels import NewLabel
from holdfast.hosting.services.milestones import NewMilestone
from holdfast.hosting.store import issue_labels
from holdfast.hosting.store.issues import Issue
from holdfast.hosting.store.repositories import repository_by_id
from holdfast.hosting.store.tables import issue_assignees, users
from tests.hosting.services.scenario import Caller, Scenario, make_scenario

LEAK = IssueDraft(title=" It leaks ")
DUE = datetime(2030, 1, 1, tzinfo=UTC)
CHANGES: list[Callable[[Caller, Issue], object]] = [
    lambda who, issue: issues.edit(*who, issue, IssueEdit(milestone_id=0)),
    lambda who, issue: issues.edit(*who, issue, IssueEdit(labels=[])),
    lambda who, issue: issues.edit(*who, issue, IssueEdit(assignees=[])),
    lambda who, issue: issues.edit(*who, issue, IssueEdit(remove_due_date=True)),
    lambda who, issue: issues.set_due_date(*who, issue, DUE),
    lambda who, issue: issues.lock(*who, issue),
    lambda who, issue: issues.unlock(*who, issue),
    lambda who, issue: issues.add_labels(*who, issue, []),
    lambda who, issue: issues.replace_labels(*who, issue, []),
    lambda who, issue: issues.change_labels(*who, issue, more=[], less=[]),
    lambda who, issue: issues.remove_label(*who, issue, "bug"),
    lambda who, issue: issues.add_assignees(*who, issue, ["bob"]),
    lambda who, issue: issues.remove_assignees(*who, issue, ["bob"]),
    lambda who, issue: issues.change_assignees(*who, issue, more=["bob"], less=[]),
]


@pytest.fixture
def scenario(app: App) -> Scenario:
    """Create the users and the repository."""
    return make_scenario(app)


def test_readers_open_issues_and_edit_their_own(scenario: Scenario) -> None:
    """Readers edit title and state of their own issues; labels and due dates of their new issues are ignored."""
    reader = scenario.caller(scenario.reader)
    made = issues.create(*reader, IssueDraft(title="It leaks", labels=["none such"], due_date=DUE, is_closed=True))
    assert (made.title, made.due_at, made.is_closed, made.author_id) == ("It leaks", 0, False, scenario.reader.id)
    edited = issues.edit(*reader, made, IssueEdit(title="It sinks", state="closed"))
    assert (edited.title, edited.is_closed) == ("It sinks", True)
    other = issues.create(*scenario.caller(scenario.writer), LEAK)
    with pytest.raises(Forbidden) as excinfo:
        issues.edit(*reader, other, IssueEdit(title="mine"))
    assert excinfo.value.permission == Permission.AUTHOR


@pytest.mark.parametrize("change", CHANGES)
def test_everything_else_needs_write_access(scenario: Scenario, change: Callable[[Caller, Issue], object]) -> None:
    """A reader who opened an issue may not make these changes, and an anonymous user has to log in."""
    labels.create(*scenario.caller(scenario.writer), NewLabel(name="bug", color="f00"))
    issue = issues.create(*scenario.caller(scenario.reader), LEAK)
    with pytest.raises(Forbidden) as excinfo:
        change(scenario.caller(scenario.reader), issue)
    assert excinfo.value.permission == Permission.WRITE
    with pytest.raises(LoginRequired):
        change(scenario.caller(None), issue)
    change(scenario.caller(scenario.writer), issue)


def test_only_administrators_delete_issues(scenario: Scenario) -> None:
    """Write access is not enough to delete an issue."""
    issue = issues.create(*scenario.caller(scenario.writer), LEAK)
    with pytest.raises(Forbidden) as excinfo:
        issues.delete(*scenario.caller(scenario.writer), issue)
    assert excinfo.value.permission == Permission.ADMIN
    issues.delete(*scenario.caller(scenario.owner), issue)
    with pytest.raises(NoSuchIssue):
        issues.find(scenario.app, scenario.caller(scenario.owner)[2], issue.number)


def test_nothing_changes_in_an_archived_repository_and_nobody_else_reads_it(scenario: Scenario) -> None:
    """The owner of an archived repository changes nothing, and without read access no issue is found or opened."""
    owner = scenario.caller(scenario.owner)
    issue = issues.create(*owner, LEAK)
    archived = scenario.caller(scenario.owner, scenario.archived())
    calls: list[Callable[[], object]] = [
        lambda: issues.create(*archived, LEAK),
        lambda: issues.edit(*archived, issue, IssueEdit(title="x")),
        lambda: issues.lock(*archived, issue),
        lambda: issues.delete(*archived, issue),
    ]
    for call in calls:
        with pytest.raises(RepositoryArchived):
            call()
    assert issues.find(scenario.app, owner[2], issue.number) == issue
    assert repository_by_id(scenario.app.database, archived[2].repository.id).last_issue == 0
    _, _, nothing = scenario.caller(None)
    with pytest.raises(NoSuchIssue):
        issues.find(scenario.app, nothing, issue.number)
    with pytest.raises(Forbidden):
        issues.create(scenario.app, Actor(scenario.reader), nothing, LEAK)


def test_values_are_validated(scenario: Scenario) -> None:
    """The error for an invalid value names the field, and no issue is opened."""
    writer = scenario.caller(scenario.writer)
    for draft, violation in (
        (IssueDraft(title=" "), ("Title", Violation.REQUIRED)),
        (IssueDraft(title="x" * 256), ("Title", Violation.TOO_LONG)),
        (IssueDraft(title="x", ref="x" * 256), ("Ref", Violation.TOO_LONG)),
        (IssueDraft(title="x", labels=[1] * 101), ("Labels", Violation.TOO_LONG)),
        (IssueDraft(title="x", assignees=["bob"] * 101), ("Assignees", Violation.TOO_LONG)),
        (
            IssueDraft(title="x", due_date=datetime(1900, 1, 1, tzinfo=UTC)),
            ("DueDate", Violation.DATE_OUT_OF_RANGE),
        ),
    ):
        with pytest.raises(InvalidField) as refused:
            issues.create(*writer, draft)
        assert (refused.value.field, refused.value.violation) == violation
    for draft, field in (
        (IssueDraft(title="x", labels=["none such"]), "Labels"),
        (IssueDraft(title="x", assignees=["eve"]), "Assignees"),
        (IssueDraft(title="x", milestone_id=7), "Milestone"),
    ):
        with pytest.raises(InvalidReference) as missing:
            issues.create(*writer, draft)
        assert missing.value.field == field
    issue = issues.create(*writer, LEAK)
    assert (issue.number, issue.title) == (1, "It leaks")
    with pytest.raises(UnknownState):
        issues.edit(*writer, issue, IssueEdit(state="merged"))
    with pytest.raises(Outdated):
        issues.edit(*writer, issue, IssueEdit(body="x", content_version=issue.content_version + 1))
    with pytest.raises(NoSuchLabel):
        issues.remove_label(*writer, issue, "none such")


def test_labels_are_added_replaced_and_removed(scenario: Scenario) -> None:
    """Labels are named by id or by name."""
    writer = scenario.caller(scenario.writer)
    bug, old = (labels.create(*writer, NewLabel(name=name, color="f00")) for name in ("bug", "old"))
    issue = issues.create(*writer, IssueDraft(title="x", labels=["bug"]))

    def names() -> list[str]:
        with scenario.app.database.read() as connection:
            return [label.name for label in issue_labels.labels_on(connection, issue)]

    issues.add_labels(*writer, issue, [old.id])
    assert names() == ["bug", "old"]
    issues.remove_label(*writer, issue, bug.id)
    assert names() == ["old"]
    issues.replace_labels(*writer, issue, ["bug"])
    assert names() == ["bug"]
    issues.change_labels(*writer, issue, more=[old.id], less=[2**40])
    assert names() == ["bug", "old"]
    issues.change_labels(*writer, issue, more=["old"], less=[bug.id])
    assert names() == ["old"]


def test_writers_set_dates_milestones_and_assignees(scenario: Scenario) -> None:
    """A value that an edit does not name stays, and dates, milestones and assignees can be removed again."""
    writer = scenario.caller(scenario.writer)
    milestone = milestones.create(*writer, NewMilestone(title="1.0"))
    draft = IssueDraft(title="x", due_date=DUE, milestone_id=milestone.id, assignees=["BOB"], is_closed=True)
    made = issues.create(*writer, draft)
    assert (made.due_at, made.milestone_id, made.is_closed) == (DUE.timestamp(), milestone.id, True)
    edited = issues.edit(*writer, made, IssueEdit(body="y", state="open"))
    assert (edited.due_at, edited.milestone_id, edited.is_closed) == (DUE.timestamp(), milestone.id, False)
    removed = issues.edit(*writer, made, IssueEdit(remove_due_date=True, milestone_id=0))
    assert (removed.due_at, removed.milestone_id or 0) == (0, 0)
    dated = issues.edit(*writer, made, IssueEdit(due_date=DUE, milestone_id=milestone.id))
    assert (dated.due_at, dated.milestone_id) == (DUE.timestamp(), milestone.id)
    assert issues.set_due_date(*writer, made, None).due_at == 0
    assert issues.set_due_date(*writer, made, DUE).due_at == DUE.timestamp()
    plain = issues.create(*writer, LEAK)
    assert (plain.due_at, plain.milestone_id or 0, plain.is_closed) == (0, 0, False)
    with pytest.raises(InvalidReference):
        issues.edit(*writer, made, IssueEdit(milestone_id=milestone.id + 1))


def test_assignees_are_writers(scenario: Scenario) -> None:
    """Readers cannot be assigned, and names that are not assigned are removed without an error."""
    writer = scenario.caller(scenario.writer)
    issue = issues.create(*writer, LEAK)

    def assigned() -> list[str]:
        statement = select(users.c.name).join(issue_assignees, issue_assignees.c.user_id == users.c.id)
        with scenario.app.database.read() as connection:
            return sorted(connection.execute(statement).scalars())

    assert issues.add_assignees(*writer, issue, ["BOB", "ada"]).id == issue.id
    assert assigned() == ["ada", "bob"]
    with pytest.raises(InvalidReference):
        issues.add_assignees(*writer, issue, ["eve"])
    assert issues.remove_assignees(*writer, issue, ["ada", "eve"]).id == issue.id
    assert assigned() == ["bob"]
    issues.edit(*writer, issue, IssueEdit(assignees=["ada"]))
    assert assigned() == ["ada"]
    issues.change_assignees(*writer, issue, more=["bob"], less=["eve"])
    assert assigned() == ["ada", "bob"]
    issues.change_assignees(*writer, issue, more=[], less=["ADA"])
    assert assigned() == ["bob"]
    with pytest.raises(InvalidReference):
        issues.change_assignees(*writer, issue, more=["eve"], less=["bob"])
    assert assigned() == ["bob"]


def test_lists_and_texts_of_an_edit_are_limited(scenario: Scenario) -> None:
    """A hundred labels or assignees, and 255 characters, are accepted; more is refused with the field."""
    writer = scenario.caller(scenario.writer)
    bug = labels.create(*writer, NewLabel(name="bug", color="f00"))
    issue = issues.create(*writer, LEAK)
    few, many = [bug.id] * 100, [bug.id] * 101
    people, crowd = ["bob"] * 100, ["bob"] * 101
    accepted: list[Callable[[], object]] = [
        lambda: issues.edit(*writer, issue, IssueEdit(labels=few, assignees=people, ref="r" * 255)),
        lambda: issues.edit(*writer, issue, IssueEdit(title="t" * 255)),
        lambda: issues.add_labels(*writer, issue, few),
        lambda: issues.replace_labels(*writer, issue, few),
        lambda: issues.change_labels(*writer, issue, more=few, less=[]),
        lambda: issues.change_assignees(*writer, issue, more=people, less=people),
        lambda: issues.add_assignees(*writer, issue, people),
        lambda: issues.remove_assignees(*writer, issue, people),
        lambda: issues.lock(*writer, issue, "r" * 255),
    ]
    refused: list[tuple[Callable[[], object], str]] = [
        (lambda: issues.edit(*writer, issue, IssueEdit(labels=many)), "Labels"),
        (lambda: issues.edit(*writer, issue, IssueEdit(assignees=crowd)), "Assignees"),
        (lambda: issues.edit(*writer, issue, IssueEdit(ref="r" * 256)), "Ref"),
        (lambda: issues.edit(*writer, issue, IssueEdit(title="t" * 256)), "Title"),
        (lambda: issues.add_labels(*writer, issue, many), "Labels"),
        (lambda: issues.replace_labels(*writer, issue, many), "Labels"),
        (lambda: issues.change_labels(*writer, issue, more=many, less=[]), "Labels"),
        (lambda: issues.change_assignees(*writer, issue, more=crowd, less=[]), "Assignees"),
        (lambda: issues.change_assignees(*writer, issue, more=[], less=crowd), "Assignees"),
        (lambda: issues.add_assignees(*writer, issue, crowd), "Assignees"),
        (lambda: issues.remove_assignees(*writer, issue, crowd), "Assignees"),
        (lambda: issues.lock(*writer, issue, "r" * 256), "LockReason"),
    ]
    for call in accepted:
        call()
    for call, field in refused:
        with pytest.raises(InvalidField) as excinfo:
            call()
        assert excinfo.value.field == field


def test_a_locked_issue_is_unlocked_again(scenario: Scenario) -> None:
    """A lock and its end are stored."""
    writer = scenario.caller(scenario.writer)
    issue = issues.create(*writer, LEAK)
    for change, is_locked in ((issues.lock, True), (issues.unlock, False)):
        change(*writer, issue)
        assert issues.find(scenario.app, writer[2], issue.number).is_locked == is_locked
