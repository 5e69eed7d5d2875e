"""Changes of reviews: submitted, dismissed, requested and deleted, with timeline entries and events."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec
from sqlalchemy import (
    ColumnElement,
    Connection,
    and_,
    bindparam,
    delete,
    func,
    insert,
    literal,
    or_,
    select,
    true,
    update,
)

from holdfast.hosting.errors import NoSuchReview, ReviewRefused
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.cross_references import CrossReferences, add_references, referenced_repositories
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.issue_transactions import Issue, IssueTransaction, issue_transaction
from holdfast.hosting.store.issues import refresh_issue
from holdfast.hosting.store.prepared_statements import Link, Statement
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.reviews import DECISIONS, REVIEW, Review, ReviewState
from holdfast.hosting.store.tables import comments, refs, review_comments, reviews, team_members

__all__ = [
    "PENDING_KIND",
    "LinePlace",
    "NewLineComment",
    "NewReview",
    "current_head",
    "delete_review",
    "dismiss_approvals",
    "dismiss_review",
    "pending_texts",
    "remove_requests",
    "request_reviews",
    "save_review",
    "set_resolved",
    "stale_approvals",
    "submit_review",
    "undismiss_review",
]

PENDING_KIND: Final = "pending_code"
"""The kind of line comments of a pending review, which are on no timeline yet."""
EVENTS: Final = {
    ReviewState.APPROVED: "review_approved",
    ReviewState.REQUEST_CHANGES: "review_rejected",
    ReviewState.COMMENT: "review_comment",
}
MOST_COMMENTS: Final = 1000
"""The maximum number of line comments of a review."""
HEADS = Statement(
    select(refs.c.name, refs.c.target).where(
        refs.c.repository_id == bindparam("repository_id"),
        refs.c.name.in_((bindparam("pull_ref"), bindparam("branch_ref"))),
    )
)
STALE = Statement(
    select(reviews.c.id)
    .where(
        reviews.c.issue_id == bindparam("of_issue"),
        reviews.c.state == "APPROVED",
        reviews.c.commit_id != bindparam("new_head"),
        ~reviews.c.is_dismissed,
    )
    .order_by(reviews.c.id)
)
DISMISS = Statement(
    update(reviews)
    .where(reviews.c.id == bindparam("number"))
    .values(is_dismissed=true(), updated_at=bindparam("moment"))
)
ADD_DISMISSAL = Statement(
    insert(comments).values(
        issue_id=bindparam("issue_id"),
        kind=literal("dismiss_review"),
        author_id=bindparam("author_id"),
        body=literal(""),
        details=bindparam("details"),
        created_at=bindparam("moment"),
        updated_at=bindparam("moment"),
    )
)


@dataclass(frozen=True, slots=True)
class LinePlace:
    """The position of a line comment; the fields are the columns of the table, in this order."""

    comment_id: int
    review_id: int
    path: str
    line: int
    is_old_side: bool
    """Whether the line is in the file before the change."""
    commit_id: str
    """The head commit that was commented on."""
    line_commit_id: str
    """The commit that contains the line: the head, or on the old side the merge base."""
    blob_id: str
    diff_hunk: str
    resolver_id: int | None
    resolved_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NewLineComment:
    """A line comment to add to a review."""

    body: str
    path: str
    line: int
    is_old_side: bool
    commit_id: str
    line_commit_id: str
    blob_id: str
    diff_hunk: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewReview:
    """A review to save, pending or submitted."""

    state: ReviewState
    body: str
    commit_id: str
    is_official: bool = False
    comments: Sequence[NewLineComment] = ()
    references: Mapping[str, CrossReferences] = field(default_factory=dict)
    """The issues that are mentioned, by the text of the review or line comment that does."""

    @property
    def repository_ids(self) -> set[int]:
        """The other repositories that have some of the issues that are mentioned."""
        return {number for references in self.references.values() for number in references.repository_ids}


def current_head(database: Database, issue: Issue) -> str:
    """Return the commit that a pull request would merge."""
    pull_ref, branch_ref = f"refs/pull/{issue.number}/head", f"refs/heads/{issue.head_branch}"
    rows = database.rows(HEADS, repository_id=issue.repository_id, pull_ref=pull_ref, branch_ref=branch_ref)
    targets: dict[str, str] = dict(rows)
    if pull_ref in targets:
        return targets[pull_ref]
    return issue.head_sha if issue.is_closed else targets.get(branch_ref, issue.head_sha)


def save_review(database: Database, repository: Repository, issue: Issue, user: Account, new: NewReview) -> Review:
    """Add a review, or complete the user's pending one; a state other than PENDING submits it."""
    with issue_transaction(database, repository, user, others=new.repository_ids) as change:
        issue = refresh_issue(change.connection, repository, issue)
        review = pending_review(change, issue, new)
        add_line_comments(change, issue, review, new.comments)
        if new.state != ReviewState.PENDING:
            return submit(change, issue, review, new)
        return set_columns(change, review, body=new.body or review.body, commit_id=new.commit_id)


