"""A repository is a row and a folder, together or not at all."""

import pytest

from holdfast.hosting.app import App
from holdfast.hosting.errors import FolderExists, NoSuchRepository, Refused, RepositoryTaken
from holdfast.hosting.services import repositories
from holdfast.hosting.services.repositories import NewRepository
from holdfast.hosting.store import accounts
from holdfast.hosting.store import repositories as store
from holdfast.hosting.store.accounts import Account


@pytest.fixture
def admin(app: App) -> Account:
    """Find the administrator."""
    return accounts.find_user(app.database, "admin")


def test_a_folder_that_cannot_be_made_leaves_no_row(
    app: App, admin: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody finds a repository that is not there."""

    def fail(*_: object, **__: object) -> None:
        raise FolderExists("no space left")

    with monkeypatch.context() as failing:
        failing.setattr(type(app.folders), "create", fail)
        with pytest.raises(FolderExists):
            repositories.create(app, admin, admin, NewRepository(name="notes"))
    with pytest.raises(NoSuchRepository):
        store.find_repository(app.database, "admin", "notes")
    assert repositories.create(app, admin, admin, NewRepository(name="notes")).name == "notes"


def test_a_folder_left_by_an_attempt_that_died_is_no_obstacle(app: App, admin: Account) -> None:
    """Its row was never kept, so it is nobody's."""
    first = repositories.create(app, admin, admin, NewRepository(name="a"))
    app.folders.create(first.id + 1)
    assert repositories.create(app, admin, admin, NewRepository(name="b")).id == first.id + 1


def test_a_taken_name_leaves_no_folder(app: App, admin: Account) -> None:
    """In whatever case."""
    repositories.create(app, admin, admin, NewRepository(name="notes"))
    with pytest.raises(RepositoryTaken):
        repositories.create(app, admin, admin, NewRepository(name="NOTES"))
    assert len(list(app.folders.all_ids())) == 1


def test_an_object_format_nobody_can_read_is_refused(app: App, admin: Account) -> None:
    """Before anything is made."""
    with pytest.raises(Refused, match="sha256"):
        repositories.create(app, admin, admin, NewRepository(name="notes", object_format="sha256"))
    assert list(app.folders.all_ids()) == []
