"""Summaries of events as text spans, before formatting for a chat service.

A headline is a sequence of spans: text with an optional link. Text written by users is marked as such, so that
each service can escape it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import quote

import msgspec

from holdfast.hosting.webhooks.chat.payload_fields import CommitFields, IssueFields, PayloadFields
from holdfast.hosting.webhooks.chat.plain_text import line, passage

__all__ = ["BLUE", "GREEN", "ORANGE", "RED", "EventSummary", "TextSpan", "plain", "summarize"]

GREEN: Final = "2da44e"
RED: Final = "cf222e"
BLUE: Final = "0969da"
ORANGE: Final = "bf8700"
LONGEST_TITLE: Final = 200
LONGEST_BODY: Final = 1000
# Services reject a message with a longer link.
LONGEST_ADDRESS: Final = 2000
COLORS: Final = {
    "closed": RED,
    "created": GREEN,
    "deleted": RED,
    "published": GREEN,
    "opened": GREEN,
    "reopened": GREEN,
    "archived": ORANGE,
    "added": ORANGE,
    "removed": BLUE,
    "unblocked": GREEN,
    "error": RED,
    "failure": RED,
    "pending": ORANGE,
    "success": GREEN,
    "warning": ORANGE,
}
ACTIONS: Final = {
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
    "review_request_removed": "review no longer requested",
    "review_requested": "review requested",
    "reviewed": "reviewed",
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
    """A page with more information; empty if there is none."""
    lines: tuple[Pieces, ...] = ()
    body: str = ""
    color: str = BLUE
    author: str = ""
    author_url: str = ""
    avatar_url: str = ""


def plain(pieces: Sequence[TextSpan]) -> str:
    """Return the text of spans."""
    return "".join(piece.text for piece in pieces)


def user_text(text: str, url: str = "", longest: int = LONGEST_TITLE) -> TextSpan:
    """Return a span of text written by a user: one line, truncated."""
    return TextSpan(line(text, longest), url, True)


def summarize(kind: str, payload: PayloadFields) -> EventSummary | None:
    """Return the summary of an event; None for a push without commits."""
    if kind == "push":
        return push_event(payload) if payload.commits else None
    if kind in {"create", "delete"}:
        return ref_event(kind, payload)
    if kind == "release":
        return release_event(payload)
    if kind == "status":
        return status_event(payload)
    if kind == "repository":
        return repository_event(payload)
    if kind == "fork":
        return fork_event(payload)
    if kind in {"issue_dependency", "issue_unblocked"}:
        return dependency_event(payload)
    if kind in {"issue_comment", "pull_request_comment"}:
        return comment_event(payload)
    return item_event(payload, is_pull=kind.startswith("pull_request"))


def with_context(
    payload: PayloadFields,
    *spans: TextSpan,
    url: str,
    lines: tuple[Pieces, ...] = (),
    body: str = "",
    color: str = BLUE,
) -> EventSummary:
    """Build a summary: the repository, what happened, and the user."""
    repository, sender = payload.repository, payload.sender
    prefix = (
        ()
        if repository is None
        else (TextSpan("["), user_text(repository.full_name, repository.html_url), TextSpan("] "))
    )
    suffix = () if sender is None else (TextSpan(" by "), user_text(sender.login, sender.html_url))
    return EventSummary(
        headline=(*prefix, *spans, *suffix),
        url=url or ("" if repository is None else repository.html_url),
        lines=lines,
        body=passage(body, LONGEST_BODY),
        color=color,
        author="" if sender is None else sender.login,
        author_url="" if sender is None else sender.html_url,
        avatar_url="" if sender is None else sender.avatar_url,
    )


def push_event(payload: PayloadFields) -> EventSummary:
    """Summarize pushed commits."""
    count, branch = payload.total_commits, short(payload.ref)
    many = f"{count} new commit{'' if count == 1 else 's'}"
    lines = tuple(commit_line(commit) for commit in payload.commits)
    more = count - len(payload.commits)
    if more > 0:
        lines += ((TextSpan(f"and {more} more", payload.compare_url),),)
    spans = (
        TextSpan(many, payload.compare_url),
        TextSpan(" pushed to "),
        user_text(branch, ref_page(payload, "branch", branch)),
    )
    return with_context(payload, *spans, url=payload.compare_url, lines=lines)


def commit_line(commit: CommitFields) -> Pieces:
    """Summarize a commit: short id, subject and author."""
    subject = commit.message.strip().partition("\n")[0]
    return (
        TextSpan(commit.id[:8], commit.url),
        TextSpan(" "),
        user_text(subject or "(no message)"),
        TextSpan(" - "),
        user_text(commit.author.name or commit.author.username),
    )


def short(ref: str) -> str:
    """Return the short name of a ref."""
    return ref.removeprefix("refs/heads/").removeprefix("refs/tags/")


def ref_page(payload: PayloadFields, kind: str, name: str) -> str:
    """Return the URL of a branch or a tag."""
    repository = payload.repository
    page = (
        "" if repository is None or not repository.html_url else f"{repository.html_url}/src/{kind}/{quote(name)}"
    )
    return page if len(page) <= LONGEST_ADDRESS else ""


def ref_event(kind: str, payload: PayloadFields) -> EventSummary:
    """Summarize a created or deleted branch or tag."""
    name = short(payload.ref)
    is_new = kind == "create"
    url = ref_page(payload, payload.ref_type, name) if is_new else ""
    spans = (
        TextSpan(f"{payload.ref_type} "),
        user_text(name, url),
        TextSpan(" created" if is_new else " deleted"),
    )
    return with_context(payload, *spans, url=url, color=GREEN if is_new else RED)


def release_event(payload: PayloadFields) -> EventSummary:
    """Summarize a release that was published, updated or deleted."""
    release = payload.release
    is_deleted = payload.action == "deleted" or release is None
    url = "" if is_deleted or release is None else release.html_url
    name = "" if release is None else release.name or release.tag_name
    spans = (TextSpan("release "), user_text(name, url), TextSpan(f" {payload.action}"))
    body = release.body if release is not None and payload.action == "published" else ""
    return with_context(payload, *spans, url=url, body=body, color=COLORS.get(payload.action, BLUE))


def status_event(payload: PayloadFields) -> EventSummary:
    """Summarize a commit status."""
    commit = payload.commit
    spans = (
        TextSpan("status of commit "),
        TextSpan(payload.sha[:8], "" if commit is None else commit.url),
        TextSpan(" in "),
        user_text(payload.context),
        TextSpan(f": {payload.state}"),
    )
    # Links to our own page: the URL of the check was written by a user.
    url = "" if commit is None else commit.url
    return with_context(payload, *spans, url=url, body=payload.description, color=COLORS.get(payload.state, BLUE))


def repository_event(payload: PayloadFields) -> EventSummary:
    """Summarize an event of a repository."""
    actions = {
        "privatized": "made private",
        "publicized": "made public",
        "edited": "settings changed",
    }
    spans = [TextSpan(f"repository {actions.get(payload.action, payload.action)}")]
    before = None if payload.changes is None else payload.changes.name or payload.changes.owner
    if before is not None and isinstance(before.from_, str):
        spans += [TextSpan(" from "), user_text(before.from_)]
    is_deleted = payload.action == "deleted"
    repository = payload.repository
    return with_context(
        payload,
        *spans,
        url="" if is_deleted or repository is None else repository.html_url,
        color=COLORS.get(payload.action, BLUE),
    )


def fork_event(payload: PayloadFields) -> EventSummary:
    """Summarize a fork, which is not named if the payload leaves it out."""
    fork = payload.repository
    spans = [TextSpan("repository forked")]
    if fork is not None:
        spans += [TextSpan(" to "), user_text(fork.full_name, fork.html_url)]
    forked = msgspec.structs.replace(payload, repository=payload.forkee)
    return with_context(forked, *spans, url="" if fork is None else fork.html_url)


def issue_spans(item: IssueFields | None, number: int = 0, *, elsewhere: str = "") -> tuple[TextSpan, ...]:
    """Return the number and title of an issue, with its link."""
    if item is None:
        return (user_text(f"#{number}") if number else TextSpan("a deleted issue"),)
    repository = "" if item.repository is None else item.repository.full_name
    prefix = repository if repository and elsewhere and repository != elsewhere else ""
    return (user_text(f"{prefix}#{item.number} {item.title}", item.html_url),)


def item_event(payload: PayloadFields, *, is_pull: bool) -> EventSummary:
    """Summarize an event of an issue or a pull request."""
    item = payload.pull_request if is_pull else payload.issue
    noun = "pull request" if is_pull else "issue"
    is_deleted = payload.action == "deleted" or item is None
    name = issue_spans(item, payload.number)
    spans = [TextSpan(f"{noun} {ACTIONS.get(payload.action, payload.action)}: ")]
    spans += [replace(piece, url="") for piece in name] if is_deleted else name
    spans += more_about(payload, item)
    body = item.body if item is not None and payload.action in {"opened", "edited"} else ""
    return with_context(
        payload,
        *spans,
        url="" if is_deleted or item is None else item.html_url,
        body=body,
        color=COLORS.get(payload.action, BLUE),
    )


def more_about(payload: PayloadFields, item: IssueFields | None) -> list[TextSpan]:
    """Return the changed labels, assignees or milestone."""
    changed = payload.changes
    if payload.action in {"assigned", "unassigned"}:
        names = ", ".join(person.login for person in (item and item.assignees) or []) or "nobody"
        if payload.action == "assigned":
            return [TextSpan(" to "), user_text(names)]
        return [TextSpan(" (now "), user_text(names), TextSpan(")")]
    if payload.action == "milestoned" and item is not None and item.milestone is not None:
        return [TextSpan(" ("), user_text(item.milestone.title), TextSpan(")")]
    if payload.action == "edited" and changed is not None and changed.title is not None:
        return [TextSpan(" (was: "), user_text(str(changed.title.from_)), TextSpan(")")]
    if changed is not None and (changed.added_labels or changed.removed_labels):
        signs = [f"+{label.name}" for label in changed.added_labels]
        signs += [f"-{label.name}" for label in changed.removed_labels]
        return [TextSpan(" ("), user_text(", ".join(signs)), TextSpan(")")]
    return []


def comment_event(payload: PayloadFields) -> EventSummary:
    """Summarize an event of a comment."""
    noun = "pull request" if payload.is_pull else "issue"
    phrases = {"created": "new comment on", "edited": "comment edited on", "deleted": "comment deleted on"}
    spans = (TextSpan(f"{phrases.get(payload.action, 'comment on')} {noun} "), *issue_spans(payload.issue))
    note = payload.comment
    is_deleted = payload.action == "deleted" or note is None
    url = "" if payload.issue is None else payload.issue.html_url
    return with_context(
        payload,
        *spans,
        url=url if is_deleted or note is None else note.html_url,
        body="" if is_deleted or note is None else note.body,
        color=COLORS.get(payload.action, BLUE) if payload.action == "deleted" else BLUE,
    )


def dependency_event(payload: PayloadFields) -> EventSummary:
    """Summarize an event of a dependency."""
    home = "" if payload.repository is None else payload.repository.full_name
    issue, blocker = issue_spans(payload.issue, elsewhere=home), issue_spans(payload.blocker, elsewhere=home)
    if payload.action == "added":
        spans = (*issue, TextSpan(" now depends on "), *blocker)
    elif payload.action == "removed":
        spans = (*issue, TextSpan(" no longer depends on "), *blocker)
    else:
        spans = (*issue, TextSpan(" is no longer blocked by "), *blocker)
    url = "" if payload.issue is None else payload.issue.html_url
    return with_context(payload, *spans, url=url, color=COLORS.get(payload.action, BLUE))
