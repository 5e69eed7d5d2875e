"""Reviews of pull requests: write, submit, dismiss, request and delete them."""

from collections.abc import Sequence
from typing import Final

import msgspec

from holdfast.hosting import access
from holdfast.hosting.access import Actor, RepositoryAccess, Unit
from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    Forbidden,
    NoSuchAccount,
    NoSuchTeam,
    Permission,
    ReviewRefused,
)
from holdfast.hosting.git import refs
from holdfast.hosting.services import branch_protection, pull_merges
from holdfast.hosting.services.cross_references import references_of_review
from holdfast.hosting.services.fields import check_length
from holdfast.hosting.services.line_comments import LineDraft, new_line_comments
from holdfast.hosting.services.revisions import open_git
from holdfast.hosting.store import accounts, organizations, review_changes, teams
from holdfast.hosting.store import reviews as store
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.cross_references import CrossReferences
from holdfast.hosting.store.issues import Issue
from holdfast.hosting.store.review_changes import NewReview
from holdfast.hosting.store.reviews import Review, ReviewState
from holdfast.hosting.store.teams import Team

__all__ = [
    "LONGEST_MESSAGE",
    "ReviewDraft",
    "ReviewRequests",
    "cancel_requests",
    "check_reviewers",
    "create",
    "delete",
    "dismiss",
    "find",
    "head_of",
    "list_all",
    "named_reviewers",
    "request",
    "submit",
    "undismiss",
]

MOST_REVIEWERS: Final = 50
"""Maximum users, and maximum teams, per request."""
LONGEST_MESSAGE: Final = 65_536
EVENTS: Final = {
    "": ReviewState.PENDING,
    "PENDING": ReviewState.PENDING,
    "APPROVED": ReviewState.APPROVED,
    "REQUEST_CHANGES": ReviewState.REQUEST_CHANGES,
    "COMMENT": ReviewState.COMMENT,
}
OWN: Final = {
    ReviewState.APPROVED: "approve your own pull is not allowed",
    ReviewState.REQUEST_CHANGES: "reject your own pull is not allowed",
}


class ReviewDraft(msgspec.Struct, frozen=True, kw_only=True):
    """A review to create; an empty event leaves it pending, and an empty commit is the head."""

    event: str = ""
    body: str = ""
    commit_id: str = ""
    comments: Sequence[LineDraft] = ()


class ReviewRequests(msgspec.Struct, frozen=True, kw_only=True):
    """Users and teams, by name, whose review is requested."""

    reviewers: Sequence[str] = ()
    team_reviewers: Sequence[str] = ()


def viewer_id(actor: Actor) -> int | None:
    """Return the id of the acting user; None for anonymous requests."""
    return None if actor.user is None else actor.user.id


def head_of(app: App, issue: Issue) -> str:
    """Return the head commit of a pull request; a review of another commit is stale."""
    return review_changes.current_head(app.database, issue)


def list_all(app: App, actor: Actor, issue: Issue, *, skip: int, limit: int) -> tuple[list[Review], int]:
    """Return one page of the reviews of a pull request, and the total; of pending ones only the actor's."""
    return store.reviews_of(app.database, issue, viewer_id(actor), skip=skip, limit=limit)


def find(app: App, actor: Actor, issue: Issue, number: int) -> Review:
    """Return a review by id; raise `NoSuchReview` if it is missing or the actor may not see it."""
    return store.find_review(app.database, issue, number, viewer_id(actor))


def state_of(event: str, user: Account, issue: Issue) -> ReviewState:
    """Return the review state of an event; raise an error for those the pull request's author may not use."""
    state = EVENTS.get(event)
    if state is None:
        raise ReviewRefused(f"[Event]: must be one of {', '.join(filter(None, EVENTS))}")
    if issue.author_id == user.id and state in OWN:
        raise ReviewRefused(OWN[state])
    return state


def create(app: App, actor: Actor, target: RepositoryAccess, issue: Issue, draft: ReviewDraft) -> Review:
    """Create a review, which completes a pending one of the same user.

    A locked pull request requires write access.
    """
    user = access.require_comment(actor, target, issue)
    state = state_of(draft.event, user, issue)
    check_length(draft.body, "Body", LONGEST_MESSAGE)
    commit = reviewed_commit(app, target, issue, draft.commit_id)
    new = NewReview(
        state=state,
        body=draft.body,
        commit_id=commit,
        is_official=is_official(app, target, issue, user, state),
        comments=new_line_comments(app, target, issue, draft.comments, commit),
        references=review_references(app, actor, target, issue, state=state, draft=draft),
    )
    saved = review_changes.save_review(app.database, target.repository, issue, user, new)
    pull_merges.try_scheduled(app, target.repository.id, issue.head_sha)
    return saved


