"""How a body names another issue, and how that one is found.

A repository that is not there and one the caller may not see must not be told apart, by the answer or by the time
it takes: the same questions are put to the database either way, and only then is decided.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import msgspec

from holdfast.hosting import access
from holdfast.hosting.access import Mode, RepositoryAccess
from holdfast.hosting.http.context import RequestContext
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.store import repositories
from holdfast.hosting.store.issues import Issue, find_issues, no_issue
from holdfast.hosting.store.repositories import Repository

__all__ = ["IssueMeta", "Located", "locate", "locate_all"]


class IssueMeta(msgspec.Struct, frozen=True, kw_only=True):
    """Which issue is meant; without an owner and a name it is one of the same repository. `repo` is `name` too."""

    index: int = 0
    owner: str = ""
    name: str = ""
    repo: str = ""
    # gitea-js does not say that it is JSON.
    plain_json: ClassVar[bool] = True

    @property
    def names(self) -> tuple[str, str]:
        """The owner and the name of its repository; both are empty when it is not said."""
        return self.owner, self.name or self.repo


@dataclass(frozen=True, slots=True)
class Located:
    """An issue the caller may read, and where it is."""

    issue: Issue
    place: RepositoryAccess


def locate(request: RequestContext, target: RepositoryAccess, meta: IssueMeta) -> Located:
    """Return the issue a body names."""
    return locate_all(request, target, [meta])[0]


def locate_all(request: RequestContext, target: RepositoryAccess, metas: Sequence[IssueMeta]) -> list[Located]:
    """Return the issues a body names, in the same few queries however many there are."""
    here = {("", ""), (target.repository.owner.name, target.repository.name)}
    elsewhere = {meta.names for meta in metas} - here
    if elsewhere and not request.app.settings.allow_cross_repository_dependencies:
        raise ApiError(400, "CrossRepositoryDependencies not enabled", words=True)
    places = dict.fromkeys(here, target) | places_named(request, elsewhere)
    wanted = [(found.repository.id if (found := places.get(meta.names)) else 0, meta.index) for meta in metas]
    issues = find_issues(request.app.database, wanted)
    located = []
    for meta, key in zip(metas, wanted, strict=True):
        named, issue = places.get(meta.names), issues.get(key)
        if named is None or named.permissions.mode == Mode.NONE:
            raise no_repository(*meta.names)
        if issue is None or not named.permissions.may_read(access.issue_unit(is_pull=issue.is_pull)):
            raise no_issue(named.repository, meta.index)
        located.append(Located(issue, named))
    return located


def places_named(request: RequestContext, names: set[tuple[str, str]]) -> dict[tuple[str, str], RepositoryAccess]:
    """Return the repositories of these names that are there, and what the caller may do in each."""
    if not names:
        return {}
    database = request.app.database
    found = repositories.find_repositories(database, names)
    grants = repositories.grants_in(database, request.user, list(found.values()))
    by_name: dict[tuple[str, str], RepositoryAccess] = {}
    for owner, name in names:
        one: Repository | None = found.get((owner.casefold(), name.casefold()))
        if one is not None:
            by_name[owner, name] = RepositoryAccess(
                one, access.repository_access(request.actor, one, grants[one.id])
            )
    return by_name


def no_repository(owner: str, name: str) -> ApiError:
    """Say that there is no such repository, in the words for one that there never was."""
    return ApiError(404, f"repository does not exist [id: 0, uid: 0, owner_name: {owner}, name: {name}]")
