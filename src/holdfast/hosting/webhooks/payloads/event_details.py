"""The recorded details of an event, and the rows they refer to."""

from dataclasses import dataclass
from typing import TypeVar

import msgspec
from msgspec import field

from holdfast.hosting import access
from holdfast.hosting.access import ANONYMOUS, Actor, Mode, Permissions
from holdfast.hosting.app import App
from holdfast.hosting.schemas.repositories import RepositorySchema
from holdfast.hosting.schemas.repositories import repository as repository_schema_of
from holdfast.hosting.schemas.users import UserSchema, user
from holdfast.hosting.store.accounts import Account, account_by_id
from holdfast.hosting.store.comments import Comment
from holdfast.hosting.store.commit_statuses import CommitStatus
from holdfast.hosting.store.events import Event
from holdfast.hosting.store.labels import Label
from holdfast.hosting.store.releases import ReleaseSnapshot
from holdfast.hosting.store.repositories import Repository, find_by_id, grants_of

__all__ = [
    "ChangesFromPayload",
    "EventContext",
    "EventDetails",
    "Receiver",
    "decode_details",
    "deleted_row",
    "load_event_context",
]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Receiver:
    """An anonymous viewer, who never sees e-mail addresses of users."""

    app: App

    @property
    def actor(self) -> Actor:
        """The anonymous actor."""
        return ANONYMOUS

    @property
    def root(self) -> str:
        """The URL of the service."""
        return self.app.root

    @property
    def api(self) -> str:
        """The URL of the API."""
        return f"{self.root}/api/v1"

    def access_to(self, repository: Repository) -> Permissions:
        """Return the owner's permissions: webhooks are managed by owners."""
        return access.repository_access(Actor(repository.owner), repository, ())


class ChangesFromPayload(msgspec.Struct, frozen=True):
    """The previous value of a changed field."""

    from_: str | bool | list[str] = field(name="from")


class EventDetails(msgspec.Struct, frozen=True):
    """The recorded details of an event; the fields in use depend on its kind."""

    action: str = ""
    ref: str = ""
    ref_type: str = ""
    before: str = ""
    after: str = ""
    push_options: list[str] = field(default_factory=list)
    issue_id: int = 0
    blocker_id: int = 0
    comment_id: int = 0
    review_id: int = 0
    reviewer_id: int = 0
    fork_id: int = 0
    number: int = 0
    is_pull: bool = False
    commit_id: str = ""
    old_title: str | None = None
    old_body: str | None = None
    old_ref: str | None = None
    old_base_branch: str | None = None
    comment: Comment | None = None
    status: CommitStatus | None = None
    release: ReleaseSnapshot | None = None
    labels: list[Label] = field(default_factory=list)
    added_labels: list[Label] = field(default_factory=list)
    removed_labels: list[Label] = field(default_factory=list)
    assignee_ids: list[int] = field(default_factory=list)
    changed: dict[str, str | bool | list[str]] = field(default_factory=dict)
    """The former settings of a repository, by API field name."""
    was: msgspec.Raw = field(default_factory=msgspec.Raw)
    """The deleted row."""


@dataclass(frozen=True, slots=True)
class EventContext:
    """An event with the rows it refers to; deleted ones are None."""

    viewer: Receiver
    event: Event
    details: EventDetails
    repository: Repository | None
    actor: Account | None
    known: object = None
    """Data that was read for the payload before the event was recorded."""

    @property
    def sender(self) -> UserSchema:
        """The schema of the acting user."""
        return user(self.viewer, self.actor)

    @property
    def repository_schema(self) -> RepositorySchema | None:
        """The schema of the repository."""
        return None if self.repository is None else self.schema_of(self.repository)

    def schema_of(self, repository: Repository) -> RepositorySchema:
        """Return the schema of a repository."""
        return repository_schema_of(self.viewer, repository, self.viewer.access_to(repository))

    def is_shown(self, fork: Repository) -> bool:
        """Return whether the owner of the event's repository may see a fork of it."""
        if self.repository is None:
            return False
        owner = self.repository.owner
        grants = grants_of(self.viewer.app.database, owner, fork)
        return access.repository_access(Actor(owner), fork, grants).mode > Mode.NONE


def decode_details(event: Event) -> EventDetails:
    """Decode an event's details; empty if another version wrote them incompatibly."""
    try:
        return msgspec.json.decode(event.details, type=EventDetails)
    except msgspec.DecodeError:
        return EventDetails()


def deleted_row(details: EventDetails, kind: type[T]) -> T | None:
    """Return the deleted row, if it was recorded."""
    if not bytes(details.was):
        return None
    try:
        return msgspec.json.decode(details.was, type=kind)
    except msgspec.DecodeError:
        return None


def load_event_context(viewer: Receiver, event: Event, preloaded: object = None) -> EventContext:
    """Load the rows an event refers to."""
    details, database = decode_details(event), viewer.app.database
    repository = None if event.repository_id is None else find_by_id(database, event.repository_id)
    if repository is None and event.kind == "repository":
        repository = deleted_row(details, Repository)
    actor = None if event.actor_id is None else account_by_id(database, event.actor_id)
    return EventContext(viewer, event, details, repository, actor, preloaded)
