"""A repository is a row and a folder, together or not at all."""

import pytest

from holdfast.hosting.app import Host
from holdfast.hosting.errors import FolderExists, NoSuchRepository, Refused, RepositoryTaken
from holdfast.hosting.services import repositories
from holdfast.hosting.services.repositories import NewRepository
from holdfast.hosting.store import accounts
from holdfast.hosting.store import repositories as store
from holdfast.hosting.store.accounts import Account


@pytest.fixture
def admin(host: Host) -> Account:
    """Find the administrator."""
    return accounts.find_user(host.database, "admin")


def test_a_folder_that_cannot_be_made_leaves_no_row(
    host: Host, admin: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody finds a repository that is not there."""

    def fail(*_: object, **__: object) -> None:
        raise FolderExists("no space left")

    with monkeypatch.context() as failing:
        failing.setattr(type(host.folders), "create", fail)
        with pytest.raises(FolderExists):
            repositories.create(host, admin, admin, NewRepository(name="notes"))
    with pytest.raises(NoSuchRepository):
        store.find_repository(host.database, "admin", "notes")
    assert repositories.create(host, admin, admin, NewRepository(name="notes")).name == "notes"


def test_a_folder_left_by_an_attempt_that_died_is_no_obstacle(host: Host, admin: Account) -> None:
    """Its row was never kept, so it is nobody's."""
    first = repositories.create(host, admin, admin, NewRepository(name="a"))
    host.folders.create(first.id + 1)
    assert repositories.create(host, admin, admin, NewRepository(name="b")).id == first.id + 1


def test_a_taken_name_leaves_no_folder(host: Host, admin: Account) -> None:
    """In whatever case."""
    repositories.create(host, admin, admin, NewRepository(name="notes"))
    with pytest.raises(RepositoryTaken):
        repositories.create(host, admin, admin, NewRepository(name="NOTES"))
    assert len(list(host.folders.all_ids())) == 1


def test_an_object_format_nobody_can_read_is_refused(host: Host, admin: Account) -> None:
    """Before anything is made."""
    with pytest.raises(Refused, match="sha256"):
        repositories.create(host, admin, admin, NewRepository(name="notes", object_format="sha256"))
    assert list(host.folders.all_ids()) == []
