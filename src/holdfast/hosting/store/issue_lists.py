"""Issue lists, of one repository or of all that a user can read: filtered, sorted and counted in SQL."""

import operator
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    Select,
    and_,
    exists,
    false,
    func,
    literal_column,
    or_,
    select,
    true,
    tuple_,
    union,
)
from sqlalchemy.sql.elements import BooleanClauseList

from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.dependencies import HAS_OPEN_BLOCKER
from holdfast.hosting.store.full_text import issues_matching, words_of
from holdfast.hosting.store.issue_transactions import ISSUE, Issue
from holdfast.hosting.store.labelled_issues import LabelledIssues, only_label
from holdfast.hosting.store.list_pages import page_ids
from holdfast.hosting.store.notification_writes import mention_pattern
from holdfast.hosting.store.repositories import COVERED, Repository, readable_by
from holdfast.hosting.store.reviews import ReviewState
from holdfast.hosting.store.tables import (
    comments,
    issue_assignees,
    issue_labels,
    issues,
    labels,
    milestones,
    repositories,
    reviews,
    team_members,
    teams,
    users,
)

__all__ = [
    "ORDERS",
    "Filter",
    "IssueName",
    "ListScope",
    "between_branches",
    "count_issues",
    "in_repository",
    "in_team",
    "kept_in",
    "kept_visible",
    "list_issues",
    "owned_by",
    "readable_among",
    "visible_to",
]

IssueName = tuple[str, str, int]
"""Owner and name of a repository, casefolded, and the number of an issue in it."""

