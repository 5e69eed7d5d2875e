"""Dependencies of issues: permissions, cycles and graphs."""

from collections.abc import Callable
from dataclasses import dataclass

import msgspec
import pytest

from holdfast.hosting.access import Actor
from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    CrossRepositoryDependency,
    DependencyCycle,
    DependencyTaken,
    InvalidField,
    LoginRequired,
    NoSuchDependency,
    NoSuchIssue,
    NoSuchRepository,
)
from holdfast.hosting.services import dependencies, issues
from holdfast.hosting.services.dependencies import IssueReference
from holdfast.hosting.services.issues import IssueDraft
from holdfast.hosting.store.issues import Issue
from holdfast.hosting.store.visible_issues import Reader, blockers_of
from tests.hosting.repository_helpers import make_repository
from tests.hosting.services.scenario import Caller, Scenario, make_scenario

CHANGES: list[Callable[[Caller, Issue], object]] = [
    lambda who, issue: dependencies.add_blocker(*who, issue, IssueReference(2)),
    lambda who, issue: dependencies.add_blocked(*who, issue, IssueReference(2)),
    lambda who, issue: dependencies.remove_blocker(*who, issue, IssueReference(2)),
    lambda who, issue: dependencies.remove_blocked(*who, issue, IssueReference(2)),
    lambda who, issue: dependencies.set_blockers(*who, issue, [IssueReference(2)]),
]


@dataclass(frozen=True, slots=True)
class AppViewer:
    """The viewer of a graph outside of a request."""

    app: App
    actor: Actor
    root: str = "http://localhost"
    api: str = "http://localhost/api/v1"


@pytest.fixture
def scenario(app: App) -> Scenario:
    """Create the users and the repository."""
    return make_scenario(app)


def open_issues(scenario: Scenario, count: int) -> list[Issue]:
    """Open some issues."""
    return [issues.create(*scenario.caller(scenario.writer), IssueDraft(title="x")) for _ in range(count)]


def blockers(scenario: Scenario, issue: Issue) -> list[int]:
    """Return the numbers of what blocks an issue."""
    visible_issues, _ = blockers_of(scenario.app.database, issue, Reader(scenario.owner), skip=0, limit=9)
    return sorted(item.issue.number for item in visible_issues)


def test_blockers_are_added_removed_and_replaced(scenario: Scenario) -> None:
    """A dependency can be added and removed from the issue that blocks or from the one that is blocked."""
    first, second, _ = open_issues(scenario, 3)
    writer = scenario.caller(scenario.writer)
    dependencies.add_blocker(*writer, first, IssueReference(2))
    dependencies.add_blocked(*writer, second, IssueReference(3))
    with pytest.raises(DependencyTaken):
        dependencies.add_blocker(*writer, first, IssueReference(2, "ada", "ship"))
    assert blockers(scenario, first) == [2]
    dependencies.set_blockers(*writer, first, [IssueReference(3)])
    assert blockers(scenario, first) == [3]
    dependencies.remove_blocker(*writer, first, IssueReference(3))
    dependencies.remove_blocked(*writer, second, IssueReference(3))
    with pytest.raises(NoSuchDependency):
        dependencies.remove_blocker(*writer, first, IssueReference(3))


@pytest.mark.parametrize("change", CHANGES)
def test_adding_a_blocker_requires_write_access_to_the_dependent(
    scenario: Scenario, change: Callable[[Caller, Issue], object]
) -> None:
    """For readers, and in an archived repository, the issue is reported as not found."""
    first, _ = open_issues(scenario, 2)
    with pytest.raises(LoginRequired):
        change(scenario.caller(None), first)
    with pytest.raises(NoSuchIssue):
        change(scenario.caller(scenario.reader), first)
    with pytest.raises(NoSuchIssue):
        change(scenario.caller(scenario.owner, scenario.archived()), first)
    assert blockers(scenario, first) == []


