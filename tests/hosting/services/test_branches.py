"""Branches and tags: permissions, validation, renames and recorded objects."""

from collections.abc import Callable

import pytest

from holdfast.hosting.access import ANONYMOUS, Actor, RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    BranchExists,
    DefaultBranchRefused,
    Forbidden,
    HostingError,
    InvalidField,
    LoginRequired,
    NoSuchBranch,
    NoSuchRevision,
    NoSuchTag,
    NotFastForward,
    PushRefused,
    RefMoved,
    RefRefused,
    RenameRefused,
    RepositoryArchived,
    TagExists,
    UnknownDefaultBranch,
)
from holdfast.hosting.git import refs
from holdfast.hosting.git.commits import Signature, build_tree, commit_content, read_commit, read_tag
from holdfast.hosting.git.fsck import fsck
from holdfast.hosting.services import branch_protection, branches, pulls, ref_lists, repositories
from holdfast.hosting.services.branch_protection import ProtectionEdit
from holdfast.hosting.services.branches import NewTag
from holdfast.hosting.services.file_changes import FileChange
from holdfast.hosting.services.file_commits import CommitRequest, commit_files
from holdfast.hosting.services.file_contents import FileContent
from holdfast.hosting.services.issues import IssueDraft
from holdfast.hosting.services.repositories import NewRepository, RepositoryEdit
from holdfast.hosting.services.revisions import open_git, open_latest
from holdfast.hosting.store import accounts, repository_log
from holdfast.hosting.store import repositories as store
from holdfast.hosting.store.branch_renames import FormerBranches
from holdfast.hosting.store.issues import find_issue
from holdfast.hosting.store.repositories import Repository
from holdfast.secret import Secret
from tests.hosting.repository_helpers import WRITE, let_in

ADA = Signature("Ada", "ada@example.org", 1_700_000_000)


@pytest.fixture
def owner(app: App) -> Actor:
    """Return the owner of the repository."""
    return Actor(accounts.find_user(app.database, "admin"))


@pytest.fixture
def notes(app: App, owner: Actor) -> Repository:
    """Create a repository with one commit."""
    assert owner.user is not None
    return repositories.create(app, owner.user, owner.user, NewRepository(name="notes"), {"a.txt": b"one\n"})


def target_of(app: App, actor: Actor, repository: Repository) -> RepositoryAccess:
    """Return a repository, as it is now, with what an actor may do there."""
    now = store.repository_by_id(app.database, repository.id)
    return RepositoryAccess(now, repositories.permissions_in(app, actor, now))


def changes(app: App, actor: Actor, repository: Repository) -> list[Callable[[], object]]:
    """Return every change of branches and tags there is."""
    target = target_of(app, actor, repository)
    return [
        lambda: branches.create(app, actor, target, "new"),
        lambda: branches.delete(app, actor, target, "main"),
        lambda: branches.rename(app, actor, target, "main", "trunk"),
        lambda: branches.update(app, actor, target, "main", "0" * 40),
        lambda: branches.create_tag(app, actor, target, NewTag(name="v1")),
        lambda: branches.delete_tag(app, actor, target, "v1"),
    ]


def test_only_those_who_may_write_change_refs(app: App, owner: Actor, notes: Repository) -> None:
    """Anonymous users have to log in, readers lack the permission, and an archived repository is not changed."""
    reader = Actor(accounts.create_user(app.database, "rea", Secret("a long password")))
    for actor, kind in ((ANONYMOUS, LoginRequired), (reader, Forbidden)):
        for change in changes(app, actor, notes):
            with pytest.raises(kind):
                change()
    repositories.edit(app, owner, target_of(app, owner, notes), RepositoryEdit(is_archived=True))
    for change in changes(app, owner, notes):
        with pytest.raises(RepositoryArchived):
            change()
    repository = target_of(app, owner, notes).repository
    assert [ref.name for ref in ref_lists.list_branches(app, repository, limit=9)[0]] == ["main"]
    assert ref_lists.list_tags(app, repository, limit=9) == ([], 0)


def test_users_without_access_to_code_are_not_asked_to_log_in(app: App, owner: Actor, notes: Repository) -> None:
    """An anonymous change of a private archived repository is forbidden, and no other error is raised."""
    edit = RepositoryEdit(is_private=True, is_archived=True)
    repositories.edit(app, owner, target_of(app, owner, notes), edit)
    for change in changes(app, ANONYMOUS, notes):
        with pytest.raises(Forbidden):
            change()


