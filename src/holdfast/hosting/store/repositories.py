"""Repositories: names, owners, settings and redirects; the git data is in a folder named by the id."""

import re
import time
from collections.abc import Collection, Sequence
from typing import Any, Final

import msgspec
from sqlalchemy import (
    Boolean,
    ColumnElement,
    Connection,
    and_,
    bindparam,
    case,
    cast,
    delete,
    exists,
    func,
    insert,
    null,
    or_,
    select,
    true,
    union,
    union_all,
    update,
)
from sqlalchemy.exc import IntegrityError

from holdfast.hosting.errors import NameRefused, NoSuchRepository, RepositoryTaken, StorageUnavailable
from holdfast.hosting.store.accounts import COLUMNS, WIDTH, Account, account_from
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.notification_writes import end_transfer
from holdfast.hosting.store.prepared_statements import Link, Statement
from holdfast.hosting.store.repository_log import NOT_ADOPTED
from holdfast.hosting.store.substring_search import SubstringMatch, page_matching, rows_containing
from holdfast.hosting.store.tables import (
    collaborators,
    issue_labels,
    issues,
    labels,
    refs,
    repositories,
    repository_redirects,
    repository_transfers,
    team_members,
    team_repositories,
    team_units,
    teams,
    users,
)

__all__ = [
    "ALLOWS_DEPENDENCIES",
    "REPOSITORY",
    "DeclaredSettings",
    "Grant",
    "Repository",
    "add_repository",
    "any_of",
    "belongs_to",
    "change_repository",
    "check_repository_name",
    "description_contains",
    "find_by_id",
    "find_repositories",
    "find_repository",
    "grants_in",
    "grants_of",
    "has_topic",
    "list_repositories",
    "lock_row",
    "locked_repository",
    "name_contains",
    "owned_by_name",
    "owner_contains",
    "readable_by",
    "redirected_repository",
    "remove_row",
    "rename_repository",
    "repositories_by_id",
    "repository_by_id",
    "repository_from",
    "set_refs_changed",
    "transfer_repository",
    "uncount_forks",
]

NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,100}")
RESERVED: Final = frozenset([".", "..", "-", ".git"])
ADMIN: Final = 3
SUFFIXES: Final = (".git", ".wiki", ".rss", ".atom")