def submit_review(
    database: Database, repository: Repository, issue: Issue, user: Account, *, review: Review, new: NewReview
) -> Review:
    """Submit a pending review."""
    with issue_transaction(database, repository, user, others=new.repository_ids) as change:
        issue = refresh_issue(change.connection, repository, issue)
        review = refresh_review(change.connection, review)
        if review.state != ReviewState.PENDING:
            raise ReviewRefused("only a pending review can be submitted")
        return submit(change, issue, review, new)


def pending_texts(database: Database, issue: Issue, user: Account) -> list[str]:
    """Return the texts of a user's pending review of a pull request: its own, and those of its line comments."""
    own = select(reviews.c.body).where(
        reviews.c.issue_id == issue.id,
        reviews.c.reviewer_id == user.id,
        reviews.c.state == ReviewState.PENDING,
    )
    of_lines = (
        select(comments.c.body)
        .where(
            comments.c.issue_id == issue.id,
            comments.c.author_id == user.id,
            comments.c.kind == PENDING_KIND,
        )
        .order_by(comments.c.id)
        .limit(MOST_COMMENTS)
    )
    with database.read() as connection:
        return [*connection.execute(own).scalars(), *connection.execute(of_lines).scalars()]


def pending_review(change: IssueTransaction, issue: Issue, new: NewReview) -> Review:
    """Return the acting user's pending review of a pull request, creating it if there is none."""
    query = select(*REVIEW).where(
        reviews.c.issue_id == issue.id,
        reviews.c.reviewer_id == change.actor.id,
        reviews.c.state == ReviewState.PENDING,
    )
    row = change.connection.execute(query).one_or_none()
    if row is None:
        values = {
            "issue_id": issue.id,
            "reviewer_id": change.actor.id,
            "state": ReviewState.PENDING.value,
            "commit_id": new.commit_id,
            "created_at": change.now,
            "updated_at": change.now,
        }
        row = change.connection.execute(insert(reviews).values(**values).returning(*REVIEW)).one()
    return Review(*row)


def add_line_comments(
    change: IssueTransaction, issue: Issue, review: Review, new: Sequence[NewLineComment]
) -> None:
    """Add line comments to a pending review."""
    if not new:
        return
    if comment_count(change.connection, review) + len(new) > MOST_COMMENTS:
        raise ReviewRefused(f"a review has at most {MOST_COMMENTS} line comments")
    details = msgspec.json.encode({"review_id": review.id}).decode()
    rows = [
        {
            "issue_id": issue.id,
            "kind": PENDING_KIND,
            "author_id": change.actor.id,
            "body": new_line_comment.body,
            "details": details,
            "created_at": change.now,
            "updated_at": change.now,
        }
        for new_line_comment in new
    ]
    added = insert(comments).returning(comments.c.id, sort_by_parameter_order=True)
    ids = change.connection.execute(added, rows).scalars().all()
    places = [
        {
            "comment_id": number,
            "review_id": review.id,
            "path": new_line_comment.path,
            "line": new_line_comment.line,
            "is_old_side": new_line_comment.is_old_side,
            "commit_id": new_line_comment.commit_id,
            "line_commit_id": new_line_comment.line_commit_id,
            "blob_id": new_line_comment.blob_id,
            "diff_hunk": new_line_comment.diff_hunk,
        }
        for number, new_line_comment in zip(ids, new, strict=True)
    ]
    change.connection.execute(insert(review_comments), places)


