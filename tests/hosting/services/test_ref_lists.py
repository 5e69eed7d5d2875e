"""Paged lists of branches and tags, in the order of git."""

import os
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.hosting.access import Actor, RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.git.commits import Signature, read_commit
from holdfast.hosting.git.program import run
from holdfast.hosting.services import branches, ref_lists, repositories
from holdfast.hosting.services.branches import NewTag
from holdfast.hosting.services.file_changes import FileChange
from holdfast.hosting.services.file_commits import CommitRequest, commit_files
from holdfast.hosting.services.file_contents import FileContent
from holdfast.hosting.services.repositories import NewRepository
from holdfast.hosting.store import accounts, repository_log
from holdfast.hosting.store import repositories as store
from holdfast.hosting.store.ref_updates import RefUpdate
from holdfast.hosting.store.repositories import Repository

ADA = Signature("Ada", "ada@example.org", 1_700_000_000)
NAMES = [
    "Zebra",
    "a-b",
    "a/c",
    "a0",
    "feature/x",
    "main",
    "\N{SLICE OF PIZZA}",
    "\N{LATIN SMALL LETTER E WITH ACUTE}",
]


@pytest.fixture
def owner(app: App) -> Actor:
    """Return the owner of the repository."""
    return Actor(accounts.find_user(app.database, "admin"))


@pytest.fixture
def notes(app: App, owner: Actor) -> Repository:
    """Create a repository with branches and tags whose names are easily sorted wrongly."""
    assert owner.user is not None
    repository = repositories.create(app, owner.user, owner.user, NewRepository(name="notes"), {"a.txt": b"one\n"})
    target = RepositoryAccess(repository, repositories.permissions_in(app, owner, repository))
    for name in NAMES:
        if name != "main":
            branches.create(app, owner, target, name, "main")
        branches.create_tag(app, owner, target, NewTag(name=f"v{name}"))
    return store.repository_by_id(app.database, repository.id)


def from_git(app: App, notes: Repository, prefix: str) -> list[tuple[bytes, str]]:
    """List refs as git does."""
    form = "--format=%(refname:lstrip=2) %(objectname)"
    lines = run(app.copies.path(notes), "for-each-ref", form, prefix).splitlines()
    return [(name, target.decode()) for name, target in (line.rsplit(b" ", 1) for line in lines)]


def test_pages_are_in_the_order_of_git(app: App, notes: Repository) -> None:
    """Refs are sorted by the bytes of their names, and each page has the total."""
    for listed, prefix in ((ref_lists.list_branches, "refs/heads"), (ref_lists.list_tags, "refs/tags")):
        expected = from_git(app, notes, prefix)
        assert len(expected) > 6
        page, total = listed(app, notes, limit=100)
        assert [(ref.raw_name, ref.id) for ref in page] == expected
        assert total == len(expected)
        page, total = listed(app, notes, skip=2, limit=3)
        assert [(ref.raw_name, ref.id) for ref in page] == expected[2:5]
        assert total == len(expected)
        assert listed(app, notes, skip=100, limit=3) == ([], len(expected))


@pytest.mark.parametrize(
    "beginning",
    [
        "refs/",
        "refs/h",
        "refs/heads",
        "refs/heads/",
        "refs/heads/a",
        "refs/heads/a/c",
        "refs/tags/v",
        "refs/tags/va-",
        "refs/x",
        "refs/pull",
        "refs/heads/zzz",
        "refs/heads/\N{SLICE OF PIZZA}",
        "refs/heads/caf\\",
        "refs/heads/\0",
        "refs/heads/\udce9",
        "other",
    ],
)
def test_full_names_are_found_by_their_beginnings(app: App, notes: Repository, beginning: str) -> None:
    """Branches come before tags, pages have any size, and refs of other kinds are left out."""
    raw = os.fsencode("refs/heads/caf\udce9")
    head = ref_lists.list_branches(app, notes, limit=1)[0][0].id
    with app.database.write() as connection:
        repository_log.append(
            connection,
            notes.id,
            [
                (None, RefUpdate("refs/pull/1/head", "0" * 40, head)),
                (None, RefUpdate(os.fsdecode(raw), "0" * 40, head)),
            ],
        )
    expected = [
        name
        for kind in ("refs/heads", "refs/tags")
        for name in sorted(f"{kind}/".encode() + name for name, _ in from_git(app, notes, kind))
        if name.decode(errors="replace").startswith(beginning)
    ]
    assert beginning != "refs/" or raw in expected
    listed, total = ref_lists.list_full_names(app, notes, beginning, limit=100)
    assert ([ref.raw_name for ref in listed], total) == (expected, len(expected))
    for size in (1, 3):
        pages = [
            ref_lists.list_full_names(app, notes, beginning, skip=skip, limit=size) for skip in range(0, 20, size)
        ]
        assert [ref.raw_name for page, _ in pages for ref in page] == expected
        assert {count for _, count in pages} == {len(expected)}


