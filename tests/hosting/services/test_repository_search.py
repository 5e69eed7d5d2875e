"""The repository search: visibility, filters and pages."""

from typing import Any

import pytest
from sqlalchemy import update

from holdfast.hosting.access import ANONYMOUS, Actor
from holdfast.hosting.app import App
from holdfast.hosting.services import repositories, repository_search
from holdfast.hosting.services.repositories import NewRepository
from holdfast.hosting.services.repository_search import RepositorySearch
from holdfast.hosting.store import accounts, tables
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.repositories import change_repository
from holdfast.secret import Secret
from tests.hosting.repository_helpers import WRITE, let_in


@pytest.fixture
def owner(app: App) -> Actor:
    """Create a public repository and a private one, and return their owner."""
    ada = accounts.create_user(app.database, "ada", Secret("a long password"))
    tides = repositories.create(app, ada, ada, NewRepository(name="tides", description="What the gauge says"))
    with app.database.write() as connection:
        change_repository(connection, tides, topics='["water"]')
    repositories.create(app, ada, ada, NewRepository(name="tide-keys", is_private=True))
    return Actor(ada)


def find_admin(app: App) -> Account:
    """Return the administrator."""
    return accounts.find_user(app.database, "admin")


def repository_names(app: App, actor: Actor, **wanted: Any) -> list[str]:
    """Return the names of what is found."""
    repository_page = repository_search.search(app, actor, RepositorySearch(**wanted), skip=0, limit=10)
    assert repository_page.total == len(repository_page.items)
    return [repository.name for repository in repository_page.items]


def test_private_repositories_are_found_by_those_who_may_see_them(app: App, owner: Actor) -> None:
    """The owner finds a private repository; anonymous users and other users do not."""
    other = Actor(accounts.create_user(app.database, "eve", Secret("a long password")))
    assert repository_names(app, owner, text="TIDE") == ["tide-keys", "tides"]
    for actor in (ANONYMOUS, other):
        assert repository_names(app, actor, text="tide") == ["tides"]


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
def test_a_search_has_filters(app: App, owner: Actor, wanted: dict[str, Any], found: list[str]) -> None:
    """A search filters by text, description, topic, visibility, state and kind."""
    assert repository_names(app, owner, **wanted) == found


def test_repositories_of_an_account_are_its_own_and_those_it_collaborates_on(app: App, owner: Actor) -> None:
    """With `only_owned` a search leaves out the repositories that the account only collaborates on."""
    eve, bob = (accounts.create_user(app.database, name, Secret("a long password")) for name in ("eve", "bob"))
    boats = repositories.create(app, eve, eve, NewRepository(name="boats"))
    repositories.create(app, eve, eve, NewRepository(name="canoes"))
    assert owner.user is not None
    let_in(app.database, boats, owner.user, WRITE)
    assert repository_names(app, owner, owner_id=owner.user.id) == ["boats", "tide-keys", "tides"]
    assert repository_names(app, owner, owner_id=owner.user.id, only_owned=True) == ["tide-keys", "tides"]
    assert repository_names(app, owner, owner_id=eve.id) == ["boats", "canoes"]
    assert repository_names(app, owner, owner_id=bob.id) == []


@pytest.mark.parametrize(
    ("columns", "filters"),
    [
        ({"is_template": True}, {"is_template": True}),
        ({"archived_at": 1}, {"is_archived": True}),
        ({"is_mirror": True}, {"mode": "mirror"}),
        ({"fork_of": 1}, {"mode": "fork"}),
    ],
)
def test_templates_archives_mirrors_and_forks_are_filtered(
    app: App, owner: Actor, columns: dict[str, Any], filters: dict[str, Any]
) -> None:
    """Each kind can be searched for alone and can be excluded."""
    other = repositories.create(app, find_admin(app), find_admin(app), NewRepository(name="origin"))
    with app.database.write() as connection:
        values = {**columns, "fork_of": other.id} if "fork_of" in columns else columns
        statement = update(tables.repositories).where(tables.repositories.c.name == "tides")
        connection.execute(statement.values(**values))
    assert repository_names(app, owner, **filters) == ["tides"]
    others: dict[str, Any] = {"mode": "source"} if "mode" in filters else dict.fromkeys(filters, False)
    assert repository_names(app, owner, **others) == ["origin", "tide-keys"]


def test_topics_are_matched_as_a_whole(app: App, owner: Actor) -> None:
    """A part of a topic does not match it."""
    for topic, result in (("water", ["tides"]), ("wat", [])):
        match = repository_search.has_topic(app, topic)
        page = repository_search.list_visible(app, owner, [], matches=[match], limit=10)
        assert [repository.name for repository in page.items] == result


def test_a_page_has_the_requested_offset_and_limit(app: App, owner: Actor) -> None:
    """The total of a page counts all results."""
    for skip, limit, result in ((0, 1, ["tide-keys"]), (1, 1, ["tides"]), (2, 5, [])):
        page = repository_search.list_visible(app, owner, [], skip=skip, limit=limit)
        assert ([repository.name for repository in page.items], page.total) == (result, 2)


def test_a_name_may_be_written_with_its_owner(app: App, owner: Actor) -> None:
    """The text `owner/name` matches the repository of this owner, as in its URL."""
    for text, total in (("ada/tides", 1), ("eve/tides", 0), ("ada/a", 0), ("ada", 2), ("GAUGE", 1)):
        match = repository_search.named_like(app, text)
        assert repository_search.list_visible(app, owner, [], matches=[match], limit=10).total == total
