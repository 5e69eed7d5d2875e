"""Milestones: permissions and validation."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from holdfast.hosting.app import App
from holdfast.hosting.errors import Forbidden, InvalidField, LoginRequired, RepositoryArchived, Violation
from holdfast.hosting.services import milestones
from holdfast.hosting.services.milestones import NO_DUE_DATE, MilestoneEdit, NewMilestone
from holdfast.hosting.store.milestones import milestones_of
from tests.hosting.services.scenario import Caller, Scenario, make_scenario

SEASON = NewMilestone(title="Season", due_on=datetime(2030, 1, 1, tzinfo=UTC))


@pytest.fixture
def scenario(app: App) -> Scenario:
    """Create the users and the repository."""
    return make_scenario(app)


def test_a_milestone_is_created_edited_and_closed(scenario: Scenario) -> None:
    """Fields that an edit does not have stay, and a due date can be removed."""
    writer = scenario.caller(scenario.writer)
    milestone = milestones.create(*writer, SEASON)
    closed = milestones.edit(*writer, milestone, MilestoneEdit(is_closed=True))
    assert (closed.title, closed.is_closed, closed.due_at) == ("Season", True, milestone.due_at)
    assert milestone.due_at == int(datetime(2030, 1, 1, tzinfo=UTC).timestamp())
    assert milestones.edit(*writer, milestone, MilestoneEdit(due_on=NO_DUE_DATE)).due_at == 0


def test_only_those_who_may_write_issues_change_milestones(scenario: Scenario) -> None:
    """The service itself refuses readers, anonymous users and archived repositories."""
    milestone = milestones.create(*scenario.caller(scenario.writer), SEASON)
    reader, nobody = scenario.caller(scenario.reader), scenario.caller(None)
    calls: list[Callable[[Caller], object]] = [
        lambda who: milestones.create(*who, SEASON),
        lambda who: milestones.edit(*who, milestone, MilestoneEdit(title="x")),
        lambda who: milestones.delete(*who, milestone),
    ]
    for call in calls:
        with pytest.raises(Forbidden):
            call(reader)
        with pytest.raises(LoginRequired):
            call(nobody)
    with pytest.raises(RepositoryArchived):
        milestones.create(*scenario.caller(scenario.owner, scenario.archived()), SEASON)
    database = scenario.app.database
    found = milestones_of(database, scenario.repository, is_closed=None, name="", skip=0, limit=9)
    assert found == ([milestone], 1)


def test_texts_and_a_due_date_are_validated(scenario: Scenario) -> None:
    """The error for an invalid title, description or due date names the field, and the longest are accepted."""
    writer = scenario.caller(scenario.writer)
    for new, violation in (
        (NewMilestone(title=" "), ("Title", Violation.REQUIRED)),
        (NewMilestone(title="x" * 256), ("Title", Violation.TOO_LONG)),
        (NewMilestone(title="x", description="x" * 65_537), ("Description", Violation.TOO_LONG)),
        (
            NewMilestone(title="x", due_on=datetime(1900, 1, 1, tzinfo=UTC)),
            ("DueOn", Violation.DATE_OUT_OF_RANGE),
        ),
    ):
        with pytest.raises(InvalidField) as excinfo:
            milestones.create(*writer, new)
        assert (excinfo.value.field, excinfo.value.violation) == violation
    milestone = milestones.create(*writer, NewMilestone(title="x", description="x" * 65_536))
    with pytest.raises(InvalidField) as excinfo:
        milestones.edit(*writer, milestone, MilestoneEdit(description="x" * 65_537))
    assert excinfo.value.field == "Description"
