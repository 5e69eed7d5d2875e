"""The options of issue forms: labels, assignees and milestones."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Final

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.errors import InvalidField, InvalidReference, NoSuchMilestone, Violation
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.store import assignees, labels, milestones
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.milestones import Milestone
from holdfast.hosting.store.repositories import Repository
from holdfast.web.issues.label_colors import LabelBadge, tag

__all__ = ["NO_CHOICES", "Choices", "as_ids", "choices", "end_of_day", "milestone_with_title"]

MOST: Final = 60


@dataclass(frozen=True, slots=True)
class Choices:
    """The options of a form; further ones are typed."""

    tags: list[LabelBadge]
    more_tags: bool
    people: list[Account]
    more_people: bool
    milestones: list[Milestone]
    more_milestones: bool


NO_CHOICES: Final = Choices(
    [], more_tags=False, people=[], more_people=False, milestones=[], more_milestones=False
)


def choices(
    request: RequestContext,
    target: RepositoryAccess,
    *,
    is_closed: bool | None = False,
    chosen: Collection[int] = (),
) -> Choices:
    """Return the options, with the `chosen` labels first; `is_closed` selects milestones, None means all."""
    database, repository = request.app.database, target.repository
    listed = MOST + len(chosen)
    usable = labels.labels_usable(database, repository, limit=listed + 1, used=chosen)
    people, all_people = assignees.assignable(database, repository, skip=0, limit=MOST)
    steps, all_steps = milestones.milestones_of(
        database, repository, is_closed=is_closed, name="", skip=0, limit=MOST
    )
    return Choices(
        [tag(label) for label in usable[:listed]],
        more_tags=len(usable) > listed,
        people=people,
        more_people=all_people > len(people),
        milestones=steps,
        more_milestones=all_steps > len(steps),
    )


def milestone_with_title(database: Database, repository: Repository, title: str) -> int:
    """Return the id of the milestone with a title; raise `InvalidReference` if there is none."""
    try:
        return milestones.find_milestone(database, repository, title).id
    except NoSuchMilestone:
        raise InvalidReference("Milestone", f"the repository has no milestone {title}") from None


def as_ids(values: Sequence[str]) -> list[int]:
    """Return the valid ids in the values of a form."""
    return [int(value) for value in values if value.isascii() and value.isdigit() and len(value) < 19]


def end_of_day(day: str, field: str) -> datetime | None:
    """Return the last second of a day such as 2030-12-31, or None for an empty text; raises `InvalidField`."""
    if not day.strip():
        return None
    try:
        return datetime.combine(date.fromisoformat(day.strip()), time(23, 59, 59), UTC)
    except ValueError:
        raise InvalidField(field, Violation.INVALID_DATE) from None
