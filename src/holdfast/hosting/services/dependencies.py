"""Dependencies between issues: blockers, blocked issues, and the graph of both.

In a dependency, the dependent issue is blocked by the blocker. Changing one requires write access to the dependent
and read access to the blocker; otherwise the error is that of a missing issue. Neither the error nor its timing
may reveal whether an issue or repository is hidden or missing, so the same queries run either way.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import msgspec
from sqlalchemy import and_

from holdfast.hosting import access
from holdfast.hosting.access import Actor, Mode, RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    CrossRepositoryDependency,
    DependencyCycle,
    NoSuchDependency,
    NoSuchIssue,
    NoSuchRepository,
)
from holdfast.hosting.schemas.dependencies import DependencyEdge, DependencyGraph, full_name, node, reader
from holdfast.hosting.schemas.viewer import Viewer
from holdfast.hosting.services.fields import check_length
from holdfast.hosting.store import dependencies, issue_lists, repositories
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.dependency_graph import distances, edges_around
from holdfast.hosting.store.issues import Issue, find_issues, no_issue
from holdfast.hosting.store.visible_issues import Reader, visible_issues_by_id

__all__ = [
    "IssueReference",
    "add_blocked",
    "add_blocker",
    "graph",
    "remove_blocked",
    "remove_blocker",
    "require_dependencies",
    "set_blockers",
]

GRAPH_NODES: Final = 5000
"""Maximum issues in a graph."""
CYCLE_LENGTH: Final = 20
"""Maximum issues of a cycle that are named; of a longer one the start and the end."""
LIST_LENGTH: Final = 1000
"""Maximum blockers per request."""


class IssueReference(msgspec.Struct, frozen=True):
    """A reference to an issue by number and repository; without a repository, to one of the same repository."""

    number: int
    owner: str = ""
    name: str = ""

    @property
    def repository(self) -> tuple[str, str]:
        """Owner and name of the repository; both empty for the same repository."""
        return self.owner, self.name


@dataclass(frozen=True, slots=True)
class LocatedIssue:
    """An issue the actor may read, and its repository."""

    issue: Issue
    target: RepositoryAccess


def add_blocker(app: App, actor: Actor, target: RepositoryAccess, issue: Issue, reference: IssueReference) -> None:
    """Add a blocker to an issue; raise `DependencyCycle` if the issue blocks it, directly or not."""
    user = access.require_login(actor)
    [blocker] = locate(app, actor, target, [reference])
    link(app, actor, user, LocatedIssue(issue, target), blocker)


def add_blocked(app: App, actor: Actor, target: RepositoryAccess, issue: Issue, reference: IssueReference) -> None:
    """Make an issue a blocker of another; raise `DependencyCycle` if the other blocks it, directly or not."""
    user = access.require_login(actor)
    [dependent] = locate(app, actor, target, [reference])
    link(app, actor, user, dependent, LocatedIssue(issue, target))


def remove_blocker(
    app: App, actor: Actor, target: RepositoryAccess, issue: Issue, reference: IssueReference
) -> None:
    """Remove a blocker from an issue; raise `NoSuchDependency` if it is not a blocker."""
    user = access.require_login(actor)
    [blocker] = locate(app, actor, target, [reference])
    unlink(app, user, LocatedIssue(issue, target), blocker)


def remove_blocked(
    app: App, actor: Actor, target: RepositoryAccess, issue: Issue, reference: IssueReference
) -> None:
    """Stop an issue from blocking another; raise `NoSuchDependency` if it does not."""
    user = access.require_login(actor)
    [dependent] = locate(app, actor, target, [reference])
    unlink(app, user, dependent, LocatedIssue(issue, target))


def set_blockers(
    app: App, actor: Actor, target: RepositoryAccess, issue: Issue, references: Sequence[IssueReference]
) -> None:
    """Replace all blockers of an issue atomically.

    Blockers the actor could not remove one by one stay: issues they may not read and, where dependencies across
    repositories are disabled, issues of other repositories.
    """
    user = access.require_login(actor)
    check_length(references, "Dependencies", LIST_LENGTH)
    blocker_ids = locate(app, actor, target, references)
    require_dependent(LocatedIssue(issue, target))
    removable = issue_lists.visible_to(user, public_only=actor.public_only)
    if not app.settings.allow_cross_repository_dependencies:
        removable = and_(removable, issue_lists.in_repository(target.repository, (False, True)))
    with naming_cycle(app, actor):
        dependencies.set_dependencies(
            app.database,
            target.repository,
            issue,
            [located_issue.issue for located_issue in blocker_ids],
            actor=user,
            removable=removable,
        )


def link(app: App, actor: Actor, user: Account, dependent: LocatedIssue, blocker: LocatedIssue) -> None:
    """Add a dependency, if the actor may write the dependent."""
    require_dependent(dependent)
    with naming_cycle(app, actor):
        dependencies.add_dependency(
            app.database, dependent.target.repository, dependent.issue, blocker.issue, actor=user
        )


def unlink(app: App, user: Account, dependent: LocatedIssue, blocker: LocatedIssue) -> None:
    """Remove a dependency, if the actor may write the dependent."""
    require_dependent(dependent)
    dependencies.remove_dependency(
        app.database, dependent.target.repository, dependent.issue, blocker.issue, actor=user
    )


def require_dependent(dependent: LocatedIssue) -> None:
    """Raise `NoSuchIssue` unless the actor may change the blockers of an issue."""
    repository = dependent.target.repository
    if (
        repository.is_archived
        or not repository.allows_dependencies
        or not access.may_write_issue(dependent.target.permissions, dependent.issue)
    ):
        raise NoSuchIssue("not found")


@contextmanager
def naming_cycle(app: App, actor: Actor) -> Iterator[None]:
    """Add the names of its issues to a `DependencyCycle`; issues the actor may not read are not named."""
    try:
        yield
    except DependencyCycle as error:
        path: list[int | None] = list(error.path)
        if len(path) > CYCLE_LENGTH:
            # The number of omitted issues is not revealed: some may be hidden.
            path[CYCLE_LENGTH - 1 : -1] = [None]
        with app.database.read() as connection:
            ids = {issue_id for issue_id in path if issue_id is not None}
            visible_issues = visible_issues_by_id(connection, ids, Reader(actor.user, actor.public_only))
        names: list[str] = []
        for number in path:
            if number is None:
                names.append("...")
                continue
            name = full_name(visible_issues.get(number))
            # Nor is the number of consecutive hidden ones.
            if not names or names[-1] != name or visible_issues[number].is_readable:
                names.append(name)
        raise DependencyCycle(error.path, tuple(names)) from error


def locate(
    app: App, actor: Actor, target: RepositoryAccess, references: Sequence[IssueReference]
) -> list[LocatedIssue]:
    """Look up referenced issues, in a constant number of queries.

    As in Gitea, a repository is the same one only if it is named exactly; another spelling is looked up, without
    regard to case, as another repository.
    """
    same_repository = {("", ""), (target.repository.owner.name, target.repository.name)}
    elsewhere = {reference.repository for reference in references} - same_repository
    if elsewhere and not app.settings.allow_cross_repository_dependencies:
        raise CrossRepositoryDependency
    places = dict.fromkeys(same_repository, target) | find_repositories(app, actor, elsewhere)
    keys = [
        (
            place_access.repository.id if (place_access := places.get(issue_reference.repository)) else 0,
            issue_reference.number,
        )
        for issue_reference in references
    ]
    issues = find_issues(app.database, keys)
    located = []
    for reference, key in zip(references, keys, strict=True):
        place, issue = places.get(reference.repository), issues.get(key)
        if place is None or place.permissions.mode == Mode.NONE:
            owner, name = reference.repository
            raise NoSuchRepository(f"repository does not exist [id: 0, uid: 0, owner_name: {owner}, name: {name}]")
        if issue is None or not place.permissions.may_read(access.issue_unit(is_pull=issue.is_pull)):
            raise no_issue(place.repository, reference.number)
        located.append(LocatedIssue(issue, place))
    return located


def find_repositories(
    app: App, actor: Actor, names: set[tuple[str, str]]
) -> dict[tuple[str, str], RepositoryAccess]:
    """Return the existing repositories with these names, with the actor's permissions."""
    if not names:
        return {}
    repositories_by_name = repositories.find_repositories(app.database, names)
    grants = repositories.grants_in(app.database, access.require_login(actor), list(repositories_by_name.values()))
    by_name: dict[tuple[str, str], RepositoryAccess] = {}
    for owner, name in names:
        repository = repositories_by_name.get((owner.casefold(), name.casefold()))
        if repository is not None:
            by_name[owner, name] = RepositoryAccess(
                repository, access.repository_access(actor, repository, grants[repository.id])
            )
    return by_name