# `users` is the owner of the repository in these statements.
people = users.alias("people")
grouped = issues.alias("grouped")
WITH_PLACE: Final = issues.join(repositories, repositories.c.id == issues.c.repository_id).join(
    users, users.c.id == repositories.c.owner_id
)
# Up to this many issues are sorted; more are read from an index in the order of the list.
FEW: Final = 5000
NONE: Final = "none"
ANY: Final = "*"
# The condition of partial indexes, as it is in them: SQLAlchemy would compare with 1.
IS_PULL: Final[ColumnElement[bool]] = literal_column("issues.is_pull")
# Each order has an index; the id is the tie breaker, in the same direction.
ORDERS: Final[dict[str, tuple[ColumnElement[Any], bool]]] = {
    "newest": (issues.c.created_at, True),
    "oldest": (issues.c.created_at, False),
    "recentupdate": (issues.c.updated_at, True),
    "recentclose": (issues.c.closed_at, True),
    "leastupdate": (issues.c.updated_at, False),
    "mostcomment": (issues.c.comment_count, True),
    "leastcomment": (issues.c.comment_count, False),
    "nearduedate": (issues.c.due_at, False),
    "farduedate": (issues.c.due_at, True),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Filters for issues; empty and None match everything. User names are case-insensitive."""

    is_closed: bool | None = None
    text: str = ""
    labels: Sequence[str] = ()
    """Names; an issue must have all of them."""
    label_ids: Sequence[int] = ()
    """Ids; an issue must have all of them."""
    milestones: Sequence[str] = ()
    """Titles or ids, any of them; `none` matches issues without a milestone, `*` those with one."""
    milestone_id: int | None = None
    """The id of a milestone; 0 matches issues without one."""
    without_label_ids: Sequence[int] = ()
    """Ids; an issue must have none of them."""
    since: int | None = None
    before: int | None = None
    author: str = ""
    assignee: str = ""
    """A user name; `none` or `*` as for milestones."""
    mentioned: str = ""
    review_requested_from: str = ""
    """A user name; a request to a team of the user counts too."""
    reviewed_by: str = ""
    is_ready: bool | None = None
    """Whether it is open and has no open blocker."""


@dataclass(frozen=True, slots=True)
class ListScope:
    """The repositories and kinds of issues that a list covers."""

    count: Callable[[Connection, Filter], int]
    """Returns the number of issues in the state of a filter, from the counters of repositories."""
    kinds_in: Callable[[Connection, int], Collection[bool]]
    """Returns the kinds of issues that it covers in a repository, by id: the accepted values of `is_pull`."""


def user_id(name: str) -> ColumnElement[int]:
    """Return the subquery for the id of the user with this name."""
    return select(people.c.id).where(people.c.folded_name == name.casefold()).scalar_subquery()


def contains(text: str, *, sqlite: bool, repository_id: int | None) -> ColumnElement[bool]:
    """Return the condition that an issue has the words of a text, or that its number is the text.

    Words are those of its title and body, or of one comment. A text without words, or in a script that does not
    separate them, is searched for as a substring of title and body.
    """
    words = words_of(text)
    alternatives: list[ColumnElement[bool]]
    if words:
        alternatives = [issues.c.id.in_(issues_matching(words, sqlite=sqlite, repository_id=repository_id))]
    else:
        alternatives = [
            issues.c.title.icontains(text, autoescape=True),
            issues.c.body.icontains(text, autoescape=True),
        ]
    if is_number(text):
        alternatives.append(issues.c.number == int(text.removeprefix("#")))
    return or_(*alternatives)


def is_number(text: str) -> bool:
    """Return whether a text is the number of an issue, as `7` or `#7`."""
    number = text.removeprefix("#")
    return number.isascii() and number.isdigit() and len(number) < 19


def written_by(name: str) -> Select[int]:
    """Return the query for the ids of issues of an author."""
    return select(grouped.c.id).where(grouped.c.author_id == user_id(name))


def is_user(connection: Connection, name: str) -> bool:
    """Return whether there is a user with this name."""
    statement = select(people.c.id).where(people.c.folded_name == name.casefold())
    return connection.execute(statement).first() is not None


def having_labels(names: Sequence[str]) -> Select[int]:
    """Return the query for the ids of issues that have all labels with these names."""
    folded = set(names)
    having_any = (
        select(issue_labels.c.issue_id)
        .join(labels, labels.c.id == issue_labels.c.label_id)
        .where(labels.c.name.in_(folded))
    )
    if len(folded) == 1:
        return having_any
    return having_any.group_by(issue_labels.c.issue_id).having(func.count(labels.c.name.distinct()) == len(folded))


def having_label_ids(ids: Sequence[int]) -> Select[int]:
    """Return the query for the ids of issues that have all labels with these ids."""
    unique_ids = set(ids)
    having_any = select(issue_labels.c.issue_id).where(issue_labels.c.label_id.in_(unique_ids))
    if len(unique_ids) == 1:
        return having_any
    return having_any.group_by(issue_labels.c.issue_id).having(func.count() == len(unique_ids))


def having_milestone(keys: Sequence[str]) -> Select[int]:
    """Return the query for the ids of issues that belong to one of these milestones."""
    ids = [int(key) for key in keys if key.isascii() and key.isdigit() and len(key) < 19]
    named = select(milestones.c.id).where(or_(milestones.c.title.in_(keys), milestones.c.id.in_(ids)))
    return select(grouped.c.id).where(grouped.c.milestone_id.in_(named))


def in_milestone(milestone_id: int) -> Select[int]:
    """Return the query for the ids of issues in a milestone, by ix_issues_milestone_id_is_closed."""
    return select(grouped.c.id).where(grouped.c.milestone_id == milestone_id)


def has_milestone(keys: Sequence[str]) -> ColumnElement[bool]:
    """Return the condition that an issue belongs to one of these milestones."""
    alternatives: list[ColumnElement[bool]] = [issues.c.id.in_(having_milestone(keys))]
    if NONE in keys:
        alternatives.append(issues.c.milestone_id.is_(None))
    if ANY in keys:
        alternatives.append(issues.c.milestone_id.is_not(None))
    return or_(*alternatives)


def assigned_to(name: str) -> Select[int]:
    """Return the query for the ids of issues that are assigned to a user."""
    return select(issue_assignees.c.issue_id).where(issue_assignees.c.user_id == user_id(name))


def is_assigned(name: str) -> ColumnElement[bool]:
    """Return the condition that an issue is assigned to a user."""
    assigned = issue_assignees.c.issue_id == issues.c.id
    if name == NONE:
        return ~exists().where(assigned)
    if name == ANY:
        return exists().where(assigned)
    return issues.c.id.in_(assigned_to(name))


def review_requested(name: str) -> Select[int]:
    """Return the query for the ids of pull requests to be reviewed by a user or one of their teams."""
    user = user_id(name)
    of_team = reviews.c.team_id.in_(select(team_members.c.team_id).where(team_members.c.user_id == user))
    requested = reviews.c.state == ReviewState.REQUEST_REVIEW
    # A union, so that each part uses its index: ix_reviews_reviewer_id and ix_reviews_team_id.
    pulls = union(
        select(reviews.c.issue_id).where(requested, reviews.c.reviewer_id == user),
        select(reviews.c.issue_id).where(requested, of_team),
    ).subquery()
    return select(pulls.c.issue_id)


def reviewed(name: str) -> Select[int]:
    """Return the query for the ids of pull requests that a user has reviewed."""
    states = (ReviewState.APPROVED, ReviewState.REQUEST_CHANGES, ReviewState.COMMENT)
    return select(reviews.c.issue_id).where(reviews.c.reviewer_id == user_id(name), reviews.c.state.in_(states))


def selections_of(filters: Filter, repository_id: int | None) -> list[Select[Any]]:
    """Return the queries, for SQLite, for the ids that single filters select by an index of their own."""
    selections: list[Select[Any]] = []
    words = words_of(filters.text)
    if words and not is_number(filters.text):
        matching = issues_matching(words, sqlite=True, repository_id=repository_id)
        selections.append(select(matching.subquery()))
    if filters.labels:
        selections.append(having_labels(filters.labels))
    if filters.label_ids:
        selections.append(having_label_ids(filters.label_ids))
    if filters.milestones and not {NONE, ANY} & set(filters.milestones):
        selections.append(having_milestone(filters.milestones))
    if filters.milestone_id:
        selections.append(in_milestone(filters.milestone_id))
    if filters.author:
        by_author = written_by(filters.author)
        selections.append(
            by_author if repository_id is None else by_author.where(grouped.c.repository_id == repository_id)
        )
    if filters.assignee not in {"", NONE, ANY}:
        selections.append(assigned_to(filters.assignee))
    if mentioned_words := words_of(filters.mentioned):
        matching = issues_matching(mentioned_words, sqlite=True, repository_id=repository_id)
        selections.append(select(matching.subquery()))
    if filters.review_requested_from:
        selections.append(review_requested(filters.review_requested_from))
    if filters.reviewed_by:
        selections.append(reviewed(filters.reviewed_by))
    return selections


def are_few(connection: Connection, filters: Filter, repository_id: int | None) -> bool:
    """Return whether a filter selects so few issues, in all repositories, that sorting them is faster."""
    for selection in selections_of(filters, repository_id):
        first = selection.limit(FEW + 1).subquery()
        if connection.execute(select(func.count()).select_from(first)).scalar_one() <= FEW:
            return True
    return False


def with_planner_hints(
    database: Database,
    connection: Connection,
    conditions: Sequence[ColumnElement[bool]],
    filters: Filter,
    repository_id: int | None,
) -> list[ColumnElement[bool]]:
    """Return conditions and that of the state, with hints for the query planner.

    SQLite has no statistics, and expects few rows of a repository and of a state. If a filter selects even fewer,
    `likely()` marks the other conditions as excluding few rows. PostgreSQL has statistics.
    """
    state = [] if filters.is_closed is None else [issues.c.is_closed == filters.is_closed]
    if database.is_sqlite and are_few(connection, filters, repository_id):
        return [
            func.likely(part) for condition in (*conditions, *state) for part in parts_of_conjunction(condition)
        ]
    return [*conditions, *state]


def parts_of_conjunction(condition: ColumnElement[bool]) -> list[ColumnElement[bool]]:
    """Return the operands of AND, or the condition itself: SQLite ignores a hint about a whole conjunction."""
    if isinstance(condition, BooleanClauseList) and condition.operator is operator.and_:
        return list(condition.clauses)
    return [condition]


def mentions(name: str, *, sqlite: bool, repository_id: int | None) -> ColumnElement[bool]:
    """Return the condition that an issue or one of its comments mentions a user, as in notifications."""
    pattern = mention_pattern(name)

    def mentioned_in(body: ColumnElement[str]) -> ColumnElement[bool]:
        return and_(body.icontains(f"@{name}", autoescape=True), body.regexp_match(pattern))

    words = words_of(name)
    having_words = (
        issues.c.id.in_(issues_matching(words, sqlite=sqlite, repository_id=repository_id)) if words else true()
    )
    in_comments = exists().where(
        comments.c.issue_id == issues.c.id,
        comments.c.kind == "comment",
        mentioned_in(comments.c.body),
    )
    return and_(having_words, or_(mentioned_in(issues.c.body), in_comments))


def conditions_of(filters: Filter, *, sqlite: bool, repository_id: int | None) -> list[ColumnElement[bool]]:
    """Return the SQL conditions of a filter, except the state, in a repository or in all."""
    conditions: list[ColumnElement[bool]] = []
    if filters.text:
        conditions.append(contains(filters.text, sqlite=sqlite, repository_id=repository_id))
    if filters.labels:
        conditions.append(issues.c.id.in_(having_labels(filters.labels)))
    if filters.label_ids:
        conditions.append(issues.c.id.in_(having_label_ids(filters.label_ids)))
    if filters.milestones:
        conditions.append(has_milestone(filters.milestones))
    if filters.milestone_id is not None:
        wanted = filters.milestone_id
        conditions.append(issues.c.id.in_(in_milestone(wanted)) if wanted else issues.c.milestone_id.is_(None))
    if filters.without_label_ids:
        unwanted = issue_labels.c.label_id.in_(set(filters.without_label_ids))
        conditions.append(~exists().where(issue_labels.c.issue_id == issues.c.id, unwanted))
    if filters.since is not None:
        conditions.append(issues.c.updated_at >= filters.since)
    if filters.before is not None:
        conditions.append(issues.c.updated_at <= filters.before)
    if filters.author:
        conditions.append(issues.c.author_id == user_id(filters.author))
    if filters.assignee:
        conditions.append(is_assigned(filters.assignee))
    if filters.mentioned:
        conditions.append(mentions(filters.mentioned, sqlite=sqlite, repository_id=repository_id))
    if filters.review_requested_from:
        conditions.append(issues.c.id.in_(review_requested(filters.review_requested_from)))
    if filters.reviewed_by:
        conditions.append(issues.c.id.in_(reviewed(filters.reviewed_by)))
    if filters.is_ready is not None:
        ready = and_(~issues.c.is_closed, ~HAS_OPEN_BLOCKER)
        conditions.append(ready if filters.is_ready else ~ready)
    return conditions


def in_repository(repository: Repository, kinds: Sequence[bool]) -> ColumnElement[bool]:
    """Return the condition that an issue is in a repository; `kinds` are the accepted values of `is_pull`."""
    here = issues.c.repository_id == repository.id
    # A condition that is always true would only prevent the use of indexes.
    return here if {False, True} <= set(kinds) else and_(here, issues.c.is_pull.in_(kinds))


def between_branches(head: str, base: str) -> list[ColumnElement[bool]]:
    """Return the conditions on a pull request's branches; an empty name matches any."""
    conditions: list[ColumnElement[bool]] = [IS_PULL] if head or base else []
    if head:
        conditions.append(issues.c.head_branch == head)
    if base:
        conditions.append(issues.c.base_branch == base)
    return conditions


def visible_to(
    user: Account | None, *, public_only: bool, kinds: Sequence[bool] = (False, True)
) -> ColumnElement[bool]:
    """Return the condition that a user may read an issue, in any repository."""
    parts: list[ColumnElement[bool]] = []
    if False in kinds:
        may = readable_by(user, public_only=public_only, unit="repo.issues")
        parts.append(and_(~issues.c.is_pull, repositories.c.has_issues, may))
    if True in kinds:
        may = readable_by(user, public_only=public_only, unit="repo.pulls")
        parts.append(and_(issues.c.is_pull, repositories.c.has_pulls, may))
    return or_(false(), *parts)


def readable_among(
    database: Database, names: Collection[IssueName], user: Account | None, *, public_only: bool
) -> set[IssueName]:
    """Return which of these issues exist and are readable by a user."""
    columns = (users.c.folded_name, repositories.c.folded_name, issues.c.number)
    readable = visible_to(user, public_only=public_only)
    statement = select(*columns).select_from(WITH_PLACE).where(tuple_(*columns).in_(list(names)), readable)
    with database.read() as connection:
        return {(row[0], row[1], row[2]) for row in connection.execute(statement)}


def owned_by(name: str) -> ColumnElement[bool]:
    """Return the condition that an issue is in a repository of this owner."""
    return users.c.folded_name == name.casefold()


def in_team(name: str) -> ColumnElement[bool]:
    """Return the condition that an issue is in a repository of one of its owner's teams."""
    return exists().where(
        teams.c.organization_id == repositories.c.owner_id,
        teams.c.folded_name == name.casefold(),
        COVERED,
    )


def kept_in(repository: Repository, kinds: Sequence[bool]) -> ListScope:
    """Return the scope of a repository; `kinds` are the accepted values of `is_pull`."""

    def count(_connection: Connection, filters: Filter) -> int:
        counters = {
            (False, False): repository.open_issues,
            (False, True): repository.closed_issues,
            (True, False): repository.open_pulls,
            (True, True): repository.closed_pulls,
        }
        states = (False, True) if filters.is_closed is None else (filters.is_closed,)
        return sum(counters[is_pull, state] for is_pull in set(kinds) for state in states)

    return ListScope(count, lambda _connection, number: kinds if number == repository.id else ())


def kept_visible(
    user: Account | None,
    *,
    public_only: bool,
    kinds: Sequence[bool] = (False, True),
    places: Sequence[ColumnElement[bool]] = (),
) -> ListScope:
    """Return the scope of the issues a user may read; `places` are conditions on their repositories."""
    source = repositories.join(users, users.c.id == repositories.c.owner_id)

    def covers(*, is_pull: bool) -> list[ColumnElement[bool]]:
        unit = "pulls" if is_pull else "issues"
        readable = readable_by(user, public_only=public_only, unit=f"repo.{unit}")
        return [repositories.c[f"has_{unit}"], readable, *places]

    def kinds_in(connection: Connection, repository_id: int) -> list[bool]:
        this = select(repositories.c.id).select_from(source).where(repositories.c.id == repository_id)
        return [
            is_pull
            for is_pull in sorted(set(kinds))
            if connection.execute(this.where(*covers(is_pull=is_pull))).first() is not None
        ]

    def count(connection: Connection, filters: Filter) -> int:
        is_closed = filters.is_closed
        states = ("open", "closed") if is_closed is None else ("closed" if is_closed else "open",)
        total = 0
        for is_pull in set(kinds):
            kind = "pulls" if is_pull else "issues"
            counters = [repositories.c[f"{state}_{kind}"] for state in states]
            statement = (
                select(func.coalesce(func.sum(sum(counters[1:], counters[0])), 0))
                .select_from(source)
                # Most repositories have none, for which permissions need not be checked.
                .where(or_(*(counter > 0 for counter in counters)), *covers(is_pull=is_pull))
            )
            total += int(connection.execute(statement).scalar_one())
        return total

    return ListScope(count, kinds_in)


def labelled_in(
    connection: Connection, filters: Filter, scope: ListScope | None, repository_id: int | None
) -> LabelledIssues | None:
    """Return the issues of a filter for one label and the state, if all are in one repository."""
    keys: list[str | int] = [*set(filters.labels), *set(filters.label_ids)]
    by_label = Filter(is_closed=filters.is_closed, labels=filters.labels, label_ids=filters.label_ids)
    if scope is None or len(keys) != 1 or filters != by_label:
        return None
    found = only_label(connection, keys[0], repository_id)
    if found is None:
        return None
    label_id, place = found
    return LabelledIssues(label_id, place, scope.kinds_in(connection, place), filters.is_closed)


def source_of(filters: Filter, repository_id: int | None) -> FromClause:
    """Return the tables that the conditions use: issues alone, or with their repositories and owners."""
    return issues if repository_id is not None and filters.is_ready is None else WITH_PLACE


def count_statement(source: FromClause, conditions: Sequence[ColumnElement[bool]]) -> Select[int]:
    """Return the statement that counts the issues matching all conditions."""
    return select(func.count()).select_from(source).where(*conditions)


def count_in(
    connection: Connection,
    conditions: Sequence[ColumnElement[bool]],
    filters: Filter,
    kept: ListScope | None,
    repository_id: int | None,
) -> int:
    """Return the number of issues matching all conditions; from stored counters if only the state is filtered."""
    if kept is not None and filters == Filter(is_closed=filters.is_closed):
        return kept.count(connection, filters)
    total: int = connection.execute(count_statement(source_of(filters, repository_id), conditions)).scalar_one()
    return total


def count_issues(
    database: Database,
    conditions: Sequence[ColumnElement[bool]],
    filters: Filter,
    *,
    kept: ListScope | None = None,
    repository_id: int | None = None,
) -> int:
    """Return the number of issues matching the conditions and the filter."""
    narrowed = conditions_of(filters, sqlite=database.is_sqlite, repository_id=repository_id)
    with database.read() as connection:
        if filters.mentioned and not is_user(connection, filters.mentioned):
            return 0
        labelled = labelled_in(connection, filters, kept, repository_id)
        if labelled is not None:
            return labelled.count(connection)
        all_conditions = [
            true(),
            *with_planner_hints(database, connection, conditions, filters, repository_id),
            *narrowed,
        ]
        return count_in(connection, all_conditions, filters, kept, repository_id)


def list_issues(
    database: Database,
    conditions: Sequence[ColumnElement[bool]],
    filters: Filter,
    *,
    sort: str = "newest",
    first_repository: int = 0,
    kept: ListScope | None = None,
    repository_id: int | None = None,
    skip: int,
    limit: int,
) -> tuple[list[Issue], int]:
    """Return one page of the issues matching the conditions and the filter, and the total.

    `kept` is the scope of the conditions, if they have no others; it avoids that matches are counted one by one.
    `repository_id` is the only repository the conditions allow, if there is one; they are then about issues alone,
    not about owners.
    """
    narrowed = conditions_of(filters, sqlite=database.is_sqlite, repository_id=repository_id)
    with database.read() as connection:
        # Texts are read for a mention, however many have the word: not for a name that nobody has.
        if filters.mentioned and not is_user(connection, filters.mentioned):
            return [], 0
        labelled = labelled_in(connection, filters, kept, repository_id)
        if labelled is not None:
            total = labelled.count(connection)
            ids = labelled_ids(connection, labelled, sort, total=total, skip=skip, limit=limit)
        else:
            all_conditions = [
                true(),
                *with_planner_hints(database, connection, conditions, filters, repository_id),
                *narrowed,
            ]
            total = count_in(connection, all_conditions, filters, kept, repository_id)
            ids = ids_in_parts(
                connection,
                all_conditions,
                ORDERS[sort],
                parts_of(sort, first_repository),
                source=source_of(filters, repository_id),
                total=total,
                skip=skip,
                limit=limit,
            )
        # Only the rows of the page are read: all columns of the order are in an index.
        rows = connection.execute(select(*ISSUE).where(issues.c.id.in_(ids))).all() if ids else []
    by_id = {row[0]: Issue(*row) for row in rows}
    return [by_id[number] for number in ids if number in by_id], total


def labelled_ids(
    connection: Connection, labelled: LabelledIssues, sort: str, *, total: int, skip: int, limit: int
) -> list[int]:
    """Return the ids of one page of the issues with a label."""
    order = ORDERS[sort]
    if order[0] is issues.c.created_at:
        return labelled.ids_by_date(connection, descending=order[1], skip=skip, limit=limit, total=total)
    return ids_in_parts(
        connection,
        labelled.conditions(few=total <= FEW),
        order,
        parts_of(sort, 0),
        source=issues,
        total=total,
        skip=skip,
        limit=limit,
    )


def parts_of(sort: str, first_repository: int) -> list[ColumnElement[bool]]:
    """Return the conditions of the consecutive parts of a list, each in the same order."""
    places: list[ColumnElement[bool]] = [true()]
    if first_repository:
        places = [issues.c.repository_id == first_repository, issues.c.repository_id != first_repository]
    if sort != "nearduedate":
        return places
    # Issues without a due date come last.
    return [and_(place, due) for place in places for due in (issues.c.due_at > 0, issues.c.due_at == 0)]


def ids_in_parts(
    connection: Connection,
    conditions: Sequence[ColumnElement[bool]],
    order: tuple[ColumnElement[Any], bool],
    parts: Sequence[ColumnElement[bool]],
    *,
    source: FromClause,
    total: int,
    skip: int,
    limit: int,
) -> list[int]:
    """Return the ids of one page of a list that consists of parts."""
    key, descending = order
    wanted = min(limit, total - skip)
    ids: list[int] = []
    size = total
    for part in parts:
        missing = wanted - len(ids)
        if missing <= 0:
            break
        inside = [*conditions, part]
        ids += page_ids(
            connection,
            select(issues.c.id).select_from(source).where(*inside),
            key,
            issues.c.id,
            descending=descending,
            skip=skip,
            limit=missing,
            total=size if part is parts[-1] else None,
        )
        if ids:
            skip = 0
        elif part is not parts[-1]:
            passed = connection.execute(count_statement(source, inside)).scalar_one()
            skip, size = skip - passed, size - passed
    return ids
