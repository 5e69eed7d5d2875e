"""A repository is its rows, together or not at all."""

from collections.abc import Callable

import pytest

from holdfast.hosting.access import ANONYMOUS, Actor, Mode, RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    Forbidden,
    HostingError,
    InvalidField,
    InvalidValue,
    LoginRequired,
    NoSuchAccount,
    NoSuchRepository,
    NoSuchTopic,
    Permission,
    Refused,
    RepositoryArchived,
    RepositoryTaken,
    StorageFull,
    VisibilityRefused,
)
from holdfast.hosting.git import refs
from holdfast.hosting.services import repositories
from holdfast.hosting.services.repositories import NewRepository, RepositoryEdit
from holdfast.hosting.store import accounts, repository_log
from holdfast.hosting.store import collaborators as collaborator_store
from holdfast.hosting.store import repositories as store
from holdfast.hosting.store.accounts import Account
from holdfast.secret import Secret
from tests.hosting.git.oracle import commit, new_repository


@pytest.fixture
def admin(app: App) -> Account:
    """Find the administrator."""
    return accounts.find_user(app.database, "admin")


def test_a_first_commit_that_cannot_be_recorded_leaves_no_row(
    app: App, admin: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody finds a repository that is not there."""

    def fail(*_: object, **__: object) -> None:
        raise StorageFull("no space left")

    with monkeypatch.context() as failing:
        failing.setattr(repository_log, "append", fail)
        with pytest.raises(StorageFull):
            repositories.create(app, admin, admin, NewRepository(name="notes"), {"a": b"a"})
    with pytest.raises(NoSuchRepository):
        store.find_repository(app.database, "admin", "notes")
    assert repositories.create(app, admin, admin, NewRepository(name="notes")).name == "notes"


def test_a_leftover_folder_is_replaced(app: App, admin: Account) -> None:
    """A copy without a state is made anew, whatever it holds."""
    first = repositories.create(app, admin, admin, NewRepository(name="a"))
    commit(new_repository(app.folders.path(first.id + 1)), {b"stray": b"x"})
    second = repositories.create(app, admin, admin, NewRepository(name="b"))
    assert second.id == first.id + 1
    assert refs.all_refs(app.copies.open(second)) == []


def test_a_taken_name_leaves_no_row(app: App, admin: Account) -> None:
    """In whatever case."""
    repositories.create(app, admin, admin, NewRepository(name="notes"))
    with pytest.raises(RepositoryTaken):
        repositories.create(app, admin, admin, NewRepository(name="NOTES"), {"a": b"a"})
    assert repository_log.repositories_with_packs(app.database, at_least=1) == []


def test_an_unsupported_object_format_is_refused(app: App, admin: Account) -> None:
    """Before anything is made."""
    with pytest.raises(Refused, match="sha256"):
        repositories.create(app, admin, admin, NewRepository(name="notes", object_format="sha256"))
    with pytest.raises(NoSuchRepository):
        store.find_repository(app.database, "admin", "notes")


@pytest.fixture
def reader(app: App) -> Actor:
    """Make a user without rights in other people's repositories."""
    return Actor(accounts.create_user(app.database, "rea", Secret("a long password")))


def access_of(app: App, actor: Actor, repository: store.Repository) -> RepositoryAccess:
    """Return a repository with what an actor may do there."""
    return RepositoryAccess(repository, repositories.permissions_in(app, actor, repository))


def test_every_change_requires_permission(app: App, admin: Account, reader: Actor) -> None:
    """Callers that forget their guards are refused: anonymous requests, and people who may only read."""
    repository = repositories.create(app, admin, admin, NewRepository(name="notes"))

    def changes(actor: Actor) -> list[Callable[[], object]]:
        target = access_of(app, actor, repository)
        return [
            lambda: repositories.create_for(app, actor, admin, NewRepository(name="other")),
            lambda: repositories.edit(app, actor, target, RepositoryEdit(description="x")),
            lambda: repositories.transfer(app, actor, target, "rea"),
            lambda: repositories.delete(app, actor, target),
            lambda: repositories.set_topics(app, actor, target, ["a"]),
            lambda: repositories.add_topic(app, actor, target, "a"),
            lambda: repositories.remove_topic(app, actor, target, "a"),
        ]

    for change in changes(ANONYMOUS):
        with pytest.raises(LoginRequired):
            change()
    missing = []
    for change in changes(reader):
        with pytest.raises(Forbidden) as excinfo:
            change()
        missing.append(excinfo.value.permission)
    assert missing == [
        Permission.CREATE_REPOSITORIES,
        Permission.ADMIN,
        *([Permission.OWNER] * 2),
        *([Permission.ADMIN] * 3),
    ]
    assert store.repository_by_id(app.database, repository.id) == repository


def test_fields_are_validated(app: App, admin: Account) -> None:
    """Whoever calls: names, lengths, branches, owners and topics."""
    actor = Actor(admin)
    repository = repositories.create(app, admin, admin, NewRepository(name="notes"), {"a": b"a"})
    target = access_of(app, actor, repository)
    cases: list[tuple[Callable[[], object], type[HostingError], str]] = [
        (lambda: repositories.create_for(app, actor, admin, NewRepository(name="")), InvalidField, "[Name]"),
        (
            lambda: repositories.create_for(app, actor, admin, NewRepository(name="a" * 101)),
            InvalidField,
            "[Name]",
        ),
        (
            lambda: repositories.create_for(app, actor, admin, NewRepository(name="a", default_branch="a..b")),
            InvalidField,
            "[DefaultBranch]: GitRefName",
        ),
        (
            lambda: repositories.edit(app, actor, target, RepositoryEdit(website="x" * 1025)),
            InvalidField,
            "[Website]: MaxSize",
        ),
        (lambda: repositories.edit(app, actor, target, RepositoryEdit(name="a b")), InvalidValue, "[Name]"),
        (
            lambda: repositories.edit(app, actor, target, RepositoryEdit(default_branch="gone")),
            InvalidValue,
            "[DefaultBranch]",
        ),
        (lambda: repositories.transfer(app, actor, target, "nobody"), NoSuchAccount, "nobody"),
        (lambda: repositories.set_topics(app, actor, target, ["No!"]), InvalidValue, "[Topics]"),
        (lambda: repositories.set_topics(app, actor, target, [f"t{n}" for n in range(26)]), InvalidValue, "25"),
        (lambda: repositories.remove_topic(app, actor, target, "none"), NoSuchTopic, ""),
    ]
    for change, kind, text in cases:
        with pytest.raises(kind) as excinfo:
            change()
        assert text in str(excinfo.value)
    assert store.repository_by_id(app.database, repository.id) == repository


def test_only_the_owner_changes_the_visibility(app: App, admin: Account, reader: Actor) -> None:
    """Collaborators with admin rights change everything else."""
    repository = repositories.create(app, admin, admin, NewRepository(name="notes"))
    assert reader.user is not None
    collaborator_store.set_collaborator(app.database, repository, reader.user, Mode.ADMIN)
    target = access_of(app, reader, repository)
    with pytest.raises(VisibilityRefused):
        repositories.edit(app, reader, target, RepositoryEdit(is_private=True))
    edited = repositories.edit(app, reader, target, RepositoryEdit(is_private=False, description="Tides"))
    assert edited.description == "Tides"


def test_topics_of_an_archived_repository_stay(app: App, admin: Account) -> None:
    """Until it is unarchived."""
    actor = Actor(admin)
    repository = repositories.create(app, admin, admin, NewRepository(name="notes"))
    archived = repositories.edit(app, actor, access_of(app, actor, repository), RepositoryEdit(is_archived=True))
    assert archived.is_archived
    with pytest.raises(RepositoryArchived):
        repositories.set_topics(app, actor, access_of(app, actor, archived), ["a"])


def test_a_private_repository_is_shown_to_those_who_may_see_it(app: App, admin: Account, reader: Actor) -> None:
    """Others do not find it by its id."""
    repository = repositories.create(app, admin, admin, NewRepository(name="notes", is_private=True))
    for actor in (ANONYMOUS, reader):
        with pytest.raises(NoSuchRepository):
            repositories.show(app, actor, repository.id)
    assert repositories.show(app, Actor(admin), repository.id).repository == repository


def test_the_owner_of_a_new_repository_is_the_actor_or_an_organization(app: App, reader: Actor) -> None:
    """Other users are not offered."""
    assert repositories.find_new_owner(app, reader, "REA") == reader.user
    for name in ("admin", "nobody"):
        with pytest.raises(NoSuchAccount):
            repositories.find_new_owner(app, reader, name)
