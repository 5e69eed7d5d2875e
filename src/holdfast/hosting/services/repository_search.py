"""Lists and searches of the repositories an actor may see."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import ColumnElement, exists, or_

from holdfast.hosting.access import Actor
from holdfast.hosting.app import App
from holdfast.hosting.store import repositories as store
from holdfast.hosting.store.substring_search import SubstringMatch
from holdfast.hosting.store.tables import collaborators
from holdfast.hosting.store.tables import repositories as table

__all__ = ["RepositoryPage", "RepositorySearch", "has_topic", "list_visible", "named_like", "search", "visible"]


@dataclass(frozen=True, slots=True)
class RepositoryPage:
    """One page of a list of repositories, and the total."""

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
    """Return the SQL condition for repositories (or one of their units) that are visible to an actor."""
    return store.readable_by(actor.user, public_only=actor.public_only, unit=unit)


def list_visible(
    app: App,
    actor: Actor,
    conditions: Sequence[ColumnElement[bool]],
    *,
    matches: Sequence[SubstringMatch] = (),
    sort: Sort = "alpha",
    descending: bool = False,
    skip: int = 0,
    limit: int,
) -> RepositoryPage:
    """List the repositories visible to the actor that satisfy all conditions and matches."""
    repositories, total = store.list_repositories(
        app.database,
        [visible(actor), *conditions],
        matches=matches,
        sort=sort,
        descending=descending,
        skip=skip,
        limit=limit,
    )
    return RepositoryPage(repositories, total)


def named_like(app: App, text: str) -> SubstringMatch:
    """Return the match for repositories whose name, owner, `owner/name` or description contains a text."""
    sqlite = app.database.is_sqlite
    described = store.description_contains(text, sqlite=sqlite)
    parts = [part.strip() for part in text.split("/") if part.strip()]
    if len(parts) == 2:
        owner, name = (store.owner_contains(parts[0], sqlite=sqlite), store.name_contains(parts[1], sqlite=sqlite))
        # The candidates of one condition suffice, as both must hold.
        both = SubstringMatch(owner.condition & name.condition, name.candidates)
        return store.any_of(both, described)
    named = store.name_contains(text, sqlite=sqlite)
    return store.any_of(named, described, store.owner_contains(text, sqlite=sqlite))


def has_topic(app: App, topic: str) -> SubstringMatch:
    """Return the match for repositories with a topic, given in lower case."""
    return store.has_topic(topic, sqlite=app.database.is_sqlite)


def text_match(app: App, filters: RepositorySearch) -> SubstringMatch:
    """Return the match for the text of a search."""
    sqlite = app.database.is_sqlite
    if filters.in_topics:
        return store.has_topic(filters.text.lower(), sqlite=sqlite)
    named = store.name_contains(filters.text, sqlite=sqlite)
    if filters.in_descriptions:
        return store.any_of(named, store.description_contains(filters.text, sqlite=sqlite))
    return named


def search(app: App, actor: Actor, filters: RepositorySearch, *, skip: int, limit: int) -> RepositoryPage:
    """Search the repositories visible to an actor by name, and by description or topic."""
    conditions: list[ColumnElement[bool]] = []
    if filters.owner_id:
        is_owned = table.c.owner_id == filters.owner_id
        shared = exists().where(
            collaborators.c.repository_id == table.c.id, collaborators.c.user_id == filters.owner_id
        )
        conditions.append(is_owned if filters.only_owned else or_(is_owned, shared))
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
        app,
        actor,
        conditions,
        matches=[text_match(app, filters)] if filters.text else [],
        sort=filters.sort,
        descending=filters.descending,
        skip=skip,
        limit=limit,
    )
