"""Branch protection: matching of rules, pushes, protected files and administration of rules."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from holdfast.hosting.access import ANONYMOUS, Actor, RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    Forbidden,
    HostingError,
    InvalidField,
    InvalidValue,
    LoginRequired,
    NoSuchProtection,
    UnknownName,
)
from holdfast.hosting.services import branch_protection, repositories
from holdfast.hosting.services.branch_protection import (
    BranchChange,
    ProtectionEdit,
    may_commit,
    refusal_of,
    rule_for,
)
from holdfast.hosting.services.repositories import NewRepository
from holdfast.hosting.store import accounts
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.protections import Protection, ProtectionRule
from holdfast.hosting.store.repositories import Repository
from tests.hosting.repository_helpers import WRITE, let_in, make_people


def rule(name: str, *, priority: int = 1, number: int = 1, created_at: int = 0, **said: Any) -> Protection:
    """Make a rule."""
    return Protection(number, name, priority, msgspec.convert(said, ProtectionRule), created_at, 0)


@pytest.fixture
def ada(database: Database) -> Account:
    """Return the administrator."""
    return accounts.find_user(database, "admin")


def change(*, deletes: bool = False, forced: bool = False, paths: tuple[str, ...] = ()) -> BranchChange:
    """Make a change of the branch main."""
    return BranchChange("main", deletes, lambda: forced, lambda: paths, lambda: "c0ffee")


def test_the_first_rule_that_matches_counts() -> None:
    """Rules are ordered by priority, then plain names before patterns, then by age."""
    glob, plain = rule("m*", number=1), rule("MAIN", number=2)
    assert rule_for([glob, plain], "main") == plain
    assert rule_for([glob, replace(plain, priority=2)], "main") == glob
    older = rule("ma*", number=3, created_at=-1)
    assert rule_for([glob, older], "main") == older
    assert rule_for([glob, plain], "other") is None
    assert rule_for([rule("release/*")], "release/1/2") is None


@pytest.mark.parametrize(
    ("said", "what", "expected"),
    [
        ({"enable_push": True}, change(), None),
        ({}, change(), "Not allowed to push to protected branch main"),
        ({"enable_push": True}, change(deletes=True), "Branch main is protected from deletion"),
        ({"enable_push": True}, change(forced=True), "Branch main is protected from force push"),
        ({"enable_push": True, "enable_force_push": True}, change(forced=True), None),
        (
            {"enable_force_push": True},
            change(forced=True),
            "Not allowed to force-push to protected branch main",
        ),
        (
            {"enable_push": True, "require_signed_commits": True},
            change(),
            "Branch main is protected from unverified commit c0ffee",
        ),
        (
            {"enable_push": True, "protected_file_patterns": "*.lock; Docs/**"},
            change(paths=("a.txt", "docs/x/Y.md")),
            "Branch main is protected from changing file docs/x/Y.md",
        ),
        ({"unprotected_file_patterns": "docs/*.md"}, change(paths=("docs/a.md",)), None),
        (
            {"unprotected_file_patterns": "docs/*.md"},
            change(paths=("docs/a.md", "b.txt")),
            "Not allowed to push to protected branch main",
        ),
        ({"enable_push": True, "enable_push_whitelist": True, "push_teams": [7]}, change(), None),
        (
            {"enable_push": True, "enable_push_whitelist": True, "push_teams": [8]},
            change(),
            "Not allowed to push to protected branch main",
        ),
    ],
)
def test_rules_accept_or_reject_pushes(
    ada: Account, said: dict[str, Any], what: BranchChange, expected: str | None
) -> None:
    """A rejected push has the message of Gitea, and rules apply to administrators as well."""
    assert refusal_of(rule("main", **said), what, ada, frozenset({7})) == expected


def test_a_person_on_the_list_may_push(ada: Account) -> None:
    """The push allowlist has the ids of users, and being on it does not permit a force push."""
    listed = rule("main", enable_push=True, enable_push_whitelist=True, push_users=[ada.id])
    assert refusal_of(listed, change(), ada, frozenset()) is None
    assert branch_protection.may_push(listed.rule, ada, frozenset())
    assert not branch_protection.may_force_push(listed.rule, ada, frozenset())


def test_rules_protect_files(ada: Account) -> None:
    """A commit through the API may change a file or not, depending on the file patterns of the rule."""
    open_rule = rule("main", enable_push=True, protected_file_patterns="*.lock")
    assert may_commit(open_rule, ada, frozenset(), "a.txt") is None
    assert may_commit(open_rule, ada, frozenset(), "x.lock") == (
        "path is protected and can not be changed [path: x.lock]"
    )
    closed = rule("main", unprotected_file_patterns="notes/*")
    assert may_commit(closed, ada, frozenset(), "notes/a") is None
    assert may_commit(closed, ada, frozenset(), "a") == "user cannot commit to repo [user: admin]"


def target_of(app: App, actor: Actor, repository: Repository) -> RepositoryAccess:
    """Return a repository with what an actor may do there."""
    return RepositoryAccess(repository, repositories.permissions_in(app, actor, repository))


@pytest.fixture
def notes(app: App) -> Repository:
    """Create a repository of the administrator's."""
    admin = accounts.find_user(app.database, "admin")
    return repositories.create(app, admin, admin, NewRepository(name="notes"))


