"""The options of issue forms: labels, assignees and milestones."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Final

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.errors import InvalidField, Violation
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.store import assignees, labels, milestones
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.milestones import Milestone
from holdfast.web.issues.label_colors import LabelBadge, tag

__all__ = ["Choices", "as_ids", "choices", "end_of_day"]

MOST: Final = 60


@dataclass(frozen=True, slots=True)
class Choices:
    """The options of a form; further assignees are typed."""

    tags: list[LabelBadge]
    people: list[Account]
    more_people: bool
    milestones: list[Milestone]


def choices(request: RequestContext, target: RepositoryAccess, *, is_closed: bool | None = False) -> Choices:
    """Return the options; `is_closed` selects milestones, None means all."""
    database, repository = request.app.database, target.repository
    usable = labels.labels_usable(database, repository, limit=MOST)
    people, total = assignees.assignable(database, repository, skip=0, limit=MOST)
    steps, _ = milestones.milestones_of(database, repository, is_closed=is_closed, name="", skip=0, limit=MOST)
    return Choices([tag(label) for label in usable], people, total > len(people), steps)


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
