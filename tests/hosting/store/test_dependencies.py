"""Dependencies of issues in the database: cycles, events and concurrent changes."""

import itertools
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from sqlalchemy import select, true

from holdfast.hosting.errors import DependencyCycle, DependencyTaken, GoneMeanwhile, NoSuchDependency, StillBlocked
from holdfast.hosting.store import account_administration, dependencies, issue_lists, issues, repositories
from holdfast.hosting.store.accounts import Account, find_user
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.issues import Issue, IssueChanges, find_issue
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.tables import events as event_table
from tests.examples import examples
from tests.hosting.dependency_helpers import edges, open_many, relate
from tests.hosting.repository_helpers import make_people, make_repository, recorded_events
from tests.hosting.store.concurrency import run_concurrently

COUNT = 5
CLOSED, OPEN = IssueChanges(is_closed=True), IssueChanges(is_closed=False)
places = itertools.count()


def failures_of(*actions: Callable[[], object]) -> list[BaseException]:
    """Run actions concurrently, and return the exceptions that they raised."""
    return [error for error in run_concurrently(*actions) if error is not None]


def unblocked(database: Database) -> list[tuple[int, int]]:
    """Return the unblocked issues that were recorded, with their last blockers."""
    return [
        (details["issue_id"], details["blocker_id"])
        for kind, details in recorded_events(database)
        if kind == "issue_unblocked"
    ]