def comment_count(connection: Connection, review: Review) -> int:
    """Return the number of a review's line comments."""
    statement = select(func.count()).select_from(review_comments).where(review_comments.c.review_id == review.id)
    count: int = connection.execute(statement).scalar_one()
    return count


def submit(change: IssueTransaction, issue: Issue, review: Review, new: NewReview) -> Review:
    """Submit a pending review with its state, and fulfil the review requests it answers."""
    is_decision = new.state in DECISIONS
    if is_decision and issue.is_closed:
        raise ReviewRefused("a closed pull request cannot be approved or rejected")
    body = new.body or review.body
    if new.state != ReviewState.APPROVED and not body.strip() and not comment_count(change.connection, review):
        raise ReviewRefused(f"a review with the event {new.state} needs a body or a line comment")
    answer_requests(change, issue)
    if is_decision:
        clear_official(change, issue, [change.actor.id])
    submitted = set_columns(
        change,
        review,
        state=new.state.value,
        body=body,
        commit_id=new.commit_id,
        is_official=is_decision and new.is_official,
        created_at=change.now,
    )
    of_review = select(review_comments.c.comment_id).where(review_comments.c.review_id == review.id)
    # They get the time of the review, so that timelines are append-only.
    change.connection.execute(
        update(comments)
        .where(comments.c.id.in_(of_review), comments.c.kind == PENDING_KIND)
        .values(kind="code", created_at=change.now, updated_at=change.now)
    )
    change.add_entries(issue, "review", [(body, {"review_id": review.id})])
    add_review_references(change, issue, review, new.references)
    change.record_event(issue, EVENTS[new.state], "reviewed", review_id=review.id)
    return submitted


def is_part_of(issue: Issue, review: Review) -> ColumnElement[bool]:
    """Return the condition that a timeline entry is that of a submitted review, or one of its line comments."""
    of_review = select(review_comments.c.comment_id).where(review_comments.c.review_id == review.id)
    entry = msgspec.json.encode({"review_id": review.id}).decode()
    is_entry = and_(comments.c.kind == "review", comments.c.details == entry)
    return and_(comments.c.issue_id == issue.id, or_(comments.c.id.in_(of_review), is_entry))


def add_review_references(
    change: IssueTransaction, issue: Issue, review: Review, references: Mapping[str, CrossReferences]
) -> None:
    """Add the cross-references of a review that is submitted, and of its line comments."""
    if not references:
        return
    texts = select(comments.c.id, comments.c.body).where(is_part_of(issue, review)).order_by(comments.c.id)
    for number, body in change.connection.execute(texts).all():
        if body in references:
            add_references(change, issue, references[body], number)


def answer_requests(change: IssueTransaction, issue: Issue) -> None:
    """Delete the review requests that a review of the acting user fulfils: theirs, and those of their teams."""
    my_teams = select(team_members.c.team_id).where(team_members.c.user_id == change.actor.id)
    change.connection.execute(
        delete(reviews).where(
            reviews.c.issue_id == issue.id,
            reviews.c.state == ReviewState.REQUEST_REVIEW,
            or_(reviews.c.reviewer_id == change.actor.id, reviews.c.team_id.in_(my_teams)),
        )
    )


def clear_official(change: IssueTransaction, issue: Issue, user_ids: Collection[int]) -> None:
    """Make the former decisions of users unofficial, since only the last one counts."""
    change.connection.execute(
        update(reviews)
        .where(
            reviews.c.issue_id == issue.id,
            reviews.c.reviewer_id.in_(user_ids),
            reviews.c.state.in_(DECISIONS),
            reviews.c.is_official,
        )
        .values(is_official=False)
    )


