"""Merge requirements of pull requests: state, merge style, reviews, statuses and overrides."""

import dataclasses
from typing import Any

import msgspec
import pytest

from holdfast.hosting.app import App
from holdfast.hosting.git import changes
from holdfast.hosting.services import pulls, repositories
from holdfast.hosting.services.issues import IssueDraft
from holdfast.hosting.services.merge_requirements import (
    MergeRequirement,
    MergeStyle,
    UnmetRequirement,
    allowed_styles,
    may_override,
    unmet_requirements,
)
from holdfast.hosting.services.repositories import NewRepository, RepositoryEdit
from holdfast.hosting.services.revisions import open_latest
from holdfast.hosting.store import commit_statuses, protections, review_changes
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.issues import Issue
from holdfast.hosting.store.protections import ProtectionRule
from holdfast.hosting.store.repositories import DeclaredSettings, repository_by_id
from holdfast.hosting.store.review_changes import NewReview
from holdfast.hosting.store.reviews import ReviewState
from tests.hosting.repository_helpers import READ, WRITE, add_commit, let_in, make_people
from tests.hosting.services.scenario import Scenario


@pytest.fixture
def scenario(app: App) -> Scenario:
    """Create the users, and a repository whose branch fix adds the file a to main, which the owner owns."""
    owner, writer, reader = make_people(app.database, "ada", "bob", "eve")
    ship = repositories.create(app, owner, owner, NewRepository(name="ship"), {"b": b"b", "CODEOWNERS": b"a @ada"})
    let_in(app.database, ship, writer, WRITE)
    let_in(app.database, ship, reader, READ)
    add_commit(app.database, ship, "fix")
    return Scenario(app, repository_by_id(app.database, ship.id), owner, writer, reader)


@pytest.fixture
def pull(scenario: Scenario) -> Issue:
    """Open a pull request of fix into main."""
    return pulls.create(*scenario.caller(scenario.writer), IssueDraft(title="p"), head="fix", base="main")


def protect(scenario: Scenario, **rule: Any) -> None:
    """Protect main."""
    protections.create_protection(scenario.app.database, scenario.repository, "main", ProtectionRule(**rule))


def find_unmet(
    scenario: Scenario, pull: Issue, user: Account | None = None, style: MergeStyle = MergeStyle.MERGE
) -> list[UnmetRequirement]:
    """Return the requirements that are not met."""
    user = user or scenario.writer
    app, _, target = scenario.caller(user)
    repo = open_latest(app, target)
    return unmet_requirements(app, target, user, pull, repo=repo, base=pull.base_sha, style=style)


def unmet(
    scenario: Scenario, pull: Issue, user: Account | None = None, style: MergeStyle = MergeStyle.MERGE
) -> dict[str, str]:
    """Return the requirements that are not met, with their messages."""
    return {str(item.requirement): item.message for item in find_unmet(scenario, pull, user, style)}


def review(scenario: Scenario, pull: Issue, state: str) -> None:
    """Write an official review of the owner."""
    new = NewReview(state=ReviewState(state), body="b", commit_id=pull.head_sha, is_official=True)
    review_changes.save_review(scenario.app.database, scenario.repository, pull, scenario.owner, new)


def test_writers_merge_where_no_rule_is(scenario: Scenario, pull: Issue) -> None:
    """Without a rule a writer may merge, and a reader lacks the permission."""
    assert unmet(scenario, pull) == {}
    assert unmet(scenario, pull, scenario.reader) == {"permission": "User not allowed to merge PR"}


@pytest.mark.parametrize(
    ("columns", "requirement"),
    [
        ({"merged_at": 5, "is_closed": True}, MergeRequirement.NOT_MERGED),
        ({"is_closed": True, "is_draft": True}, MergeRequirement.OPEN),
        ({"is_draft": True}, MergeRequirement.NOT_DRAFT),
    ],
)
def test_the_state_of_a_pull_request_comes_before_everything_else(
    scenario: Scenario, pull: Issue, columns: dict[str, Any], requirement: MergeRequirement
) -> None:
    """A merged, closed or draft pull request has this one reason, even for users who may not merge."""
    changed = type(pull)(**{name: columns.get(name, getattr(pull, name)) for name in pull.__dataclass_fields__})
    assert list(unmet(scenario, changed, scenario.reader)) == [requirement]


def test_a_style_must_be_allowed(scenario: Scenario, pull: Issue) -> None:
    """By default a repository allows every merge style but a manual merge, and its settings change that."""
    assert list(unmet(scenario, pull, style=MergeStyle.MANUALLY_MERGED)) == ["style"]
    declared = msgspec.json.decode(scenario.repository.declared, type=DeclaredSettings)
    assert allowed_styles(declared) == set(MergeStyle) - {MergeStyle.MANUALLY_MERGED}
    only = msgspec.structs.replace(declared, allow_merge_commits=False, allow_manual_merge=True)
    assert allowed_styles(only) == set(MergeStyle) - {MergeStyle.MERGE}


