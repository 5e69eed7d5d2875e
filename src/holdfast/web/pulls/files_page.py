"""The changed files of a pull request, with line comments and the review form."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import urlencode

import msgspec

from holdfast.hosting import access
from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.errors import NoSuchObject
from holdfast.hosting.git.commits import read_commit
from holdfast.hosting.git.patches import TreeDiff, diff_trees
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import pull_changes, pulls, suggestions
from holdfast.hosting.services.line_comments import merge_base_of
from holdfast.hosting.store import line_comments
from holdfast.hosting.store.issue_relations import timeline_parts
from holdfast.hosting.store.issues import Issue
from holdfast.hosting.store.review_changes import PENDING_KIND
from holdfast.web.code.diffs import DiffQuery, DiffShown, PatchShown, diff_shown
from holdfast.web.issues.issue_page import edits, markdown_context, rights
from holdfast.web.issues.rows import rows_of
from holdfast.web.issues.timeline import TextBudget, TimelineEntry, comment_entry
from holdfast.web.pulls.commits_page import READ_CHANGES
from holdfast.web.pulls.pull_head import pull_head
from holdfast.web.pulls.reviewers import reviewers_shown
from holdfast.web.pulls.timeline import remarks_of, with_suggestion
from holdfast.web.repository_frame import PULLS, root_path, show_in

__all__ = ["FilesPageQuery", "RejectedReview", "files_page", "page_pull_files"]

# Further comments are shown in the conversation only.
MOST_COMMENTS: Final = 500
EMPTY: Final = TreeDiff((), 0, 0)


class FilesPageQuery(DiffQuery, frozen=True):
    """The part of the changes to show, and the line whose comment form is open: `n12` after, `o12` before."""

    path: str = ""
    at: str = ""
    suggest: str = ""
    """Whether the form is prefilled with a suggested change."""

    def link(self) -> str:
        """Return the query string of the part that is shown."""
        pairs = {name: getattr(self, name) for name in ("file", "first", "skip", "view", "context")}
        parameters = {name: value for name, value in pairs.items() if value}
        return f"?{urlencode(parameters)}" if parameters else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectedReview:
    """A rejected review or line comment: the error and the typed values."""

    problem: str = ""
    body: str = ""
    event: str = ""
    path: str = ""
    side: str = "new"
    line: int = 0
    comment: str = ""
    status: int = 200


NOTHING: Final = RejectedReview()


@dataclass(frozen=True, slots=True)
class FileReview:
    """The conversations about a file: by line as `n12` and `o12`, and those about lines that are not shown."""

    by_line: dict[str, list[TimelineEntry]]
    elsewhere: list[TimelineEntry]
    form: str
    """The line whose comment form is open; empty if none is."""

    @property
    def marked(self) -> set[str]:
        """The lines with a conversation or a form."""
        return {*self.by_line, self.form} - {""}


@endpoint("GET /{owner}/{repo}/pulls/{index}/files", scope="issue", guards=READ_CHANGES, slow=True)
def page_pull_files(
    request: RequestContext, target: RepositoryAccess, index: int, query: FilesPageQuery
) -> RawResponse:
    """Show the changed files of a pull request."""
    return files_page(request, target, index, query)


def files_page(
    request: RequestContext,
    target: RepositoryAccess,
    index: int,
    query: FilesPageQuery,
    tried: RejectedReview = NOTHING,
) -> RawResponse:
    """Render the changed files, with a rejected form if there is one."""
    issue = pulls.find(request.app, target, index)
    head = pull_head(request, target, issue)
    whole = f"{head.path}/files"
    diff = changes(request, target, issue, query, whole)
    may = rights(request, target, issue)
    entries = line_entries(request, target, issue)
    if tried.line:
        query = replace_form(query, tried)
    reviewed, outdated = sorted_entries(diff, entries, query)
    if tried.comment and not any(one.form for one in reviewed.values()):
        # Its line is not shown, for example because the branch has changed: the review form keeps the text.
        tried = replace(tried, body=tried.comment, event="COMMENT")
    reviewers = reviewers_shown(request, target, issue, may_ask=False)
    return show_in(
        request,
        target,
        "pulls/files.html",
        tab=PULLS,
        title=f"Files changed · {issue.title} · #{issue.number} · {target.repository.full_name}",
        status=tried.status,
        issue=issue,
        row=rows_of(request, [issue], target.repository)[0],
        head=head,
        path=head.path,
        forms=f"{root_path(target)}/issues/{issue.number}",
        section="files",
        diff=diff,
        whole=whole,
        query=query,
        review=reviewed,
        outdated=outdated,
        may=may,
        may_edit=lambda entry: edits(request, target, issue, entry),
        pending=reviewers.pending,
        pending_count=sum(
            1 for timeline_entry in entries if timeline_entry.remark and timeline_entry.remark.is_pending
        ),
        is_own=request.actor.user is not None and request.actor.user.id == issue.author_id,
        may_review=may.comment and access.may_comment(target.permissions, is_pull=True, is_locked=issue.is_locked),
        may_apply=may.comment and suggestions.may_apply(request.app, request.actor, target, issue),
        tried=tried,
    )


def replace_form(query: FilesPageQuery, tried: RejectedReview) -> FilesPageQuery:
    """Return the query that opens the form of a rejected comment."""
    at = f"{'o' if tried.side == 'old' else 'n'}{tried.line}"
    return msgspec.structs.replace(query, path=tried.path, at=at)


def changes(
    request: RequestContext, target: RepositoryAccess, issue: Issue, query: FilesPageQuery, whole: str
) -> DiffShown:
    """Return the part of the changes that a page shows; empty if the commits no longer exist."""
    root = root_path(target)
    try:
        span = pull_changes.open_span(request.app, target, issue)
        # Line comments refer to lines of these two commits.
        base = span.merge_base if issue.is_closed else merge_base_of(span.repo, issue, span.head)
        old, new = read_commit(span.repo, base).tree, read_commit(span.repo, span.head).tree
    except NoSuchObject:
        return DiffShown([], [], 0, 1, 0, 0)
    return diff_shown(
        span.repo, root, diff_trees(span.repo, old, new), query, old=base, new=span.head, whole=whole
    )


def line_entries(request: RequestContext, target: RepositoryAccess, issue: Issue) -> list[TimelineEntry]:
    """Return the line comments of a pull request, with the current positions of their lines."""
    viewer = None if request.actor.user is None else request.actor.user.id
    commented_lines = line_comments.line_comments_in(request.app.database, issue, viewer, limit=MOST_COMMENTS)
    comments = [comment for comment, _ in commented_lines]
    parts = timeline_parts(request.app.database, comments)
    remarks = remarks_of(request, target, issue, [place for _, place in commented_lines])
    budget = TextBudget(markdown_context(target))
    return [
        replace(
            comment_entry(comment, parts, budget),
            remark=replace(
                with_suggestion(remarks[comment.id], comment, issue), is_pending=comment.kind == PENDING_KIND
            ),
        )
        for comment in comments
    ]


def sorted_entries(
    diff: DiffShown, entries: Sequence[TimelineEntry], query: FilesPageQuery
) -> tuple[dict[int, FileReview], list[TimelineEntry]]:
    """Return the conversations by the number of the file on the page, and the outdated ones."""
    by_path: dict[str, list[TimelineEntry]] = {}
    outdated: list[TimelineEntry] = []
    for entry in entries:
        if entry.remark is not None and not entry.remark.is_outdated:
            by_path.setdefault(entry.remark.path, []).append(entry)
        else:
            outdated.append(entry)
    reviewed = {patch.number: file_review(patch, by_path.get(patch.name, ()), query) for patch in diff.patches}
    return reviewed, outdated


def file_review(patch: PatchShown, entries: Sequence[TimelineEntry], query: FilesPageQuery) -> FileReview:
    """Return the conversations about one file; those about lines the diff does not show come last."""
    visible = {
        key
        for hunk in patch.hunks
        for line, _ in hunk.lines
        for key in (f"o{line.old}" if line.old else "", f"n{line.new}" if line.new else "")
    } - {""}
    by_line: dict[str, list[TimelineEntry]] = {}
    elsewhere: list[TimelineEntry] = []
    for entry in entries:
        remark = entry.remark
        key = "" if remark is None else f"{'o' if remark.is_old_side else 'n'}{remark.line}"
        if key in visible:
            by_line.setdefault(key, []).append(entry)
        else:
            elsewhere.append(entry)
    form = query.at or query.suggest
    return FileReview(by_line, elsewhere, form if query.path == patch.name and form in visible else "")
