"""Summaries of events as text spans, before formatting for a chat service.

A headline is a row of pieces; a piece is text, perhaps with an address it leads to. Whatever people wrote is a
piece of its own and marked as theirs, so that each service can keep it from being taken for anything but words.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import quote

from holdfast.hosting.webhooks.chat.payload_fields import CommitFields, IssueFields, PayloadFields
from holdfast.hosting.webhooks.chat.plain_text import line, passage

__all__ = ["BLUE", "GREEN", "ORANGE", "RED", "EventSummary", "TextSpan", "plain", "summarize"]

GREEN: Final = "2da44e"
RED: Final = "cf222e"
BLUE: Final = "0969da"
ORANGE: Final = "bf8700"
LONGEST_TITLE: Final = 200
LONGEST_BODY: Final = 1000
# Services refuse a whole message for a link that is longer.
LONGEST_ADDRESS: Final = 2000
COLORS: Final = {
    "closed": RED,
    "created": GREEN,
    "deleted": RED,
    "opened": GREEN,
    "reopened": GREEN,
    "archived": ORANGE,
    "added": ORANGE,
    "removed": BLUE,
    "unblocked": GREEN,
}
DEEDS: Final = {
    "assigned": "assigned",
    "closed": "closed",
    "deleted": "deleted",
    "demilestoned": "taken off its milestone",
    "edited": "edited",
    "label_cleared": "labels removed",
    "label_updated": "labels changed",
    "milestoned": "added to a milestone",
    "opened": "opened",
    "reopened": "reopened",
    "unassigned": "unassigned",
}


@dataclass(frozen=True, slots=True)
class TextSpan:
    """A span of text with an optional link; `theirs` marks text written by users, which is escaped."""

    text: str
    url: str = ""
    theirs: bool = False


Pieces = tuple[TextSpan, ...]


@dataclass(frozen=True, slots=True)
class EventSummary:
    """The summary of an event: a headline, further lines, and a quoted text."""

    headline: Pieces
    url: str
    """Where to read more; empty when there is nowhere."""
    lines: tuple[Pieces, ...] = ()
    body: str = ""
    color: str = BLUE
    author: str = ""
    author_url: str = ""
    avatar_url: str = ""


def plain(pieces: Sequence[TextSpan]) -> str:
    """Return the text alone."""
    return "".join(piece.text for piece in pieces)


def user_text(text: str, url: str = "", longest: int = LONGEST_TITLE) -> TextSpan:
    """Make a piece of what somebody wrote: one line, not too long."""
    return TextSpan(line(text, longest), url, True)


def summarize(kind: str, seen: PayloadFields) -> EventSummary | None:
    """Tell an event, or nothing when there is nothing to tell: a push that brought no commits."""
    if kind == "push":
        return push_event(seen) if seen.commits else None
    if kind in {"create", "delete"}:
        return ref_event(kind, seen)
    if kind == "repository":
        return repository_event(seen)
    if kind in {"issue_dependency", "issue_unblocked"}:
        return dependency_event(seen)
    if kind in {"issue_comment", "pull_request_comment"}:
        return comment_event(seen)
    return item_event(seen, is_pull=kind.startswith("pull_request"))


def with_context(
    seen: PayloadFields,
    *said: TextSpan,
    url: str,
    lines: tuple[Pieces, ...] = (),
    body: str = "",
    color: str = BLUE,
) -> EventSummary:
    """Put an event's place before it, and who did it after."""
    place, sender = seen.repository, seen.sender
    where = () if place is None else (TextSpan("["), user_text(place.full_name, place.html_url), TextSpan("] "))
    who = () if sender is None else (TextSpan(" by "), user_text(sender.login, sender.html_url))
    return EventSummary(
        headline=(*where, *said, *who),
        url=url or ("" if place is None else place.html_url),
        lines=lines,
        body=passage(body, LONGEST_BODY),
        color=color,
        author="" if sender is None else sender.login,
        author_url="" if sender is None else sender.html_url,
        avatar_url="" if sender is None else sender.avatar_url,
    )


def push_event(seen: PayloadFields) -> EventSummary:
    """Tell of commits."""
    count, branch = seen.total_commits, short(seen.ref)
    many = f"{count} new commit{'' if count == 1 else 's'}"
    lines = tuple(commit_line(commit) for commit in seen.commits)
    more = count - len(seen.commits)
    if more > 0:
        lines += ((TextSpan(f"and {more} more", seen.compare_url),),)
    said = (
        TextSpan(many, seen.compare_url),
        TextSpan(" pushed to "),
        user_text(branch, ref_page(seen, "branch", branch)),
    )
    return with_context(seen, *said, url=seen.compare_url, lines=lines)


def commit_line(commit: CommitFields) -> Pieces:
    """Tell of one commit: its short id, the first line of its message, and who wrote it."""
    subject = commit.message.strip().partition("\n")[0]
    return (
        TextSpan(commit.id[:8], commit.url),
        TextSpan(" "),
        user_text(subject or "(no message)"),
        TextSpan(" - "),
        user_text(commit.author.name or commit.author.username),
    )


def short(ref: str) -> str:
    """Return the name people know a ref by."""
    return ref.removeprefix("refs/heads/").removeprefix("refs/tags/")


