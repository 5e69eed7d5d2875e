"""Code owners: reviewers requested for changed files by the `CODEOWNERS` file of the base branch.

The file has Gitea's syntax: a regular expression that matches a whole path, negated by a leading `!`, then users
and teams (`@org/team`); all matching rules apply. Below `.github/` it has GitHub's syntax: patterns as in
`.gitignore`, where the last matching rule applies.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from holdfast.hosting.app import App
from holdfast.hosting.errors import GitDamaged, GitFailed, NoSuchFolder, NoSuchObject, PatternRefused
from holdfast.hosting.git import history, refs
from holdfast.hosting.git.changes import changes_between
from holdfast.hosting.git.commits import read_commit
from holdfast.hosting.git.encoding import display_name
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.git.trees import MissingPath, find, read_blob
from holdfast.hosting.services import branch_protection
from holdfast.hosting.store import organizations, review_changes, teams
from holdfast.hosting.store import reviews as store
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.globs import compile_glob
from holdfast.hosting.store.issues import Issue
from holdfast.hosting.store.protections import ProtectionRule
from holdfast.hosting.store.regular_expressions import compile_regular_expression
from holdfast.hosting.store.repositories import Repository

__all__ = ["CodeOwners", "OwnerRule", "missing_approvals", "parse", "request_reviews", "rules_for"]

GITHUB: Final = ".github/CODEOWNERS"
FILES: Final = ("CODEOWNERS", "docs/CODEOWNERS", ".gitea/CODEOWNERS", GITHUB)
LARGEST: Final = 256 * 1024
MOST_RULES: Final = 200
MOST_PATHS: Final = 1000
MOST_OWNERS: Final = 50
"""Maximum number of owners whose review is requested."""


@dataclass(frozen=True, slots=True)
class OwnerRule:
    """A line of the file: a test of paths, and the names of their owners."""

    matches: Callable[[str], bool]
    owners: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CodeOwners:
    """The owners of one rule, by id; at least one of them must approve."""

    users: frozenset[int]
    teams: frozenset[int]


def parse(text: str, *, is_github: bool) -> list[OwnerRule]:
    """Parse the rules of a file; invalid lines are skipped."""
    rules: list[OwnerRule] = []
    for line in text.splitlines():
        fields = line.partition("#")[0].split() if not line.lstrip().startswith("#") else []
        owners = tuple(field.removeprefix("@") for field in fields[1:] if field.startswith("@"))
        if not fields or len(rules) == MOST_RULES or (not owners and not is_github):
            continue
        try:
            rules.append(OwnerRule((gitignore_test if is_github else regular_test)(fields[0]), owners))
        except PatternRefused:
            continue
    return rules


def regular_test(pattern: str) -> Callable[[str], bool]:
    """Compile a pattern in Gitea's syntax to a test of a path."""
    expression = compile_regular_expression(pattern.removeprefix("!"))
    if pattern.startswith("!"):
        return lambda path: not expression.matches(path)
    return expression.matches


def gitignore_test(pattern: str) -> Callable[[str], bool]:
    """Compile a pattern in GitHub's syntax to a test of a path."""
    inner = pattern.strip("/")
    is_anchored = pattern.startswith("/") or "/" in inner
    prefix = "" if is_anchored else "{,**/}"
    is_one_level = inner.endswith("*") and "/" in inner
    suffix = "/**" if pattern.endswith("/") else "" if is_one_level else "{,/**}"
    return compile_glob(f"{prefix}{inner}{suffix}", "/").matches


def rules_for(rules: Sequence[OwnerRule], paths: Sequence[str], *, last_counts: bool) -> list[OwnerRule]:
    """Return the rules that apply to paths, without duplicates."""
    if not last_counts:
        return [rule for rule in rules if any(rule.matches(path) for path in paths)]
    backwards = list(reversed(rules))
    rules_by_id: dict[int, OwnerRule] = {}
    for path in paths:
        last = next((rule for rule in backwards if rule.matches(path)), None)
        if last is not None and last.owners:
            rules_by_id[id(last)] = last
    return list(rules_by_id.values())


def read_rules(repo: Repo, commit: str) -> tuple[list[OwnerRule], bool]:
    """Return the rules in a commit's `CODEOWNERS` file, and whether only the last matching rule applies."""
    tree = read_commit(repo, commit).tree
    for path in FILES:
        entry = find(repo, tree, path)
        if not isinstance(entry, MissingPath) and entry.type == "file" and entry.size <= LARGEST:
            is_github = path == GITHUB
            return parse(display_name(read_blob(repo, entry.id)), is_github=is_github), is_github
    return [], False


