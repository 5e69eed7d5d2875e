"""Language statistics: computed in the background, stored and read."""

import pytest

from holdfast.hosting.access import Actor, RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.errors import GitDamaged
from holdfast.hosting.git import languages as counting
from holdfast.hosting.git.commits import Signature
from holdfast.hosting.services import languages, repositories
from holdfast.hosting.services.repositories import NewRepository, initial_commit
from holdfast.hosting.store import languages as rows
from holdfast.hosting.store import repository_log
from holdfast.hosting.store.ref_updates import RefUpdate
from holdfast.hosting.store.repositories import Repository, repository_by_id
from tests.hosting.repository_helpers import make_people


def make(app: App) -> Repository:
    """Make a repository with a file of ten bytes in Python and one of five in C."""
    (ada,) = make_people(app.database, "ada")
    repository = repositories.create(
        app, ada, ada, NewRepository(name="ship"), {"a.py": b"x" * 10, "b.c": b"y" * 5}
    )
    return repository_by_id(app.database, repository.id)


def push(app: App, repository: Repository) -> None:
    """Replace the default branch by a commit with one file of another language."""
    commit, pack = initial_commit({"a.rs": b"z", "b.rs": b"z"}, Signature("Ada", "ada@example.org", 1))
    old = repository_log.find_ref(app.database, repository.id, "refs/heads/main")
    with app.database.write() as connection:
        update = RefUpdate("refs/heads/main", old or "", commit)
        repository_log.append(connection, repository.id, [(None, update)], [pack])


def list_languages(app: App, repository: Repository) -> list[tuple[str, int]]:
    """Return the languages and sizes as the owner sees them."""
    now = repository_by_id(app.database, repository.id)
    target = RepositoryAccess(now, repositories.permissions_in(app, Actor(now.owner), now))
    return list(languages.list_languages(app, target).items())


def test_a_large_tree_is_counted_in_the_background_only(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """A request for a large tree that was pushed to queues the count and returns the previous result."""
    monkeypatch.setattr(languages, "SMALL_TREE", 1)
    ship = make(app)
    app.pushed.clear()
    assert (list_languages(app, ship), app.pushed) == ([], {ship.id})
    app.pushed.clear()
    languages.count(app, ship.id)
    assert (list_languages(app, ship), app.pushed) == ([("Python", 10), ("C", 5)], set())
    assert repository_by_id(app.database, ship.id).language == "Python"
    push(app, ship)
    assert (list_languages(app, ship), app.pushed) == ([("Python", 10), ("C", 5)], {ship.id})


def test_a_small_tree_is_counted_at_once_and_stored_later(app: App) -> None:
    """A request counts a small tree itself, so that its result includes the last push."""
    ship = make(app)
    assert list_languages(app, ship) == [("Python", 10), ("C", 5)]
    assert rows.find_statistics(app.database, ship.id) is None
    assert ship.id in app.pushed


def test_stored_languages_are_not_counted_again(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a request nor a second count reads a tree whose statistics are stored."""
    ship = make(app)
    languages.count(app, ship.id)
    monkeypatch.setattr(counting, "languages", None)
    assert list_languages(app, ship) == [("Python", 10), ("C", 5)]
    languages.count(app, ship.id)
    assert rows.outdated_repositories(app.database, 10) == []


def test_repositories_that_no_process_counted_are_found(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """Repositories without current statistics are found and counted, also after a push.

    A damaged repository gets empty statistics, so that it is tried only once.
    """
    ship = make(app)
    assert rows.outdated_repositories(app.database, 10) == [ship.id]
    languages.count_missed(app)
    assert rows.outdated_repositories(app.database, 10) == []
    push(app, ship)
    assert rows.outdated_repositories(app.database, 10) == [ship.id]

    def fail(*_: object) -> dict[str, int]:
        raise GitDamaged("a tree is missing")

    monkeypatch.setattr(counting, "languages", fail)
    languages.count_missed(app)
    assert rows.outdated_repositories(app.database, 10) == []
    assert rows.find_statistics(app.database, ship.id) == rows.LanguageStatistics("", {})


def test_an_empty_or_deleted_repository_has_no_languages(app: App) -> None:
    """Counting an empty or deleted repository raises no error and leaves nothing outdated."""
    (ada,) = make_people(app.database, "ada")
    repository = repositories.create(app, ada, ada, NewRepository(name="empty"))
    languages.count(app, repository.id)
    languages.count(app, 999_999)
    assert list_languages(app, repository) == []
    assert rows.outdated_repositories(app.database, 10) == []