def submit(
    app: App, actor: Actor, target: RepositoryAccess, issue: Issue, review: Review, *, event: str, body: str
) -> Review:
    """Submit the actor's pending review."""
    user = access.require_comment(actor, target, issue)
    if review.state != ReviewState.PENDING:
        raise ReviewRefused("only a pending review can be submitted")
    state = state_of(event, user, issue)
    if state == ReviewState.PENDING:
        raise ReviewRefused("[Event]: a review is submitted as APPROVED, REQUEST_CHANGES or COMMENT")
    check_length(body, "Body", LONGEST_MESSAGE)
    new = NewReview(
        state=state,
        body=body,
        commit_id=review.commit_id or head_of(app, issue),
        is_official=is_official(app, target, issue, user, state),
        references=review_references(app, actor, target, issue, state=state, draft=ReviewDraft(body=body)),
    )
    submitted = review_changes.submit_review(app.database, target.repository, issue, user, review=review, new=new)
    pull_merges.try_scheduled(app, target.repository.id, issue.head_sha)
    return submitted


def review_references(
    app: App, actor: Actor, target: RepositoryAccess, issue: Issue, *, state: ReviewState, draft: ReviewDraft
) -> dict[str, CrossReferences]:
    """Return the issues that a review mentions once it is submitted, with what was pending before."""
    if state == ReviewState.PENDING:
        return {}
    user = access.require_login(actor)
    texts = [draft.body, *(line.body.strip() for line in draft.comments)]
    pending = review_changes.pending_texts(app.database, issue, user)
    return references_of_review(app, actor, target, [*texts, *pending])


def reviewed_commit(app: App, target: RepositoryAccess, issue: Issue, commit: str) -> str:
    """Return the reviewed commit, the head by default; raise an error if it does not exist."""
    head = head_of(app, issue)
    if commit in {"", head}:
        return head
    access.require_read(target, Unit.CODE)
    if not refs.is_commit(open_git(app, target), commit):
        raise ReviewRefused(f"[CommitID]: there is no commit {commit[:100]}")
    return commit


def is_official(app: App, target: RepositoryAccess, issue: Issue, user: Account, state: ReviewState) -> bool:
    """Return whether a user's review is official: it counts for branch protection."""
    if state not in store.DECISIONS:
        return False
    with app.database.read() as connection:
        rule = branch_protection.rule_of(app.database, target.repository, issue.base_branch)
        return bool(store.official_reviewers(connection, target.repository, rule, [user.id]))


def delete(app: App, actor: Actor, target: RepositoryAccess, issue: Issue, review: Review) -> None:
    """Delete a review with its line comments; allowed for the reviewer and repository administrators."""
    user = access.require_login(actor)
    access.require_unarchived(target)
    if review.reviewer_id != user.id and not target.permissions.is_admin:
        raise Forbidden(Permission.ADMIN)
    review_changes.delete_review(app.database, target.repository, issue, user, review)


def dismiss(
    app: App, actor: Actor, target: RepositoryAccess, issue: Issue, review: Review, *, message: str, priors: bool
) -> Review:
    """Dismiss an approval or a request for changes; with `priors` also the reviewer's earlier ones."""
    user = require_dismissal(app, actor, target, issue)
    check_length(message, "Message", LONGEST_MESSAGE)
    dismissed = review_changes.dismiss_review(
        app.database, target.repository, issue, user, review, message=message, priors=priors
    )
    pull_merges.try_scheduled(app, target.repository.id, issue.head_sha)
    return dismissed


def undismiss(app: App, actor: Actor, target: RepositoryAccess, issue: Issue, review: Review) -> Review:
    """Undo the dismissal of a review."""
    user = require_dismissal(app, actor, target, issue)
    return review_changes.undismiss_review(app.database, target.repository, issue, user, review)


def require_dismissal(app: App, actor: Actor, target: RepositoryAccess, issue: Issue) -> Account:
    """Return the acting user; raise an error unless they are an administrator or may bypass branch protection."""
    user = access.require_login(actor)
    access.require_unarchived(target)
    if target.permissions.is_admin:
        return user
    rule = branch_protection.rule_of(app.database, target.repository, issue.base_branch)
    if rule is not None and rule.enable_bypass_allowlist:
        if user.id in rule.bypass_users:
            return user
        with app.database.read() as connection:
            if store.team_members_of(connection, rule.bypass_teams, [user.id]):
                return user
    raise Forbidden(Permission.ADMIN)


