"""The board of a repository's issues: a column for each milestone, or for each of some labels."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import urlencode

import msgspec

from holdfast.hosting import access
from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.errors import DoesNotExist, HostingError, Outdated
from holdfast.hosting.guards import CHANGE_ISSUES, READ_ISSUES
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import boards, issues
from holdfast.hosting.store import issue_lists, labels, milestones
from holdfast.hosting.store.issue_lists import Filter
from holdfast.hosting.store.labels import Label
from holdfast.web.error_messages import message_for, status_for
from holdfast.web.issues.choices import as_ids, choices
from holdfast.web.issues.issue_forms import issue_name
from holdfast.web.issues.issue_list import STATES, IssueFilter, IssuesQuery, parse_filter
from holdfast.web.issues.label_colors import LabelBadge, tag
from holdfast.web.issues.rows import IssueRow, rows_of
from holdfast.web.pages import redirect_to
from holdfast.web.repository_frame import ISSUES, root_path, show_in

__all__ = ["move_card", "show_board"]

# The number of cards in a column; it links to the full list.
CARDS: Final = 20
MOST_COLUMNS: Final = 12
MOST_LABELS: Final = 200
MOVED: Final = "The issue was moved by somebody else in the meantime. The board shows where it is now."


class BoardQuery(IssuesQuery, frozen=True, kw_only=True):
    """The query string of a board: its columns, and the filters of the list."""

    by: str = ""
    scope: str = ""
    column: list[str] = msgspec.field(default_factory=list)


class MoveForm(msgspec.Struct, frozen=True):
    """The number of an issue, its old column and its new one; columns are milestone or label ids, 0 is none."""

    index: str = ""
    source: str = ""
    to: str = ""


@dataclass(frozen=True, slots=True)
class BoardColumn:
    """A column: issues of one milestone or label, or of none of those that are shown."""

    id: int
    title: str
    badge: LabelBadge | None
    due_at: int
    rows: list[IssueRow]
    total: int
    list_link: str
    """The query string of the list with all of its issues."""


@dataclass(frozen=True, slots=True)
class ColumnPlan:
    """The filter of a column, before its issues are read."""

    id: int
    title: str
    filter: Filter
    list_filter: IssueFilter
    badge: LabelBadge | None = None
    due_at: int = 0


@dataclass(frozen=True, slots=True)
class BoardLabels:
    """The labels that can be columns, the scopes of exclusive ones, and those that are columns now."""

    usable: list[Label]
    scopes: list[str]
    scope: str
    shown: list[Label]


def board_labels(request: RequestContext, target: RepositoryAccess, query: BoardQuery) -> BoardLabels:
    """Return the labels of a board: those of a scope, the chosen ones, or those of the first scope."""
    usable = labels.labels_usable(request.app.database, target.repository, limit=MOST_LABELS)
    scopes = list(dict.fromkeys(label.scope for label in usable if label.scope))
    wanted = set(as_ids(query.column[:MOST_COLUMNS]))
    shown = [label for label in usable if label.id in wanted]
    scope = query.scope if query.scope in scopes else "" if shown else next(iter(scopes), "")
    if scope:
        shown = [label for label in usable if label.scope == scope]
    return BoardLabels(usable, scopes, scope, shown)


def milestone_plans(
    request: RequestContext, target: RepositoryAccess, chosen: IssueFilter, wanted: Filter
) -> tuple[list[ColumnPlan], int]:
    """Return a column for issues without a milestone and for each open milestone, and how many are omitted."""
    stored_milestones, total = milestones.milestones_of(
        request.app.database, target.repository, is_closed=False, name="", skip=0, limit=MOST_COLUMNS
    )
    plans = [ColumnPlan(0, "No milestone", replace(wanted, milestone_id=0), replace(chosen, milestone="none"))]
    plans += [
        ColumnPlan(
            milestone.id,
            milestone.title,
            replace(wanted, milestone_id=milestone.id),
            replace(chosen, milestone=str(milestone.id)),
            due_at=milestone.due_at,
        )
        for milestone in stored_milestones
    ]
    return plans, total - len(stored_milestones)


def label_plans(board: BoardLabels, chosen: IssueFilter, wanted: Filter) -> tuple[list[ColumnPlan], int]:
    """Return a column for each label and one for issues with none of them, and how many are omitted."""
    columns = board.shown[:MOST_COLUMNS]
    if not columns:
        return [], 0
    ids = tuple(label.id for label in columns)
    without = tuple(dict.fromkeys((*chosen.without, *ids)))
    none = f"No {board.scope}" if board.scope else "None of these labels"
    plans = [ColumnPlan(0, none, replace(wanted, without_label_ids=without), replace(chosen, without=without))]
    plans += [
        ColumnPlan(
            label.id,
            label.name,
            replace(wanted, label_ids=(*wanted.label_ids, label.id)),
            replace(chosen, label=tuple(dict.fromkeys((*chosen.label, label.id)))),
            tag(label),
        )
        for label in columns
    ]
    return plans, len(board.shown) - len(columns)


def read_columns(
    request: RequestContext, target: RepositoryAccess, plans: Sequence[ColumnPlan], *, kind: str, sort: str
) -> list[BoardColumn]:
    """Read the first cards and the count of each column; the data of all cards is loaded at once."""
    repository = target.repository
    kinds = access.issue_kinds(target.permissions, kind)
    where, kept = [issue_lists.in_repository(repository, kinds)], issue_lists.kept_in(repository, kinds)
    pages = [
        issue_lists.list_issues(
            request.app.database,
            where,
            plan.filter,
            sort=sort,
            kept=kept,
            repository_id=repository.id,
            skip=0,
            limit=CARDS,
        )
        for plan in plans
    ]
    # With labels that are not exclusive, an issue can be in several columns.
    issues_by_id = {issue.id: issue for page, _ in pages for issue in page}
    rows = {row.issue.id: row for row in rows_of(request, list(issues_by_id.values()), repository)}
    return [
        BoardColumn(
            plan.id,
            plan.title,
            plan.badge,
            plan.due_at,
            [rows[issue.id] for issue in page if issue.id in rows],
            total,
            plan.list_filter.link(),
        )
        for plan, (page, total) in zip(plans, pages, strict=True)
    ]


def board_link(chosen: IssueFilter, by: str, scope: str, columns: Sequence[int]) -> str:
    """Return the query string of a board."""
    pairs = [("by", by), ("scope", scope), *(("column", str(number)) for number in columns)]
    kept = chosen.link().removeprefix("?")
    query = urlencode([(name, value) for name, value in pairs if value])
    return f"?{query}&{kept}" if kept else f"?{query}"


@endpoint("GET /{owner}/{repo}/issues/board", scope="issue", guards=READ_ISSUES, slow=True)
def show_board(request: RequestContext, target: RepositoryAccess, query: BoardQuery) -> RawResponse:
    """Show the board of a repository's issues, by milestone or by label."""
    return board_page(request, target, query)


