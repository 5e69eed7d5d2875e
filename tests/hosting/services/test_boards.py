"""Moves of issues between the columns of a board."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from holdfast.hosting.app import App
from holdfast.hosting.errors import Forbidden, InvalidReference, LoginRequired, Outdated, RepositoryArchived
from holdfast.hosting.services import boards, issues, labels
from holdfast.hosting.services.issues import IssueDraft
from holdfast.hosting.services.labels import NewLabel
from holdfast.hosting.store import issue_labels, milestones
from holdfast.hosting.store.issues import Issue
from tests.hosting.services.scenario import Scenario, make_scenario


@pytest.fixture
def scenario(app: App) -> Scenario:
    """Create the users and the repository."""
    return make_scenario(app)


@pytest.fixture
def issue(scenario: Scenario) -> Issue:
    """Open an issue."""
    return issues.create(*scenario.caller(scenario.reader), IssueDraft(title="It leaks"))


def make_label(scenario: Scenario, name: str) -> int:
    """Make a label, which is exclusive if it has a scope; return its id."""
    new = NewLabel(name=name, color="f00", is_exclusive="/" in name)
    return labels.create(*scenario.caller(scenario.writer), new).id


def label_names(scenario: Scenario, issue: Issue) -> list[str]:
    """Return the names of the labels on an issue."""
    with scenario.app.database.read() as connection:
        return [label.name for label in issue_labels.labels_on(connection, issue)]


def test_a_milestone_is_replaced_only_if_it_is_unchanged(scenario: Scenario, issue: Issue) -> None:
    """Of four concurrent moves of an issue from the same column, one succeeds and the others are outdated."""
    writer = scenario.caller(scenario.writer)
    created = [
        milestones.add_milestone(scenario.app.database, scenario.repository, scenario.writer, title).id
        for title in ("One", "Two", "Three", "Four")
    ]

    def move(destination: int) -> bool:
        try:
            boards.move_to_milestone(*writer, issue, source=0, destination=destination)
        except Outdated:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(move, created)) == 1
    now = issues.find(scenario.app, writer[2], issue.number).milestone_id
    assert now in created
    with pytest.raises(InvalidReference):
        boards.move_to_milestone(*writer, issue, source=now, destination=2**40)
    boards.move_to_milestone(*writer, issue, source=now, destination=0)
    assert issues.find(scenario.app, writer[2], issue.number).milestone_id is None


def test_a_label_is_replaced_only_if_it_is_unchanged(scenario: Scenario, issue: Issue) -> None:
    """A move from a column that the issue has left is outdated, and labels of other columns stay."""
    writer = scenario.caller(scenario.writer)
    bug, later, done = (make_label(scenario, name) for name in ("bug", "status/later", "status/done"))
    boards.move_to_label(*writer, issue, source=0, destination=bug)
    boards.move_to_label(*writer, issue, source=0, destination=later)
    assert label_names(scenario, issue) == ["bug", "status/later"]
    for source, destination in ((0, done), (done, bug), (done, 0)):
        with pytest.raises(Outdated):
            boards.move_to_label(*writer, issue, source=source, destination=destination)
    with pytest.raises(InvalidReference):
        boards.move_to_label(*writer, issue, source=later, destination=2**40)
    boards.move_to_label(*writer, issue, source=later, destination=later)
    assert label_names(scenario, issue) == ["bug", "status/later"]
    boards.move_to_label(*writer, issue, source=later, destination=done)
    boards.move_to_label(*writer, issue, source=bug, destination=0)
    assert label_names(scenario, issue) == ["status/done"]


def test_moving_needs_write_access(scenario: Scenario, issue: Issue) -> None:
    """Anonymous users, readers, and the owner of an archived repository move no issue to another column."""
    bug = make_label(scenario, "bug")
    archived = scenario.caller(scenario.owner, scenario.archived())
    for caller, error in (
        (scenario.caller(None), LoginRequired),
        (scenario.caller(scenario.reader), Forbidden),
        (archived, RepositoryArchived),
    ):
        with pytest.raises(error):
            boards.move_to_label(*caller, issue, source=0, destination=bug)
        with pytest.raises(error):
            boards.move_to_milestone(*caller, issue, source=0, destination=0)
    assert label_names(scenario, issue) == []
