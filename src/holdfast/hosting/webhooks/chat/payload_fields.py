"""What messages take from a payload: no more than they show, and none of it has to be there.

A payload may have been made by an older version, and what an event was about may have been gone by then.
"""

import msgspec
from msgspec import field

__all__ = ["Item", "Note", "Person", "Place", "PushedCommit", "Seen", "read"]


class Person(msgspec.Struct, frozen=True):
    """Somebody."""

    login: str = ""
    name: str = ""
    username: str = ""
    html_url: str = ""
    avatar_url: str = ""


class Place(msgspec.Struct, frozen=True):
    """A repository."""

    full_name: str = ""
    html_url: str = ""
    clone_url: str = ""


class Named(msgspec.Struct, frozen=True):
    """A label or a milestone."""

    name: str = ""
    title: str = ""


class Item(msgspec.Struct, frozen=True):
    """An issue or a pull request."""

    number: int = 0
    title: str = ""
    body: str = ""
    html_url: str = ""
    milestone: Named | None = None
    assignees: list[Person] | None = None
    repository: Place | None = None


class Note(msgspec.Struct, frozen=True):
    """A comment."""

    body: str = ""
    html_url: str = ""


class PushedCommit(msgspec.Struct, frozen=True):
    """A commit."""

    id: str = ""
    message: str = ""
    url: str = ""
    author: Person = Person()


class Before(msgspec.Struct, frozen=True):
    """What something was."""

    from_: str | bool | list[str] = field(name="from", default="")


class Changed(msgspec.Struct, frozen=True):
    """What is not what it was."""

    name: Before | None = None
    owner: Before | None = None
    title: Before | None = None
    added_labels: list[Named] = field(default_factory=list)
    removed_labels: list[Named] = field(default_factory=list)


class Seen(msgspec.Struct, frozen=True):
    """A payload of any kind."""

    action: str = ""
    number: int = 0
    ref: str = ""
    ref_type: str = ""
    compare_url: str = ""
    total_commits: int = 0
    commits: list[PushedCommit] = field(default_factory=list)
    repository: Place | None = None
    sender: Person | None = None
    issue: Item | None = None
    pull_request: Item | None = None
    blocker: Item | None = None
    comment: Note | None = None
    is_pull: bool = False
    changes: Changed | None = None


def read(payload: str) -> Seen:
    """Read a payload."""
    return msgspec.json.decode(payload, type=Seen)
