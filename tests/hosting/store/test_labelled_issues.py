"""Lists of the issues with a label: what they have after any changes, and their query plans."""

import itertools
from collections.abc import Iterable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from sqlalchemy import select

from holdfast.hosting.store import issue_labels, issue_lists, issue_transactions, issues, labels, repositories
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.issues import Branches, Issue, IssueChanges, NewIssue
from holdfast.hosting.store.labels import Label
from holdfast.hosting.store.repositories import Repository, repository_by_id
from holdfast.hosting.store.tables import issue_labels as label_rows
from holdfast.hosting.store.tables import issues as issue_rows
from holdfast.hosting.store.tables import labels as label_table
from tests.examples import examples
from tests.hosting.repository_helpers import make_organization, make_repository
from tests.hosting.store.query_plans import plan_of, recorded

BOTH = (False, True)
INDEX = "ix_issue_labels_label_id_repository_id_created_at"
# State, kinds and order of the lists that are compared: all states, all kinds, by index and by other orders.
WantedList = tuple[bool | None, tuple[bool, ...], str]
LISTS: tuple[WantedList, ...] = (
    (None, BOTH, "newest"),
    (None, (True,), "leastupdate"),
    (False, BOTH, "recentupdate"),
    (False, (False,), "oldest"),
    (True, BOTH, "oldest"),
    (True, (True,), "newest"),
)
MOST = 4
NUMBERS = st.integers(0, MOST - 1)
CHOSEN = st.sets(NUMBERS, max_size=3)
places = itertools.count()


