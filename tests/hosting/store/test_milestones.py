"""Milestones in the database."""

import pytest

from holdfast.hosting.errors import InvalidReference, NoSuchMilestone
from holdfast.hosting.store import milestones
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from tests.hosting.repository_helpers import make_repository


def test_a_milestone_belongs_to_its_repository(database: Database, ada: Account) -> None:
    """A milestone is found by id and title in its repository, and not in another one."""
    repository, two = make_repository(database, ada, "one"), make_repository(database, ada, "two")
    milestone = milestones.add_milestone(database, repository, ada, "1.0", due_at=5)
    assert (
        milestones.find_milestone(database, repository, "1.0")
        == milestones.find_milestone(database, repository, milestone.id)
        == milestone
    )
    for key in ("1.0", milestone.id, str(milestone.id)):
        with pytest.raises(NoSuchMilestone):
            milestones.find_milestone(database, two, key)
    milestones.check_milestone(database, repository, milestone.id)
    milestones.check_milestone(database, two, 0)
    with pytest.raises(InvalidReference):
        milestones.check_milestone(database, two, milestone.id)


def test_a_deleted_milestone_cannot_be_changed(database: Database, ada: Account) -> None:
    """Changing a milestone that was deleted after it was read raises NoSuchMilestone."""
    repository = make_repository(database, ada)
    milestone = milestones.add_milestone(database, repository, ada, "1.0")
    milestones.delete_milestone(database, repository, ada, milestone)
    with pytest.raises(NoSuchMilestone):
        milestones.change_milestone(database, repository, ada, milestone, title="2.0")
