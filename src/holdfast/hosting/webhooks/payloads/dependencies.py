"""Payloads of issue dependency events.

All receivers get the same payload; they have access to the event's repository, but perhaps not to that of the
other issue. So an issue of another repository is included in full only if it is public. Otherwise it is reduced,
as in the API for users without access: number, title and state.
"""

import msgspec

from holdfast.hosting import access
from holdfast.hosting.access import ANONYMOUS
from holdfast.hosting.schemas.dependencies import hidden_issue
from holdfast.hosting.schemas.issues import IssueSchema, issue
from holdfast.hosting.schemas.repositories import RepositorySchema
from holdfast.hosting.schemas.users import UserSchema
from holdfast.hosting.store import issue_transactions
from holdfast.hosting.store import repositories as store
from holdfast.hosting.store.issue_relations import issue_parts
from holdfast.hosting.store.visible_issues import VisibleIssue
from holdfast.hosting.webhooks.payloads.event_details import EventContext
from holdfast.hosting.webhooks.payloads.issues import stored_issues

__all__ = ["DependencyPayload", "dependency"]


class DependencyPayload(msgspec.Struct, frozen=True, kw_only=True):
    """The payload of a dependency that was added or removed."""

    action: str
    issue: IssueSchema | None
    blocker: IssueSchema | None
    repository: RepositorySchema | None
    blocker_repository: RepositorySchema | None
    sender: UserSchema


def dependency(context: EventContext) -> DependencyPayload:
    """Return the payload of a dependency event."""
    details = context.details
    issues_by_id = stored_issues(context, details.issue_id, details.blocker_id)
    parts = issue_parts(context.viewer.app.database, list(issues_by_id.values()))
    home = context.event.repository_id

    def schema_of(number: int) -> IssueSchema | None:
        stored = issues_by_id.get(number)
        place = None if stored is None else parts.repositories.get(stored.repository_id)
        if stored is None or place is None:
            return None
        return (
            issue(context.viewer, stored, parts)
            if is_readable(stored, place)
            else hidden_issue(VisibleIssue(stored, place, False))
        )

    def is_readable(stored: issue_transactions.Issue, place: store.Repository) -> bool:
        unit = access.issue_unit(is_pull=stored.is_pull)
        return place.id == home or access.repository_access(ANONYMOUS, place, ()).may_read(unit)

    blocker = issues_by_id.get(details.blocker_id)
    place = None if blocker is None else parts.repositories.get(blocker.repository_id)
    return DependencyPayload(
        action=details.action or "unblocked",
        issue=schema_of(details.issue_id),
        blocker=schema_of(details.blocker_id),
        repository=context.repository_schema,
        blocker_repository=context.schema_of(place) if blocker and place and is_readable(blocker, place) else None,
        sender=context.sender,
    )
