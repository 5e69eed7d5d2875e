"""Issues: permissions, validation and labels."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

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
from holdfast.hosting.services import issues, labels
from holdfast.hosting.services.issues import IssueDraft, IssueEdit
from holdfast.hosting.services.labels import NewLabel
from holdfast.hosting.store import issue_labels
from holdfast.hosting.store.issues import Issue
from holdfast.hosting.store.repositories import repository_by_id
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
    lambda who, issue: issues.remove_label(*who, issue, "bug"),
    lambda who, issue: issues.add_assignees(*who, issue, ["bob"]),
    lambda who, issue: issues.remove_assignees(*who, issue, ["bob"]),
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
