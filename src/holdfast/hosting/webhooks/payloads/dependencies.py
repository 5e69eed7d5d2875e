"""Payloads of issue dependency events.

Everybody who is told of an event is told the same, and looks after the repository it happened in, but perhaps not
the other issue's. So an issue of another repository is told whole only where everybody may read that repository.
Otherwise it is told as the API tells it to whoever may write to the first issue but not read the second: which
issue it is, what it is called and whether it is closed, and no more.
"""

import msgspec

from holdfast.hosting import access
from holdfast.hosting.access import ANONYMOUS
from holdfast.hosting.schemas.dependencies import reduced
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


def dependency(happened: EventContext) -> DependencyPayload:
    """Tell which issue waits for which."""
    facts = happened.facts
    kept = stored_issues(happened, facts.issue_id, facts.blocker_id)
    parts = issue_parts(happened.viewer.app.database, list(kept.values()))
    home = happened.event.repository_id

    def shape(number: int) -> IssueSchema | None:
        one = kept.get(number)
        place = None if one is None else parts.repositories.get(one.repository_id)
        if one is None or place is None:
            return None
        return (
            issue(happened.viewer, one, parts) if is_told(one, place) else reduced(VisibleIssue(one, place, False))
        )

    def is_told(one: issue_transactions.Issue, place: store.Repository) -> bool:
        unit = access.issue_unit(is_pull=one.is_pull)
        return place.id == home or access.repository_access(ANONYMOUS, place, ()).may_read(unit)

    blocker = kept.get(facts.blocker_id)
    place = None if blocker is None else parts.repositories.get(blocker.repository_id)
    return DependencyPayload(
        action=facts.action or "unblocked",
        issue=shape(facts.issue_id),
        blocker=shape(facts.blocker_id),
        repository=happened.place,
        blocker_repository=happened.shape_of(place) if blocker and place and is_told(blocker, place) else None,
        sender=happened.sender,
    )