def test_branches_are_created_moved_renamed_and_deleted(app: App, owner: Actor, notes: Repository) -> None:
    """If the default branch is renamed, its new name is the default branch of the repository."""
    target = target_of(app, owner, notes)
    created_ref = branches.create(app, owner, target, "feature/x", "main")
    branches.update(app, owner, target, "feature/x", created_ref.id, expected=created_ref.id)
    branches.rename(app, owner, target, "feature/x", "y")
    branches.delete(app, owner, target, "y")
    branches.rename(app, owner, target, "main", "trunk")
    assert [ref.name for ref in ref_lists.list_branches(app, target.repository, limit=9)[0]] == ["trunk"]
    assert refs.head(open_latest(app, target)) == "trunk"
    assert store.repository_by_id(app.database, notes.id).default_branch == "trunk"


def test_a_rename_is_remembered_and_that_of_the_default_branch_recorded(
    app: App, owner: Actor, notes: Repository
) -> None:
    """The old name of a branch is kept as a former name, and a new default branch is an event for webhooks."""
    target = target_of(app, owner, notes)
    branches.create(app, owner, target, "x")
    with app.database.read() as connection:
        before = connection.exec_driver_sql("SELECT max(id) FROM events").scalar_one()
    branches.rename(app, owner, target, "x", "y")
    branches.rename(app, owner, target, "main", "trunk")
    former = FormerBranches(app.database, target.repository)
    assert [name in former for name in ("x", "main", "y", "trunk")] == [True, True, False, False]
    with app.database.read() as connection:
        statement = f"SELECT details FROM events WHERE kind = 'repository' AND id > {before}"
        (details,) = connection.exec_driver_sql(statement).scalars()
    assert '"default_branch"' in details


def test_a_branch_that_became_the_default_meanwhile_is_renamed_as_such(
    app: App, owner: Actor, notes: Repository
) -> None:
    """A rename decides by the default branch of its transaction, so that it always exists, and needs an admin."""
    before = target_of(app, owner, notes)
    branches.create(app, owner, before, "x")
    repositories.edit(app, owner, target_of(app, owner, notes), RepositoryEdit(default_branch="x"))
    writer = accounts.create_user(app.database, "wri", Secret("a long password"))
    let_in(app.database, notes, writer, WRITE)
    permissions = repositories.permissions_in(app, Actor(writer), before.repository)
    with pytest.raises(DefaultBranchRefused):
        branches.rename(app, Actor(writer), RepositoryAccess(before.repository, permissions), "x", "y")
    assert [ref.name for ref in ref_lists.list_branches(app, notes, limit=9)[0]] == ["main", "x"]
    branches.rename(app, owner, before, "x", "y")
    assert store.repository_by_id(app.database, notes.id).default_branch == "y"


