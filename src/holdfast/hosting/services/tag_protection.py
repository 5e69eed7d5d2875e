"""Tag protection: who may create, move and delete tags whose names match a pattern.

A pattern is a glob, or a regular expression between slashes. A tag that no rule matches requires write access
only. Otherwise one of the matching rules must name the user or one of their teams; a rule that names nobody allows
nobody.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

from holdfast.hosting import access
from holdfast.hosting.access import Actor, RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.errors import InvalidValue, PatternRefused
from holdfast.hosting.services.branch_protection import LONGEST_RULE_NAME, team_ids, user_ids
from holdfast.hosting.services.fields import check_length, check_required
from holdfast.hosting.services.retries import retry
from holdfast.hosting.store import tag_protections as store
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.globs import Glob, compile_glob
from holdfast.hosting.store.regular_expressions import compile_regular_expression
from holdfast.hosting.store.tag_protections import TagProtection

__all__ = ["TagProtectionEdit", "create", "delete", "edit", "find", "is_allowed", "list_all", "matches"]

FIELD: Final = "NamePattern"
# An escaped character, a bracketed class or another character.
TOKEN: Final = re.compile(r"\\.|\[\^?(?:\\.|.)(?:\\.|[^\]\\])*\]|.", re.DOTALL)


class TagProtectionEdit(msgspec.Struct, frozen=True):
    """Changes to a rule, by API field names; UNSET fields keep their value."""

    name_pattern: str | UnsetType = UNSET
    whitelist_usernames: list[str] | UnsetType = UNSET
    whitelist_teams: list[str] | UnsetType = UNSET


def compile_pattern(pattern: str) -> Glob:
    """Compile a pattern; raise `PatternRefused` for an invalid one."""
    if len(pattern) < 3 or not (pattern.startswith("/") and pattern.endswith("/")):
        return compile_glob(pattern, "")
    return compile_regular_expression("|".join(map(unanchored, alternatives(pattern[1:-1]))))


def alternatives(expression: str) -> Iterator[str]:
    """Yield the alternatives of a regular expression, which may each have anchors."""
    start = depth = 0
    for token in TOKEN.finditer(expression):
        depth += {"(": 1, ")": -1}.get(token[0], 0)
        if token[0] == "|" and not depth:
            yield expression[start : token.start()]
            start = token.end()
    yield expression[start:]


def unanchored(alternative: str) -> str:
    """Return an alternative that matches a whole name, but without an anchor in any part of it."""
    *_, end = ("", *TOKEN.findall(alternative))
    before = "" if alternative.startswith("^") else ".*"
    after = "" if end == "$" else ".*"
    return f"{before}({alternative.removeprefix('^')[: -1 if end == '$' else None]}){after}"


def matches(pattern: str, tag: str) -> bool:
    """Return whether a pattern matches the name of a tag."""
    return compile_pattern(pattern).matches(tag)


def is_allowed(
    rules: Sequence[TagProtection], tag: str, user: Account, teams: frozenset[int], *, by_deploy_key: bool = False
) -> bool:
    """Return whether a user may change a tag; administrators and deploy keys are not exempt."""
    tag_protections = [rule for rule in rules if matches(rule.name_pattern, tag)]
    if not tag_protections:
        return True
    if by_deploy_key:
        return False
    return any(user.id in rule.users or not teams.isdisjoint(rule.teams) for rule in tag_protections)


def list_all(app: App, actor: Actor, target: RepositoryAccess) -> list[TagProtection]:
    """List the rules of a repository."""
    access.require_repository_admin(actor, target)
    return store.tag_protections_of(app.database, target.repository)


def find(app: App, actor: Actor, target: RepositoryAccess, number: int) -> TagProtection:
    """Return a rule by id; raise `NoSuchProtection` if there is none."""
    access.require_repository_admin(actor, target)
    return store.find_tag_protection(app.database, target.repository, number)


def create(
    app: App, actor: Actor, target: RepositoryAccess, tag_protection_edit: TagProtectionEdit
) -> TagProtection:
    """Protect the tags that a pattern matches."""
    access.require_repository_admin(actor, target)
    access.require_unarchived(target)
    pattern = check_pattern("" if tag_protection_edit.name_pattern is UNSET else tag_protection_edit.name_pattern)
    users = (
        ()
        if tag_protection_edit.whitelist_usernames is UNSET
        else user_ids(app, tag_protection_edit.whitelist_usernames)
    )
    teams = (
        ()
        if tag_protection_edit.whitelist_teams is UNSET
        else team_ids(app, target, tag_protection_edit.whitelist_teams)
    )
    return store.add_tag_protection(app.database, target.repository, pattern, users, teams)


def edit(
    app: App, actor: Actor, target: RepositoryAccess, number: int, changes: TagProtectionEdit
) -> TagProtection:
    """Change a rule; what another request has changed meanwhile is kept."""
    return retry(lambda: try_to_edit(app, actor, target, number, changes))


def try_to_edit(
    app: App, actor: Actor, target: RepositoryAccess, number: int, changes: TagProtectionEdit
) -> TagProtection:
    """Change a rule; raise `Outdated` if another request changes it too."""
    rule = find(app, actor, target, number)
    access.require_unarchived(target)
    pattern = rule.name_pattern if changes.name_pattern is UNSET else check_pattern(changes.name_pattern)
    users = rule.users if changes.whitelist_usernames is UNSET else user_ids(app, changes.whitelist_usernames)
    teams = rule.teams if changes.whitelist_teams is UNSET else team_ids(app, target, changes.whitelist_teams)
    return store.change_tag_protection(
        app.database, target.repository, rule, pattern=pattern, users=users, teams=teams
    )


def delete(app: App, actor: Actor, target: RepositoryAccess, number: int) -> None:
    """Delete a rule."""
    store.delete_tag_protection(app.database, find(app, actor, target, number).id)


def check_pattern(pattern: str) -> str:
    """Return a pattern without surrounding spaces; raise an error for an invalid pattern."""
    stripped = pattern.strip()
    check_required(stripped, FIELD)
    check_length(stripped, FIELD, LONGEST_RULE_NAME)
    try:
        compile_pattern(stripped)
    except PatternRefused as error:
        raise InvalidValue(FIELD, str(error)) from None
    return stripped
