"""Helpers that create issues and dependencies, and count queries."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from sqlalchemy import event, insert, select

from holdfast import logs
from holdfast.hosting.store import issues
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.issues import Issue, NewIssue
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.tables import issue_dependencies
from holdfast.hosting.store.tables import issues as issue_table
from tests.hosting.repository_helpers import post_issue

__all__ = [
    "SHIP",
    "counting_queries",
    "edges",
    "linked",
    "message",
    "numbers",
    "open_many",
    "relate",
    "removed",
    "with_issues",
]

SHIP = "/repos/ada/ship/issues"


def open_many(database: Database, repository: Repository, author: Account, count: int) -> list[Issue]:
    """Open issues whose titles are their numbers."""
    return [
        issues.open_issue(database, repository, author, NewIssue(title=f"Issue {number + 1}"))
        for number in range(count)
    ]


def relate(database: Database, pairs: list[tuple[int, int]]) -> None:
    """Insert dependencies without any check; each is the id of an issue and the id of its blocker."""
    with database.write() as connection:
        rows = [{"issue_id": item, "blocker_id": other} for item, other in pairs]
        connection.execute(insert(issue_dependencies), rows)


def edges(database: Database) -> set[tuple[int, int]]:
    """Return all dependencies, by the numbers of the issues."""
    blocker = issue_table.alias()
    statement = (
        select(issue_table.c.number, blocker.c.number)
        .join_from(issue_dependencies, issue_table, issue_table.c.id == issue_dependencies.c.issue_id)
        .join(blocker, blocker.c.id == issue_dependencies.c.blocker_id)
    )
    with database.read() as connection:
        return {(item, other) for item, other in connection.execute(statement)}


def linked(client: httpx.Client, issue: str, blocker: int, **body: object) -> httpx.Response:
    """Add a blocker to an issue, which is given by its path."""
    return client.post(f"{issue}/dependencies", json={"index": blocker, **body})


def message(response: httpx.Response, status: int) -> str:
    """Return the message of an error response."""
    assert response.status_code == status, response.text
    posted_message: str = response.json()["message"]
    return posted_message


def removed(client: httpx.Client, path: str, **body: object) -> httpx.Response:
    """Remove a dependency."""
    return client.request("DELETE", path, json=body)


def numbers(response: httpx.Response) -> list[int]:
    """Return the numbers of the issues in a list."""
    assert response.status_code == 200, response.text
    listed: list[dict[str, Any]] = response.json()
    return [item["number"] for item in listed]


# Statements that begin a transaction, and those of scheduled tasks.
BY_ITSELF = ("BEGIN", "SAVEPOINT", "UPDATE tokens", "UPDATE leases", "INSERT INTO leases")


@contextmanager
def counting_queries(database: Database, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Record the statements of requests and of the test itself, but not those of scheduled tasks."""
    asked: list[str] = []
    rows = Database.rows

    def is_scheduled() -> bool:
        return not logs.REQUEST.get("") and threading.current_thread() is not threading.main_thread()

    def counted(self: Database, statement, **binds):  # type: ignore[no-untyped-def]  # replaces an overloaded method
        # On PostgreSQL it goes through the engine, which records it.
        if self.is_sqlite and not is_scheduled():
            asked.append(statement.text("sqlite"))
        return rows(self, statement, **binds)

    def note(*arguments: object) -> None:
        text = str(arguments[2])
        if not text.startswith(BY_ITSELF) and not is_scheduled():
            asked.append(text)

    with monkeypatch.context() as patch:
        patch.setattr(Database, "rows", counted)
        event.listen(type(database.engine), "before_cursor_execute", note)
        try:
            yield asked
        finally:
            event.remove(type(database.engine), "before_cursor_execute", note)


def with_issues(client: httpx.Client, count: int = 5) -> httpx.Client:
    """Open issues as Ada."""
    for number in range(count):
        post_issue(client, title=f"Issue {number + 1}")
    return client