def request(app: App, actor: Actor, target: RepositoryAccess, issue: Issue, asked: ReviewRequests) -> list[Review]:
    """Request reviews from users and teams; return the new requests. For the author, or with write access."""
    user = access.require_issue_edit(actor, target, issue, issue.author_id)
    people, asked_teams = named_reviewers(app, target, asked)
    refuse_author(people, issue.author_id)
    rule = branch_protection.rule_of(app.database, target.repository, issue.base_branch)
    ids = [person.id for person in people]
    with app.database.read() as connection:
        official = store.official_reviewers(connection, target.repository, rule, ids)
    return review_changes.request_reviews(
        app.database,
        target.repository,
        issue,
        user,
        users={number: number in official for number in ids},
        teams={team.id: branch_protection.is_official_team(rule, team) for team in asked_teams},
    )


def check_reviewers(app: App, target: RepositoryAccess, requests: ReviewRequests, author: Account) -> None:
    """Raise an error if reviews of a new pull request cannot be requested from users or teams."""
    people, _ = named_reviewers(app, target, requests)
    refuse_author(people, author.id)


def refuse_author(people: Sequence[Account], author_id: int | None) -> None:
    """Raise `ReviewRefused` if the author of a pull request is among the requested reviewers."""
    if any(person.id == author_id for person in people):
        raise ReviewRefused("poster of pr can't be reviewer")


def cancel_requests(
    app: App, actor: Actor, target: RepositoryAccess, issue: Issue, requests: ReviewRequests
) -> None:
    """Cancel review requests; for the author, with write access, and for the requested users themselves."""
    user = access.require_login(actor)
    check_length(requests.reviewers, "Reviewers", MOST_REVIEWERS)
    only_self = [name.casefold() for name in requests.reviewers] == [user.name.casefold()]
    if only_self and not requests.team_reviewers:
        access.require_unarchived(target)
        access.require_read(target, Unit.PULLS)
    else:
        user = access.require_issue_edit(actor, target, issue, issue.author_id)
    people = accounts.by_names(app.database, list(requests.reviewers))
    for name in requests.reviewers:
        if name.casefold() not in people:
            raise NoSuchAccount(name)
    numbers = team_ids(app, target, requests.team_reviewers)
    review_changes.remove_requests(
        app.database,
        target.repository,
        issue,
        user,
        users=[person.id for person in people.values()],
        teams=numbers,
    )


def named_reviewers(
    app: App, target: RepositoryAccess, requests: ReviewRequests
) -> tuple[list[Account], list[Team]]:
    """Return the users and teams to request; raise an error for those who may not read the pull request."""
    check_length(requests.reviewers, "Reviewers", MOST_REVIEWERS)
    reviewers = store.reviewers_named(app.database, target.repository, requests.reviewers)
    missing = [name for name in requests.reviewers if name.casefold() not in reviewers]
    if missing:
        existing_users = accounts.by_names(app.database, missing)
        for name in missing:
            if name.casefold() not in existing_users:
                raise NoSuchAccount(name)
        raise ReviewRefused(f"{missing[0]} cannot read this pull request")
    numbers = team_ids(app, target, requests.team_reviewers)
    with app.database.read() as connection:
        asked_teams = teams.teams_by_id(connection, numbers)
        covering = store.teams_reading(connection, target.repository, numbers)
    for team in asked_teams.values():
        if team.id not in covering:
            raise ReviewRefused(f"the team {team.name} cannot read this pull request")
    return list(reviewers.values()), list(asked_teams.values())


def team_ids(app: App, target: RepositoryAccess, names: Sequence[str]) -> list[int]:
    """Return the ids of teams of the repository's organization by name."""
    check_length(names, "TeamReviewers", MOST_REVIEWERS)
    if not names:
        return []
    owner = target.repository.owner
    if not owner.is_organization:
        raise ReviewRefused("only repositories of an organization have teams")
    ids_by_name = organizations.teams_by_names(app.database, owner, names)
    for name in names:
        if name.casefold() not in ids_by_name:
            raise NoSuchTeam(f"team does not exist [org_id: {owner.id}, name: {name}]")
    return list(ids_by_name.values())
