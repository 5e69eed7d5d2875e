"""Decides whether a change of a branch is allowed by the rules that protect it.

Two moments ask: before a file is committed through the API, and before a push moves a ref. Both get the first rule
that matches the branch: lowest priority first, then plain names before patterns, then the oldest.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.globs import compile_glob, is_plain
from holdfast.hosting.store.protections import Protection, Rule

__all__ = ["BranchChange", "matching", "may_commit", "may_force_push", "may_push", "refusal_of"]


@dataclass(frozen=True, slots=True)
class BranchChange:
    """What is about to happen to a branch; what costs something is asked only when a rule needs it."""

    branch: str
    deletes: bool
    is_forced: Callable[[], bool]
    paths: Callable[[], Iterable[str]]
    unsigned: Callable[[], str | None]
    """The first commit without a signature that counts, if there is one."""


def matching(rules: Iterable[Protection], branch: str) -> Protection | None:
    """Return the rule for a branch."""
    found = [protection for protection in rules if matches(protection.rule_name, branch)]
    if not found:
        return None
    return min(found, key=lambda rule: (rule.priority, not is_plain(rule.rule_name), rule.created_at, rule.id))


def matches(pattern: str, branch: str) -> bool:
    """Tell whether a rule is for a branch; a plain name is, in whatever case."""
    if is_plain(pattern):
        return pattern.casefold() == branch.casefold()
    return compile_glob(pattern, "/").matches(branch)


def listed(user: Account, teams: frozenset[int], users: tuple[int, ...], allowed_teams: tuple[int, ...]) -> bool:
    """Tell whether somebody is on a list, by themselves or through a team."""
    return user.id in users or not teams.isdisjoint(allowed_teams)


def may_push(rule: Rule, user: Account, teams: frozenset[int]) -> bool:
    """Tell whether somebody who may write may push here; administrators are not exempt."""
    if not rule.enable_push:
        return False
    return not rule.enable_push_whitelist or listed(user, teams, rule.push_users, rule.push_teams)


def may_force_push(rule: Rule, user: Account, teams: frozenset[int]) -> bool:
    """Tell whether somebody may replace what is on the branch."""
    if not rule.enable_force_push or not may_push(rule, user, teams):
        return False
    return not rule.enable_force_push_allowlist or listed(
        user, teams, rule.force_push_users, rule.force_push_teams
    )


def file_patterns(text: str) -> list[str]:
    """Split the patterns of a rule."""
    return [part.strip().lower() for part in text.split(";") if part.strip()]


def first_match(text: str, paths: Iterable[str]) -> str | None:
    """Return the first path that one of a rule's patterns matches."""
    patterns = [compile_glob(pattern, "./") for pattern in file_patterns(text)]
    return next((path for path in paths if any(pattern.matches(path.lower()) for pattern in patterns)), None)


def all_match(text: str, paths: Iterable[str]) -> bool:
    """Tell whether every path is matched by one of a rule's patterns, of which there must be one."""
    patterns = [compile_glob(pattern, "./") for pattern in file_patterns(text)]
    return bool(patterns) and all(any(pattern.matches(path.lower()) for pattern in patterns) for path in paths)


def may_commit(protection: Protection, user: Account, teams: frozenset[int], path: str) -> str | None:
    """Return why a file may not be written to a protected branch through the API; None when it may."""
    rule = protection.rule
    if not may_push(rule, user, teams) and not all_match(rule.unprotected_file_patterns, [path]):
        return f"user cannot commit to repo [user: {user.name.lower()}]"
    if first_match(rule.protected_file_patterns, [path]) is not None:
        return f"path is protected and can not be changed [path: {path}]"
    if rule.require_signed_commits:
        return f"user cannot commit to repo [user: {user.name.lower()}]"
    return None


def refusal_of(protection: Protection, change: BranchChange, user: Account, teams: frozenset[int]) -> str | None:
    """Return why a branch may not be changed so, in the words clients know; None when it may."""
    rule, branch = protection.rule, change.branch
    if change.deletes:
        return f"Branch {branch} is protected from deletion"
    forced = change.is_forced()
    if forced and not rule.enable_force_push:
        return f"Branch {branch} is protected from force push"
    if rule.require_signed_commits:
        unsigned = change.unsigned()
        if unsigned is not None:
            return f"Branch {branch} is protected from unverified commit {unsigned}"
    if rule.protected_file_patterns:
        touched = first_match(rule.protected_file_patterns, change.paths())
        if touched is not None:
            return f"Branch {branch} is protected from changing file {touched}"
    if forced and not may_force_push(rule, user, teams):
        return f"Not allowed to force-push to protected branch {branch}"
    if not forced and not may_push(rule, user, teams):
        if rule.unprotected_file_patterns and all_match(rule.unprotected_file_patterns, change.paths()):
            return None
        return f"Not allowed to push to protected branch {branch}"
    return None