def test_only_administrators_of_the_repository_manage_rules(app: App, notes: Repository) -> None:
    """The service itself refuses readers, writers and anonymous users, and no rule is stored."""
    reader, writer = make_people(app.database, "rea", "wri")
    let_in(app.database, notes, writer, WRITE)
    for actor, kind in ((ANONYMOUS, LoginRequired), (Actor(reader), Forbidden), (Actor(writer), Forbidden)):
        target = target_of(app, actor, notes)
        for call in (
            lambda: branch_protection.list_all(app, actor, target),  # noqa: B023  # called in this turn
            lambda: branch_protection.find(app, actor, target, "main"),  # noqa: B023  # called in the same iteration
            lambda: branch_protection.create(app, actor, target, "main", ProtectionEdit()),  # noqa: B023  # called in the same iteration
            lambda: branch_protection.edit(app, actor, target, "main", ProtectionEdit()),  # noqa: B023  # called in the same iteration
            lambda: branch_protection.delete(app, actor, target, "main"),  # noqa: B023  # called in the same iteration
        ):
            with pytest.raises(kind):
                call()
    admin = Actor(notes.owner)
    assert branch_protection.list_all(app, admin, target_of(app, admin, notes)) == []


@pytest.mark.parametrize(
    ("name", "changes", "kind"),
    [
        ("", {}, InvalidField),
        ("a" * 256, {}, InvalidField),
        ("[a", {}, InvalidValue),
        ("main", {"priority": 2**31 + 1}, InvalidValue),
        ("main", {"required_approvals": -1}, InvalidValue),
        ("main", {"unprotected_file_patterns": "a;[b"}, InvalidValue),
        ("main", {"push_whitelist_usernames": ["nobody"]}, UnknownName),
        ("main", {"push_whitelist_teams": ["nobody"]}, UnknownName),
    ],
)
def test_invalid_rules_are_refused(
    app: App, notes: Repository, name: str, changes: dict[str, Any], kind: type[HostingError]
) -> None:
    """A rule with an invalid name or value, or with an unknown user or team, is not stored."""
    admin = Actor(notes.owner)
    target = target_of(app, admin, notes)
    with pytest.raises(kind):
        branch_protection.create(app, admin, target, name, ProtectionEdit(**changes))
    assert branch_protection.list_all(app, admin, target) == []


def test_a_rule_keeps_what_an_edit_does_not_name(app: App, notes: Repository) -> None:
    """An edit changes only the fields it has, and a rule that was deleted is not found."""
    admin = Actor(notes.owner)
    target = target_of(app, admin, notes)
    wanted = ProtectionEdit(enable_push=True, push_whitelist_usernames=["ADMIN"], priority=4)
    branch_protection.create(app, admin, target, "main", wanted)
    edited = branch_protection.edit(app, admin, target, "main", ProtectionEdit(require_signed_commits=True))
    assert (edited.rule.enable_push, edited.rule.push_users, edited.priority) == (True, (notes.owner.id,), 4)
    assert edited.rule.require_signed_commits
    branch_protection.delete(app, admin, target, "main")
    with pytest.raises(NoSuchProtection):
        branch_protection.find(app, admin, target, "main")