def test_a_cycle_is_named_as_far_as_the_actor_may_read_it(scenario: Scenario) -> None:
    """The error names the issues of the cycle and hides those that the actor may not read."""
    first, second = open_issues(scenario, 2)
    database, owner = scenario.app.database, scenario.caller(scenario.owner)
    secret = make_repository(database, scenario.owner, "secret", is_private=True)
    hidden = issues.create(*scenario.caller(scenario.owner, secret), IssueDraft(title="hidden"))
    dependencies.add_blocker(*owner, second, IssueReference(hidden.number, "ada", "secret"))
    dependencies.add_blocker(*scenario.caller(scenario.owner, secret), hidden, IssueReference(1, "ada", "ship"))
    with pytest.raises(DependencyCycle) as excinfo:
        dependencies.add_blocker(*scenario.caller(scenario.writer), first, IssueReference(2))
    assert excinfo.value.names == ("ada/ship#1", "ada/ship#2", "HIDDEN", "ada/ship#1")


def test_a_reference_to_an_unreadable_issue_is_not_found(scenario: Scenario) -> None:
    """The error for a private repository is the same as for one that does not exist."""
    [first] = open_issues(scenario, 1)
    make_repository(scenario.app.database, scenario.owner, "secret", is_private=True)
    writer = scenario.caller(scenario.writer)
    messages = set()
    for name in ("secret", "nowhere"):
        with pytest.raises(NoSuchRepository) as excinfo:
            dependencies.add_blocker(*writer, first, IssueReference(1, "ada", name))
        messages.add(str(excinfo.value).replace(name, "x"))
    assert len(messages) == 1
    with pytest.raises(NoSuchIssue):
        dependencies.add_blocker(*writer, first, IssueReference(99))
    with pytest.raises(InvalidField):
        dependencies.set_blockers(*writer, first, [IssueReference(1)] * 1001)


def test_dependencies_across_repositories_can_be_disabled(
    scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The setting `allow_cross_repository_dependencies` refuses blockers of other repositories.

    The name of the own repository in another case counts as another one, and is found where the setting allows it.
    """
    first, _ = open_issues(scenario, 2)
    make_repository(scenario.app.database, scenario.owner, "boat")
    settings = msgspec.structs.replace(scenario.app.settings, allow_cross_repository_dependencies=False)
    monkeypatch.setattr(scenario.app, "settings", settings)
    with pytest.raises(CrossRepositoryDependency):
        dependencies.add_blocker(*scenario.caller(scenario.writer), first, IssueReference(1, "ada", "boat"))
    own_in_capitals = IssueReference(2, "Ada", "SHIP")
    for change in (dependencies.add_blocker, dependencies.remove_blocker):
        with pytest.raises(CrossRepositoryDependency):
            change(*scenario.caller(scenario.writer), first, own_in_capitals)
    with pytest.raises(CrossRepositoryDependency):
        dependencies.set_blockers(*scenario.caller(scenario.writer), first, [own_in_capitals])
    dependencies.add_blocker(*scenario.caller(scenario.writer), first, IssueReference(2, "ada", "ship"))
    assert blockers(scenario, first) == [2]
    monkeypatch.undo()
    dependencies.remove_blocker(*scenario.caller(scenario.writer), first, own_in_capitals)
    assert blockers(scenario, first) == []


def test_a_graph_requires_enabled_dependencies(scenario: Scenario) -> None:
    """The first node of a graph is the issue; where dependencies are disabled there is no graph."""
    first, _ = open_issues(scenario, 2)
    app, actor, target = scenario.caller(scenario.writer)
    dependencies.add_blocker(app, actor, target, first, IssueReference(2))
    viewer = AppViewer(app, actor)
    dependency_graph = dependencies.graph(viewer, target, first)
    assert [node.number for node in dependency_graph.nodes] == [1, 2]
    assert [(edge.issue, edge.blocker) for edge in dependency_graph.edges] == [(0, 1)]
    plain = make_repository(app.database, scenario.owner, "plain", has_dependencies=False)
    with pytest.raises(NoSuchDependency):
        dependencies.graph(viewer, scenario.caller(scenario.owner, plain)[2], first)