def ref_page(seen: PayloadFields, kind: str, name: str) -> str:
    """Return the page of a branch or a tag."""
    place = seen.repository
    page = "" if place is None or not place.html_url else f"{place.html_url}/src/{kind}/{quote(name)}"
    return page if len(page) <= LONGEST_ADDRESS else ""


def ref_event(kind: str, seen: PayloadFields) -> EventSummary:
    """Tell of a branch or tag that came or went."""
    name = short(seen.ref)
    is_new = kind == "create"
    url = ref_page(seen, seen.ref_type, name) if is_new else ""
    said = (TextSpan(f"{seen.ref_type} "), user_text(name, url), TextSpan(" created" if is_new else " deleted"))
    return with_context(seen, *said, url=url, color=GREEN if is_new else RED)


def repository_event(seen: PayloadFields) -> EventSummary:
    """Tell what happened to a repository."""
    deeds = {
        "privatized": "made private",
        "publicized": "made public",
        "edited": "settings changed",
    }
    said = [TextSpan(f"repository {deeds.get(seen.action, seen.action)}")]
    before = None if seen.changes is None else seen.changes.name or seen.changes.owner
    if before is not None and isinstance(before.from_, str):
        said += [TextSpan(" from "), user_text(before.from_)]
    gone = seen.action == "deleted"
    place = seen.repository
    return with_context(
        seen,
        *said,
        url="" if gone or place is None else place.html_url,
        color=COLORS.get(seen.action, BLUE),
    )


def issue_spans(item: IssueFields | None, number: int = 0, *, elsewhere: str = "") -> tuple[TextSpan, ...]:
    """Name an issue: its number and its title, which lead to it."""
    if item is None:
        return (TextSpan(f"#{number}") if number else TextSpan("something that is gone"),)
    place = "" if item.repository is None else item.repository.full_name
    where = place if place and elsewhere and place != elsewhere else ""
    return (user_text(f"{where}#{item.number} {item.title}", item.html_url),)


def item_event(seen: PayloadFields, *, is_pull: bool) -> EventSummary:
    """Tell what happened to an issue or a pull request."""
    item = seen.pull_request if is_pull else seen.issue
    what = "pull request" if is_pull else "issue"
    gone = seen.action == "deleted" or item is None
    name = issue_spans(item, seen.number)
    said = [TextSpan(f"{what} {DEEDS.get(seen.action, seen.action)}: ")]
    said += [replace(piece, url="") for piece in name] if gone else name
    said += more_about(seen, item)
    body = item.body if item is not None and seen.action in {"opened", "edited"} else ""
    return with_context(
        seen,
        *said,
        url="" if gone or item is None else item.html_url,
        body=body,
        color=COLORS.get(seen.action, BLUE),
    )


def more_about(seen: PayloadFields, item: IssueFields | None) -> list[TextSpan]:
    """Tell which labels, whom or which milestone."""
    changed = seen.changes
    if seen.action in {"assigned", "unassigned"}:
        people = ", ".join(person.login for person in (item and item.assignees) or []) or "nobody"
        if seen.action == "assigned":
            return [TextSpan(" to "), user_text(people)]
        return [TextSpan(" (now "), user_text(people), TextSpan(")")]
    if seen.action == "milestoned" and item is not None and item.milestone is not None:
        return [TextSpan(" ("), user_text(item.milestone.title), TextSpan(")")]
    if seen.action == "edited" and changed is not None and changed.title is not None:
        return [TextSpan(" (was: "), user_text(str(changed.title.from_)), TextSpan(")")]
    if changed is not None and (changed.added_labels or changed.removed_labels):
        signs = [f"+{label.name}" for label in changed.added_labels]
        signs += [f"-{label.name}" for label in changed.removed_labels]
        return [TextSpan(" ("), user_text(", ".join(signs)), TextSpan(")")]
    return []


def comment_event(seen: PayloadFields) -> EventSummary:
    """Tell what somebody said."""
    what = "pull request" if seen.is_pull else "issue"
    deed = {"created": "new comment on", "edited": "comment edited on", "deleted": "comment deleted on"}
    said = (TextSpan(f"{deed.get(seen.action, 'comment on')} {what} "), *issue_spans(seen.issue))
    note = seen.comment
    gone = seen.action == "deleted" or note is None
    url = "" if seen.issue is None else seen.issue.html_url
    return with_context(
        seen,
        *said,
        url=url if gone or note is None else note.html_url,
        body="" if gone or note is None else note.body,
        color=COLORS.get(seen.action, BLUE) if seen.action == "deleted" else BLUE,
    )


def dependency_event(seen: PayloadFields) -> EventSummary:
    """Tell which issue waits for which, or no longer."""
    home = "" if seen.repository is None else seen.repository.full_name
    issue, blocker = issue_spans(seen.issue, elsewhere=home), issue_spans(seen.blocker, elsewhere=home)
    if seen.action == "added":
        said = (*issue, TextSpan(" now depends on "), *blocker)
    elif seen.action == "removed":
        said = (*issue, TextSpan(" no longer depends on "), *blocker)
    else:
        said = (*issue, TextSpan(" is blocked no more; last by "), *blocker)
    url = "" if seen.issue is None else seen.issue.html_url
    return with_context(seen, *said, url=url, color=COLORS.get(seen.action, BLUE))
