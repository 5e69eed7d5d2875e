"""The timeline entries of a pull request that an issue does not have: reviews, line comments and pushes."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final, Literal

import msgspec

from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.errors import GitDamaged, GitFailed, NoSuchFolder, NoSuchObject
from holdfast.hosting.git.commits import find_commit
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import line_comments as line_comment_service
from holdfast.hosting.services.line_comments import CurrentPosition
from holdfast.hosting.services.pull_heads import PushedRange
from holdfast.hosting.services.revisions import open_git
from holdfast.hosting.services.suggestions import suggestion_in
from holdfast.hosting.store import accounts, line_comments, reviews
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.comments import Comment, body_version
from holdfast.hosting.store.issues import Issue
from holdfast.hosting.store.review_changes import LinePlace
from holdfast.hosting.store.reviews import Review
from holdfast.web.code.commit_rows import summary_of

__all__ = [
    "HunkLine",
    "LineRemark",
    "PullTimeline",
    "PushShown",
    "hunk_lines",
    "pull_timeline",
    "with_suggestion",
]

# The number of diff lines shown above a comment.
LINES_ABOVE: Final = 4
MOST_COMMITS: Final = 10
LONGEST_LINE: Final = 400
PUSHED = msgspec.json.Decoder(PushedRange)


@dataclass(frozen=True, slots=True)
class HunkLine:
    """A line of the diff above a comment."""

    kind: Literal["add", "del", "same"]
    text: str


@dataclass(frozen=True, slots=True)
class LineRemark:
    """The original position of a line comment, and the current position of its line."""

    path: str
    line: int
    is_old_side: bool
    hunk: list[HunkLine]
    is_outdated: bool
    is_resolved: bool
    resolver: Account | None
    review_id: int
    is_pending: bool = False
    has_suggestion: bool = False
    version: str = ""
    """The version of the comment, which is sent with the form that applies its suggestion."""


@dataclass(frozen=True, slots=True)
class PushShown:
    """The commits of a push, oldest first; the old and the new head of a force push."""

    is_forced: bool
    commits: list[tuple[str, str]]
    """Ids and subjects; the subject is empty for a commit that no longer exists."""
    total: int


@dataclass(frozen=True, slots=True)
class PullTimeline:
    """The rows that the entries of a pull request refer to, by comment or review id."""

    reviews: dict[int, Review] = field(default_factory=dict)
    remarks: dict[int, LineRemark] = field(default_factory=dict)
    pushes: dict[int, PushShown] = field(default_factory=dict)


def hunk_lines(hunk: str, above: int = LINES_ABOVE) -> list[HunkLine]:
    """Return the last lines of a hunk, the line commented on being the last."""
    lines = [line for line in hunk.split("\n") if line and line[0] in " +-"]
    kinds: dict[str, Literal["add", "del", "same"]] = {"+": "add", "-": "del", " ": "same"}
    return [HunkLine(kinds[line[0]], line[1 : LONGEST_LINE + 1]) for line in lines[-above:]]


def pull_timeline(
    request: RequestContext, target: RepositoryAccess, issue: Issue, entries: Sequence[Comment]
) -> PullTimeline:
    """Load the rows that a page of a pull request's timeline refers to, in a constant number of queries."""
    database = request.app.database
    numbers = {
        entry.happening.review_id for entry in entries if entry.kind in {"review", "code", "dismiss_review"}
    }
    places = line_comments.places_of(database, [entry.id for entry in entries if entry.kind == "code"])
    remarks = remarks_of(request, target, issue, list(places.values()))
    return PullTimeline(
        reviews.reviews_by_id(database, {number for number in numbers if number is not None}),
        {entry.id: with_suggestion(remarks[entry.id], entry, issue) for entry in entries if entry.id in remarks},
        {entry.id: push for entry, push in pushes_of(request, target, entries)},
    )


def with_suggestion(remark: LineRemark, comment: Comment, issue: Issue) -> LineRemark:
    """Return the position of a line comment, with whether it has a suggested change that can be applied."""
    is_open = not (issue.is_closed or remark.is_outdated or remark.is_resolved or remark.is_old_side)
    has_suggestion = is_open and suggestion_in(comment.body) is not None
    return replace(remark, has_suggestion=has_suggestion, version=body_version(comment.body))


def remarks_of(
    request: RequestContext, target: RepositoryAccess, issue: Issue, places: Sequence[LinePlace]
) -> dict[int, LineRemark]:
    """Return the positions of line comments, by comment id."""
    if not places:
        return {}
    positions = line_comment_service.current_positions(request.app, target, issue, places, issue.head_sha)
    with request.app.database.read() as connection:
        people = accounts.accounts_by_id(
            connection, {line_place.resolver_id for line_place in places if line_place.resolver_id}
        )
    return {
        place.comment_id: remark_of(place, positions.get(place.comment_id), people.get(place.resolver_id or 0))
        for place in places
    }


def remark_of(place: LinePlace, position: CurrentPosition | None, resolver: Account | None) -> LineRemark:
    """Return the position of a line comment; an outdated one keeps its original position."""
    is_outdated = position is None or position.line == 0
    return LineRemark(
        place.path if position is None else position.path,
        place.line if position is None or is_outdated else position.line,
        place.is_old_side,
        hunk_lines(place.diff_hunk),
        is_outdated,
        place.resolved_at > 0,
        resolver,
        place.review_id,
    )


def pushes_of(
    request: RequestContext, target: RepositoryAccess, entries: Sequence[Comment]
) -> list[tuple[Comment, PushShown]]:
    """Return the commits of the pushes among timeline entries."""
    pushes = [(entry, pushed_range(entry)) for entry in entries if entry.kind == "pull_push"]
    repo: Repo | None = None
    if pushes and target.permissions.may_read(Unit.CODE):
        with suppress(NoSuchFolder, GitDamaged, GitFailed):
            repo = open_git(request.app, target)
    return [
        (
            entry,
            PushShown(
                pushed.is_force_push,
                [(sha, summary(repo, sha)) for sha in pushed.commit_ids[-MOST_COMMITS:]],
                len(pushed.commit_ids),
            ),
        )
        for entry, pushed in pushes
        if pushed is not None
    ]


def pushed_range(entry: Comment) -> PushedRange | None:
    """Decode the entry of a push; None if it has no commits."""
    try:
        return PUSHED.decode(entry.body)
    except msgspec.MsgspecError:
        return None


def summary(repo: Repo | None, sha: str) -> str:
    """Return the subject of a commit; empty if it cannot be read."""
    if repo is None:
        return ""
    with suppress(NoSuchObject, GitDamaged):
        commit = find_commit(repo, sha)
        return "" if commit is None else summary_of(commit.message)[0]
    return ""
