"""Lists of repositories as pages show them."""

from dataclasses import dataclass
from urllib.parse import quote

from sqlalchemy import ColumnElement, or_

from holdfast.hosting.http.context import RequestContext
from holdfast.hosting.store import repositories
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.tables import repositories as table
from holdfast.hosting.store.tables import users

__all__ = ["RepositoryLine", "listed", "named_like", "readable"]


@dataclass(frozen=True, slots=True)
class RepositoryLine:
    """A repository in a list."""

    owner: str
    name: str
    address: str
    description: str
    is_private: bool
    is_archived: bool
    is_empty: bool
    updated: int
    open_issues: int


def line_of(repository: Repository) -> RepositoryLine:
    """Describe a repository in a few words."""
    return RepositoryLine(
        repository.owner.name,
        repository.name,
        f"/{quote(repository.owner.name)}/{quote(repository.name)}",
        repository.description,
        repository.is_private,
        repository.is_archived,
        repository.is_empty,
        max(repository.updated_at, repository.pushed_at),
        repository.open_issues if repository.has_issues else 0,
    )


def readable(request: RequestContext, unit: str | None = None) -> ColumnElement[bool]:
    """Return the condition under which a list may show a repository to whoever asks."""
    return repositories.readable_by(request.actor.user, public_only=request.actor.public_only, unit=unit)


def named_like(text: str) -> ColumnElement[bool]:
    """Return the condition under which a repository is what somebody looks for, by its name or description."""
    words = [word for word in text.casefold().split("/") if word.strip()]
    if len(words) == 2:
        owner, name = (word.strip() for word in words)
        both = users.c.folded_name.contains(owner, autoescape=True) & table.c.folded_name.contains(
            name, autoescape=True
        )
        return or_(both, table.c.description.icontains(text, autoescape=True))
    return or_(
        table.c.folded_name.contains(text.casefold(), autoescape=True),
        users.c.folded_name.contains(text.casefold(), autoescape=True),
        table.c.description.icontains(text, autoescape=True),
    )


def listed(
    request: RequestContext, conditions: list[ColumnElement[bool]], *, skip: int = 0, limit: int
) -> tuple[list[RepositoryLine], int]:
    """Return one page of what meets the conditions and may be shown, latest first, and how many there are."""
    found, total = repositories.list_repositories(
        request.app.database,
        [readable(request), *conditions],
        sort="updated",
        descending=True,
        skip=skip,
        limit=limit,
    )
    return [line_of(repository) for repository in found], total
