"""Which rule is for a branch, and what it allows."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from holdfast.hosting.services import branch_protection
from holdfast.hosting.services.branch_protection import BranchChange, matching, may_commit, refusal_of
from holdfast.hosting.store import accounts
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.protections import Protection, Rule


def rule(name: str, *, priority: int = 1, number: int = 1, created_at: int = 0, **said: Any) -> Protection:
    """Make a rule."""
    return Protection(number, name, priority, msgspec.convert(said, Rule), created_at, 0)


@pytest.fixture
def ada(database: Database) -> Account:
    """Find somebody."""
    return accounts.find_user(database, "admin")


def change(*, deletes: bool = False, forced: bool = False, paths: tuple[str, ...] = ()) -> BranchChange:
    """Make a change of the branch main."""
    return BranchChange("main", deletes, lambda: forced, lambda: paths, lambda: "c0ffee")


def test_the_first_rule_that_matches_counts() -> None:
    """By priority, then plain names before patterns, then by age."""
    glob, plain = rule("m*", number=1), rule("MAIN", number=2)
    assert matching([glob, plain], "main") == plain
    assert matching([glob, replace(plain, priority=2)], "main") == glob
    older = rule("ma*", number=3, created_at=-1)
    assert matching([glob, older], "main") == older
    assert matching([glob, plain], "other") is None
    assert matching([rule("release/*")], "release/1/2") is None


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
def test_what_a_rule_says_about_a_push(
    ada: Account, said: dict[str, Any], what: BranchChange, expected: str | None
) -> None:
    """In the words clients know; administrators are not exempt."""
    assert refusal_of(rule("main", **said), what, ada, frozenset({7})) == expected


def test_a_person_on_the_list_may_push(ada: Account) -> None:
    """By their number, so that a rename changes nothing."""
    listed = rule("main", enable_push=True, enable_push_whitelist=True, push_users=[ada.id])
    assert refusal_of(listed, change(), ada, frozenset()) is None
    assert branch_protection.may_push(listed.rule, ada, frozenset())
    assert not branch_protection.may_force_push(listed.rule, ada, frozenset())


def test_what_a_rule_says_about_one_file(ada: Account) -> None:
    """As a write through the API asks."""
    open_rule = rule("main", enable_push=True, protected_file_patterns="*.lock")
    assert may_commit(open_rule, ada, frozenset(), "a.txt") is None
    assert may_commit(open_rule, ada, frozenset(), "x.lock") == (
        "path is protected and can not be changed [path: x.lock]"
    )
    closed = rule("main", unprotected_file_patterns="notes/*")
    assert may_commit(closed, ada, frozenset(), "notes/a") is None
    assert may_commit(closed, ada, frozenset(), "a") == "user cannot commit to repo [user: admin]"
