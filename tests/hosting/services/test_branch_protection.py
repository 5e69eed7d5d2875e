"""Branch protection: matching of rules, pushes, protected files and administration of rules."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from holdfast.hosting.access import ANONYMOUS, Actor, Mode, RepositoryAccess, Unit
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
from holdfast.hosting.store.teams import Team, team_named
from tests.hosting.repository_helpers import (
    WRITE,
    let_in,
    make_organization,
    make_people,
    make_repository,
    make_team,
)
from tests.hosting.services.scenario import accessed


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


@pytest.mark.parametrize(
    ("said", "by_user", "by_team", "by_other", "by_key"),
    [
        ({}, False, False, False, False),
        ({"enable_push": True}, True, True, True, True),
        ({"enable_push": True, "enable_push_whitelist": True}, False, False, False, False),
        (
            {"enable_push": True, "enable_push_whitelist": True, "push_users": [1], "push_teams": [7]},
            True,
            True,
            False,
            False,
        ),
        (
            {"enable_push": True, "enable_push_whitelist": True, "push_whitelist_deploy_keys": True},
            False,
            False,
            False,
            True,
        ),
        ({"push_users": [1], "push_teams": [7], "push_whitelist_deploy_keys": True}, False, False, False, False),
    ],
)
def test_a_push_needs_the_allowlist_where_there_is_one(
    ada: Account, said: dict[str, Any], *, by_user: bool, by_team: bool, by_other: bool, by_key: bool
) -> None:
    """Users, members of teams and deploy keys are listed separately, and a list alone does not enable pushes.

    A deploy key does not have the rights of the user and the teams who added it.
    """
    listed, other = msgspec.structs.replace(ada, id=1), msgspec.structs.replace(ada, id=2)
    of = msgspec.convert(said, ProtectionRule)
    may_push = branch_protection.may_push
    assert may_push(of, listed, frozenset()) == by_user
    assert may_push(of, other, frozenset({7, 8})) == by_team
    assert may_push(of, other, frozenset({8})) == by_other
    assert may_push(of, listed, frozenset({7}), by_deploy_key=True) == by_key


@pytest.mark.parametrize(
    ("said", "by_user", "by_team", "by_other", "by_key"),
    [
        ({}, False, False, False, False),
        ({"enable_force_push": True}, True, True, True, True),
        ({"enable_force_push": True, "enable_push": False}, False, False, False, False),
        ({"enable_force_push": True, "enable_push_whitelist": True}, False, False, False, False),
        ({"enable_force_push": True, "enable_force_push_allowlist": True}, False, False, False, False),
        (
            {
                "enable_force_push": True,
                "enable_force_push_allowlist": True,
                "force_push_users": [1],
                "force_push_teams": [7],
            },
            True,
            True,
            False,
            False,
        ),
        (
            {
                "enable_force_push": True,
                "enable_force_push_allowlist": True,
                "force_push_allowlist_deploy_keys": True,
            },
            False,
            False,
            False,
            True,
        ),
    ],
)
def test_a_force_push_needs_both_permissions(
    ada: Account, said: dict[str, Any], *, by_user: bool, by_team: bool, by_other: bool, by_key: bool
) -> None:
    """It needs the permission to push and, where there is a list of those who may force-push, a place on it."""
    listed, other = msgspec.structs.replace(ada, id=1), msgspec.structs.replace(ada, id=2)
    of = msgspec.convert({"enable_push": True, **said}, ProtectionRule)
    may_force_push = branch_protection.may_force_push
    assert may_force_push(of, listed, frozenset()) == by_user
    assert may_force_push(of, other, frozenset({7, 8})) == by_team
    assert may_force_push(of, other, frozenset({8})) == by_other
    assert may_force_push(of, listed, frozenset({7}), by_deploy_key=True) == by_key


@pytest.mark.parametrize(
    ("mode", "units", "is_official"),
    [
        (Mode.READ, {}, False),
        (Mode.WRITE, {}, True),
        (Mode.READ, {Unit.CODE: Mode.READ}, False),
        (Mode.READ, {Unit.CODE: Mode.WRITE}, True),
        (Mode.WRITE, {Unit.ISSUES: Mode.WRITE}, False),
    ],
)
def test_reviews_of_teams_that_may_write_code_are_official(
    mode: Mode, units: dict[str, int], *, is_official: bool
) -> None:
    """Of a team with units that of the code counts; an allowlist of approvers decides alone."""
    team = Team(7, 1, "crew", "", mode, False, False, "private", units)
    assert branch_protection.is_official_team(None, team) == is_official
    assert branch_protection.is_official_team(ProtectionRule(approvals_teams=(8,)), team) == is_official
    assert branch_protection.is_official_team(
        ProtectionRule(enable_approvals_whitelist=True, approvals_teams=(7,)), team
    )
    assert not branch_protection.is_official_team(
        ProtectionRule(enable_approvals_whitelist=True, approvals_teams=(8,)), team
    )


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
    signed = rule("main", enable_push=True, require_signed_commits=True)
    assert may_commit(signed, ada, frozenset(), "a") == "user cannot commit to repo [user: admin]"


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
        ("main", {"required_approvals": 1001}, InvalidValue),
        ("main", {"unprotected_file_patterns": "a;[b"}, InvalidValue),
        ("main", {"push_whitelist_usernames": ["nobody"]}, UnknownName),
        ("main", {"push_whitelist_teams": ["nobody"]}, UnknownName),
        ("main", {"status_check_contexts": ["x"] * 101}, InvalidField),
        ("main", {"status_check_contexts": ["x" * 256]}, InvalidField),
        ("main", {"push_whitelist_usernames": ["nobody"] * 1001}, InvalidField),
        ("main", {"push_whitelist_teams": ["nobody"] * 1001}, InvalidField),
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


def test_a_rule_without_a_priority_comes_last(app: App, notes: Repository) -> None:
    """Priorities from 0, which is the default and means the last place, to 2^31 are accepted."""
    admin = Actor(notes.owner)
    target = target_of(app, admin, notes)
    largest = ProtectionEdit(priority=2**31, required_approvals=1000)
    for name, changes, priority in (
        ("first", ProtectionEdit(), 1),
        ("second", ProtectionEdit(priority=0, required_approvals=0), 2),
        ("third", ProtectionEdit(), 3),
        ("fourth", largest, 2**31),
    ):
        assert branch_protection.create(app, admin, target, name, changes).priority == priority
    assert branch_protection.find(app, admin, target, "fourth").rule.required_approvals == 1000


def test_a_rule_of_an_organization_names_its_teams(app: App) -> None:
    """Teams of the organization are found by name, whatever the case, and those of another one are unknown."""
    (ada,) = make_people(app.database, "ada")
    fleet, other = (make_organization(app.database, name, ada) for name in ("fleet", "other"))
    make_team(app.database, fleet, "Crew", [ada])
    make_team(app.database, other, "Guests", [ada])
    admin = Actor(accounts.find_user(app.database, "admin"))
    ship = make_repository(app.database, fleet)
    target = target_of(app, admin, ship)
    wanted = ProtectionEdit(push_whitelist_teams=["crew", "Owners"])
    ids = tuple(team_named(app.database, fleet, name).id for name in ("Crew", "Owners"))
    assert branch_protection.create(app, admin, target, "main", wanted).rule.push_teams == ids
    with pytest.raises(UnknownName):
        branch_protection.edit(app, admin, target, "main", ProtectionEdit(push_whitelist_teams=["Guests"]))


def test_the_rule_of_a_branch_is_found_in_its_repository(app: App, notes: Repository) -> None:
    """It is the first that matches; a branch that none matches is not protected."""
    admin = Actor(notes.owner)
    target = target_of(app, admin, notes)
    stored = branch_protection.create(app, admin, target, "release/*", ProtectionEdit(enable_push=True))
    assert branch_protection.rule_of(app.database, notes, "release/1") == stored.rule
    assert branch_protection.rule_of(app.database, notes, "main") is None


def test_an_edit_keeps_what_another_request_has_changed(
    app: App, ada: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two requests that change different fields of a rule at the same time both succeed."""
    repository = repositories.create(app, ada, ada, NewRepository(name="notes"))
    arguments = (app, Actor(ada), accessed(app, Actor(ada), repository))
    branch_protection.create(*arguments, "main", ProtectionEdit(enable_push=True))
    read = branch_protection.find

    def read_before_another_edit(app: App, actor: Actor, target: RepositoryAccess, name: str) -> Protection:
        existing = read(app, actor, target, name)
        monkeypatch.setattr(branch_protection, "find", read)
        branch_protection.edit(app, actor, target, name, ProtectionEdit(required_approvals=2))
        return existing

    monkeypatch.setattr(branch_protection, "find", read_before_another_edit)
    edited = branch_protection.edit(*arguments, "main", ProtectionEdit(require_signed_commits=True)).rule
    assert (edited.enable_push, edited.required_approvals, edited.require_signed_commits) == (True, 2, True)
