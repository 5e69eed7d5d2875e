"""Repositories: creation, permissions, validation, visibility and transfers."""

from collections.abc import Callable

import msgspec
import pytest
from sqlalchemy import select

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
    Outdated,
    Permission,
    RefRefused,
    Refused,
    RepositoryArchived,
    RepositoryTaken,
    StorageFull,
    UnknownDefaultBranch,
    VisibilityRefused,
)
from holdfast.hosting.git import refs
from holdfast.hosting.git.commits import read_commit
from holdfast.hosting.git.trees import MissingPath, find, read_blob
from holdfast.hosting.services import forks, repositories
from holdfast.hosting.services.repositories import InitialFiles, NewRepository, RepositoryEdit
from holdfast.hosting.store import accounts, repository_log
from holdfast.hosting.store import collaborators as collaborator_store
from holdfast.hosting.store import repositories as store
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.tables import team_repositories, teams
from holdfast.secret import Secret
from tests.hosting.git.oracle import commit, new_repository
from tests.hosting.repository_helpers import add_commit, make_organization, make_people, make_team, recorded_events


@pytest.fixture
def admin(app: App) -> Account:
    """Find the administrator."""
    return accounts.find_user(app.database, "admin")


def test_a_first_commit_that_cannot_be_recorded_leaves_no_row(
    app: App, admin: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A repository whose first commit fails is not found, and its name can be used again."""

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
    """A local folder without a state file is replaced by a new copy."""
    first = repositories.create(app, admin, admin, NewRepository(name="a"))
    commit(new_repository(app.folders.path(first.id + 1)), {b"stray": b"x"})
    second = repositories.create(app, admin, admin, NewRepository(name="b"))
    assert second.id == first.id + 1
    assert refs.all_refs(app.copies.open(second)) == []


def test_a_taken_name_leaves_no_row(app: App, admin: Account) -> None:
    """A name that differs from an existing one only in letter case is taken, and no pack is recorded."""
    repositories.create(app, admin, admin, NewRepository(name="notes"))
    with pytest.raises(RepositoryTaken):
        repositories.create(app, admin, admin, NewRepository(name="NOTES"), {"a": b"a"})
    assert repository_log.repositories_with_packs(app.database, at_least=1) == []
    with app.database.read() as connection:
        assert connection.exec_driver_sql("SELECT name FROM repositories").scalars().all() == ["notes"]


def test_an_unsupported_object_format_is_refused(app: App, admin: Account) -> None:
    """A repository with SHA-256 objects is refused, and nothing is created."""
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
    """The service itself refuses anonymous users and readers, and the repository stays unchanged."""
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
    """Invalid names, lengths, branches, owners and topics are refused, and the repository stays unchanged."""
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
            lambda: repositories.create_for(app, actor, admin, NewRepository(name="a", default_branch="HEAD")),
            RefRefused,
            "HEAD",
        ),
        (
            lambda: repositories.edit(app, actor, target, RepositoryEdit(website="x" * 1025)),
            InvalidField,
            "[Website]: MaxSize",
        ),
        (
            lambda: repositories.edit(
                app, actor, target, RepositoryEdit(declared={"default_merge_style": "x" * 101})
            ),
            InvalidField,
            "[DefaultMergeStyle]: MaxSize",
        ),
        (lambda: repositories.edit(app, actor, target, RepositoryEdit(name="a b")), InvalidValue, "[Name]"),
        (
            lambda: repositories.edit(app, actor, target, RepositoryEdit(default_branch="gone")),
            UnknownDefaultBranch,
            f"[DefaultBranch]: branch does not exist [repo_id: {repository.id} name: gone]",
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
    """A collaborator with the permission `admin` edits other fields, but not the visibility."""
    repository = repositories.create(app, admin, admin, NewRepository(name="notes"))
    assert reader.user is not None
    collaborator_store.set_collaborator(app.database, repository, reader.user, Mode.ADMIN)
    target = access_of(app, reader, repository)
    with pytest.raises(VisibilityRefused):
        repositories.edit(app, reader, target, RepositoryEdit(is_private=True))
    assert not store.repository_by_id(app.database, repository.id).is_private
    edited = repositories.edit(app, reader, target, RepositoryEdit(is_private=False, description="Tides"))
    assert edited.description == "Tides"
    owned = access_of(app, Actor(admin), edited)
    assert repositories.edit(app, Actor(admin), owned, RepositoryEdit(is_private=True)).is_private


def test_topics_of_an_archived_repository_stay(app: App, admin: Account) -> None:
    """The topics of an archived repository cannot be replaced, added to or removed."""
    actor = Actor(admin)
    repository = repositories.create(app, admin, admin, NewRepository(name="notes"))
    repositories.set_topics(app, actor, access_of(app, actor, repository), ["tides"])
    archived = repositories.edit(app, actor, access_of(app, actor, repository), RepositoryEdit(is_archived=True))
    assert archived.is_archived
    target = access_of(app, actor, archived)
    with pytest.raises(RepositoryArchived):
        repositories.set_topics(app, actor, target, ["a"])
    with pytest.raises(RepositoryArchived):
        repositories.add_topic(app, actor, target, "a")
    with pytest.raises(RepositoryArchived):
        repositories.remove_topic(app, actor, target, "tides")
    assert repositories.topics_of(store.repository_by_id(app.database, repository.id)) == ["tides"]


def test_settings_changed_at_the_same_time_are_all_kept(app: App, admin: Account) -> None:
    """Requests that have read the same state of a repository change its settings, topics and name."""
    actor = Actor(admin)
    repository = repositories.create(app, admin, admin, NewRepository(name="notes"))
    target = access_of(app, actor, repository)
    repositories.edit(app, actor, target, RepositoryEdit(declared={"allow_rebase": False}))
    repositories.edit(app, actor, target, RepositoryEdit(declared={"default_merge_style": "squash"}))
    for topic in ("tides", "sea", "ship"):
        repositories.add_topic(app, actor, target, topic)
    repositories.remove_topic(app, actor, target, "sea")
    repositories.edit(app, actor, target, RepositoryEdit(name="logs"))
    edited = repositories.edit(app, actor, target, RepositoryEdit(description="Tides"))
    declared = msgspec.json.decode(edited.declared, type=store.DeclaredSettings)
    assert (declared.allow_rebase, declared.default_merge_style) == (False, "squash")
    assert (edited.name, repositories.topics_of(edited)) == ("logs", ["tides", "ship"])


def test_a_repository_is_transferred_by_its_current_owner_with_its_current_name(
    app: App, admin: Account, reader: Actor
) -> None:
    """A transfer keeps a name that was changed meanwhile; after another transfer it is refused."""
    actor = Actor(admin)
    repository = repositories.create(app, admin, admin, NewRepository(name="notes"))
    target = access_of(app, actor, repository)
    guild = make_organization(app.database, "guild", admin)
    repositories.edit(app, actor, target, RepositoryEdit(name="logs"))
    assert repositories.transfer(app, actor, target, "guild").full_name == "guild/logs"
    assert reader.user is not None
    with pytest.raises(Outdated):
        repositories.transfer(app, actor, target, reader.user.name)
    assert store.repository_by_id(app.database, repository.id).owner.id == guild.id


def test_a_private_repository_is_shown_to_those_who_may_see_it(app: App, admin: Account, reader: Actor) -> None:
    """Anonymous users and other users do not find a private repository by its id."""
    repository = repositories.create(app, admin, admin, NewRepository(name="notes", is_private=True))
    for actor in (ANONYMOUS, reader):
        with pytest.raises(NoSuchRepository):
            repositories.show(app, actor, repository.id)
    assert repositories.show(app, Actor(admin), repository.id).repository == repository


def test_the_owner_of_a_new_repository_is_the_actor_or_an_organization(app: App, reader: Actor) -> None:
    """The name of another user or of nobody is not accepted as the owner."""
    assert repositories.find_new_owner(app, reader, "REA") == reader.user
    for name in ("admin", "nobody"):
        with pytest.raises(NoSuchAccount):
            repositories.find_new_owner(app, reader, name)


def read_file(app: App, repository: store.Repository, path: str) -> str:
    """Read a file of the default branch."""
    repo = app.copies.open(repository)
    head = refs.branch(repo, repository.default_branch)
    assert head is not None
    entry = find(repo, read_commit(repo, head.id).tree, path)
    assert not isinstance(entry, MissingPath)
    return read_blob(repo, entry.id).decode()


def test_the_initial_files_are_those_that_were_chosen(app: App, admin: Account) -> None:
    """The license names the owner by full name, or by user name if there is none.

    Without `auto_init` the repository is empty.
    """
    ada, ben = [*make_people(app.database, "ada", full_name="Ada King"), *make_people(app.database, "ben")]
    initial = InitialFiles(license="MIT", gitignores="Python")
    for owner, holder in ((ada, "Ada King"), (ben, "ben")):
        new = NewRepository(name="notes", description="Tides")
        made = repositories.create_for(app, Actor(owner), owner, new, auto_init=True, initial=initial)
        assert holder in read_file(app, made, "LICENSE")
        assert read_file(app, made, "README.md") == "# notes\n\nTides\n"
        assert "__pycache__" in read_file(app, made, ".gitignore")
    plain = repositories.create_for(app, Actor(admin), admin, NewRepository(name="plain"), auto_init=True)
    assert read_file(app, plain, "README.md") == "# plain\n"
    assert repositories.create_for(app, Actor(admin), admin, NewRepository(name="b"), initial=initial).is_empty


def test_the_default_branch_is_one_that_exists(app: App, admin: Account) -> None:
    """The default branch can be changed to another branch of the repository.

    In an empty repository any valid ref name is accepted, and an empty name changes nothing.
    """
    actor = Actor(admin)
    empty = access_of(app, actor, repositories.create(app, admin, admin, NewRepository(name="empty")))
    assert repositories.edit(app, actor, empty, RepositoryEdit(default_branch="dev")).default_branch == "dev"
    with pytest.raises(InvalidField, match=r"\[DefaultBranch\]"):
        repositories.edit(app, actor, empty, RepositoryEdit(default_branch="a..b"))
    with pytest.raises(RefRefused):
        repositories.edit(app, actor, empty, RepositoryEdit(default_branch="-d"))
    kept = repositories.create(app, admin, admin, NewRepository(name="notes"), {"a": b"a"})
    add_commit(app.database, kept, "fix")
    target = access_of(app, actor, store.repository_by_id(app.database, kept.id))
    assert repositories.edit(app, actor, target, RepositoryEdit(default_branch="fix")).default_branch == "fix"
    assert repositories.edit(app, actor, target, RepositoryEdit(default_branch="")).default_branch == "fix"


def test_a_fork_is_no_more_public_than_its_parent(app: App, admin: Account, reader: Actor) -> None:
    """A fork of a private repository cannot be made public before its parent is, but can be edited."""
    assert reader.user is not None
    parent = repositories.create(app, admin, admin, NewRepository(name="notes", is_private=True))
    collaborator_store.set_collaborator(app.database, parent, reader.user, Mode.READ)
    fork = forks.fork(app, reader, access_of(app, reader, parent))
    with pytest.raises(InvalidValue, match="a fork of a private repository is private"):
        repositories.edit(app, reader, access_of(app, reader, fork), RepositoryEdit(is_private=False))
    edit = RepositoryEdit(is_private=True, description="Mine")
    assert repositories.edit(app, reader, access_of(app, reader, fork), edit).description == "Mine"
    public = RepositoryEdit(is_private=False)
    for actor, repository in ((Actor(admin), parent), (reader, fork)):
        assert not repositories.edit(app, actor, access_of(app, actor, repository), public).is_private


def test_a_transfer_to_a_hidden_owner_reveals_nothing(app: App) -> None:
    """A private organization is refused like a name that nobody has; a public one is known, and refused."""
    ada, bob = make_people(app.database, "ada", "bob")
    make_organization(app.database, "smugglers", bob, visibility="private")
    make_organization(app.database, "guild", bob)
    ship = repositories.create(app, ada, ada, NewRepository(name="ship"))
    for name, kind in (("smugglers", NoSuchAccount), ("nobody", NoSuchAccount), ("guild", Forbidden)):
        with pytest.raises(kind):
            repositories.transfer(app, Actor(ada), access_of(app, Actor(ada), ship), name)


def test_a_transferred_repository_goes_to_the_teams_that_are_named(app: App, admin: Account) -> None:
    """Teams of other organizations are ignored, the transfer is an event, and a new owner is required."""
    actor = Actor(admin)
    kept = repositories.create(app, admin, admin, NewRepository(name="notes"))
    fleet, other = (make_organization(app.database, name, admin) for name in ("fleet", "other"))
    for organization in (fleet, other):
        make_team(app.database, organization, "crew", [admin], mode=Mode.WRITE)
    with app.database.read() as connection:
        ids = list(connection.execute(select(teams.c.id).where(teams.c.name == "crew")).scalars())
    with pytest.raises(InvalidField, match=r"\[NewOwner\]"):
        repositories.transfer(app, actor, access_of(app, actor, kept), "")
    moved = repositories.transfer(app, actor, access_of(app, actor, kept), "fleet", ids)
    assert moved.owner.name == "fleet"
    kind, details = recorded_events(app.database)[-1]
    assert (kind, details["action"]) == ("repository", "transferred")
    with app.database.read() as connection:
        given = connection.execute(select(team_repositories.c.team_id, team_repositories.c.repository_id)).all()
    assert [tuple(row) for row in given] == [(ids[0], kept.id)]
