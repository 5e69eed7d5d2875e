"""Commit statuses in the database: the newest of each context, and required contexts of merges."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.hosting.store import commit_statuses
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.commit_statuses import STATES, RequiredContexts, check_required_contexts
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.repositories import Repository
from tests.hosting.repository_helpers import make_repository

SHA = "a" * 40
OTHER = "b" * 40


@pytest.fixture
def ship(database: Database, ada: Account) -> Repository:
    """Make a repository."""
    return make_repository(database, ada)


def add(database: Database, ship: Repository, ada: Account, sha: str, *rows: tuple[str, str]) -> None:
    """Add statuses, each a context and a state, oldest first."""
    with database.quick_write() as link:
        for context, state in rows:
            commit_statuses.add_status(link, ship, ada, sha, context=context, state=state)


def test_the_newest_status_of_each_context_counts(database: Database, ship: Repository, ada: Account) -> None:
    """Only the newest status of each context counts, without other commits and repositories."""
    other = make_repository(database, ada, "other")
    add(database, ship, ada, SHA, ("build", "pending"), ("lint", "success"), ("build", "success"))
    add(database, ship, ada, OTHER, ("build", "failure"))
    add(database, other, ada, SHA, ("build", "error"))
    assert commit_statuses.context_states(database, ship, SHA) == {"build": "success", "lint": "success"}
    latest = commit_statuses.latest_statuses(database, ship, SHA, skip=0, limit=10)
    assert [(item.context, item.state) for item in latest] == [("build", "success"), ("lint", "success")]
    assert [one.context for one in commit_statuses.latest_statuses(database, ship, SHA, skip=1, limit=1)] == [
        "lint"
    ]


def test_lists_have_every_status(database: Database, ship: Repository, ada: Account) -> None:
    """The statuses of a commit are listed in both orders, by state, and in pages with the total."""
    add(database, ship, ada, SHA, ("a", "pending"), ("b", "success"), ("a", "success"))
    newest, total = commit_statuses.statuses_of(database, ship, SHA, skip=0, limit=2)
    assert ([item.context for item in newest], total) == (["a", "b"], 3)
    oldest, _ = commit_statuses.statuses_of(database, ship, SHA, oldest_first=True, skip=0, limit=2)
    assert [(item.context, item.state) for item in oldest] == [("a", "pending"), ("b", "success")]
    passed, total = commit_statuses.statuses_of(database, ship, SHA, state="success", skip=1, limit=5)
    assert ([item.context for item in passed], total) == (["b"], 2)


def test_a_thousand_statuses_stay_fast(database: Database, ship: Repository, ada: Account) -> None:
    """The states of a thousand contexts are read by index, five times in less than a second of CPU time."""
    rows = [(f"context {number}", state) for state in ("pending", "success") for number in range(1000)]
    add(database, ship, ada, SHA, *rows)
    with database.read() as connection:
        plan = "EXPLAIN QUERY PLAN " if database.is_sqlite else "EXPLAIN "
        dialect = "sqlite" if database.is_sqlite else "postgresql"
        statement = commit_statuses.CONTEXT_STATES
        binds = statement.binds(dialect, {"repository": ship.id, "sha": SHA})
        text = str(connection.exec_driver_sql(plan + statement.text(dialect), binds).all())
    if database.is_sqlite:
        assert "SCAN commit_statuses" not in text, text
    started = time.process_time()
    for _ in range(4):
        commit_statuses.context_states(database, ship, SHA)
    assert commit_statuses.context_states(database, ship, SHA) == {
        f"context {number}": "success" for number in range(1000)
    }
    assert time.process_time() - started < 1


def test_the_statuses_of_a_commit_are_counted_up_to_the_limit(
    database: Database, ship: Repository, ada: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counting stops at the limit, so that its cost is bounded."""
    add(database, ship, ada, SHA, ("a", "pending"), ("b", "success"), ("a", "success"))
    with database.quick_write() as link:
        assert commit_statuses.count_of_commit(link, ship, SHA) == 3
        monkeypatch.setattr(commit_statuses, "MOST_PER_COMMIT", 2)
        assert commit_statuses.count_of_commit(link, ship, SHA) == 2
        assert commit_statuses.count_of_commit(link, ship, OTHER) == 0


@pytest.mark.parametrize(
    ("states", "combined"),
    [
        ((), ""),
        (("success",), "success"),
        (("success", "skipped"), "success"),
        (("skipped",), "success"),
        (("success", "pending"), "pending"),
        (("pending", "error"), "failure"),
        (("success", "failure"), "failure"),
        (("success", "warning"), "failure"),
    ],
)
def test_combined_states(states: tuple[str, ...], combined: str) -> None:
    """A failure outweighs a pending status, and a pending one outweighs a success."""
    assert commit_statuses.combined_state(states) == combined


@given(st.lists(st.sampled_from(STATES)))
def test_the_combined_state_is_one_of_four(states: list[str]) -> None:
    """The combined state of random statuses does not depend on their order, and is one of four."""
    combined = commit_statuses.combined_state(states)
    assert combined == commit_statuses.combined_state(states[::-1])
    assert combined in {"", "success", "pending", "failure"}
    assert (combined == "success") == (bool(states) and set(states) <= {"success", "skipped"})


def test_required_contexts() -> None:
    """Required contexts are given by name or by glob, and `*` matches slashes too."""
    states = {"ci/build": "success", "ci/test": "pending", "lint": "error", "docs": "skipped"}
    assert check_required_contexts(states, ["ci/build", "docs"]).passed
    assert check_required_contexts(states, ["ci/*"]) == RequiredContexts(pending=("ci/test",))
    assert check_required_contexts(states, ["ci/*", "li?t", "deploy*", "deploy"]) == RequiredContexts(
        missing=("deploy*", "deploy"), pending=("ci/test",), failing=("lint",)
    )
    assert check_required_contexts(states, ["*"]) == RequiredContexts(pending=("ci/test",), failing=("lint",))
    assert check_required_contexts({}, ["*"]) == RequiredContexts(missing=("*",))


def test_without_patterns_every_context_is_required() -> None:
    """Without patterns every context must succeed, and a commit without statuses passes."""
    assert check_required_contexts({}, []).passed
    assert check_required_contexts({"a": "success"}, []).passed
    assert check_required_contexts({"a": "warning"}, []) == RequiredContexts(failing=("a",))


def test_a_pattern_that_is_not_a_glob_is_a_name() -> None:
    """A stored pattern that is no valid glob is compared as a name, so that merging does not fail."""
    assert check_required_contexts({"build [x": "success"}, ["build [x"]).passed
    assert check_required_contexts({"build": "success"}, ["build [x"]) == RequiredContexts(missing=("build [x",))