class Labelling(RuleBasedStateMachine):
    """Changes issues, labels and the owner at random, and compares lists by label with the rows of the issues."""

    database: Database
    ada: Account
    clock: SimpleNamespace

    def __init__(self) -> None:
        super().__init__()
        number = next(places)
        self.organization = make_organization(self.database, f"crew{number}", self.ada)
        self.ship = make_repository(self.database, self.organization, f"ship{number}")
        self.boat = make_repository(self.database, self.organization, f"boat{number}")
        # A label of the organization has the name of one of the repository, and two exclude each other.
        self.labels = [
            labels.add_label(self.database, keeper, f"{name}{number}", "f00", is_exclusive=True)
            for keeper, name in (
                (self.ship, "bug"),
                (self.organization, "bug"),
                (self.ship, "s/a"),
                (self.organization, "s/b"),
            )
        ]
        # As they were when they were opened: actions with an issue that was read earlier must not copy its state.
        self.issues: list[Issue] = []
        self.titles = itertools.count()
        self.lists = itertools.cycle(LISTS)
        self.turns = itertools.cycle(range(len(self.labels)))

    def usable(self, chosen: set[int]) -> list[Label]:
        """Return labels that are left and can be used in the repository."""
        usable = labels.labels_usable(self.database, self.ship, limit=50)
        return [label for label in usable if label in [self.labels[number] for number in sorted(chosen)]]

    def one(self, number: int) -> Issue:
        """Return one of the issues."""
        return self.issues[number % len(self.issues)]

    @rule(chosen=CHOSEN, is_pull=st.booleans(), is_closed=st.booleans(), now=st.integers(1, 9))
    def open(self, chosen: set[int], now: int, *, is_pull: bool, is_closed: bool) -> None:
        """Open an issue or a pull request at some time, and another one in another repository."""
        self.clock.now = now
        title = f"{next(self.titles)}"
        new = NewIssue(
            title=title,
            labels=self.usable(chosen),
            is_closed=is_closed,
            branches=Branches(f"fix-{title}", "main") if is_pull else None,
        )
        self.issues.append(issues.open_issue(self.database, self.ship, self.ada, new))
        shared = [label for label in new.labels if label.organization_id == self.organization.id]
        issues.open_issue(self.database, self.boat, self.ada, NewIssue(title=title, labels=shared))

    @rule(number=NUMBERS, is_closed=st.booleans(), chosen=st.none() | CHOSEN)
    @precondition(lambda self: self.issues)
    def change(self, number: int, chosen: set[int] | None, *, is_closed: bool) -> None:
        """Close or reopen an issue, and maybe replace its labels in the same transaction."""
        given = None if chosen is None else self.usable(chosen)
        changes = IssueChanges(is_closed=is_closed, labels=given)
        issues.change_issue(self.database, self.ship, self.one(number), self.ada, changes)

    @rule(number=NUMBERS, chosen=CHOSEN)
    @precondition(lambda self: self.issues)
    def add(self, number: int, chosen: set[int]) -> None:
        """Add labels."""
        issue_labels.add_labels(self.database, self.ship, self.one(number), self.ada, self.usable(chosen))

    @rule(number=NUMBERS, chosen=CHOSEN)
    @precondition(lambda self: self.issues)
    def replace(self, number: int, chosen: set[int]) -> None:
        """Replace the labels, maybe with none."""
        issue_labels.replace_labels(self.database, self.ship, self.one(number), self.ada, self.usable(chosen))

    @rule(number=NUMBERS, chosen=CHOSEN)
    @precondition(lambda self: self.issues)
    def remove(self, number: int, chosen: set[int]) -> None:
        """Remove labels."""
        issue_labels.remove_labels(self.database, self.ship, self.one(number), self.ada, self.usable(chosen))

    @rule(number=NUMBERS)
    @precondition(lambda self: len(self.issues) > 2)
    def delete(self, number: int) -> None:
        """Delete an issue."""
        issue = self.one(number)
        issues.delete_issue(self.database, self.ship, issue, self.ada)
        self.issues.remove(issue)

    @rule(number=NUMBERS)
    @precondition(lambda self: len(self.issues) > 3)
    def replace_label(self, number: int) -> None:
        """Delete a label and add one of the same name."""
        old = self.labels[number]
        keeper = self.ship if old.repository_id else self.organization
        labels.delete_label(self.database, keeper, old.id)
        self.labels[number] = labels.add_label(
            self.database, keeper, old.name, "0f0", is_exclusive=old.is_exclusive
        )

    @rule()
    @precondition(lambda self: self.issues)
    def transfer(self) -> None:
        """Transfer the repository to a user, or back to the organization, whose labels are removed."""
        new_owner = self.ada if self.ship.owner.id == self.organization.id else self.organization
        with self.database.write() as connection:
            repositories.transfer_repository(connection, self.ship, new_owner)
        self.ship = repository_by_id(self.database, self.ship.id)

    def expected(self, names: set[str], ids: set[int], wanted: WantedList) -> list[int]:
        """Return the ids of a list in all repositories, from the columns of the issues."""
        is_closed, kinds, sort = wanted
        statement = (
            select(issue_rows.c.id, issue_rows.c.repository_id, issue_lists.ORDERS[sort][0].label("key"))
            .join(label_rows, label_rows.c.issue_id == issue_rows.c.id)
            .join(label_table, label_table.c.id == label_rows.c.label_id)
            .where(label_table.c.name.in_(names) | label_table.c.id.in_(ids), issue_rows.c.is_pull.in_(kinds))
            .distinct()
        )
        if is_closed is not None:
            statement = statement.where(issue_rows.c.is_closed == is_closed)
        with self.database.read() as connection:
            rows = sorted(
                connection.execute(statement),
                key=lambda row: (row.key, row.id),
                reverse=issue_lists.ORDERS[sort][1],
            )
        return [row.id for row in rows if row.repository_id == self.ship.id] if ids else [row.id for row in rows]

    @invariant()
    def a_list_of_a_label_is_right(self) -> None:
        """Compare a list of a label, in turn; a mistake stays in the rows until all are compared at the end."""
        self.compare_lists([(self.labels[next(self.turns)], next(self.lists))])

    def teardown(self) -> None:
        """Compare all lists."""
        self.compare_lists(itertools.product(self.labels, LISTS))

    def compare_lists(self, lists: Iterable[tuple[Label, WantedList]]) -> None:
        """Compare pages and counts in the repository and in all with the rows."""
        here = {issue.id for issue in self.issues}
        for label, wanted in lists:
            is_closed, kinds, sort = wanted
            by_name = issue_lists.Filter(is_closed=is_closed, labels=(label.name,))
            by_id = issue_lists.Filter(is_closed=is_closed, label_ids=(label.id,))
            everywhere = self.expected({label.name}, set(), wanted)
            scope = issue_lists.kept_in(self.ship, kinds)
            where = [issue_lists.in_repository(self.ship, kinds)]
            for given, expected in (
                (by_name, [number for number in everywhere if number in here]),
                (by_id, self.expected(set(), {label.id}, wanted)),
            ):
                self.compare(where, given, sort=sort, scope=scope, repository_id=self.ship.id, expected=expected)
            visible = [issue_lists.visible_to(self.ada, public_only=False, kinds=kinds)]
            scope = issue_lists.kept_visible(self.ada, public_only=False, kinds=kinds)
            self.compare(visible, by_name, sort=sort, scope=scope, repository_id=None, expected=everywhere)

    def compare(
        self,
        where: Sequence[Any],
        given: issue_lists.Filter,
        *,
        sort: str,
        scope: issue_lists.ListScope,
        repository_id: int | None,
        expected: list[int],
    ) -> None:
        """Compare a list, read in two pages, and its count with the expected ids."""
        results: list[int] = []
        for skip, limit in ((0, 2), (2, 50)):
            page, total = issue_lists.list_issues(
                self.database,
                where,
                given,
                sort=sort,
                kept=scope,
                repository_id=repository_id,
                skip=skip,
                limit=limit,
            )
            assert total == len(expected)
            results += [issue.id for issue in page]
        assert results == expected
        counted = issue_lists.count_issues(self.database, where, given, kept=scope, repository_id=repository_id)
        assert counted == len(expected)