def refresh_review(connection: Connection, review: Review) -> Review:
    """Return the current state of a review, in a transaction."""
    row = connection.execute(select(*REVIEW).where(reviews.c.id == review.id)).one_or_none()
    if row is None:
        raise NoSuchReview(review.id)
    return Review(*row)


def set_columns(change: IssueTransaction, review: Review, **columns: str | int | bool) -> Review:
    """Update columns of a review."""
    changed = update(reviews).where(reviews.c.id == review.id).values(updated_at=change.now, **columns)
    return Review(*change.connection.execute(changed.returning(*REVIEW)).one())


def delete_review(
    database: Database, repository: Repository, issue: Issue, actor: Account, review: Review
) -> None:
    """Delete a review with its line comments and its timeline entry."""
    others = referenced_repositories(database, issue)
    with issue_transaction(database, repository, actor, others=others) as change:
        review = refresh_review(change.connection, review)
        change.connection.execute(delete(comments).where(is_part_of(issue, review)))
        change.connection.execute(delete(reviews).where(reviews.c.id == review.id))
        change.touch(issue)


def dismiss_review(
    database: Database,
    repository: Repository,
    issue: Issue,
    actor: Account,
    review: Review,
    *,
    message: str,
    priors: bool,
) -> Review:
    """Dismiss a decision, so that it no longer counts; with `priors` also the reviewer's earlier ones."""
    with issue_transaction(database, repository, actor) as change:
        issue = refresh_issue(change.connection, repository, issue)
        review = refresh_review(change.connection, review)
        require_decision(issue, review)
        if priors and review.reviewer_id is not None:
            change.connection.execute(
                update(reviews)
                .where(
                    reviews.c.issue_id == issue.id,
                    reviews.c.reviewer_id == review.reviewer_id,
                    reviews.c.state.in_(DECISIONS),
                    reviews.c.id < review.id,
                )
                .values(is_dismissed=True, updated_at=change.now)
            )
        if review.is_dismissed:
            return review
        change.add_entries(issue, "dismiss_review", [(message, {"review_id": review.id})])
        return set_columns(change, review, is_dismissed=True)


def undismiss_review(
    database: Database, repository: Repository, issue: Issue, actor: Account, review: Review
) -> Review:
    """Undo the dismissal of a decision."""
    with issue_transaction(database, repository, actor) as change:
        issue = refresh_issue(change.connection, repository, issue)
        review = refresh_review(change.connection, review)
        require_decision(issue, review)
        change.touch(issue)
        return set_columns(change, review, is_dismissed=False)


def require_decision(issue: Issue, review: Review) -> None:
    """Raise `ReviewRefused` unless a review is a decision about an open pull request."""
    if review.state not in DECISIONS:
        raise ReviewRefused("only an approval or a request for changes can be dismissed")
    if issue.is_closed:
        raise ReviewRefused("the pull request is closed")


def stale_approvals(link: Link, issue: Issue, head: str) -> list[int]:
    """Return the approvals of other commits than the head that were not dismissed, by id."""
    return [number for (number,) in STALE.read(link, of_issue=issue.id, new_head=head)]


def dismiss_approvals(link: Link, issue: Issue, ids: Sequence[int], *, actor_id: int | None, now: int) -> None:
    """Dismiss approvals because the head moved, in the transaction that moves it."""
    for number in ids:
        DISMISS.run(link, number=number, moment=now)
        details = msgspec.json.encode({"review_id": number}).decode()
        ADD_DISMISSAL.run(link, issue_id=issue.id, author_id=actor_id, details=details, moment=now)