def board_page(
    request: RequestContext, target: RepositoryAccess, query: BoardQuery, *, problem: str = "", status: int = 200
) -> RawResponse:
    """Render the board, with the error of a move."""
    offered = choices(request, target, is_closed=None)
    chosen = parse_filter(query, offered, request.actor.user)
    by = "label" if query.by == "label" else "milestone"
    shown_labels = board_labels(request, target, query)
    wanted = chosen.filter(is_closed=STATES[chosen.state])
    if by == "label":
        plans, left_out = label_plans(shown_labels, chosen, wanted)
    else:
        plans, left_out = milestone_plans(request, target, chosen, wanted)
    kind = chosen.type or "issues"
    columns = [label.id for label in shown_labels.shown] if by == "label" and not shown_labels.scope else []
    path = f"{root_path(target)}/issues/board"
    return show_in(
        request,
        target,
        "issues/board.html",
        tab=ISSUES,
        title=f"Board · {target.repository.full_name}",
        status=status,
        problem=problem,
        path=path,
        here_link=board_link(chosen, by, shown_labels.scope if by == "label" else "", columns),
        links=[
            ("Milestones", board_link(chosen, "milestone", "", []), by == "milestone"),
            *(
                (
                    f"{scope}/",
                    board_link(chosen, "label", scope, []),
                    by == "label" and scope == shown_labels.scope,
                )
                for scope in shown_labels.scopes[:MOST_COLUMNS]
            ),
        ],
        by=by,
        scope=shown_labels.scope if by == "label" else "",
        column_ids=columns,
        labels=[tag(label) for label in shown_labels.usable],
        columns=read_columns(request, target, plans, kind=kind, sort=chosen.sort),
        left_out=left_out,
        issue_filter=chosen,
        search_text=chosen.search_text(kind, offered),
        may_move=may_move(request, target),
        most_columns=MOST_COLUMNS,
    )


def may_move(request: RequestContext, target: RepositoryAccess) -> bool:
    """Return whether the viewer may move cards."""
    is_open = request.actor.user is not None and not target.repository.is_archived
    return is_open and target.permissions.may_write(Unit.ISSUES)


@endpoint("POST /{owner}/{repo}/issues/board/move", scope="issue", guards=CHANGE_ISSUES)
def move_card(request: RequestContext, target: RepositoryAccess, query: BoardQuery, body: MoveForm) -> RawResponse:
    """Move an issue to another column, and show the board again."""
    index, source, destination = (next(iter(as_ids([text])), 0) for text in (body.index, body.source, body.to))
    issue = issues.find(request.app, target, index)
    move = boards.move_to_label if query.by == "label" else boards.move_to_milestone
    try:
        move(request.app, request.actor, target, issue, source=source, destination=destination)
    except DoesNotExist:
        raise
    except Outdated as error:
        return board_page(request, target, query, problem=MOVED, status=status_for(error))
    except HostingError as error:
        return board_page(request, target, query, problem=message_for(error), status=status_for(error))
    sent = request.scope["query_string"].decode("ascii", "replace")
    path = f"{root_path(target)}/issues/board?{sent}#issue-{issue.number}"
    return redirect_to(path, "issue-moved", issue_name(issue))