def matching_rules(app: App, repository: Repository, issue: Issue, head: str) -> list[OwnerRule]:
    """Return the rules that apply to the files a pull request changes."""
    repo = app.copies.update(repository.id)
    base = refs.branch(repo, issue.base_branch)
    if base is None:
        return []
    rules, last_counts = read_rules(repo, base.id)
    if not rules:
        return []
    before = read_commit(repo, history.merge_base(repo, base.id, head) or base.id).tree
    changed = changes_between(repo, before, read_commit(repo, head).tree, most=MOST_PATHS)
    if changed.truncated:
        # Too many files to match: all rules apply.
        return [rule for rule in rules if rule.owners]
    return rules_for(rules, [file.path for file in changed.files], last_counts=last_counts)


def owners_of(app: App, repository: Repository, rules: Sequence[OwnerRule]) -> list[CodeOwners]:
    """Look up the owners of rules; unknown names and users who may not read the pull request are skipped."""
    names = dict.fromkeys(name.casefold() for rule in rules for name in rule.owners)
    prefix = f"{repository.owner.name.casefold()}/"
    people = store.reviewers_named(app.database, repository, [name for name in names if "/" not in name])
    team_names = [name.removeprefix(prefix) for name in names if name.startswith(prefix)]
    team_ids = organizations.teams_by_names(app.database, repository.owner, team_names) if team_names else {}
    with app.database.read() as connection:
        reading = store.teams_reading(connection, repository, list(team_ids.values()))
    owners = []
    for rule in rules:
        folded = [name.casefold() for name in rule.owners]
        its_teams = [name.removeprefix(prefix) for name in folded if name.startswith(prefix)]
        asked = {team_ids[name] for name in its_teams if name in team_ids}
        code_owners = CodeOwners(
            frozenset(people[name].id for name in folded if name in people), frozenset(asked & reading)
        )
        if code_owners.users or code_owners.teams:
            owners.append(code_owners)
    return owners


def required_owners(app: App, repository: Repository, issue: Issue, head: str) -> list[CodeOwners]:
    """Return the owners of the files that a pull request changes; none if the file cannot be read."""
    try:
        return owners_of(app, repository, matching_rules(app, repository, issue, head))
    except (NoSuchFolder, NoSuchObject, GitDamaged, GitFailed):
        return []


def request_reviews(app: App, actor: Account, repository: Repository, issue: Issue) -> None:
    """Request reviews from the owners of the changed files, except the author and those who already reviewed."""
    if issue.is_draft or issue.is_closed:
        return
    owners = required_owners(app, repository, issue, review_changes.current_head(app.database, issue))
    users = frozenset().union(*(code_owners.users for code_owners in owners)) - {issue.author_id or 0}
    numbers = frozenset().union(*(code_owners.teams for code_owners in owners))
    if not users and not numbers:
        return
    rule = branch_protection.rule_of(app.database, repository, issue.base_branch)
    with app.database.read() as connection:
        users -= store.reviewed_by(connection, issue)
        official = store.official_reviewers(connection, repository, rule, users)
        asked_teams = sorted(teams.teams_by_id(connection, numbers).items())[:MOST_OWNERS]
    review_changes.request_reviews(
        app.database,
        repository,
        issue,
        actor,
        users={number: number in official for number in sorted(users)[:MOST_OWNERS]},
        teams={number: branch_protection.is_official_team(rule, team) for number, team in asked_teams},
    )


def missing_approvals(
    app: App, repository: Repository, issue: Issue, head: str, rule: ProtectionRule | None
) -> list[CodeOwners]:
    """Return the owners whose approval is missing; files whose only owner is the author need no approval."""
    owners = required_owners(app, repository, issue, head)
    needs_head = rule is not None and (rule.ignore_stale_approvals or rule.dismiss_stale_approvals)
    with app.database.read() as connection:
        approved = store.current_approvers(connection, issue, head=head if needs_head else None)
        numbers = frozenset().union(*(code_owners.teams for code_owners in owners))
        approved_teams = store.teams_with(connection, numbers, approved)
    return [
        code_owners
        for code_owners in owners
        if (code_owners.users - {issue.author_id or 0} or code_owners.teams)
        and approved.isdisjoint(code_owners.users)
        and approved_teams.isdisjoint(code_owners.teams)
    ]
