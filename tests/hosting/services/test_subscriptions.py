"""Stars and watches of a user."""

import time

import pytest

from holdfast.hosting.access import ANONYMOUS, Actor
from holdfast.hosting.app import App
from holdfast.hosting.errors import LoginRequired
from holdfast.hosting.services import subscriptions
from tests.hosting.repository_helpers import READ, let_in, make_people
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


def test_who_subscribed_to_what_is_listed_as_far_as_it_may_be_seen(scenario: Scenario) -> None:
    """A private repository is listed for its readers only, and a hidden account only for those who see it."""
    app, database = scenario.app, scenario.app.database
    eve, bob = scenario.caller(scenario.reader), scenario.caller(scenario.writer)
    (hidden,) = make_people(database, "mia", visibility="private")
    let_in(database, scenario.repository, hidden, READ)
    assert subscriptions.since(*eve, "star") is None
    before = time.time()
    started = subscriptions.add(*eve, "star")
    assert before - 1 < started < time.time() + 1
    assert subscriptions.since(*eve, "star") == subscriptions.add(*eve, "star") == started
    subscriptions.add(*scenario.caller(hidden), "star")
    assert [subscriptions.count_stars(app, user) for user in (scenario.reader, scenario.writer)] == [1, 0]
    stranger = Actor(make_people(database, "max")[0])
    for actor, total in ((eve[1], 1), (bob[1], 1), (stranger, 0), (ANONYMOUS, 0)):
        page = subscriptions.list_repositories(app, actor, scenario.reader, "star", skip=0, limit=9)
        assert page.total == total
    for caller, names in (
        (eve, ["eve"]),
        (scenario.caller(hidden), ["eve", "mia"]),
        (scenario.caller(None), ["eve"]),
    ):
        users, total = subscriptions.list_users(*caller, "star", skip=0, limit=9)
        assert (sorted(user.name for user in users), total) == (names, len(names))
    assert subscriptions.list_users(*eve, "watch", skip=0, limit=9) == ([], 0)
    for call in (subscriptions.add, subscriptions.remove, subscriptions.since):
        with pytest.raises(LoginRequired):
            call(*scenario.caller(None), "star")
