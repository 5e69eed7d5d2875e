"""Rows of the lists of repositories on pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from sqlalchemy import ColumnElement

from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import repository_search
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.substring_search import SubstringMatch

__all__ = ["RepositoryLine", "line_of", "list_lines"]


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
    """Return the row of a repository."""
    return RepositoryLine(
        repository.owner.name,
        repository.name,
        f"/{quote(repository.owner.name)}/{quote(repository.name)}",
        repository.description,
        repository.is_private,
        repository.is_archived,
        repository.is_empty,
        repository.updated_at,
        repository.open_issues if repository.has_issues else 0,
    )


def list_lines(
    request: RequestContext,
    conditions: list[ColumnElement[bool]],
    *,
    matches: Sequence[SubstringMatch] = (),
    skip: int = 0,
    limit: int,
) -> tuple[list[RepositoryLine], int]:
    """Return one page of the visible repositories that match the conditions, latest first, and the total."""
    page = repository_search.list_visible(
        request.app,
        request.actor,
        conditions,
        matches=matches,
        sort="updated",
        descending=True,
        skip=skip,
        limit=limit,
    )
    return [line_of(repository) for repository in page.items], page.total