@pytest.mark.hypothesis
@pytest.mark.parametrize("few", [issue_lists.FEW, -1])
def test_whatever_is_done_lists_by_label_are_right(
    database: Database, ada: Account, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    """After random changes, lists and counts by label equal the rows, with few issues and with many."""
    clock = SimpleNamespace(now=1)
    clock.time = lambda: clock.now
    monkeypatch.setattr(issue_transactions, "time", clock)
    monkeypatch.setattr(issue_lists, "FEW", few)

    class Machine(Labelling):
        """The state machine on this database."""

    Machine.database, Machine.ada, Machine.clock = database, ada, clock
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=examples(12),
            stateful_step_count=15,
            deadline=None,
            # Without shrinking, which would take minutes.
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )


def labelled(database: Database, ada: Account) -> tuple[Repository, Label]:
    """Make a repository with six issues with a label, every second one closed, and two without it."""
    repository = make_repository(database, ada)
    bug = labels.add_label(database, repository, "bug", "f00")
    for number in range(8):
        new = NewIssue(title=f"{number}", labels=[bug] if number < 6 else [], is_closed=number % 2 == 1)
        issues.open_issue(database, repository, ada, new)
    return repository_by_id(database, repository.id), bug


@pytest.mark.parametrize("is_closed", [None, False, True])
def test_the_issues_with_a_label_are_counted_and_found_in_one_index(
    database: Database, ada: Account, *, is_closed: bool | None
) -> None:
    """Count and page by date read only the covering index, in one repository and in all, from both ends."""
    repository, bug = labelled(database, ada)
    scopes: list[tuple[Any, issue_lists.ListScope, int | None]] = [
        (issue_lists.in_repository(repository, BOTH), issue_lists.kept_in(repository, BOTH), repository.id),
        (
            issue_lists.visible_to(ada, public_only=False),
            issue_lists.kept_visible(ada, public_only=False),
            None,
        ),
    ]
    for (where, kept, place), sort, skip in itertools.product(scopes, ("newest", "oldest"), (0, 2)):
        wanted = issue_lists.Filter(is_closed=is_closed, labels=(bug.name,))
        with recorded(database, "issue") as statements:
            page, total = issue_lists.list_issues(
                database, [where], wanted, sort=sort, kept=kept, repository_id=place, skip=skip, limit=1
            )
        assert (len(page), total) == (1, 6 if is_closed is None else 3)
        *listed, rows = [item for item in statements if "FROM issue" in item[0]]
        assert "issues.body" in rows[0]
        plans = [plan_of(database, *item) for item in listed]
        assert len(plans) == 2
        if database.is_sqlite:
            assert all(plan.startswith(f"SEARCH issue_labels USING COVERING INDEX {INDEX}") for plan in plans)
            assert not any("TEMP B-TREE" in plan for plan in plans), plans
        else:
            assert all(INDEX in plan and "Sort" not in plan for plan in plans), plans


@pytest.mark.parametrize("sort", sorted(set(issue_lists.ORDERS) - {"newest", "oldest"}))
def test_many_issues_with_a_label_are_read_in_the_order_of_the_list(
    database: Database, ada: Account, monkeypatch: pytest.MonkeyPatch, sort: str
) -> None:
    """In other orders no set of all issues with the label is built, and nothing is sorted."""
    repository, bug = labelled(database, ada)
    monkeypatch.setattr(issue_lists, "FEW", -1)
    where, kept = [issue_lists.in_repository(repository, BOTH)], issue_lists.kept_in(repository, BOTH)
    wanted = issue_lists.Filter(label_ids=(bug.id,))
    with recorded(database, "EXISTS") as statements:
        page, _ = issue_lists.list_issues(
            database, where, wanted, sort=sort, kept=kept, repository_id=repository.id, skip=0, limit=2
        )
    assert len(page) == 2
    plans = [plan_of(database, *item) for item in statements]
    assert plans
    if database.is_sqlite:
        assert not any("TEMP B-TREE" in plan or "LIST SUBQUERY" in plan for plan in plans), plans


def test_a_label_is_only_counted_where_the_user_may_read(database: Database, ada: Account) -> None:
    """Issues in private repositories are not counted for visitors, nor pull requests where they are disabled."""
    repository = make_repository(database, ada, "secret", is_private=True)
    bug = labels.add_label(database, repository, "bug", "f00")
    issues.open_issue(database, repository, ada, NewIssue(title="a", labels=[bug]))
    pull = NewIssue(title="b", labels=[bug], branches=Branches("fix", "main"))
    issues.open_issue(database, repository, ada, pull)
    wanted = issue_lists.Filter(labels=("bug",))

    def titles(user: Account | None, *, kinds: Sequence[bool] = BOTH) -> list[str]:
        found, total = issue_lists.list_issues(
            database,
            [issue_lists.visible_to(user, public_only=False, kinds=kinds)],
            wanted,
            kept=issue_lists.kept_visible(user, public_only=False, kinds=kinds),
            skip=0,
            limit=9,
        )
        assert total == len(found)
        return sorted(issue.title for issue in found)

    assert titles(ada) == ["a", "b"]
    assert titles(ada, kinds=(True,)) == ["b"]
    assert titles(None) == []
    with database.write() as connection:
        repositories.change_repository(connection, repository, has_pulls=False)
    assert titles(ada) == ["a"]
