"""Ref updates: transactions, events, and branch and tag protection."""

import os
from collections.abc import Sequence

import msgspec
import pytest

from holdfast.hosting.app import App
from holdfast.hosting.errors import RefMoved, RefRefused
from holdfast.hosting.git import changes
from holdfast.hosting.git.packs import decode_pack
from holdfast.hosting.git.quarantine import AcceptedPush
from holdfast.hosting.services import ref_updates, repositories
from holdfast.hosting.services.file_changes import FileChange
from holdfast.hosting.services.file_commits import CommitRequest, commit_files
from holdfast.hosting.services.file_contents import FileContent
from holdfast.hosting.services.pushes import RepositoryPush
from holdfast.hosting.services.ref_updates import ActorUpdates
from holdfast.hosting.services.repositories import NewRepository, initial_commit
from holdfast.hosting.store import accounts, protections, repository_log, tag_protections
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.prepared_statements import Link
from holdfast.hosting.store.protections import ProtectionRule
from holdfast.hosting.store.ref_updates import RefUpdate
from holdfast.hosting.store.repositories import Repository, repository_by_id
from holdfast.secret import Secret
from tests.hosting.services.commit_helpers import commit_as
from tests.hosting.storage.log_helpers import ADA
from tests.hosting.webhooks.event_helpers import add_hook, last

ZERO = "0" * 40
MAIN = "refs/heads/main"


@pytest.fixture
def repository(app: App) -> Repository:
    """Make a repository with one commit."""
    admin = accounts.find_user(app.database, "admin")
    return repositories.create(app, admin, admin, NewRepository(name="notes"), {"a.txt": b"one\n"})


def kinds(app: App) -> list[str]:
    """Return the kinds of all events, in order."""
    with app.database.read() as connection:
        return [row[0] for row in connection.exec_driver_sql("SELECT kind FROM events ORDER BY id")]


def head_of(app: App, repository: Repository, ref: str = MAIN) -> str:
    """Return the commit that a ref points to."""
    return repository_log.find_ref(app.database, repository.id, ref) or ZERO


def push(
    app: App, repository: Repository, *updates: RefUpdate, options: tuple[str, ...] = (), atomic: bool = False
) -> Sequence[str]:
    """Push updates to existing commits, and return the rejected refs."""
    pushing = RepositoryPush(app, repository, repository.owner)
    return [item.ref for item in pushing.update(AcceptedPush(updates, options, atomic))]


def test_a_ref_that_stays_where_it_is_was_not_updated(app: App, repository: Repository) -> None:
    """An update to the same commit and the deletion of a missing ref record no event and no version."""
    head, version = head_of(app, repository), repository.version
    updates = [
        RefUpdate(MAIN, head, head),
        RefUpdate("refs/heads/nope", ZERO, ZERO),
        RefUpdate("refs/tags/nope", ZERO, ZERO),
    ]
    ref_updates.update_refs(app, repository, repository.owner, updates)
    assert push(app, repository, *updates) == []
    assert push(app, repository, RefUpdate("refs/heads/gone", head, ZERO)) == []
    assert kinds(app) == ["repository"]
    assert repository_log.current_version(app.database, repository.id) == version


@pytest.mark.parametrize("atomic", [True, False])
def test_a_late_push_is_not_recorded(app: App, repository: Repository, *, atomic: bool) -> None:
    """A stale update is rejected, and the other updates of the push are made unless it is atomic."""
    head = head_of(app, repository)
    stale = RefUpdate("refs/tags/x", head[::-1], head)
    fine = RefUpdate("refs/heads/y", ZERO, head)
    assert push(app, repository, stale, fine, atomic=atomic) == [stale.ref, fine.ref][: 1 + atomic]
    assert head_of(app, repository, stale.ref) == ZERO
    assert head_of(app, repository, fine.ref) == (ZERO if atomic else head)
    assert kinds(app) == (["repository"] if atomic else ["repository", "create", "push"])


