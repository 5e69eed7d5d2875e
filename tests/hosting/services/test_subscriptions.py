"""Stars and watches of the acting user."""

import pytest

from holdfast.hosting.app import App
from holdfast.hosting.services import subscriptions
from tests.hosting.services.scenario import Scenario, make_scenario


@pytest.fixture
def scenario(app: App) -> Scenario:
    """Make the people and the repository."""
    return make_scenario(app)


def test_a_star_and_a_watch_are_the_choice_of_the_user(scenario: Scenario) -> None:
    """A visitor has made none."""
    eve = scenario.caller(scenario.reader)
    assert subscriptions.chosen(*scenario.caller(None)) == frozenset()
    before = subscriptions.chosen(*eve)
    subscriptions.add(*eve, "star")
    assert subscriptions.chosen(*eve) - before == {"star"}
    subscriptions.remove(*eve, "star")
    assert subscriptions.chosen(*eve) == before