def request_reviews(
    database: Database,
    repository: Repository,
    issue: Issue,
    actor: Account,
    *,
    users: Mapping[int, bool],
    teams: Mapping[int, bool],
) -> list[Review]:
    """Request reviews from users and teams, by id, and return the new requests.

    The values are whether the review would be official. The former decision of a user who is requested again no
    longer counts.
    """
    with issue_transaction(database, repository, actor) as change:
        users_asked, teams_asked = open_requests(change, issue)
        new_users = [number for number in users if number not in users_asked]
        new_teams = [number for number in teams if number not in teams_asked]
        if not new_users and not new_teams:
            return []
        clear_official(change, issue, new_users)
        about = {
            "issue_id": issue.id,
            "state": ReviewState.REQUEST_REVIEW.value,
            "created_at": change.now,
            "updated_at": change.now,
        }
        rows: list[dict[str, object]] = [
            {**about, "reviewer_id": number, "team_id": None, "is_official": users[number]} for number in new_users
        ]
        rows += [
            {**about, "reviewer_id": None, "team_id": number, "is_official": teams[number]} for number in new_teams
        ]
        added = insert(reviews).returning(*REVIEW, sort_by_parameter_order=True)
        requested = [Review(*row) for row in change.connection.execute(added, rows)]
        record_requests(change, issue, new_users, new_teams, removed=False)
        return requested


def remove_requests(
    database: Database,
    repository: Repository,
    issue: Issue,
    actor: Account,
    *,
    users: Collection[int],
    teams: Collection[int],
) -> None:
    """Remove review requests; users and teams without a request are ignored."""
    with issue_transaction(database, repository, actor) as change:
        users_asked, teams_asked = open_requests(change, issue)
        old_users = [number for number in dict.fromkeys(users) if number in users_asked]
        old_teams = [number for number in dict.fromkeys(teams) if number in teams_asked]
        if not old_users and not old_teams:
            return
        change.connection.execute(
            delete(reviews).where(
                reviews.c.issue_id == issue.id,
                reviews.c.state == ReviewState.REQUEST_REVIEW,
                or_(reviews.c.reviewer_id.in_(old_users), reviews.c.team_id.in_(old_teams)),
            )
        )
        record_requests(change, issue, old_users, old_teams, removed=True)


def open_requests(change: IssueTransaction, issue: Issue) -> tuple[set[int], set[int]]:
    """Return the ids of the users and of the teams with a review request."""
    statement = select(reviews.c.reviewer_id, reviews.c.team_id).where(
        reviews.c.issue_id == issue.id, reviews.c.state == ReviewState.REQUEST_REVIEW
    )
    rows = change.connection.execute(statement).all()
    return {row[0] for row in rows if row[0] is not None}, {row[1] for row in rows if row[1] is not None}


def record_requests(
    change: IssueTransaction, issue: Issue, users: Sequence[int], teams: Sequence[int], *, removed: bool
) -> None:
    """Add the timeline entries and record the events of added or removed review requests."""
    gone = {"removed": True} if removed else {}
    action = "review_request_removed" if removed else "review_requested"
    change.add_entries(issue, "review_request", [("", {"assignee_id": number, **gone}) for number in users])
    change.add_entries(issue, "review_request", [("", {"assignee_team_id": number, **gone}) for number in teams])
    for number in users:
        change.record_event(issue, "review_request", action, reviewer_id=number)
    for number in teams:
        change.record_event(issue, "review_request", action, team_id=number)


def set_resolved(
    database: Database, repository: Repository, issue: Issue, actor: Account, place: LinePlace, *, resolved: bool
) -> None:
    """Resolve the conversation on a line, or unresolve it: all line comments at the same position."""
    with issue_transaction(database, repository, actor) as change:
        of_pull = select(reviews.c.id).where(
            reviews.c.issue_id == issue.id, reviews.c.state != ReviewState.PENDING
        )
        change.connection.execute(
            update(review_comments)
            .where(
                review_comments.c.review_id.in_(of_pull),
                review_comments.c.path == place.path,
                review_comments.c.line == place.line,
                review_comments.c.is_old_side == place.is_old_side,
            )
            .values(
                resolver_id=actor.id if resolved else None,
                resolved_at=change.now if resolved else 0,
            )
        )
        change.touch(issue)
