"""Lists and searches of the repositories an actor may see."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import ColumnElement, exists, or_

from holdfast.hosting.access import Actor
from holdfast.hosting.app import App
from holdfast.hosting.store import repositories as store
from holdfast.hosting.store.tables import collaborators, users
from holdfast.hosting.store.tables import repositories as table

__all__ = ["RepositoryPage", "RepositorySearch", "has_topic", "list_visible", "named_like", "search", "visible"]


@dataclass(frozen=True, slots=True)
class RepositoryPage:
    """One page of a list of repositories, and how many there are."""

    items: Sequence[store.Repository]
    total: int


Sort = Literal["alpha", "created", "updated", "pushed", "size", "id"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositorySearch:
    """The filters of a repository search."""

    text: str = ""
    in_topics: bool = False
    in_descriptions: bool = False
    owner_id: int = 0
    """Only repositories of this account, or those it collaborates on."""
    only_owned: bool = False
    include_private: bool = True
    is_private: bool | None = None
    is_template: bool | None = None
    is_archived: bool | None = None
    mode: str = ""
    """`mirror`, `fork` or `source`."""
    sort: Sort = "alpha"
    descending: bool = False


def visible(actor: Actor, unit: str | None = None) -> ColumnElement[bool]:
    """Return the SQL condition that a list may show a repository, or one of its units, to an actor."""
    return store.readable_by(actor.user, public_only=actor.public_only, unit=unit)


def list_visible(
    app: App,
    actor: Actor,
    conditions: Sequence[ColumnElement[bool]],
    *,
    sort: Sort = "alpha",
    descending: bool = False,
    skip: int = 0,
    limit: int,
) -> RepositoryPage:
    """List the repositories that match all conditions and are visible to the actor."""
    repositories, total = store.list_repositories(
        app.database, [visible(actor), *conditions], sort=sort, descending=descending, skip=skip, limit=limit
    )
    return RepositoryPage(repositories, total)


def named_like(text: str) -> ColumnElement[bool]:
    """Return the SQL condition that a repository's name, owner or description contains a text, or `owner/name`."""
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


def has_topic(topic: str) -> ColumnElement[bool]:
    """Return the SQL condition that a repository has a topic, which is in lower case."""
    return table.c.topics.contains(f'"{topic}"', autoescape=True)


def search(app: App, actor: Actor, filters: RepositorySearch, *, skip: int, limit: int) -> RepositoryPage:
    """Search the repositories visible to an actor by name, and by description or topic."""
    conditions: list[ColumnElement[bool]] = []
    if filters.text:
        matches = table.c.folded_name.contains(filters.text.casefold(), autoescape=True)
        if filters.in_topics:
            matches = has_topic(filters.text.lower())
        elif filters.in_descriptions:
            matches = or_(matches, table.c.description.icontains(filters.text, autoescape=True))
        conditions.append(matches)
    if filters.owner_id:
        mine = table.c.owner_id == filters.owner_id
        shared = exists().where(
            collaborators.c.repository_id == table.c.id, collaborators.c.user_id == filters.owner_id
        )
        conditions.append(mine if filters.only_owned else or_(mine, shared))
    if not filters.include_private:
        conditions.append(~table.c.is_private)
    if filters.is_private is not None:
        conditions.append(table.c.is_private == filters.is_private)
    if filters.is_template is not None:
        conditions.append(table.c.is_template == filters.is_template)
    if filters.is_archived is not None:
        conditions.append(table.c.archived_at > 0 if filters.is_archived else table.c.archived_at == 0)
    if filters.mode == "mirror":
        conditions.append(table.c.is_mirror)
    elif filters.mode == "fork":
        conditions.append(table.c.fork_of.is_not(None))
    elif filters.mode == "source":
        conditions.append(~table.c.is_mirror & table.c.fork_of.is_(None))
    return list_visible(
        app, actor, conditions, sort=filters.sort, descending=filters.descending, skip=skip, limit=limit
    )