class DeclaredSettings(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Settings of a repository as JSON; merge settings have an effect, others are only stored and returned."""

    enable_time_tracker: bool = True
    allow_only_contributors_to_track_time: bool = True
    projects_mode: str = "all"
    ignore_whitespace_conflicts: bool = False
    allow_merge_commits: bool = True
    allow_rebase: bool = True
    allow_rebase_explicit: bool = True
    allow_squash_merge: bool = True
    allow_fast_forward_only_merge: bool = True
    allow_merge_update: bool = True
    allow_rebase_update: bool = True
    allow_manual_merge: bool = False
    autodetect_manual_merge: bool = False
    default_delete_branch_after_merge: bool = False
    default_merge_style: str = "merge"
    default_update_style: str = "merge"
    default_allow_maintainer_edit: bool = False
    mirror_interval: str = ""
    original_url: str = ""


class Repository(msgspec.Struct, frozen=True):
    """A repository; the fields after the owner are the columns of the table, in this order."""

    owner: Account
    id: int
    name: str
    description: str
    website: str
    default_branch: str
    object_format: str
    is_private: bool
    is_template: bool
    is_mirror: bool
    is_empty: bool
    archived_at: int
    fork_of: int | None
    has_code: bool
    has_issues: bool
    has_pulls: bool
    has_releases: bool
    has_wiki: bool
    has_projects: bool
    has_packages: bool
    has_actions: bool
    has_dependencies: bool
    declared: str
    topics: str
    size: int
    last_issue: int
    open_issues: int
    open_pulls: int
    branch_count: int
    created_at: int
    updated_at: int
    pushed_at: int
    version: int = 0
    """The version of its log, to which a local copy must be updated before it is read."""
    release_count: int = 0
    """The number of releases, without drafts."""
    fork_count: int = 0
    star_count: int = 0
    watch_count: int = 0
    mirrored_at: int = 0
    """When a mirror was last updated; 0 means never."""
    language: str = ""
    """The main language of the default branch."""
    avatar: str = ""
    """The hash of its avatar; empty if there is none."""
    closed_issues: int = 0
    closed_pulls: int = 0

    @property
    def full_name(self) -> str:
        """The owner's name and the repository's, as in URLs."""
        return f"{self.owner.name}/{self.name}"

    @property
    def is_archived(self) -> bool:
        """Whether the repository is read-only."""
        return self.archived_at > 0

    @property
    def allows_dependencies(self) -> bool:
        """Whether its issues can have dependencies; without an issue tracker the setting does not apply."""
        return self.has_dependencies or not self.has_issues


class Grant(msgspec.Struct, frozen=True):
    """A reason for access to a repository: a collaboration or a team membership."""

    mode: int
    team_id: int | None = None
    """None for a collaborator."""
    covers: bool = True
    """Whether the repository is among the team's; membership in any team is membership in the organization."""
    unit: str | None = None
    """The unit the mode applies to; None for all."""


REPOSITORY: Final = tuple(repositories.c[name] for name in Repository.__struct_fields__ if name != "owner")
JOINED = select(*COLUMNS, *REPOSITORY).join_from(repositories, users, repositories.c.owner_id == users.c.id)
# `Repository.allows_dependencies`, in SQL.
ALLOWS_DEPENDENCIES: Final = or_(repositories.c.has_dependencies, ~repositories.c.has_issues)
BY_NAME = Statement(
    JOINED.where(users.c.folded_name == bindparam("owner"), repositories.c.folded_name == bindparam("name"))
)
BY_ID = Statement(JOINED.where(repositories.c.id == bindparam("id")))
owner_accounts = users.alias("other")
BY_OLD_NAME = Statement(
    JOINED.join(repository_redirects, repository_redirects.c.repository_id == repositories.c.id).where(
        repository_redirects.c.owner_id
        == select(owner_accounts.c.id).where(owner_accounts.c.folded_name == bindparam("owner")).scalar_subquery(),
        repository_redirects.c.folded_name == bindparam("name"),
    )
)
contributed = repositories.alias("contributed")
owned = repositories.alias("owned")
# The maximum number of bind parameters of a statement; SQLite allows 32,766.
MOST_PARAMETERS: Final = 10_000
# A team with mode admin or above has every unit, regardless of its rows.
UNITS_COUNT: Final = and_(team_units.c.team_id == teams.c.id, teams.c.mode < ADMIN)
# Correlated explicitly: in a nested subquery SQLAlchemy would correlate only the nearer table, and the condition
# would hold for every repository as soon as it holds for one.
COVERED: Final = or_(
    teams.c.includes_all_repositories,
    exists()
    .where(team_repositories.c.team_id == teams.c.id, team_repositories.c.repository_id == repositories.c.id)
    .correlate(teams, repositories),
)
GRANTS = Statement(
    union_all(
        select(
            collaborators.c.mode,
            cast(null(), teams.c.id.type).label("team_id"),
            true().label("covers"),
            cast(null(), team_units.c.unit.type).label("unit"),
        ).where(
            collaborators.c.repository_id == bindparam("repository_id"),
            collaborators.c.user_id == bindparam("user_id"),
        ),
        select(
            func.coalesce(team_units.c.mode, teams.c.mode),
            teams.c.id,
            or_(
                teams.c.includes_all_repositories,
                exists().where(
                    team_repositories.c.team_id == teams.c.id,
                    team_repositories.c.repository_id == bindparam("repository_id"),
                ),
            ),
            team_units.c.unit,
        )
        .select_from(
            team_members.join(teams, teams.c.id == team_members.c.team_id).outerjoin(team_units, UNITS_COUNT)
        )
        .where(team_members.c.user_id == bindparam("user_id"), teams.c.organization_id == bindparam("owner_id")),
    )
)


def repository_from(row: tuple[Any, ...]) -> Repository:
    """Build a repository from its owner's columns and its own."""
    return Repository(account_from(row), *row[WIDTH:])


def check_repository_name(name: str) -> None:
    """Raise `NameRefused` for a name that is invalid in URLs or file systems, or reserved."""
    if not NAME.fullmatch(name):
        raise NameRefused("a repository name must be 1 to 100 letters, digits, dots, dashes or underscores")
    if name.casefold() in RESERVED or name.casefold().endswith(SUFFIXES):
        raise NameRefused(f"the name {name} is reserved")


def find_repository(database: Database, owner: str, name: str) -> Repository:
    """Return the repository with this owner and name, case-insensitively."""
    row = database.row(BY_NAME, owner=owner.casefold(), name=name.casefold())
    if row is None:
        raise NoSuchRepository(f"repository does not exist [id: 0, uid: 0, owner_name: {owner}, name: {name}]")
    return repository_from(row)


def find_repositories(database: Database, names: Collection[tuple[str, str]]) -> dict[tuple[str, str], Repository]:
    """Return repositories by casefolded owner and name; missing ones are left out."""
    folded = {(owner.casefold(), name.casefold()) for owner, name in names}
    statement = JOINED.where(
        users.c.folded_name.in_({owner for owner, _ in folded}),
        repositories.c.folded_name.in_({name for _, name in folded}),
    )
    with database.read() as connection:
        matching_repositories = [repository_from(tuple(row)) for row in connection.execute(statement)]
    by_name = {
        (repository.owner.name.casefold(), repository.name.casefold()): repository
        for repository in matching_repositories
    }
    return {key: repository for key, repository in by_name.items() if key in folded}


def repository_by_id(database: Database, number: int) -> Repository:
    """Return the repository with this id."""
    repository = find_by_id(database, number)
    if repository is None:
        raise NoSuchRepository(f"repository does not exist [id: {number}, uid: 0, owner_name: , name: ]")
    return repository


def find_by_id(database: Database, number: int) -> Repository | None:
    """Return the repository with this id, or None."""
    row = database.row(BY_ID, id=number)
    return None if row is None else repository_from(row)


def repositories_by_id(connection: Connection, ids: Collection[int]) -> dict[int, Repository]:
    """Return the repositories with these ids; missing ones are left out."""
    by_id = {}
    remaining = list(ids)
    while remaining:
        some, remaining = remaining[:MOST_PARAMETERS], remaining[MOST_PARAMETERS:]
        for row in connection.execute(JOINED.where(repositories.c.id.in_(some))):
            repository = repository_from(tuple(row))
            by_id[repository.id] = repository
    return by_id


def redirected_repository(database: Database, owner: str, name: str) -> Repository | None:
    """Return the repository that was renamed or transferred from this owner and name, or None."""
    row = database.row(BY_OLD_NAME, owner=owner.casefold(), name=name.casefold())
    return None if row is None else repository_from(row)


def grants_of(database: Database, user: Account, repository: Repository) -> tuple[Grant, ...]:
    """Return all grants of a user in a repository, in one query."""
    rows = database.rows(GRANTS, repository_id=repository.id, owner_id=repository.owner.id, user_id=user.id)
    return tuple(Grant(mode, team_id, bool(covers), unit) for mode, team_id, covers, unit in rows)


def grants_in(database: Database, user: Account, page: Sequence[Repository]) -> dict[int, tuple[Grant, ...]]:
    """Return the grants of a user in each of several repositories, in one query."""
    ids = [repository.id for repository in page]
    grants_by_repository: dict[int, list[Grant]] = {number: [] for number in ids}
    collaborations = select(
        collaborators.c.repository_id,
        collaborators.c.mode,
        cast(null(), teams.c.id.type).label("team_id"),
        true().label("covers"),
        cast(null(), team_units.c.unit.type).label("unit"),
    ).where(collaborators.c.user_id == user.id, collaborators.c.repository_id.in_(ids))
    in_teams = (
        select(
            repositories.c.id,
            func.coalesce(team_units.c.mode, teams.c.mode),
            teams.c.id,
            or_(teams.c.includes_all_repositories, team_repositories.c.team_id.is_not(None)),
            team_units.c.unit,
        )
        .select_from(
            repositories.join(teams, teams.c.organization_id == repositories.c.owner_id)
            .join(team_members, team_members.c.team_id == teams.c.id)
            .outerjoin(
                team_repositories,
                and_(
                    team_repositories.c.team_id == teams.c.id,
                    team_repositories.c.repository_id == repositories.c.id,
                ),
            )
            .outerjoin(team_units, UNITS_COUNT)
        )
        .where(repositories.c.id.in_(ids), team_members.c.user_id == user.id)
    )
    with database.read() as connection:
        for number, mode, team_id, covers, unit in connection.execute(union_all(collaborations, in_teams)):
            grants_by_repository[number].append(Grant(mode, team_id, bool(covers), unit))
    return {number: tuple(grants) for number, grants in grants_by_repository.items()}


def add_repository(connection: Connection, owner: Account, name: str, **columns: str | bool | int | None) -> int:
    """Insert a repository in a transaction and return its id; the caller creates its folder."""
    check_repository_name(name)
    now = int(time.time())
    row = {
        "owner_id": owner.id,
        "name": name,
        "folded_name": name.casefold(),
        "created_at": now,
        "updated_at": now,
        "has_releases": True,
        **columns,
    }
    try:
        repository_id: int = connection.execute(
            insert(repositories).returning(repositories.c.id), row
        ).scalar_one()
    except IntegrityError as error:
        raise RepositoryTaken("The repository with the same name already exists.") from error
    delete_redirect(connection, owner, name)
    return repository_id


def delete_redirect(connection: Connection, owner: Account, name: str) -> None:
    """Delete the redirect of a name that a repository now has."""
    connection.execute(
        delete(repository_redirects).where(
            repository_redirects.c.owner_id == owner.id, repository_redirects.c.folded_name == name.casefold()
        )
    )


def change_repository(connection: Connection, repository: Repository, **columns: str | bool | int) -> None:
    """Update columns of a repository; name and owner have functions of their own."""
    values: dict[str, Any] = {"updated_at": int(time.time()), **columns}
    if "default_branch" in columns:
        # HEAD of every local copy is updated with the version.
        values["version"] = repositories.c.version + 1
    changed = update(repositories).where(repositories.c.id == repository.id).values(**values)
    version = connection.execute(changed.returning(repositories.c.version)).scalar_one_or_none()
    if "default_branch" in columns and version == NOT_ADOPTED + 1:
        # With a version, its folder would be replaced by a copy of an empty log. The caller rolls back.
        raise StorageUnavailable("the repository is not adopted yet; `holdfast admin doctor` says more")


def has_refs(prefix: str) -> ColumnElement[bool]:
    """Return the condition that a repository has a ref below a prefix."""
    # The upper bound is the prefix with the character after the slash, so that it is one range of the primary key.
    return exists().where(
        refs.c.repository_id == repositories.c.id, refs.c.name >= prefix, refs.c.name < prefix[:-1] + "0"
    )


REFS_CHANGED = Statement(
    update(repositories)
    .where(repositories.c.id == bindparam("repository"))
    .values(
        updated_at=bindparam("moment"),
        pushed_at=case((bindparam("pushed", type_=Boolean), bindparam("moment")), else_=repositories.c.pushed_at),
        branch_count=repositories.c.branch_count + bindparam("branch_change"),
        size=repositories.c.size + bindparam("bytes_added"),
        is_empty=and_(~has_refs("refs/heads/"), ~has_refs("refs/tags/")),
    )
)


def set_refs_changed(
    connection: Link, repository: Repository, *, branch_change: int, pushed: bool, bytes_added: int
) -> None:
    """Record that refs were updated: number of branches, whether there is any ref, size, time of the last push."""
    REFS_CHANGED.run(
        connection,
        repository=repository.id,
        moment=int(time.time()),
        branch_change=branch_change,
        bytes_added=bytes_added,
        pushed=pushed,
    )


def rename_repository(connection: Connection, repository: Repository, name: str) -> None:
    """Rename a repository and leave a redirect."""
    check_repository_name(name)
    move(connection, repository, repository.owner, name)


def transfer_repository(connection: Connection, repository: Repository, owner: Account) -> None:
    """Transfer a repository to another owner; the teams of the old owner lose access."""
    move(connection, repository, owner, repository.name)


def move(connection: Connection, repository: Repository, owner: Account, name: str) -> None:
    """Change owner and name of a repository, and leave a redirect."""
    folded, old = name.casefold(), repository.name.casefold()
    try:
        connection.execute(
            update(repositories)
            .where(repositories.c.id == repository.id)
            .values(owner_id=owner.id, name=name, folded_name=folded, updated_at=int(time.time()))
        )
    except IntegrityError as error:
        raise RepositoryTaken("The repository with the same name already exists.") from error
    delete_redirect(connection, owner, name)
    if owner.id != repository.owner.id:
        remove_from_owner(connection, repository, owner)
    if (repository.owner.id, old) != (owner.id, folded):
        delete_redirect(connection, repository.owner, repository.name)
        redirect = {"owner_id": repository.owner.id, "folded_name": old, "repository_id": repository.id}
        connection.execute(insert(repository_redirects), redirect)


def remove_from_owner(connection: Connection, repository: Repository, owner: Account) -> None:
    """Remove data of the old owner: teams, labels, a transfer, and the new owner as collaborator."""
    connection.execute(delete(repository_transfers).where(repository_transfers.c.repository_id == repository.id))
    end_transfer(connection, repository.id)
    connection.execute(delete(team_repositories).where(team_repositories.c.repository_id == repository.id))
    connection.execute(
        delete(collaborators).where(
            collaborators.c.repository_id == repository.id, collaborators.c.user_id == owner.id
        )
    )
    foreign = select(labels.c.id).where(labels.c.organization_id == repository.owner.id)
    its_issues = select(issues.c.id).where(issues.c.repository_id == repository.id)
    connection.execute(
        delete(issue_labels).where(issue_labels.c.label_id.in_(foreign), issue_labels.c.issue_id.in_(its_issues))
    )


def lock_row(connection: Connection, repository: Repository) -> None:
    """Lock a repository's row, which also blocks inserts that refer to it."""
    connection.execute(select(repositories.c.id).where(repositories.c.id == repository.id).with_for_update())


def locked_repository(connection: Connection, repository: Repository) -> Repository:
    """Lock a repository's row until the transaction ends, and return its current state."""
    lock_row(connection, repository)
    current = repositories_by_id(connection, [repository.id]).get(repository.id)
    if current is None:
        raise NoSuchRepository(f"repository does not exist [id: {repository.id}, uid: 0, owner_name: , name: ]")
    return current


def remove_row(connection: Connection, repository: Repository) -> None:
    """Delete a repository with everything that belongs to it; the caller removes its folder."""
    if repository.fork_of is not None:
        uncount_forks(connection, repositories.c.id == repository.id)
    connection.execute(delete(repositories).where(repositories.c.id == repository.id))


def uncount_forks(connection: Connection, deleted: ColumnElement[bool]) -> None:
    """Subtract repositories that are about to be deleted from the fork counts of their parents."""
    forks = select(repositories.c.fork_of, func.count().label("total")).where(
        deleted, repositories.c.fork_of.is_not(None)
    )
    for parent, total in connection.execute(forks.group_by(repositories.c.fork_of)).all():
        connection.execute(
            update(repositories)
            .where(repositories.c.id == parent)
            .values(fork_count=repositories.c.fork_count - total)
        )


def readable_by(
    user: Account | None, *, public_only: bool = False, unit: str | None = None
) -> ColumnElement[bool]:
    """Return the SQL condition that a list may show a repository to a user, for statements over `JOINED`.

    With a unit, that the user may read that unit, if it is enabled. `access.py` makes the same decision for one
    repository; a test compares the two.
    """
    open_to_all = and_(~repositories.c.is_private, users.c.visibility == "public")
    if user is None:
        return open_to_all
    if public_only:
        return and_(open_to_all, readable_by(user, unit=unit))
    if user.is_admin:
        return true()
    this_unit = true() if unit is None else team_units.c.unit == unit
    is_owner = repositories.c.owner_id == user.id
    shared = exists().where(collaborators.c.repository_id == repositories.c.id, collaborators.c.user_id == user.id)
    in_team = exists().where(
        team_members.c.user_id == user.id,
        team_members.c.team_id == teams.c.id,
        teams.c.organization_id == repositories.c.owner_id,
        COVERED,
        or_(
            exists().where(UNITS_COUNT, this_unit, team_units.c.mode > 0),
            and_(teams.c.mode > 0, ~exists().where(UNITS_COUNT)),
        ),
    )
    if user.is_restricted:
        return or_(is_owner, shared, in_team)
    member = exists().where(
        team_members.c.user_id == user.id,
        team_members.c.team_id == teams.c.id,
        teams.c.organization_id == repositories.c.owner_id,
    )
    visible = and_(~repositories.c.is_private, or_(users.c.visibility.in_(("public", "limited")), member))
    return or_(is_owner, visible, shared, in_team)


def belongs_to(user: Account) -> ColumnElement[bool]:
    """Return the condition that a repository is a user's own, or that they collaborate on it."""
    own = select(contributed.c.id).where(contributed.c.owner_id == user.id)
    shared = select(collaborators.c.repository_id).where(collaborators.c.user_id == user.id)
    of_user = team_members.c.user_id == user.id
    in_teams = (
        select(team_repositories.c.repository_id)
        .join(team_members, team_members.c.team_id == team_repositories.c.team_id)
        .where(of_user)
    )
    in_teams_for_all = (
        select(contributed.c.id)
        .join(teams, teams.c.organization_id == contributed.c.owner_id)
        .join(team_members, team_members.c.team_id == teams.c.id)
        .where(of_user, teams.c.includes_all_repositories)
    )
    return repositories.c.id.in_(union(own, shared, in_teams, in_teams_for_all))


def owned_by_name(owner: str) -> ColumnElement[bool]:
    """Return the condition that a repository belongs to an owner, for statements over `JOINED`."""
    return users.c.folded_name == owner.casefold()


def name_contains(text: str, *, sqlite: bool) -> SubstringMatch:
    """Return the match of repositories whose name contains a text."""
    condition = repositories.c.folded_name.contains(text.casefold(), autoescape=True)
    candidates = rows_containing("repository_name_search", text.casefold(), sqlite=sqlite)
    return SubstringMatch(condition, (candidates,))


def description_contains(text: str, *, sqlite: bool) -> SubstringMatch:
    """Return the match of repositories whose description contains a text."""
    condition = repositories.c.description.icontains(text, autoescape=True)
    return SubstringMatch(condition, (rows_containing("repository_text_search", text, sqlite=sqlite),))


def has_topic(topic: str, *, sqlite: bool) -> SubstringMatch:
    """Return the match of repositories that have a topic, which is in lower case."""
    condition = repositories.c.topics.contains(f'"{topic}"', autoescape=True)
    candidates = rows_containing("repository_text_search", f'"{topic}"', sqlite=sqlite)
    return SubstringMatch(condition, (candidates,))


def owner_contains(text: str, *, sqlite: bool) -> SubstringMatch:
    """Return the match of repositories whose owner's name contains a text, for statements over `JOINED`."""
    condition = users.c.folded_name.contains(text.casefold(), autoescape=True)
    # The index has full names too.
    owners = select(owner_accounts.c.id).where(
        owner_accounts.c.id.in_(rows_containing("account_search", text.casefold(), sqlite=sqlite)),
        owner_accounts.c.folded_name.contains(text.casefold(), autoescape=True),
    )
    return SubstringMatch(condition, (select(owned.c.id).where(owned.c.owner_id.in_(owners)),))


def any_of(*matches: SubstringMatch) -> SubstringMatch:
    """Return the match of repositories for which any of several matches holds."""
    condition = or_(*(match.condition for match in matches))
    return SubstringMatch(condition, tuple(query for match in matches for query in match.candidates))


# Each order has an index.
ORDERS: Final[dict[str, ColumnElement[Any]]] = {
    "alpha": repositories.c.folded_name,
    "created": repositories.c.created_at,
    "updated": repositories.c.updated_at,
    "pushed": repositories.c.pushed_at,
    "size": repositories.c.size,
    "id": repositories.c.id,
}


def list_repositories(
    database: Database,
    conditions: Sequence[ColumnElement[bool]],
    *,
    matches: Sequence[SubstringMatch] = (),
    sort: str = "id",
    descending: bool = False,
    skip: int,
    limit: int,
) -> tuple[list[Repository], int]:
    """Return one page of the repositories for which all conditions and matches hold, and the total."""
    order = ORDERS.get(sort, repositories.c.id)
    holds = (*conditions, *(match.condition for match in matches))
    about_owners = users in select(repositories.c.id).where(*holds).get_final_froms()
    source = repositories.join(users, repositories.c.owner_id == users.c.id) if about_owners else repositories
    with database.read() as connection:
        ids, total = page_matching(
            connection,
            source,
            repositories.c.id,
            conditions=conditions,
            matches=matches,
            key=order,
            descending=descending,
            skip=skip,
            limit=limit,
        )
        rows = repositories_by_id(connection, ids)
    return [rows[number] for number in ids if number in rows], total