def test_an_error_inside_the_transaction_undoes_all_of_it(app: App, repository: Repository) -> None:
    """An error in the callback of the caller rolls back refs, events and packs."""
    commit, pack = initial_commit({"b": b"b"}, ADA)

    def fail(link: Link) -> None:
        assert repository_log.conflicting_ref(link, repository.id, "refs/heads/x/y") == "refs/heads/x"
        raise ValueError("no")

    update = RefUpdate("refs/heads/x", ZERO, commit)
    with pytest.raises(ValueError, match="no"):
        ref_updates.update_refs(app, repository, repository.owner, [update], packs=[pack], within=fail)
    assert head_of(app, repository, update.ref) == ZERO
    assert kinds(app) == ["repository"]
    with app.database.read() as connection:
        assert len(repository_log.live_packs(connection, repository.id, 0)) == 1
    ref_updates.update_refs(app, repository, repository.owner, [update], packs=[pack])
    assert head_of(app, repository, update.ref) == commit
    with app.database.read() as connection:
        (entry,) = repository_log.log_entries(connection, repository.id, ref=update.ref)
    assert (entry.update, entry.actor_id) == (update, repository.owner.id)


def test_updates_are_all_done_or_none(app: App, repository: Repository) -> None:
    """The error names the ref that is stale or conflicts, and no ref is updated."""
    head = head_of(app, repository)
    updates = [RefUpdate("refs/heads/x", ZERO, head), RefUpdate("refs/tags/v1", head, ZERO)]
    with pytest.raises(RefMoved, match="refs/tags/v1 was updated by another request"):
        ref_updates.update_refs(app, repository, repository.owner, updates)
    assert head_of(app, repository, "refs/heads/x") == ZERO
    with pytest.raises(RefRefused, match="refs/heads/main/x cannot be there beside refs/heads/main"):
        ref_updates.update_refs(app, repository, repository.owner, [RefUpdate(f"{MAIN}/x", ZERO, head)])
    assert kinds(app) == ["repository"]


def test_many_refs_are_pushed_and_deleted(app: App, repository: Repository) -> None:
    """Each of 1100 branches has its events, and the number of branches is right."""
    head = head_of(app, repository)
    created_ref_updates = [RefUpdate(f"refs/heads/b{number}", ZERO, head) for number in range(1100)]
    assert push(app, repository, *created_ref_updates) == []
    assert kinds(app).count("create") == kinds(app).count("push") == 1100
    assert repository_by_id(app.database, repository.id).branch_count == 1101
    assert push(app, repository, *(RefUpdate(item.ref, head, ZERO) for item in created_ref_updates)) == []
    assert kinds(app).count("delete") == 1100
    assert repository_by_id(app.database, repository.id).branch_count == 1


def test_the_row_of_a_repository_follows_its_refs(app: App, repository: Repository) -> None:
    """The row has the number of branches, the size, the time of the push, and whether there are any refs."""
    commit, pack = initial_commit({"b": b"b" * 1000}, ADA)
    ref_updates.update_refs(
        app, repository, repository.owner, [RefUpdate("refs/tags/v1", ZERO, commit)], packs=[pack]
    )
    now = repository_by_id(app.database, repository.id)
    assert (now.branch_count, now.size - repository.size, now.is_empty) == (1, pack.size, False)
    assert now.pushed_at > 0
    deletions = [RefUpdate(MAIN, head_of(app, repository), ZERO), RefUpdate("refs/tags/v1", commit, ZERO)]
    ref_updates.update_refs(app, repository, repository.owner, deletions, may_delete_default=True)
    now = repository_by_id(app.database, repository.id)
    assert (now.branch_count, now.is_empty) == (0, True)


def test_the_first_branch_of_an_empty_repository_is_its_default_branch(app: App) -> None:
    """The default branch stays if it is among the pushed ones or if no other one has a valid UTF-8 name."""
    admin = accounts.find_user(app.database, "admin")
    odd = os.fsdecode(b"refs/heads/caf\xe9")
    for number, (names, expected) in enumerate(
        [
            (["refs/heads/x", "refs/heads/y"], "x"),
            (["refs/heads/x", MAIN], "main"),
            ([odd, "refs/heads/x"], "x"),
            ([odd], "main"),
            (["refs/tags/v1"], "main"),
        ]
    ):
        empty = repositories.create(app, admin, admin, NewRepository(name=f"empty{number}"))
        commit, pack = initial_commit({"b": b"b"}, ADA)
        updates = [RefUpdate(name, ZERO, commit) for name in names]
        assert ref_updates.record(app, empty, [ActorUpdates(admin.id, updates)], [pack]) == []
        assert repository_by_id(app.database, empty.id).default_branch == expected


