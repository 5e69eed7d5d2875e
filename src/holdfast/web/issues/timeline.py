"""The timeline of an issue: comments and events."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Self

from markupsafe import Markup, escape

from holdfast.hosting.renderer.markdown import MarkdownContext, markdown
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.dependencies import reader
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.comments import Comment
from holdfast.hosting.store.issue_relations import TimelineParts, timeline_parts
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.reviews import Review
from holdfast.hosting.store.visible_issues import visible_issues_by_id
from holdfast.web.issues.label_colors import LabelBadge, tag
from holdfast.web.issues.related import RelatedIssue, related_issue
from holdfast.web.pulls.timeline import LineRemark, PullTimeline, PushShown

__all__ = ["TextBudget", "TimelineEntry", "comment_entry", "timeline_entries"]

# The size limit of the HTML of all texts on a page.
ROOM: Final = 60_000
LEAST: Final = 300
# The factor by which a text may grow as HTML; beyond it the text is shown as plain text.
SWELL: Final = 1.25
AROUND: Final = 200
# The length of the longest HTML entity of one escaped character.
ESCAPED: Final = 6


@dataclass(slots=True)
class TextBudget:
    """The remaining size of the texts of a page."""

    around: MarkdownContext
    left: int = ROOM

    def show(self, text: str) -> tuple[Markup, bool]:
        """Return a text as HTML, and whether it is complete."""
        allowed = max(self.left, LEAST)
        html, is_whole = markdown(text, self.around, most=allowed), len(text) <= allowed
        # HTML that is discarded counts too: rendering it took time.
        self.left -= len(html)
        if len(html) > allowed * SWELL + AROUND:
            html, is_whole = Markup("<p>%s</p>") % escape(text[: allowed // ESCAPED]), False
        return html, is_whole


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """A comment or an event; the kind determines which fields are used."""

    id: int
    kind: str
    who: Account | None
    at: int
    text: Markup = field(default_factory=Markup)
    is_whole: bool = True
    is_edited: bool = False
    author_id: int | None = None
    old: str = ""
    new: str = ""
    reason: str = ""
    removed: bool = False
    person: Account | None = None
    day: int = 0
    added: list[LabelBadge] = field(default_factory=list)
    taken: list[LabelBadge] = field(default_factory=list)
    gone: int = 0
    """The number of deleted labels."""
    commit: str = ""
    """The commit that closed, reopened or referenced the issue."""
    is_commit_here: bool = False
    """Whether the commit belongs to the same repository."""
    other: RelatedIssue | None = None
    side: str = ""
    """The relation of the other issue now: `blocker`, `blocked` or empty."""
    comment_id: int | None = None
    """The comment on the other issue that mentions this one."""
    will_close: bool = False
    """Whether the other one is an open pull request that closes this issue when it is merged."""
    team: str = ""
    review: Review | None = None
    """The review of the entry; None if it was deleted."""
    remark: LineRemark | None = None
    push: PushShown | None = None
    replies: list[Self] = field(default_factory=list)
    """The line comments of a review."""


def timeline_entries(
    request: RequestContext,
    repository: Repository,
    entries: Sequence[Comment],
    budget: TextBudget,
    *,
    blockers: Collection[int] = (),
    blocked: Collection[int] = (),
    about: PullTimeline | None = None,
) -> list[TimelineEntry]:
    """Return the entries of a page of the timeline; labels changed at once by one user are one entry.

    `blockers` and `blocked` are the ids of the issues on either side of this one, and `about` has the rows that
    the entries of a pull request refer to: line comments are part of the entry of their review.
    """
    parts = timeline_parts(request.app.database, entries)
    named = {entry.happening.dependent_issue_id for entry in entries}
    named |= {entry.source_issue_id for entry in entries}
    others: dict[int, RelatedIssue] = {}
    closing: set[int] = set()
    if named - {None}:
        with request.app.database.read() as connection:
            visible_issues = visible_issues_by_id(
                connection, [number for number in named if number is not None], reader(request)
            )
        others = {number: related_issue(issue, repository) for number, issue in visible_issues.items()}
        closing = {number for number, issue in visible_issues.items() if issue.closes_issues}
    timeline: list[TimelineEntry] = []
    about = about or PullTimeline()
    replies = line_comment_entries(entries, parts, budget, about)
    for entry in entries:
        if entry.kind == "comment":
            timeline.append(comment_entry(entry, parts, budget))
            continue
        if entry.kind == "code":
            timeline += replies.pop(entry.id, [])
            continue
        if entry.kind in {"review", "dismiss_review", "pull_push"}:
            of_review = replies.pop(-(entry.happening.review_id or 0), []) if entry.kind == "review" else []
            timeline.append(pull_entry(entry, parts, budget, about, of_review))
            continue
        if entry.source_issue_id is not None:
            timeline.append(reference_entry(entry, parts, others, closing))
            continue
        last = timeline[-1] if timeline else None
        if entry.kind != "label":
            timeline.append(event_entry(entry, repository, parts, others, blockers=blockers, blocked=blocked))
        elif last is not None and (last.kind, last.author_id, last.at) == (
            "label",
            entry.author_id,
            entry.created_at,
        ):
            timeline[-1] = label_entry(entry, parts, last)
        else:
            timeline.append(label_entry(entry, parts, None))
    return timeline


def line_comment_entries(
    entries: Sequence[Comment], parts: TimelineParts, budget: TextBudget, about: PullTimeline
) -> dict[int, list[TimelineEntry]]:
    """Return line comments by the negative id of their review if it is among the entries, else by their own id."""
    shown = {entry.happening.review_id for entry in entries if entry.kind == "review"}
    entries_by_review: dict[int, list[TimelineEntry]] = {}
    for entry in entries:
        if entry.kind == "code":
            review = entry.happening.review_id
            timeline_entry = replace(comment_entry(entry, parts, budget), remark=about.remarks.get(entry.id))
            entries_by_review.setdefault(-review if review and review in shown else entry.id, []).append(
                timeline_entry
            )
    return entries_by_review


def pull_entry(
    entry: Comment,
    parts: TimelineParts,
    budget: TextBudget,
    about: PullTimeline,
    replies: list[TimelineEntry],
) -> TimelineEntry:
    """Return the entry of a review, of its dismissal, or of a push."""
    text, is_whole = budget.show(entry.body) if entry.kind == "review" and entry.body else (Markup(), True)
    return TimelineEntry(
        id=entry.id,
        kind=entry.kind,
        who=parts.people.get(entry.author_id or 0),
        at=entry.created_at,
        text=text,
        is_whole=is_whole,
        author_id=entry.author_id,
        reason=entry.body if entry.kind == "dismiss_review" else "",
        review=about.reviews.get(entry.happening.review_id or 0),
        push=about.pushes.get(entry.id),
        replies=replies,
    )


def comment_entry(entry: Comment, parts: TimelineParts, budget: TextBudget) -> TimelineEntry:
    """Return the entry of a comment."""
    text, is_whole = budget.show(entry.body)
    return TimelineEntry(
        id=entry.id,
        kind=entry.kind,
        who=parts.people.get(entry.author_id or 0),
        at=entry.created_at,
        text=text,
        is_whole=is_whole,
        is_edited=entry.updated_at > entry.created_at,
        author_id=entry.author_id,
    )


def label_entry(entry: Comment, parts: TimelineParts, before: TimelineEntry | None) -> TimelineEntry:
    """Return the entry of a label change, merged into the previous entry."""
    label = parts.labels.get(entry.happening.label_id or 0)
    tags = [] if label is None else [tag(label)]
    is_added = entry.body == "1"
    return TimelineEntry(
        id=entry.id if before is None else before.id,
        kind="label",
        who=parts.people.get(entry.author_id or 0),
        at=entry.created_at,
        author_id=entry.author_id,
        added=[*(before.added if before else []), *(tags if is_added else [])],
        taken=[*(before.taken if before else []), *([] if is_added else tags)],
        gone=(before.gone if before else 0) + (label is None),
    )


def reference_entry(
    entry: Comment, parts: TimelineParts, others: Mapping[int, RelatedIssue], closing: Collection[int]
) -> TimelineEntry:
    """Return the entry of a cross-reference; `closing` are the pull requests whose keywords take effect."""
    source_id = entry.source_issue_id or 0
    other = others.get(source_id)
    closes = entry.happening.ref_action == "closes" and source_id in closing
    return TimelineEntry(
        id=entry.id,
        kind=entry.kind,
        who=parts.people.get(entry.author_id or 0),
        at=entry.created_at,
        author_id=entry.author_id,
        other=other,
        comment_id=entry.source_comment_id,
        will_close=closes and other is not None and not other.is_closed,
    )


def event_entry(
    entry: Comment,
    repository: Repository,
    parts: TimelineParts,
    others: Mapping[int, RelatedIssue],
    *,
    blockers: Collection[int],
    blocked: Collection[int],
) -> TimelineEntry:
    """Return the entry of any other event."""
    facts = entry.happening
    old, new = facts.old_title or facts.old_ref, facts.new_title or facts.new_ref
    if entry.kind == "milestone":
        before, after = (
            parts.milestones.get(number or 0) for number in (facts.old_milestone_id, facts.milestone_id)
        )
        old = "" if facts.old_milestone_id is None else before.title if before else "a deleted milestone"
        new = "" if facts.milestone_id is None else after.title if after else "a deleted milestone"
    dependent_id = facts.dependent_issue_id
    side = "blocker" if dependent_id in blockers else "blocked" if dependent_id in blocked else ""
    return TimelineEntry(
        id=entry.id,
        kind=entry.kind,
        who=parts.people.get(entry.author_id or 0),
        at=entry.created_at,
        author_id=entry.author_id,
        old=old,
        new=new,
        reason=entry.body,
        removed=facts.removed,
        person=parts.people.get(facts.assignee_id or 0),
        team=team.name if (team := parts.teams.get(facts.assignee_team_id or 0)) else "",
        day=facts.due_at or facts.old_due_at,
        commit=facts.commit_id,
        is_commit_here=facts.commit_repository_id == repository.id,
        other=None if dependent_id is None else others.get(dependent_id),
        side=side,
    )