def test_reviews_are_required_by_a_rule(scenario: Scenario, pull: Issue) -> None:
    """An approval meets the requirement, and a rejection is another unmet one."""
    protect(scenario, required_approvals=1, block_on_rejected_reviews=True)
    assert unmet(scenario, pull) == {"approvals": "the pull request has 0 of 1 required approvals"}
    review(scenario, pull, "REQUEST_CHANGES")
    assert set(unmet(scenario, pull)) == {"approvals", "no_rejections"}
    review(scenario, pull, "APPROVED")
    assert unmet(scenario, pull) == {}


def test_statuses_are_required_by_a_rule(scenario: Scenario, pull: Issue) -> None:
    """The message names the missing, pending and failing statuses."""
    protect(scenario, enable_status_check=True, status_check_contexts=("build", "test", "lint"))

    def report(context: str, state: str) -> None:
        with scenario.app.database.quick_write() as link:
            created = (link, scenario.repository, scenario.owner, pull.head_sha)
            commit_statuses.add_status(*created, context=context, state=state)

    report("build", "pending")
    report("lint", "failure")
    assert unmet(scenario, pull) == {
        "statuses": "required statuses have not succeeded (missing: test; pending: build; failing: lint)"
    }
    for context in ("build", "test", "lint"):
        report(context, "success")
    assert unmet(scenario, pull) == {}


@pytest.mark.parametrize(
    ("rule", "requirement", "can_wait"),
    [
        ({"protected_file_patterns": "A"}, MergeRequirement.UNPROTECTED_FILES, True),
        ({"block_on_outdated_branch": True}, MergeRequirement.UP_TO_DATE, True),
        ({"block_on_codeowner_reviews": True}, MergeRequirement.CODE_OWNERS, True),
        ({"block_on_official_review_requests": True}, MergeRequirement.NO_REVIEW_REQUESTS, True),
        ({"required_approvals": 1}, MergeRequirement.APPROVALS, True),
        ({"enable_status_check": True, "status_check_contexts": ("t",)}, MergeRequirement.STATUSES, True),
        ({"require_signed_commits": True}, MergeRequirement.SIGNED_COMMITS, False),
        ({"enable_merge_whitelist": True}, MergeRequirement.PERMISSION, False),
    ],
)
def test_a_rule_keeps_writers_from_merging(
    scenario: Scenario, pull: Issue, rule: dict[str, Any], requirement: MergeRequirement, *, can_wait: bool
) -> None:
    """Each rule is one unmet requirement, and `can_wait` says whether later events can meet it."""
    protect(scenario, **rule)
    assert [(one.requirement, one.can_wait) for one in find_unmet(scenario, pull)] == [(requirement, can_wait)]


def test_more_files_than_can_be_compared_with_patterns_may_be_protected(
    scenario: Scenario, pull: Issue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A protected file could be behind as many others, whose list is cut off."""
    protect(scenario, protected_file_patterns="A")
    monkeypatch.setattr(changes, "MOST_ENTRIES", 1)
    assert unmet(scenario, pull) == {
        "unprotected_files": "too many files are changed to check them for protected ones"
    }


def test_a_manual_merge_needs_nothing_of_a_rule(scenario: Scenario, pull: Issue) -> None:
    """A manual merge exists already and need not meet the rule, while any other merge has to."""
    protect(scenario, require_signed_commits=True)
    edit = RepositoryEdit(declared={"allow_manual_merge": True})
    edited = repositories.edit(*scenario.caller(scenario.owner), edit)
    scenario = dataclasses.replace(scenario, repository=edited)
    assert unmet(scenario, pull, style=MergeStyle.MANUALLY_MERGED) == {}
    assert list(unmet(scenario, pull)) == ["signed_commits"]


def test_a_merge_can_wait_for_a_rejection_to_be_withdrawn(scenario: Scenario, pull: Issue) -> None:
    """Where a rule blocks rejected reviews, a rejection is a requirement that can still be met later."""
    review(scenario, pull, "REQUEST_CHANGES")
    protect(scenario, block_on_rejected_reviews=True)
    (one,) = find_unmet(scenario, pull)
    assert (one.requirement, one.can_wait) == (MergeRequirement.NO_REJECTIONS, True)


def test_whoever_is_on_the_merge_allowlist_merges(scenario: Scenario, pull: Issue) -> None:
    """The owner does not merge without being on the list, and a reader on the list still lacks write access."""
    protect(scenario, enable_merge_whitelist=True, merge_users=(scenario.writer.id, scenario.reader.id))
    assert unmet(scenario, pull) == {}
    assert list(unmet(scenario, pull, scenario.owner)) == ["permission"]
    assert list(unmet(scenario, pull, scenario.reader)) == ["permission"]


def test_administrators_override_unless_the_rule_forbids_it(scenario: Scenario, pull: Issue) -> None:
    """A user on the bypass list of the rule may override it, even if administrators may not."""

    def may(user: Account) -> bool:
        app, _, target = scenario.caller(user)
        return may_override(app, target, user, pull)

    assert (may(scenario.owner), may(scenario.writer)) == (True, False)
    bypass = (scenario.writer.id,)
    protect(scenario, block_admin_merge_override=True, enable_bypass_allowlist=True, bypass_users=bypass)
    assert (may(scenario.owner), may(scenario.writer)) == (False, True)