def test_only_the_first_of_two_concurrent_branches_becomes_the_default_branch(app: App) -> None:
    """A writer that read the repository while it was empty does not replace the default branch of another."""
    admin = accounts.find_user(app.database, "admin")
    empty = repositories.create(app, admin, admin, NewRepository(name="logs"))
    commit_as(app, empty, admin, "One", branch="main")
    commit_as(app, empty, admin, "Two", branch="main", new_branch="dev")
    current = repository_by_id(app.database, empty.id)
    assert (current.default_branch, current.is_empty, current.branch_count) == ("main", False, 2)


def test_the_options_of_a_push_are_kept_with_its_push_events(app: App, repository: Repository) -> None:
    """The event of a push has its push options; the event of a created ref does not."""
    update = RefUpdate("refs/heads/x", ZERO, head_of(app, repository))
    assert push(app, repository, update, options=("ci.skip",)) == []
    with app.database.read() as connection:
        result = connection.exec_driver_sql("SELECT kind, details FROM events ORDER BY id").all()
    options = {kind: msgspec.json.decode(details).get("push_options") for kind, details in result}
    assert options == {"repository": None, "create": None, "push": ["ci.skip"]}


def test_a_branch_whose_name_is_not_utf8_is_recorded(app: App, repository: Repository) -> None:
    """The log has the bytes of the name, and the event has replacement characters for invalid ones."""
    name = os.fsdecode(b"refs/heads/caf\xe9\xc3\xa9")
    assert push(app, repository, RefUpdate(name, ZERO, head_of(app, repository))) == []
    assert head_of(app, repository, name) == head_of(app, repository)
    with app.database.read() as connection:
        (details,) = connection.exec_driver_sql("SELECT details FROM events WHERE kind = 'push'").one()
    assert msgspec.json.decode(details)["ref"] == "refs/heads/caf\N{REPLACEMENT CHARACTER}é"


def test_a_webhook_gets_the_commits_of_an_update(app: App, repository: Repository) -> None:
    """The payload of the push event has the new commit."""
    add_hook(app.database, repository.owner, events="push")
    commit, pack = initial_commit({"b": b"b"}, ADA)
    repo = app.copies.open(repository)
    for item in decode_pack(pack.content or b"") or ():
        repo.write(item.kind, item.content)
    ref_updates.update_refs(
        app, repository, repository.owner, [RefUpdate("refs/heads/x", ZERO, commit)], packs=[pack]
    )
    payload = msgspec.json.decode(last(app.database, "push").payload)
    assert [commit["id"] for commit in payload["commits"]] == [commit]


def rules(app: App, repository: Repository, *updates: RefUpdate, actor: Account | None = None) -> list[str]:
    """Return the reasons of rejected updates."""
    repo = app.copies.update(repository.id)
    rejected = ref_updates.check_rules(
        app,
        repository,
        actor or repository.owner,
        updates,
        lambda update: ref_updates.branch_change_of(repo, update, repository.default_branch),
    )
    return [reason for _, reason in rejected]


def next_commit(app: App, repository: Repository, path: str) -> tuple[str, str]:
    """Commit a file to main, and return its old and its new commit."""
    before = head_of(app, repository)
    change = FileChange(path=path, operation="upload", content=FileContent(b"new"))
    request = CommitRequest(
        repository=repository, actor=repository.owner, changes=[change], author=ADA, committer=ADA
    )
    return before, commit_files(app, request).commit.id


