"""Searches find what the actor may see, and nothing else."""

from typing import Any

import pytest

from holdfast.hosting.access import ANONYMOUS, Actor
from holdfast.hosting.app import App
from holdfast.hosting.services import repositories, repository_search
from holdfast.hosting.services.repositories import NewRepository
from holdfast.hosting.services.repository_search import RepositorySearch
from holdfast.hosting.store import accounts
from holdfast.hosting.store.repositories import change_repository
from holdfast.secret import Secret


@pytest.fixture
def owner(app: App) -> Actor:
    """Create a public repository and a private one, and return their owner."""
    ada = accounts.create_user(app.database, "ada", Secret("a long password"))
    tides = repositories.create(app, ada, ada, NewRepository(name="tides", description="What the gauge says"))
    with app.database.write() as connection:
        change_repository(connection, tides, topics='["water"]')
    repositories.create(app, ada, ada, NewRepository(name="tide-keys", is_private=True))
    return Actor(ada)


def names(app: App, actor: Actor, **wanted: Any) -> list[str]:
    """Return the names of what is found."""
    found = repository_search.search(app, actor, RepositorySearch(**wanted), skip=0, limit=10)
    assert found.total == len(found.items)
    return [repository.name for repository in found.items]


def test_private_repositories_are_found_by_those_who_may_see_them(app: App, owner: Actor) -> None:
    """Not by anonymous searches, nor by other users."""
    other = Actor(accounts.create_user(app.database, "eve", Secret("a long password")))
    assert names(app, owner, text="TIDE") == ["tide-keys", "tides"]
    for actor in (ANONYMOUS, other):
        assert names(app, actor, text="tide") == ["tides"]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"text": "gauge"}, []),
        ({"text": "gauge", "in_descriptions": True}, ["tides"]),
        ({"text": "Water", "in_topics": True}, ["tides"]),
        ({"text": "wat", "in_topics": True}, []),
        ({"text": "tide-", "in_descriptions": True}, ["tide-keys"]),
        ({"is_private": True}, ["tide-keys"]),
        ({"include_private": False}, ["tides"]),
        ({"is_archived": True}, []),
        ({"mode": "mirror"}, []),
        ({"descending": True}, ["tides", "tide-keys"]),
    ],
)
def test_a_search_is_narrowed(app: App, owner: Actor, wanted: dict[str, Any], found: list[str]) -> None:
    """By text, visibility, state and kind."""
    assert names(app, owner, **wanted) == found


def test_a_name_may_be_written_with_its_owner(app: App, owner: Actor) -> None:
    """As it is in addresses."""
    for text, total in (("ada/tides", 1), ("eve/tides", 0), ("ada/a", 0), ("ada", 2), ("GAUGE", 1)):
        match = repository_search.named_like(app, text)
        assert repository_search.list_visible(app, owner, [], matches=[match], limit=10).total == total