class Linking(RuleBasedStateMachine):
    """Changes dependencies and issues at random, and compares the database with a graph."""

    database: Database
    ada: Account

    def __init__(self) -> None:
        super().__init__()
        number = next(places)
        self.homes = [make_repository(self.database, self.ada, f"{name}{number}") for name in ("a", "b")]
        self.issues = [
            issue for home in self.homes for issue in open_many(self.database, home, self.ada, COUNT // 2 + 1)
        ]
        self.home = {
            issue.id: home for home in self.homes for issue in self.issues if issue.repository_id == home.id
        }
        self.edges: set[tuple[int, int]] = set()
        self.closed: set[int] = set()
        self.freed = len(unblocked(self.database))

    def reaches(self, start: int, end: int) -> bool:
        """Return whether following blockers leads from one issue to another."""
        seen, going = set(), [start]
        while going:
            here = going.pop()
            if here == end:
                return True
            if here not in seen:
                seen.add(here)
                going += [ahead for behind, ahead in self.edges if behind == here]
        return False

    def is_blocked(self, number: int) -> bool:
        """Return whether an issue has an open blocker."""
        return any(item == number and other not in self.closed for item, other in self.edges)

    @rule(one=st.integers(0, COUNT), other=st.integers(0, COUNT))
    def add(self, one: int, other: int) -> None:
        """Add a dependency."""
        issue, blocker = self.issues[one], self.issues[other]
        expected: type[Exception] | None = None
        if (issue.id, blocker.id) in self.edges:
            expected = DependencyTaken
        elif self.reaches(blocker.id, issue.id):
            expected = DependencyCycle
        home = self.home[issue.id]
        if expected is not None:
            with pytest.raises(expected):
                dependencies.add_dependency(self.database, home, issue, blocker, actor=self.ada)
        else:
            dependencies.add_dependency(self.database, home, issue, blocker, actor=self.ada)
            self.edges.add((issue.id, blocker.id))

    @rule(one=st.integers(0, COUNT), other=st.integers(0, COUNT))
    def remove(self, one: int, other: int) -> None:
        """Remove a dependency."""
        issue, blocker = self.issues[one], self.issues[other]
        there = (issue.id, blocker.id) in self.edges
        try:
            dependencies.remove_dependency(self.database, self.home[issue.id], issue, blocker, actor=self.ada)
        except NoSuchDependency:
            assert not there
        else:
            assert there
            self.edges.remove((issue.id, blocker.id))

    @rule(one=st.integers(0, COUNT), others=st.sets(st.integers(0, COUNT), max_size=3))
    def set_all(self, one: int, others: set[int]) -> None:
        """Replace the blockers of an issue."""
        issue, wanted = self.issues[one], [self.issues[other] for other in others]
        stored = {edge for edge in self.edges if edge[0] != issue.id}
        before, self.edges = self.edges, stored
        circle = any(self.reaches(other.id, issue.id) for other in wanted)
        try:
            dependencies.set_dependencies(
                self.database, self.home[issue.id], issue, wanted, actor=self.ada, removable=true()
            )
        except DependencyCycle:
            assert circle
            self.edges = before
        else:
            assert not circle
            self.edges = stored | {(issue.id, other.id) for other in wanted}

    @rule(one=st.integers(0, COUNT))
    def close(self, one: int) -> None:
        """Close an issue, which unblocks those without another open blocker."""
        issue = self.issues[one]
        refused = issue.id not in self.closed and self.is_blocked(issue.id)
        waiting = {
            a for a, b in self.edges if b == issue.id and a not in self.closed and issue.id not in self.closed
        }
        try:
            issues.change_issue(self.database, self.home[issue.id], issue, self.ada, CLOSED)
        except StillBlocked:
            assert refused
            return
        assert not refused
        self.closed.add(issue.id)
        free = sorted((number, issue.id) for number in waiting if not self.is_blocked(number))
        results = unblocked(self.database)
        assert sorted(results[self.freed :]) == free
        self.freed = len(results)

    @rule(one=st.integers(0, COUNT))
    @precondition(lambda self: self.closed)
    def reopen(self, one: int) -> None:
        """Reopen an issue, which is never refused."""
        issue = self.issues[one]
        issues.change_issue(self.database, self.home[issue.id], issue, self.ada, OPEN)
        self.closed.discard(issue.id)

    @invariant()
    def the_database_says_the_same(self) -> None:
        """Compare the ready issues and the blockers in the database with the graph."""
        mine = {issue.id for issue in self.issues}
        kinds = (False, True)
        for home in self.homes:
            found_issues, total = issue_lists.list_issues(
                self.database,
                [issue_lists.in_repository(home, kinds)],
                issue_lists.Filter(is_ready=True),
                skip=0,
                limit=50,
            )
            ready = {
                number
                for number in mine
                if self.home[number] is home and number not in self.closed and not self.is_blocked(number)
            }
            assert ({issue.id for issue in found_issues}, total) == (ready, len(ready))
        by_id = {issue.id: issue for issue in self.issues}
        with self.database.read() as connection:
            for number in mine:
                blockers = dependencies.blockers_of(connection, by_id[number])
                assert {(number, other) for other in blockers} == {
                    edge for edge in self.edges if edge[0] == number
                }


@pytest.mark.hypothesis
def test_whatever_is_done_the_graph_is_what_a_model_says(database: Database, ada: Account) -> None:
    """Random changes in two repositories have the results and errors that a model predicts."""

    class Machine(Linking):
        """The state machine on this database."""

    Machine.database, Machine.ada = database, ada
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=examples(24),
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.fixture
def homes(database: Database, ada: Account) -> list[Repository]:
    """Make two repositories with two issues each."""
    created_repositories = [make_repository(database, ada, name) for name in ("one", "two")]
    for repository in created_repositories:
        open_many(database, repository, ada, 2)
    return created_repositories


def first_issues(database: Database, homes: list[Repository]) -> list[Issue]:
    """Return the first issue of each."""
    return [find_issue(database, home, 1) for home in homes]


def test_concurrent_writers_cannot_create_a_cycle(database: Database, ada: Account) -> None:
    """Of six concurrent dependencies that would form a cycle exactly one is refused."""
    home = [make_repository(database, ada, f"r{number}") for number in range(6)]
    ring = [open_many(database, repository, ada, 1)[0] for repository in home]

    def joining(number: int) -> Callable[[], None]:
        ahead = ring[(number + 1) % len(ring)]
        return lambda: dependencies.add_dependency(database, home[number], ring[number], ahead, actor=ada)

    for _ in range(5):
        failures = failures_of(*(joining(number) for number in range(len(ring))))
        assert [type(error) for error in failures] == [DependencyCycle]
        with database.write() as connection:
            connection.exec_driver_sql("DELETE FROM issue_dependencies")


def test_two_blockers_closed_concurrently_unblock_once(
    database: Database, ada: Account, homes: list[Repository]
) -> None:
    """When the last two blockers of an issue are closed concurrently, one event says that it is unblocked."""
    waiting = find_issue(database, homes[0], 2)
    blockers = first_issues(database, homes)
    relate(database, [(waiting.id, blocker.id) for blocker in blockers])
    for turn in range(1, 8):
        failures = failures_of(
            *(
                lambda home=home, issue=issue: issues.change_issue(database, home, issue, ada, CLOSED)
                for home, issue in zip(homes, blockers, strict=True)
            )
        )
        assert failures == []
        assert len(unblocked(database)) == turn
        for home, issue in zip(homes, blockers, strict=True):
            issues.change_issue(database, home, issue, ada, OPEN)


def test_an_issue_is_closed_or_blocked_but_not_both(
    database: Database, ada: Account, homes: list[Repository]
) -> None:
    """Of closing an issue and blocking it concurrently, closing is refused or happened first."""
    issue, blocker = first_issues(database, homes)
    for _ in range(8):
        failures = failures_of(
            lambda: issues.change_issue(database, homes[0], issue, ada, CLOSED),
            lambda: dependencies.add_dependency(database, homes[0], issue, blocker, actor=ada),
        )
        assert all(isinstance(error, StillBlocked) for error in failures)
        kinds = [
            (kind, details["action"])
            for kind, details in recorded_events(database)
            if (kind, details.get("action")) in {("issues", "closed"), ("issue_dependency", "added")}
        ]
        expected = (
            [("issue_dependency", "added")] if failures else [("issues", "closed"), ("issue_dependency", "added")]
        )
        assert kinds[-len(expected) :] == expected
        issues.change_issue(database, homes[0], issue, ada, OPEN)
        dependencies.remove_dependency(database, homes[0], issue, blocker, actor=ada)


def test_deleting_a_repository_while_another_is_linked_to_it(database: Database, ada: Account) -> None:
    """There is no deadlock, and the new dependency is deleted with the repository or refused."""
    for turn in range(5):
        home = [make_repository(database, ada, f"{name}{turn}") for name in "ab"]
        one, other = (open_many(database, repository, ada, 1)[0] for repository in home)

        def delete(target_repository: Repository = home[1]) -> None:
            with database.write() as connection:
                dependencies.record_unblocked_by_deletion(connection, [target_repository.id], ada)
                repositories.remove_row(connection, target_repository)

        failures = failures_of(
            delete,
            lambda one=one, other=other, target_repository=home[0]: dependencies.add_dependency(  # type: ignore[misc]  # defaults of a lambda have no type
                database, target_repository, one, other, actor=ada
            ),
        )
        assert all(isinstance(error, GoneMeanwhile) for error in failures)
        assert edges(database) == set()


def test_events_of_a_dependency_have_both_issues(
    database: Database, ada: Account, homes: list[Repository]
) -> None:
    """Events about a dependency have the ids of both issues, and belong to the blocked issue's repository."""
    issue, blocker = first_issues(database, homes)
    dependencies.add_dependency(database, homes[0], issue, blocker, actor=ada)
    issues.change_issue(database, homes[1], blocker, ada, CLOSED)
    issues.change_issue(database, homes[1], blocker, ada, CLOSED)
    dependencies.remove_dependency(database, homes[0], issue, blocker, actor=ada)
    events = [(kind, details) for kind, details in recorded_events(database) if "blocker_id" in details]
    both = {"issue_id": issue.id, "blocker_id": blocker.id}
    assert events == [
        ("issue_dependency", {"action": "added", **both}),
        ("issue_unblocked", both),
        ("issue_dependency", {"action": "removed", **both}),
    ]
    whose = select(event_table.c.repository_id, event_table.c.owner_id, event_table.c.actor_id)
    with database.read() as connection:
        rows = connection.execute(
            whose.where(event_table.c.kind.in_(("issue_dependency", "issue_unblocked")))
        ).all()
    assert {tuple(row) for row in rows} == {(homes[0].id, ada.id, ada.id)}


def test_a_closed_issue_is_not_reported_as_unblocked(
    database: Database, ada: Account, homes: list[Repository]
) -> None:
    """No event is recorded for an issue that is closed, still blocked, or without dependencies enabled."""
    blocker, other = first_issues(database, homes)
    closed, waiting = (find_issue(database, home, 2) for home in homes)
    issues.change_issue(database, homes[0], closed, ada, CLOSED)
    relate(database, [(closed.id, blocker.id), (waiting.id, blocker.id), (waiting.id, other.id)])
    issues.change_issue(database, homes[0], blocker, ada, CLOSED)
    assert unblocked(database) == []
    with database.write() as connection:
        repositories.change_repository(connection, homes[1], has_dependencies=False)
    issues.change_issue(database, homes[1], other, ada, CLOSED)
    assert unblocked(database) == []


def test_a_deleted_issue_blocks_nothing(database: Database, ada: Account, homes: list[Repository]) -> None:
    """A blocker deleted alone, with its repository or with its owner unblocks the issue and records an event."""
    waiting = find_issue(database, homes[0], 2)
    [bob] = make_people(database, "bob")
    his = make_repository(database, bob, "his")
    doomed = open_many(database, his, bob, 2)
    for blocker, remove in (
        (find_issue(database, homes[0], 1), "issue"),
        (find_issue(database, homes[1], 1), "repository"),
        (doomed[0], "person"),
    ):
        dependencies.add_dependency(database, homes[0], waiting, blocker, actor=ada)
        if remove == "issue":
            issues.delete_issue(database, homes[0], blocker, ada)
        elif remove == "repository":
            with database.write() as connection:
                dependencies.record_unblocked_by_deletion(connection, [homes[1].id], ada)
                repositories.remove_row(connection, homes[1])
        else:
            relate(database, [(doomed[1].id, doomed[0].id)])
            account_administration.delete_user(database, bob, actor=ada, purge=True)
        assert edges(database) == set()
        assert unblocked(database)[-1] == (waiting.id, blocker.id)
    assert len(unblocked(database)) == 3
    dependencies.add_dependency(database, homes[0], waiting, open_many(database, homes[0], ada, 1)[0], actor=ada)
    issues.delete_issue(database, homes[0], waiting, ada)
    assert edges(database) == set()
    assert find_user(database, "admin") == ada


def test_concurrent_changes_are_detected(database: Database, ada: Account, homes: list[Repository]) -> None:
    """A dependency on a deleted issue or in a repository archived meanwhile raises GoneMeanwhile."""
    issue, blocker = first_issues(database, homes)
    issues.delete_issue(database, homes[1], blocker, ada)
    with pytest.raises(GoneMeanwhile):
        dependencies.add_dependency(database, homes[0], issue, blocker, actor=ada)
    with database.write() as connection:
        repositories.change_repository(connection, homes[0], archived_at=1)
    for change in (dependencies.add_dependency, dependencies.remove_dependency):
        with pytest.raises(GoneMeanwhile):
            change(database, homes[0], issue, find_issue(database, homes[0], 2), actor=ada)
