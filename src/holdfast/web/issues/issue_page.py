"""The page of an issue or a pull request: description, timeline and sidebar."""

from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urlencode

import msgspec
from markupsafe import Markup

from holdfast.hosting import access
from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.errors import NoSuchIssue
from holdfast.hosting.guards import READ_ISSUES
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.renderer.markdown import MarkdownContext, markdown
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.dependencies import reader
from holdfast.hosting.services import issue_subscriptions, issues, notifications, pull_changes, pulls, suggestions
from holdfast.hosting.store import comments, visible_issues
from holdfast.hosting.store.comments import Comment
from holdfast.hosting.store.issues import Issue
from holdfast.web.issues.choices import choices
from holdfast.web.issues.related import RelatedIssue, related_issue
from holdfast.web.issues.rows import issue_path, page_path, rows_of
from holdfast.web.issues.timeline import TextBudget, TimelineEntry, timeline_entries
from holdfast.web.pages import redirect_to
from holdfast.web.pulls.conversation import pull_conversation
from holdfast.web.pulls.timeline import pull_timeline
from holdfast.web.repository_frame import ISSUES, PULLS, root_path, show_in

__all__ = [
    "ENTRIES",
    "LAST",
    "RejectedForm",
    "RejectedMerge",
    "comment_url",
    "edits",
    "markdown_context",
    "page_issue",
    "page_pull",
    "preview_of",
    "rights",
    "show",
]

ENTRIES: Final = 50
RELATED: Final = 30
# The value of `page` for the last page, which has the newest entries.
LAST: Final = "last"
# The largest value of a 64-bit column.
MOST_DIGITS: Final = 19


class IssuePageQuery(msgspec.Struct, frozen=True):
    """The page of the timeline, or the comment whose page is wanted."""

    page: str = ""
    comment: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectedMerge:
    """The typed values of a rejected merge; `deletes_branch` is None if that was not offered."""

    style: str = ""
    title: str = ""
    message: str = ""
    deletes_branch: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectedForm:
    """A rejected form: the problem and the typed values, to show again."""

    problem: str = ""
    comment: str = ""
    preview: Markup | None = None
    is_blocked: bool = False
    """Whether the issue cannot be closed because it is blocked."""
    wanted: str = ""
    """The typed reference to another issue."""
    merge: RejectedMerge = RejectedMerge()
    status: int = 200


NOTHING: Final = RejectedForm()


@dataclass(frozen=True, slots=True)
class Dependencies:
    """The first issues that block an issue and that it blocks, and their totals."""

    blockers: list[RelatedIssue]
    all_blockers: int
    blocked: list[RelatedIssue]
    all_blocked: int


@dataclass(frozen=True, slots=True)
class Rights:
    """The permissions of the viewer on the page."""

    write: bool
    edit: bool
    comment: bool
    delete: bool


def markdown_context(target: RepositoryAccess) -> MarkdownContext:
    """Return the Markdown context of issue texts."""
    root, branch = root_path(target), quote(target.repository.default_branch)
    return MarkdownContext(
        repository=root, pages=f"{root}/src/branch/{branch}", files=f"{root}/media/branch/{branch}", deeper=2
    )


def rights(request: RequestContext, target: RepositoryAccess, issue: Issue) -> Rights:
    """Return the permissions to show controls for; the services check them again."""
    if request.actor.user is None or target.repository.is_archived:
        return Rights(write=False, edit=False, comment=False, delete=False)
    may = target.permissions
    return Rights(
        write=access.may_write_issue(may, issue),
        edit=access.may_edit(request.actor, may, is_pull=issue.is_pull, author_id=issue.author_id),
        comment=access.may_comment(may, is_pull=issue.is_pull, is_locked=issue.is_locked),
        delete=may.is_admin,
    )


@endpoint("GET /{owner}/{repo}/issues/{index}", scope="issue", guards=READ_ISSUES, slow=True)
def page_issue(
    request: RequestContext, target: RepositoryAccess, index: int, query: IssuePageQuery
) -> RawResponse:
    """Show an issue; a pull request has a page of its own."""
    issue = issues.find(request.app, target, index)
    if issue.is_pull:
        part = {name: value for name in ("page", "comment") if (value := getattr(query, name))}
        return redirect_to(page_path(target.repository, issue) + (f"?{urlencode(part)}" if part else ""))
    if (url := find_comment_url(request, target, issue, query.comment)) is not None:
        return redirect_to(url)
    mark_read(request, issue)
    return show(request, target, index, part=query.page)


@endpoint("GET /{owner}/{repo}/pulls/{index}", scope="issue", guards=READ_ISSUES, slow=True)
def page_pull(request: RequestContext, target: RepositoryAccess, index: str, query: IssuePageQuery) -> RawResponse:
    """Show the conversation of a pull request; with the suffix `.diff` or `.patch`, its changes as text."""
    number, dot, form = index.partition(".")
    if not (number.isascii() and number.isdigit() and len(number) < MOST_DIGITS):
        raise NoSuchIssue(f"pull request does not exist [index: {index}]")
    if dot:
        pull = pulls.find(request.app, target, int(number))
        return RawResponse(pull_changes.text_of(request.app, target, pull, form), "text/plain;charset=utf-8")
    issue = issues.find(request.app, target, int(number))
    if not issue.is_pull:
        return redirect_to(issue_path(target.repository, issue.number))
    if (url := find_comment_url(request, target, issue, query.comment)) is not None:
        return redirect_to(url)
    mark_read(request, issue)
    return show(request, target, issue.number, part=query.page)


