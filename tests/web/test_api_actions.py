"""A page does what the API does, for whoever looks at it."""

from collections.abc import Iterator

import pytest

from holdfast.hosting.access import ANONYMOUS, Actor
from holdfast.hosting.api import issues, repositories
from holdfast.hosting.app import App
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.pagination import PageParams
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.store import accounts
from holdfast.hosting.store.database import Database
from holdfast.settings import Settings
from holdfast.web.api_actions import act
from holdfast.web.error_messages import message_for


@pytest.fixture
def context(settings: Settings, database: Database) -> Iterator[RequestContext]:
    """Give a context of the administrator's for a page."""
    host = App.open(settings)
    scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": []}
    made = RequestContext(host, scope)
    made.actor = Actor(accounts.find_user(database, "admin"))
    act(made, repositories.create_mine, body={"name": "tides"})
    yield made
    host.close()


def test_it_asks_the_same_guards_and_runs_the_same_code(context: RequestContext) -> None:
    """What was made shows in the list; the page's own path is part of the address."""
    context.path = {"owner": "admin", "repo": "tides"}
    made = act(context, issues.create_issue, body={"title": "The gauge is stuck"})
    assert act(context, issues.show_issue, {"index": made.number}).title == "The gauge is stuck"
    listed = act(context, issues.list_issues, query={"state": "open"}, page=PageParams(1, 10))
    assert [issue.number for issue in listed.items] == [made.number]


def test_nobody_can_do_by_a_page_what_the_api_refuses(context: RequestContext) -> None:
    """The guards see who looks, and bodies are checked as the API checks them."""
    place = {"owner": "admin", "repo": "tides"}
    with pytest.raises(ApiError) as refused:
        act(context, issues.create_issue, place, body={"title": ""})
    assert refused.value.status == 422
    assert message_for(refused.value) == "Title: is needed."
    context.actor = ANONYMOUS
    with pytest.raises(ApiError) as refused:
        act(context, issues.create_issue, place, body={"title": "Mine"})
    assert refused.value.status == 401


def test_what_the_house_refuses_is_refused_as_the_api_does(context: RequestContext) -> None:
    """A name that is taken is status 409."""
    with pytest.raises(ApiError) as refused:
        act(context, repositories.create_mine, body={"name": "tides"})
    assert refused.value.status == 409
