"""Stars and watches of a user."""

import pytest

from holdfast.hosting.app import App
from holdfast.hosting.services import subscriptions
from tests.hosting.services.scenario import Scenario, make_scenario


@pytest.fixture
def scenario(app: App) -> Scenario:
    """Create the users and the repository."""
    return make_scenario(app)


def test_a_star_and_a_watch_are_the_choice_of_the_user(scenario: Scenario) -> None:
    """A user adds and removes both, and an anonymous user has none."""
    eve = scenario.caller(scenario.reader)
    assert subscriptions.chosen(*scenario.caller(None)) == frozenset()
    assert subscriptions.chosen(*eve) == frozenset()
    subscriptions.add(*eve, "star")
    assert subscriptions.chosen(*eve) == {"star"}
    subscriptions.add(*eve, "watch")
    assert subscriptions.chosen(*eve) == {"star", "watch"}
    subscriptions.remove(*eve, "star")
    assert subscriptions.chosen(*eve) == {"watch"}