def find_comment_url(request: RequestContext, target: RepositoryAccess, issue: Issue, number: str) -> str | None:
    """Return the URL of a comment or review by its id; None if the issue has no such entry."""
    if not (number.isascii() and number.isdigit() and len(number) < MOST_DIGITS):
        return None
    comment = comments.find_text(request.app.database, issue, int(number))
    return None if comment is None else comment_url(request, target, issue, comment)


def comment_url(request: RequestContext, target: RepositoryAccess, issue: Issue, comment: Comment) -> str:
    """Return the URL of a comment, with its page of the timeline."""
    page = comments.entries_before(request.app.database, comment, reader(request)) // ENTRIES + 1
    part = f"?page={page}" if page > 1 else ""
    return f"{page_path(target.repository, issue)}{part}#issuecomment-{comment.id}"


def mark_read(request: RequestContext, issue: Issue) -> None:
    """Mark the notification of the viewer about an issue as read, unless the request is a prefetch."""
    if request.scope["method"] == "GET" and "prefetch" not in request.headers.get("sec-purpose", ""):
        notifications.read_issue(request.app, request.actor, issue)


def show(
    request: RequestContext, target: RepositoryAccess, index: int, *, part: str = "", tried: RejectedForm = NOTHING
) -> RawResponse:
    """Render the page of an issue, with a rejected form if there is one."""
    issue = issues.find(request.app, target, index)
    database, repository = request.app.database, target.repository
    may = rights(request, target, issue)
    count = -1
    number = int(part) if part.isascii() and part.isdigit() and len(part) < 10 else 1
    if part == LAST:
        _, count = comments.entries_of(database, issue, plain=False, reader=reader(request), skip=0, limit=0)
        number = max(-(-count // ENTRIES), 1)
    entries, total = comments.entries_of(
        database,
        issue,
        plain=False,
        reader=reader(request),
        skip=(max(number, 1) - 1) * ENTRIES,
        limit=ENTRIES,
    )
    depends, sides = dependencies(request, target, issue, writes=may.write)
    budget = TextBudget(markdown_context(target))
    body, is_whole = budget.show(issue.body)
    row = rows_of(request, [issue], repository)[0]
    chosen = {label_badge.id for label_badge in row.tags}
    return show_in(
        request,
        target,
        "issues/issue.html",
        tab=PULLS if issue.is_pull else ISSUES,
        title=f"{issue.title} · #{issue.number} · {repository.full_name}",
        status=tried.status,
        row=row,
        issue=issue,
        path=row.path,
        forms=row.forms,
        shown=pull_conversation(request, target, issue, may_edit=may.edit) if issue.is_pull else None,
        section="conversation",
        body=body,
        is_whole=is_whole,
        entries=timeline_entries(
            request,
            repository,
            entries,
            budget,
            blockers=sides[0],
            blocked=sides[1],
            about=pull_timeline(request, target, issue, entries) if issue.is_pull else None,
        ),
        total=total,
        number=max(number, 1),
        size=ENTRIES,
        depends=depends,
        may=may,
        may_edit=lambda entry: edits(request, target, issue, entry),
        may_apply=may.comment
        and issue.is_pull
        and suggestions.may_apply(request.app, request.actor, target, issue),
        choices=choices(request, target, chosen=chosen) if may.write else None,
        chosen=chosen,
        people={account.id for account in row.people},
        tried=tried,
        is_subscribed=(
            request.actor.user is not None and issue_subscriptions.is_subscribed(request.app, request.actor, issue)
        ),
    )


def edits(request: RequestContext, target: RepositoryAccess, issue: Issue, entry: TimelineEntry) -> bool:
    """Return whether the viewer may edit a comment."""
    return not target.repository.is_archived and access.may_edit(
        request.actor, target.permissions, is_pull=issue.is_pull, author_id=entry.author_id
    )


def dependencies(
    request: RequestContext, target: RepositoryAccess, issue: Issue, *, writes: bool
) -> tuple[Dependencies | None, tuple[set[int], set[int]]]:
    """Return the dependencies of an issue and the ids on both sides; None if they are disabled."""
    if not target.repository.allows_dependencies:
        return None, (set(), set())
    database, who, here = request.app.database, reader(request), target.repository
    blockers, all_blockers = visible_issues.blockers_of(database, issue, who, skip=0, limit=RELATED)
    blocked, all_blocked = visible_issues.blocked_by(database, issue, who, skip=0, limit=RELATED)
    dependencies = Dependencies(
        sorted(
            (related_issue(visible_issue, here, writes=writes) for visible_issue in blockers),
            key=lambda related: related.is_closed,
        ),
        all_blockers,
        sorted(
            (related_issue(visible_issue, here) for visible_issue in blocked if visible_issue.is_readable),
            key=lambda related: related.is_closed,
        ),
        all_blocked,
    )
    return dependencies, (
        {visible_issue.issue.id for visible_issue in blockers},
        {visible_issue.issue.id for visible_issue in blocked},
    )


def preview_of(target: RepositoryAccess, text: str) -> Markup:
    """Render a text for the preview."""
    return markdown(text, markdown_context(target))
