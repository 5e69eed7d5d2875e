"""Labels: permissions and validation."""

from collections.abc import Callable
from functools import partial

import pytest

from holdfast.hosting.access import ANONYMOUS, Actor, Mode, OrganizationAccess
from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    ColorRefused,
    Forbidden,
    InvalidField,
    LoginRequired,
    NoSuchLabel,
    Permission,
    RepositoryArchived,
    Violation,
)
from holdfast.hosting.services import labels
from holdfast.hosting.services.labels import LabelEdit, NewLabel
from holdfast.hosting.store.labels import labels_of
from tests.hosting.repository_helpers import make_organization
from tests.hosting.services.scenario import Scenario, make_scenario

BUG = NewLabel(name=" bug ", color="#F00")


@pytest.fixture
def scenario(app: App) -> Scenario:
    """Create the users and the repository."""
    return make_scenario(app)


def test_a_label_is_created_edited_and_deleted(scenario: Scenario) -> None:
    """Fields that an edit does not have stay, and a deleted label is not found."""
    writer = scenario.caller(scenario.writer)
    label = labels.create(*writer, BUG)
    assert (label.name, label.color, label.archived_at) == ("bug", "ff0000", 0)
    edited = labels.edit(*writer, label.id, LabelEdit(name="defect", is_archived=True))
    assert (edited.name, edited.color, edited.archived_at > 0) == ("defect", "ff0000", True)
    labels.delete(*writer, label.id)
    with pytest.raises(NoSuchLabel):
        labels.edit(*writer, label.id, LabelEdit(name="again"))


def test_only_those_who_may_write_issues_change_labels(scenario: Scenario) -> None:
    """The service itself refuses readers, anonymous users and archived repositories."""
    created_label = labels.create(*scenario.caller(scenario.writer), BUG)
    with pytest.raises(LoginRequired):
        labels.create(*scenario.caller(None), BUG)
    for call in (
        lambda: labels.create(*scenario.caller(scenario.reader), BUG),
        lambda: labels.edit(*scenario.caller(scenario.reader), created_label.id, LabelEdit(name="x")),
        lambda: labels.delete(*scenario.caller(scenario.reader), created_label.id),
    ):
        with pytest.raises(Forbidden) as excinfo:
            call()
        assert excinfo.value.permission == Permission.WRITE
    with pytest.raises(RepositoryArchived):
        labels.create(*scenario.caller(scenario.owner, scenario.archived()), BUG)
    found_labels, _ = labels_of(scenario.app.database, scenario.repository, skip=0, limit=9)
    assert [label.name for label in found_labels] == ["bug"]


def test_only_owners_change_the_labels_of_an_organization(scenario: Scenario) -> None:
    """Members do not create, edit or delete labels of the organization, and anonymous users have to log in."""
    account = make_organization(scenario.app.database, "acme", scenario.owner)
    owned = OrganizationAccess(account, Mode.OWNER)
    label = labels.create(scenario.app, Actor(scenario.owner), owned, BUG)
    assert label.organization_id == account.id
    member = OrganizationAccess(account, Mode.WRITE)
    for actor, target, error in (
        (Actor(scenario.reader), member, Forbidden(Permission.ORGANIZATION_OWNER)),
        (ANONYMOUS, owned, LoginRequired()),
    ):
        calls: list[Callable[[], object]] = [
            partial(labels.create, scenario.app, actor, target, NewLabel(name="other", color="f00")),
            partial(labels.edit, scenario.app, actor, target, label.id, LabelEdit(name="x")),
            partial(labels.delete, scenario.app, actor, target, label.id),
        ]
        for call in calls:
            with pytest.raises(type(error)) as excinfo:
                call()
            assert str(excinfo.value) == str(error)
    assert labels_of(scenario.app.database, account, skip=0, limit=9) == ([label], 1)


def test_texts_and_colors_are_validated(scenario: Scenario) -> None:
    """The error for an invalid name, colour or description names the field, and the longest are accepted."""
    writer = scenario.caller(scenario.writer)
    for new, violation in (
        (NewLabel(name=" ", color="f00"), ("Name", Violation.REQUIRED)),
        (NewLabel(name="x" * 256, color="f00"), ("Name", Violation.TOO_LONG)),
        (NewLabel(name="bug", color=""), ("Color", Violation.REQUIRED)),
        (NewLabel(name="bug", color="f00", description="x" * 2049), ("Description", Violation.TOO_LONG)),
    ):
        with pytest.raises(InvalidField) as excinfo:
            labels.create(*writer, new)
        assert (excinfo.value.field, excinfo.value.violation) == violation
    with pytest.raises(ColorRefused):
        labels.create(*writer, NewLabel(name="bug", color="red"))
    label = labels.create(*writer, NewLabel(name="x" * 255, color="f00", description="x" * 2048))
    with pytest.raises(InvalidField) as excinfo:
        labels.edit(*writer, label.id, LabelEdit(description="x" * 2049))
    assert excinfo.value.field == "Description"