def test_other_refs_and_repositories_are_not_listed(app: App, owner: Actor, notes: Repository) -> None:
    """A ref such as `refs/headsman` is no branch, because the prefix ends with a slash."""
    assert owner.user is not None
    other = repositories.create(app, owner.user, owner.user, NewRepository(name="other"))
    assert ref_lists.list_branches(app, other, limit=9) == ([], 0)
    head = ref_lists.list_branches(app, notes, limit=1)[0][0].id
    with app.database.write() as connection:
        for name in ("refs/headsman", "refs/heads0", "refs/tagsman", "refs/pull/1/head"):
            repository_log.set_refs(connection, other.id, {name: head})
    assert ref_lists.list_branches(app, other, limit=9) == ([], 0)
    assert ref_lists.list_tags(app, other, limit=9) == ([], 0)


def test_a_repository_has_refs_if_it_has_a_branch_or_a_tag(app: App, owner: Actor, notes: Repository) -> None:
    """Refs of other kinds, such as those of pull requests, do not count."""
    assert owner.user is not None
    empty = repositories.create(app, owner.user, owner.user, NewRepository(name="empty"))
    assert ref_lists.has_refs(app, notes)
    assert not ref_lists.has_refs(app, empty)
    with app.database.write() as connection:
        repository_log.append(connection, empty.id, [(None, RefUpdate("refs/pull/1/head", "0" * 40, "1" * 40))])
    assert not ref_lists.has_refs(app, empty)
    with app.database.write() as connection:
        repository_log.append(connection, empty.id, [(None, RefUpdate("refs/tags/v1", "0" * 40, "1" * 40))])
    assert ref_lists.has_refs(app, empty)


def test_a_name_that_is_not_utf8_is_listed(app: App, notes: Repository) -> None:
    """The raw name of a ref has its bytes, even if they are not valid UTF-8."""
    head = ref_lists.list_branches(app, notes, limit=1)[0][0].id
    with app.database.write() as connection:
        repository_log.set_refs(connection, notes.id, {"refs/tags/caf\udce9": head})
    names = [ref.raw_name for ref in ref_lists.list_tags(app, notes, limit=100)[0]]
    assert b"caf\xe9" in names


def test_listed_refs_can_be_read(app: App, owner: Actor, notes: Repository, tmp_path: Path) -> None:
    """The commits of listed branches can be read, even if the local copy is older than the log."""
    assert owner.user is not None
    folder, old = app.copies.path(notes), tmp_path / "old.git"
    shutil.copytree(folder, old)
    with closing(App.open(app.settings)) as elsewhere:
        change = FileChange(operation="create", path="b.txt", content=FileContent(b"two\n"))
        request = CommitRequest(repository=notes, actor=owner.user, changes=[change], author=ADA, committer=ADA)
        commit_files(elsewhere, request)
    # This machine has a copy of the version before.
    shutil.rmtree(folder)
    old.rename(folder)
    page, _ = ref_lists.list_branches(app, notes, limit=100)
    repo = ref_lists.open_with(app, notes, page)
    assert len({read_commit(repo, ref.id).id for ref in page}) == 2
