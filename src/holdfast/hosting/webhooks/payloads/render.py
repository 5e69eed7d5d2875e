"""Rendering of an event's payload as JSON."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, get_type_hints

import msgspec

from holdfast.hosting.app import App
from holdfast.hosting.store.database import TransactionDatabase
from holdfast.hosting.store.event_payloads import Event, PayloadRenderer
from holdfast.hosting.store.prepared_statements import Link
from holdfast.hosting.webhooks.payloads.dependencies import dependency
from holdfast.hosting.webhooks.payloads.event_details import EventContext, Receiver, load_event_context
from holdfast.hosting.webhooks.payloads.issues import comment_event, issue_event, pull_event
from holdfast.hosting.webhooks.payloads.pushes import create_event, delete_event, push_event
from holdfast.hosting.webhooks.payloads.releases import release_event
from holdfast.hosting.webhooks.payloads.repositories import fork_event, repository_event
from holdfast.hosting.webhooks.payloads.statuses import status_event

__all__ = ["KINDS", "EventKind", "payload_of", "payload_renderer"]


@dataclass(frozen=True, slots=True)
class EventKind:
    """The payload function of a kind of event, and its actions."""

    make: Callable[[EventContext], msgspec.Struct]
    actions: tuple[str, ...] = ()

    @property
    def payload(self) -> type[msgspec.Struct]:
        """The type of the payload."""
        payload_type: type[msgspec.Struct] = get_type_hints(self.make)["return"]
        return payload_type


OF_ITEMS: Final = ("opened", "edited", "closed", "reopened", "deleted")
OF_ASSIGNEES: Final = ("assigned", "unassigned")
OF_LABELS: Final = ("label_updated", "label_cleared")
OF_MILESTONES: Final = ("milestoned", "demilestoned")
OF_COMMENTS: Final = ("created", "edited", "deleted")
OF_REPOSITORIES: Final = (
    *("created", "deleted", "renamed", "transferred"),
    *("archived", "unarchived", "privatized", "publicized", "edited"),
)
KINDS: Final = {
    "push": EventKind(push_event),
    "create": EventKind(create_event),
    "delete": EventKind(delete_event),
    "repository": EventKind(repository_event, OF_REPOSITORIES),
    "status": EventKind(status_event),
    "release": EventKind(release_event, ("published", "updated", "deleted")),
    "fork": EventKind(fork_event),
    "issues": EventKind(issue_event, OF_ITEMS),
    "issue_assign": EventKind(issue_event, OF_ASSIGNEES),
    "issue_label": EventKind(issue_event, OF_LABELS),
    "issue_milestone": EventKind(issue_event, OF_MILESTONES),
    "issue_comment": EventKind(comment_event, OF_COMMENTS),
    "issue_dependency": EventKind(dependency, ("added", "removed")),
    "issue_unblocked": EventKind(dependency, ("unblocked",)),
    "pull_request": EventKind(pull_event, OF_ITEMS),
    "pull_request_assign": EventKind(pull_event, OF_ASSIGNEES),
    "pull_request_label": EventKind(pull_event, OF_LABELS),
    "pull_request_milestone": EventKind(pull_event, OF_MILESTONES),
    "pull_request_sync": EventKind(pull_event, ("synchronized",)),
    "pull_request_comment": EventKind(comment_event, OF_COMMENTS),
    "pull_request_review_request": EventKind(pull_event, ("review_requested", "review_request_removed")),
    "pull_request_review_approved": EventKind(pull_event, ("reviewed",)),
    "pull_request_review_rejected": EventKind(pull_event, ("reviewed",)),
    "pull_request_review_comment": EventKind(pull_event, ("reviewed",)),
}
"""The payload function and actions of each kind of event."""


def payload_renderer(app: App) -> PayloadRenderer:
    """Return the renderer for events recorded in the host's database."""

    def render(link: Link, event: Event, preloaded: object) -> str:
        inside = replace(app, database=TransactionDatabase(app.database, link))
        return render_now(inside, event, preloaded)

    return render


def payload_of(app: App, event: Event) -> str:
    """Return the payload of an event, as rendered when it was recorded.

    Events recorded by older versions have none, and are rendered now.
    """
    return event.payload or render_now(app, event)


def render_now(app: App, event: Event, preloaded: object = None) -> str:
    """Render the payload of an event from the current rows."""
    payload = KINDS[event.kind].make(load_event_context(Receiver(app), event, preloaded))
    # Receivers may compare bytes: repository events have always been indented by one space, others by two.
    indent = 1 if event.kind == "repository" else 2
    return msgspec.json.format(msgspec.json.encode(payload), indent=indent).decode()
