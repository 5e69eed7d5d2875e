"""The blame page: the commit that last changed each line of a file."""

from dataclasses import dataclass
from typing import Final

import msgspec
from markupsafe import Markup

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.file_responses.blobs import blob_media_type
from holdfast.hosting.file_responses.media_types import TEXT
from holdfast.hosting.git import trees
from holdfast.hosting.git.blame import BlameHunk, blame
from holdfast.hosting.git.commits import read_commit
from holdfast.hosting.git.trees import TreeEntry
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.request_context import RequestContext
from holdfast.web.code.commit_rows import CommitRow, lines_of
from holdfast.web.code.file_page import LARGEST_TEXT, LineRange, text_shown
from holdfast.web.code.location import READING, CodeLocation, location_at
from holdfast.web.code.repository_pages import number
from holdfast.web.code.switcher import switcher
from holdfast.web.repository_frame import CODE, show_in

__all__ = ["BlameRow", "page_blame", "rows_of"]

# The estimated size of the HTML of a line with its own commit.
PER_LINE: Final = 600


@dataclass(frozen=True, slots=True)
class BlameRow:
    """A line, and its commit if it differs from that of the previous line."""

    number: int
    html: Markup
    line: CommitRow | None


class BlameQuery(msgspec.Struct, frozen=True):
    """The first line to show."""

    line: str = ""


@endpoint("GET /{owner}/{repo}/blame/{kind}/{filepath...}", scope="repository", guards=READING, slow=True)
def page_blame(
    request: RequestContext,
    target: RepositoryAccess,
    kind: str,
    filepath: str,  # noqa: ARG001  # named in the path
    query: BlameQuery,
) -> RawResponse:
    """Show the commit that last changed each line of a file."""
    location = location_at(request, target, kind)
    entry = trees.find(location.repo, read_commit(location.repo, location.commit).tree, location.path)
    if not isinstance(entry, TreeEntry) or entry.type != "file":
        raise ApiError(404)
    problem, rows = "", list[BlameRow]()
    line_range: LineRange | None = None
    if not blob_media_type(location.repo.folder, entry.id).startswith(TEXT):
        problem = "This file is not text, so it has no lines."
    elif entry.size > LARGEST_TEXT:
        problem = "This file is too large to display."
    elif entry.size:
        line_range = text_shown(location, entry, number(query.line), has_source=False, each=PER_LINE).line_range
        assert line_range is not None  # noqa: S101  # a text has at least one line
        origins = blame(location.repo, location.commit, location.path, line_range.first, line_range.last)
        if origins is None:
            problem = "It takes too long to find out who wrote these lines."
        else:
            rows = rows_of(request, location, line_range, origins)
    return show_in(
        request,
        target,
        "code/blame.html",
        tab=CODE,
        title=f"Blame {location.title} · {target.repository.full_name}",
        location=location,
        crumbs=location.crumbs(),
        switch=switcher(request.app, target.repository, location, "blame"),
        problem=problem,
        line_range=line_range,
        rows=rows,
    )


def rows_of(
    request: RequestContext, location: CodeLocation, line_range: LineRange, origins: tuple[BlameHunk, ...]
) -> list[BlameRow]:
    """Return the rows of a page: its lines with their commits."""
    blame_hunks = [
        origin
        for origin in origins
        if origin.first <= line_range.last and origin.first + origin.count > line_range.first
    ]
    commits = {commit: read_commit(location.repo, commit) for commit in {origin.commit for origin in blame_hunks}}
    rows_by_commit = {line.id: line for line in lines_of(request, commits.values())}
    starts = {max(origin.first, line_range.first): rows_by_commit[origin.commit] for origin in blame_hunks}
    return [BlameRow(at, html, starts.get(at)) for at, html in enumerate(line_range.lines, line_range.first)]
