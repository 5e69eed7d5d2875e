"""The timeline of an issue: comments and events."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from markupsafe import Markup, escape

from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.dependencies import reader
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.comments import Comment
from holdfast.hosting.store.issue_relations import TimelineParts, timeline_parts
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.visible_issues import visible_issues_by_id
from holdfast.web.issues.label_colors import LabelBadge, tag
from holdfast.web.issues.related import Related, related
from holdfast.web.markdown import MarkdownContext, markdown

__all__ = ["TextBudget", "TimelineEntry", "told"]

# How much HTML the texts of one page may have, so that a page stays small whatever people write.
ROOM: Final = 60_000
LEAST: Final = 300
# By how much a text may grow as HTML before it is shown as it was typed.
SWELL: Final = 1.25
AROUND: Final = 200
# The longest an entity for one character of a text is.
ESCAPED: Final = 6


@dataclass(slots=True)
class TextBudget:
    """The remaining size of the texts of a page."""

    around: MarkdownContext
    left: int = ROOM

    def show(self, text: str) -> tuple[Markup, bool]:
        """Return a text as HTML, and whether it is complete."""
        allowed = max(self.left, LEAST)
        made, is_whole = markdown(text, self.around, most=allowed), len(text) <= allowed
        # Also what is not shown counts, because it took its time.
        self.left -= len(made)
        if len(made) > allowed * SWELL + AROUND:
            made, is_whole = Markup("<p>%s</p>") % escape(text[: allowed // ESCAPED]), False
        return made, is_whole


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
    other: Related | None = None
    side: str = ""
    """The relation of the other issue now: `blocker`, `blocked` or empty."""


def told(
    request: RequestContext,
    repository: Repository,
    entries: Sequence[Comment],
    room: TextBudget,
    *,
    blockers: Collection[int] = (),
    blocked: Collection[int] = (),
) -> list[TimelineEntry]:
    """Return the entries of a page of the timeline; labels changed at once by one user are one entry.

    `blockers` and `blocked` are the ids of the issues on either side of this one.
    """
    parts = timeline_parts(request.app.database, entries)
    named = {entry.happening.dependent_issue_id for entry in entries} - {None}
    others: dict[int, Related] = {}
    if named:
        with request.app.database.read() as connection:
            seen = visible_issues_by_id(
                connection, [number for number in named if number is not None], reader(request)
            )
        others = {number: related(one, repository) for number, one in seen.items()}
    made: list[TimelineEntry] = []
    for entry in entries:
        if entry.kind == "comment":
            made.append(said(entry, parts, room))
            continue
        last = made[-1] if made else None
        if entry.kind != "label":
            made.append(happened(entry, repository, parts, others, blockers=blockers, blocked=blocked))
        elif last is not None and (last.kind, last.author_id, last.at) == (
            "label",
            entry.author_id,
            entry.created_at,
        ):
            made[-1] = labelled(entry, parts, last)
        else:
            made.append(labelled(entry, parts, None))
    return made


def said(entry: Comment, parts: TimelineParts, room: TextBudget) -> TimelineEntry:
    """Return the entry of a comment."""
    text, is_whole = room.show(entry.body)
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


def labelled(entry: Comment, parts: TimelineParts, before: TimelineEntry | None) -> TimelineEntry:
    """Return the entry of a label change, merged into the one before."""
    label = parts.labels.get(entry.happening.label_id or 0)
    shown = [] if label is None else [tag(label)]
    is_added = entry.body == "1"
    return TimelineEntry(
        id=entry.id if before is None else before.id,
        kind="label",
        who=parts.people.get(entry.author_id or 0),
        at=entry.created_at,
        author_id=entry.author_id,
        added=[*(before.added if before else []), *(shown if is_added else [])],
        taken=[*(before.taken if before else []), *([] if is_added else shown)],
        gone=(before.gone if before else 0) + (label is None),
    )


def happened(
    entry: Comment,
    repository: Repository,
    parts: TimelineParts,
    others: Mapping[int, Related],
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
    other = facts.dependent_issue_id
    side = "blocker" if other in blockers else "blocked" if other in blocked else ""
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
        day=facts.due_at or facts.old_due_at,
        commit=facts.commit_id,
        is_commit_here=facts.commit_repository_id == repository.id,
        other=None if other is None else others.get(other),
        side=side,
    )
