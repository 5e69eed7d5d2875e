"""Rows of repository lists."""

import pytest
from sqlalchemy import update

from holdfast.hosting.access import Actor
from holdfast.hosting.app import App
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.tables import repositories
from holdfast.web.repository_list import list_lines
from tests.hosting.repository_helpers import make_people, make_repository


@pytest.fixture
def ada(app: App) -> Account:
    """Make ada with repositories: one edited, one pushed to, which counts as an update, and a private one."""
    (accounts,) = make_people(app.database, "ada")
    times = {"edited": (30, 20), "pushed": (40, 40), "private": (25, 0)}
    for name, (updated, pushed) in times.items():
        repository = make_repository(
            app.database, accounts, name, is_private=name == "private", description=f"It is {name}."
        )
        with app.database.write() as connection:
            columns = {
                "updated_at": updated,
                "pushed_at": pushed,
                "open_issues": 3,
                "has_issues": name != "edited",
            }
            connection.execute(update(repositories).where(repositories.c.id == repository.id).values(**columns))
    return accounts


def request(app: App, user: Account | None = None) -> RequestContext:
    """Create a request of a user or an anonymous visitor."""
    request_context = RequestContext(app, {"type": "http", "headers": []})
    if user is not None:
        request_context.actor = Actor(user)
    return request_context


def test_a_row_has_the_fields_of_the_list(app: App, ada: Account) -> None:
    """The time is that of the last change, and a repository without issues counts none."""
    rows, total = list_lines(request(app, ada), [repositories.c.owner_id == ada.id], limit=10)
    assert total == 3
    by_name = {row.name: row for row in rows}
    assert [(name, row.updated) for name, row in sorted(by_name.items())] == [
        ("edited", 30),
        ("private", 25),
        ("pushed", 40),
    ]
    pushed = by_name["pushed"]
    assert (pushed.owner, pushed.address, pushed.description) == ("ada", "/ada/pushed", "It is pushed.")
    assert (pushed.is_private, pushed.is_archived, pushed.is_empty, pushed.open_issues) == (False, False, True, 3)
    assert by_name["edited"].open_issues == 0
    assert by_name["private"].is_private


def test_only_visible_repositories_are_listed_and_counted(app: App, ada: Account) -> None:
    """A visitor's list and its total leave out private repositories."""
    rows, total = list_lines(request(app), [repositories.c.owner_id == ada.id], limit=10)
    assert ({row.name for row in rows}, total) == ({"pushed", "edited"}, 2)


def test_a_list_has_pages_and_conditions(app: App, ada: Account) -> None:
    """The repository that was updated last comes first, and conditions limit the list and its total."""
    mine = [repositories.c.owner_id == ada.id]
    pages = [list_lines(request(app, ada), mine, skip=skip, limit=1) for skip in range(4)]
    assert [total for _, total in pages] == [3] * 4
    names = [row.name for rows, _ in pages for row in rows]
    assert names == ["pushed", "edited", "private"]
    assert list_lines(request(app, ada), [*mine, repositories.c.is_private], limit=9)[1] == 1
