"""Stars and watches in the database."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from holdfast.hosting.errors import GoneMeanwhile
from holdfast.hosting.store import accounts, repositories, subscriptions
from holdfast.hosting.store.database import Database
from holdfast.secret import Secret
from tests.hosting.repository_helpers import make_repository


def test_the_counter_is_that_of_the_rows(database: Database) -> None:
    """The count of stars equals the rows after one user has added and removed a star concurrently."""
    ada = accounts.create_user(database, "ada", Secret("a-password-for-tests"))
    repository = make_repository(database, ada)

    def change(number: int) -> None:
        act = subscriptions.add if number % 3 else subscriptions.remove
        act(database, "star", repository, ada)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(change, range(12)))
    is_there = subscriptions.since(database, "star", repository, ada) is not None
    assert repositories.repository_by_id(database, repository.id).star_count == int(is_there)


def test_a_deleted_repository_cannot_be_starred_or_watched(database: Database) -> None:
    """The error says that the repository was deleted meanwhile."""
    ada = accounts.create_user(database, "ada", Secret("a-password-for-tests"))
    repository = make_repository(database, ada)
    with database.write() as connection:
        connection.exec_driver_sql(f"DELETE FROM repositories WHERE id = {repository.id}")
    kinds: tuple[subscriptions.Kind, ...] = ("star", "watch")
    for kind in kinds:
        with pytest.raises(GoneMeanwhile):
            subscriptions.add(database, kind, repository, ada)


def test_the_choices_of_a_user_are_their_own(database: Database) -> None:
    """The choices of a user are the kinds they added, and those of another user are not among them."""
    ada, eve = (accounts.create_user(database, name, Secret("a-password-for-tests")) for name in ("ada", "eve"))
    repository = make_repository(database, ada)
    subscriptions.remove(database, "watch", repository, ada)
    assert subscriptions.chosen(database, repository, ada) == set()
    subscriptions.add(database, "star", repository, ada)
    assert subscriptions.chosen(database, repository, ada) == {"star"}
    subscriptions.add(database, "watch", repository, ada)
    assert subscriptions.chosen(database, repository, ada) == {"star", "watch"}
    assert subscriptions.chosen(database, repository, eve) == set()