def test_branch_rules_reject_matching_updates(app: App, repository: Repository) -> None:
    """Deletions, force pushes, unsigned commits and changes of protected files are rejected with the reason.

    Other branches are not affected.
    """
    first, second = next_commit(app, repository, "docs/b.txt")
    forward, back = RefUpdate(MAIN, first, second), RefUpdate(MAIN, second, first)
    gone, other = RefUpdate(MAIN, second, ZERO), RefUpdate("refs/heads/other", second, first)
    assert rules(app, repository, forward, back, gone) == []
    free = ProtectionRule(enable_push=True)
    protection = protections.create_protection(app.database, repository, "main", free)
    assert rules(app, repository, forward, other) == []
    assert rules(app, repository, back) == ["Branch main is protected from force push"]
    assert rules(app, repository, other, gone) == ["Branch main is protected from deletion"]
    for rule, reason in (
        (ProtectionRule(), "Not allowed to push to protected branch main"),
        (ProtectionRule(enable_push=True, require_signed_commits=True), f"unverified commit {second}"),
        (ProtectionRule(enable_push=True, protected_file_patterns="docs/**"), "changing file docs/b.txt"),
    ):
        protection = protections.change_protection(app.database, repository, protection, rule)
        (told,) = rules(app, repository, forward)
        assert told.endswith(reason)
    # A new branch is compared with what it has in common with the default branch.
    protections.delete_protection(app.database, protection)
    protections.create_protection(
        app.database, repository, "new", ProtectionRule(enable_push=True, protected_file_patterns="docs/**")
    )
    assert rules(app, repository, RefUpdate("refs/heads/new", ZERO, second)) == []
    commit, pack = initial_commit({"docs/x": b"x"}, ADA)
    repo = app.copies.open(repository)
    for item in decode_pack(pack.content or b"") or ():
        repo.write(item.kind, item.content)
    (told,) = rules(app, repository, RefUpdate("refs/heads/new", ZERO, commit))
    assert told.endswith("changing file docs/x")


@pytest.mark.parametrize(
    "rule",
    [
        ProtectionRule(enable_push=True, protected_file_patterns="docs/**"),
        ProtectionRule(unprotected_file_patterns="notes/**"),
    ],
)
def test_a_push_of_too_many_files_to_compare_with_file_patterns_is_rejected(
    app: App, repository: Repository, monkeypatch: pytest.MonkeyPatch, rule: ProtectionRule
) -> None:
    """A protected file could be behind as many others, whose list is cut off."""
    first, second = next_commit(app, repository, "docs/b.txt")
    protections.create_protection(app.database, repository, "main", rule)
    monkeypatch.setattr(changes, "MOST_ENTRIES", 2)
    (told,) = rules(app, repository, RefUpdate(MAIN, first, second))
    assert told.startswith("Branch main has file patterns, and too many files are changed")


def test_tag_rules_reject_other_users(app: App, repository: Repository) -> None:
    """A user who is not on the list of a rule creates no tag that matches it, but other tags and branches."""
    head, owner = head_of(app, repository), repository.owner
    bea = accounts.create_user(app.database, "bea", Secret("a-password-for-tests"))
    tags = [RefUpdate(f"refs/tags/{name}", ZERO, head) for name in ("v1", "beta")]
    assert rules(app, repository, *tags, actor=bea) == []
    tag_protections.add_tag_protection(app.database, repository, "v*", (owner.id,), ())
    assert rules(app, repository, *tags) == []
    assert rules(app, repository, *tags, actor=bea) == ["Tag v1 is protected"]
    assert rules(app, repository, RefUpdate("refs/heads/v1", ZERO, head), actor=bea) == []


def test_deleted_branches_are_distinguished_from_other_updates() -> None:
    """Branches whose names are not UTF-8 do not count, as they belong to no pull request."""
    odd = os.fsdecode(b"refs/heads/caf\xe9")
    head = "1" * 40
    assert ref_updates.deletes_branch(RefUpdate(MAIN, head, ZERO)) is True
    for update in (
        RefUpdate(MAIN, ZERO, head),
        RefUpdate(MAIN, ZERO, ZERO),
        RefUpdate("refs/tags/v1", head, ZERO),
        RefUpdate(odd, head, ZERO),
    ):
        assert ref_updates.deletes_branch(update) is False