def graph(viewer: Viewer, target: RepositoryAccess, issue: Issue, depth: int | None = None) -> DependencyGraph:
    """Return the blockers of an issue and the issues it blocks, transitively, up to `depth` steps away.

    An unreadable issue is a hidden node and not expanded. Of a very large graph the nearest issues are returned,
    with `truncated` set.
    """
    require_dependencies(target)
    with viewer.app.database.read() as connection:
        edges = edges_around(connection, issue.id, most=GRAPH_NODES)
        around = sorted(distances(issue.id, edges).items(), key=lambda item: abs(item[1]))
        visible_issues = visible_issues_by_id(
            connection, [number for number, _ in around[:GRAPH_NODES]], reader(viewer)
        )
    hidden = {number for number, visible_issue in visible_issues.items() if not visible_issue.is_readable}
    depths = {
        number: distance
        for number, distance in distances(issue.id, edges, hidden).items()
        if number in visible_issues
    }
    farthest = depth or max(map(abs, depths.values()))
    near = [(abs(distance), number) for number, distance in depths.items() if abs(distance) <= farthest]
    keys = {number: key for key, (_, number) in enumerate(sorted(near))}
    return DependencyGraph(
        nodes=[
            node(viewer, visible_issues[number], key=key, depth=depths[number]) for number, key in keys.items()
        ],
        edges=[
            DependencyEdge(keys[issue_id], keys[blocker_id])
            for issue_id, blocker_id in sorted(edges)
            if issue_id in keys and blocker_id in keys and not (issue_id in hidden and blocker_id in hidden)
        ],
        truncated=len(near) < len(depths) or len(around) > GRAPH_NODES,
    )


def require_dependencies(target: RepositoryAccess) -> None:
    """Raise `NoSuchDependency` if dependencies are disabled in a repository."""
    if not target.repository.allows_dependencies:
        raise NoSuchDependency("not found")