def test_the_default_branch_exists_whatever_other_requests_do_meanwhile(
    app: App, owner: Actor, notes: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A branch that became the default is not deleted, and one that was deleted or renamed does not become it."""
    before = target_of(app, owner, notes)
    for name in ("a", "b", "c"):
        branches.create(app, owner, before, name)
    repositories.edit(app, owner, before, RepositoryEdit(default_branch="a"))
    with pytest.raises(DefaultBranchRefused, match="default branch"):
        branches.delete(app, owner, before, "a")
    branches.delete(app, owner, target_of(app, owner, notes), "main")
    checked = repositories.set_default_branch

    def overtaken(app: App, repository: Repository, branch: str) -> str:
        name = checked(app, repository, branch)
        if name == "b":
            branches.delete(app, owner, before, name)
        else:
            branches.rename(app, owner, before, name, "renamed")
        return name

    monkeypatch.setattr(repositories, "set_default_branch", overtaken)
    for name in ("b", "c"):
        with pytest.raises(UnknownDefaultBranch):
            repositories.edit(app, owner, before, RepositoryEdit(default_branch=name, description="Lost"))
    now = store.repository_by_id(app.database, notes.id)
    assert (now.default_branch, now.description) == ("a", "")
    assert [ref.name for ref in ref_lists.list_branches(app, now, limit=9)[0]] == ["a", "renamed"]


def test_a_rename_that_fails_changes_nothing(
    app: App, owner: Actor, notes: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The refs, the default branch and the former name are updated in one transaction."""

    def fail(*_: object, **__: object) -> None:
        raise RefMoved("interrupted")

    monkeypatch.setattr(branches, "add_branch_rename", fail)
    with pytest.raises(RefMoved):
        branches.rename(app, owner, target_of(app, owner, notes), "main", "trunk")
    assert [ref.name for ref in ref_lists.list_branches(app, notes, limit=9)[0]] == ["main"]
    assert refs.head(open_latest(app, target_of(app, owner, notes))) == "main"


def test_a_renamed_branch_takes_its_pull_request_along(app: App, owner: Actor, notes: Repository) -> None:
    """The pull request of a renamed branch stays open and has the new name of its head."""
    target = target_of(app, owner, notes)
    branches.create(app, owner, target, "fix")
    change = FileChange(operation="create", path="b.txt", content=FileContent(b"two\n"))
    request = CommitRequest(
        repository=notes, actor=notes.owner, changes=[change], branch="fix", author=ADA, committer=ADA
    )
    commit_files(app, request)
    issue = pulls.create(app, owner, target, IssueDraft(title="Stop the leak"), head="fix", base="main")
    branches.rename(app, owner, target, "fix", "repair")
    now = find_issue(app.database, notes, issue.number)
    assert (now.is_closed, now.head_branch) == (False, "repair")


def test_tags_are_created_and_deleted(app: App, owner: Actor, notes: Repository) -> None:
    """A tag with a message is a tag object with a tagger in UTC, and one without is a ref to the commit."""
    target = target_of(app, owner, notes)
    light = branches.create_tag(app, owner, target, NewTag(name="v1"))
    annotated = branches.create_tag(app, owner, target, NewTag(name="v2", message="Second", revision="v1"))
    repo = open_git(app, target_of(app, owner, notes))
    assert (repo.header(light.id) or [""])[0] == "commit"
    assert (repo.header(annotated.id) or [""])[0] == "tag"
    tagger = read_tag(repo, annotated.id).tagger
    assert tagger is not None
    assert tagger.offset == 0, "times are in UTC"
    branches.delete_tag(app, owner, target, "v1")
    with pytest.raises(NoSuchTag):
        branches.find_tag(open_latest(app, target), "v1")


def test_invalid_changes_are_refused_with_what_is_wrong(app: App, owner: Actor, notes: Repository) -> None:
    """Invalid names, unknown starting points, existing refs and the default branch have their own errors.

    No ref is changed.
    """
    target = target_of(app, owner, notes)
    main = branches.create(app, owner, target, "taken").id
    branches.create_tag(app, owner, target, NewTag(name="v1"))
    cases: list[tuple[Callable[[], object], type[HostingError]]] = [
        (lambda: branches.create(app, owner, target, ""), InvalidField),
        (lambda: branches.create(app, owner, target, "a..b"), InvalidField),
        (lambda: branches.create(app, owner, target, "a" * 101), InvalidField),
        (lambda: branches.create(app, owner, target, "new", "nothing"), NoSuchRevision),
        (lambda: branches.create(app, owner, target, "taken"), BranchExists),
        (lambda: branches.create(app, owner, target, "v1"), TagExists),
        (lambda: branches.create(app, owner, target, "taken/below"), RefRefused),
        (lambda: branches.delete(app, owner, target, "gone"), NoSuchBranch),
        (lambda: branches.delete(app, owner, target, "main"), DefaultBranchRefused),
        (lambda: branches.rename(app, owner, target, "taken", "main"), RenameRefused),
        (lambda: branches.rename(app, owner, target, "taken", ""), InvalidField),
        (lambda: branches.rename(app, owner, target, "taken", "a..b"), InvalidField),
        (lambda: branches.rename(app, owner, target, "taken", "HEAD"), RefRefused),
        (lambda: branches.rename(app, owner, target, "taken", "-d"), RefRefused),
        (lambda: branches.update(app, owner, target, "taken", ""), InvalidField),
        (lambda: branches.update(app, owner, target, "taken", main, expected="0" * 40), RefMoved),
        (lambda: branches.create_tag(app, owner, target, NewTag(name="v1")), TagExists),
        (lambda: branches.create_tag(app, owner, target, NewTag(name="v 2")), InvalidField),
        (lambda: branches.create_tag(app, owner, target, NewTag(name="")), InvalidField),
    ]
    for change, kind in cases:
        with pytest.raises(kind):
            change()
    listed, _ = ref_lists.list_branches(app, target.repository, limit=9)
    assert [(ref.name, ref.id) for ref in listed] == [("main", main), ("taken", main)]
    assert [ref.name for ref in ref_lists.list_tags(app, target.repository, limit=9)[0]] == ["v1"]


def test_a_branch_moves_backwards_by_force_only(app: App, owner: Actor, notes: Repository) -> None:
    """An update that is no fast-forward would lose commits and is refused without `force`."""
    target = target_of(app, owner, notes)
    repo = open_git(app, target)
    first = branches.find(repo, target, "main").id
    who = read_commit(repo, first).author
    change = FileChange(operation="create", path="b.txt", content=FileContent(b"two\n"))
    request = CommitRequest(repository=notes, actor=notes.owner, changes=[change], author=who, committer=who)
    second = commit_files(app, request).commit.id
    with pytest.raises(NotFastForward):
        branches.update(app, owner, target, "main", first)
    assert branches.find(open_latest(app, target), target, "main").id == second
    branches.update(app, owner, target, "main", first, force=True)
    assert branches.find(open_latest(app, target), target, "main").id == first


def test_a_new_name_may_take_the_place_of_the_old_one(app: App, owner: Actor, notes: Repository) -> None:
    """A branch `a` can be renamed to `a/b`, and back, although git cannot have both at once."""
    target = target_of(app, owner, notes)
    branches.create(app, owner, target, "a")
    branches.rename(app, owner, target, "a", "a/b")
    branches.rename(app, owner, target, "a/b", "a")
    assert [ref.name for ref in ref_lists.list_branches(app, target.repository, limit=9)[0]] == ["a", "main"]


def unrecorded_commit(app: App, notes: Repository) -> str:
    """Make a commit that only the local copy has, as a push that failed leaves it."""
    repo = app.copies.open(notes)
    tree = build_tree(repo.write, {"deep/er/b.txt": b"two\n"})
    return repo.write("commit", commit_content(tree, (), ADA, ADA, "not recorded"))


@pytest.mark.parametrize("kind", ["branch", "update", "tag", "annotated tag"])
def test_objects_reachable_from_a_new_ref_are_recorded(
    app: App, owner: Actor, notes: Repository, kind: str
) -> None:
    """Objects that only the local copy has are added to the log with the ref, so that a new copy has them too."""
    target = target_of(app, owner, notes)
    commit = unrecorded_commit(app, notes)
    match kind:
        case "branch":
            branches.create(app, owner, target, "new", commit)
        case "update":
            branches.update(app, owner, target, "main", commit, force=True)
        case "tag":
            branches.create_tag(app, owner, target, NewTag(name="new", revision=commit))
        case _:
            branches.create_tag(app, owner, target, NewTag(name="new", message="New", revision=commit))
    app.copies.discard(notes.id)
    repo = open_latest(app, target)
    assert fsck(repo.folder).whole
    assert refs.commit_of(repo, refs.rev_parse(repo, "main" if kind == "update" else "new") or "") == commit


def test_objects_reachable_from_other_refs_are_not_packed_again(app: App, owner: Actor, notes: Repository) -> None:
    """A new branch or tag at an existing commit adds no pack to the log."""
    target = target_of(app, owner, notes)
    first = branches.find(open_latest(app, target), target, "main").id
    change = FileChange(operation="create", path="b.txt", content=FileContent(b"two\n"))
    commit_files(
        app, CommitRequest(repository=notes, actor=notes.owner, changes=[change], author=ADA, committer=ADA)
    )
    with app.database.read() as connection:
        before = repository_log.live_packs(connection, notes.id, 0)
    branches.create(app, owner, target, "middle", first)
    branches.create_tag(app, owner, target, NewTag(name="v1", revision=first))
    with app.database.read() as connection:
        assert repository_log.live_packs(connection, notes.id, 0) == before


def test_protected_branches_are_not_deleted(app: App, owner: Actor, notes: Repository) -> None:
    """The protection rule of a branch refuses its deletion by the service as it does for a push."""
    target = target_of(app, owner, notes)
    branches.create(app, owner, target, "release")
    branch_protection.create(app, owner, target, "release", ProtectionEdit(enable_push=True))
    with pytest.raises(PushRefused, match="protected from deletion"):
        branches.delete(app, owner, target, "release")
    listed, _ = ref_lists.list_branches(app, target.repository, limit=9)
    assert [ref.name for ref in listed] == ["main", "release"]
