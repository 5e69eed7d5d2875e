"""Pinned issues: who may see and change them."""

import pytest

from holdfast.hosting.app import App
from holdfast.hosting.errors import Forbidden, InvalidValue, LoginRequired, RepositoryArchived, TooManyPins
from holdfast.hosting.services import pins
from tests.hosting.services.commit_helpers import open_issues
from tests.hosting.services.scenario import Scenario, make_scenario

pytestmark = pytest.mark.parametrize("settings", ["sqlite"], indirect=True)


@pytest.fixture
def scenario(app: App) -> Scenario:
    """Create the users and a repository."""
    return make_scenario(app)


def pinned(scenario: Scenario) -> list[int]:
    """Return the numbers of the pinned issues, as a reader sees them."""
    app, _, target = scenario.caller(scenario.reader)
    return [issue.number for issue in pins.list_pinned(app, target, is_pull=False)]


def test_administrators_pin_unpin_and_move_issues(scenario: Scenario) -> None:
    """Three at most, and readers see them in their order."""
    issues = open_issues(scenario.app, scenario.repository, 4)
    owner = scenario.caller(scenario.owner)
    for issue in issues[:3]:
        assert pins.is_pin_allowed(scenario.app, owner[2], is_pull=False)
        pins.pin(*owner, issue)
    assert not pins.is_pin_allowed(scenario.app, owner[2], is_pull=False)
    assert pins.is_pin_allowed(scenario.app, owner[2], is_pull=True)
    with pytest.raises(TooManyPins):
        pins.pin(*owner, issues[3])
    pins.move(*owner, issues[2], 1)
    assert pinned(scenario) == [3, 1, 2]
    with pytest.raises(InvalidValue):
        pins.move(*owner, issues[2], 0)
    pins.unpin(*owner, issues[0])
    assert pinned(scenario) == [3, 2]


def test_others_neither_change_nor_see_what_they_may_not_read(scenario: Scenario) -> None:
    """Writers do not pin, and nobody does in an archived repository."""
    (issue,) = open_issues(scenario.app, scenario.repository)
    pins.pin(*scenario.caller(scenario.owner), issue)
    archived = scenario.archived()
    for error, caller in (
        (LoginRequired, scenario.caller(None)),
        (Forbidden, scenario.caller(scenario.writer)),
        (RepositoryArchived, scenario.caller(scenario.owner, archived)),
    ):
        with pytest.raises(error):
            pins.pin(*caller, issue)
        with pytest.raises(error):
            pins.unpin(*caller, issue)
        with pytest.raises(error):
            pins.move(*caller, issue, 1)
    assert pinned(scenario) == [1]
    app, _, target = scenario.caller(None)
    with pytest.raises(Forbidden):
        pins.list_pinned(app, target, is_pull=False)
