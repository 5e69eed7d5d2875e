"""A page does what the API does, for whoever looks at it."""

from collections.abc import Iterator

import pytest

from holdfast.hosting.access import ANONYMOUS, Caller
from holdfast.hosting.api import issues, repositories
from holdfast.hosting.app import Host
from holdfast.hosting.http.context import Call
from holdfast.hosting.http.errors import Refusal
from holdfast.hosting.http.headers import Headers
from holdfast.hosting.http.pagination import Page
from holdfast.hosting.store import accounts
from holdfast.hosting.store.database import Database
from holdfast.settings import Settings
from holdfast.web.api_actions import act, problem_with


@pytest.fixture
def call(settings: Settings, database: Database) -> Iterator[Call]:
    """Give a request of the administrator's for a page."""
    host = Host.open(settings)
    scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": []}
    made = Call(host, scope, Headers(scope), {}, "http://localhost")
    made.caller = Caller(accounts.find_user(database, "admin"))
    act(made, repositories.create_mine, body={"name": "tides"})
    yield made
    host.close()


def test_it_asks_the_same_guards_and_runs_the_same_code(call: Call) -> None:
    """What was made shows in the list; the page's own path is part of the address."""
    call.path = {"owner": "admin", "repo": "tides"}
    made = act(call, issues.create_issue, body={"title": "The gauge is stuck"})
    assert act(call, issues.show_issue, {"index": made.number}).title == "The gauge is stuck"
    listed = act(call, issues.list_issues, query={"state": "open"}, page=Page(1, 10))
    assert [issue.number for issue in listed.items] == [made.number]


def test_nobody_can_do_by_a_page_what_the_api_refuses(call: Call) -> None:
    """The guards see who looks, and bodies are checked as the API checks them."""
    place = {"owner": "admin", "repo": "tides"}
    with pytest.raises(Refusal) as refused:
        act(call, issues.create_issue, place, body={"title": ""})
    assert refused.value.status == 422
    assert problem_with(refused.value) == "Title: is needed."
    call.caller = ANONYMOUS
    with pytest.raises(Refusal) as refused:
        act(call, issues.create_issue, place, body={"title": "Mine"})
    assert refused.value.status == 401


def test_what_the_house_refuses_is_refused_as_the_api_does(call: Call) -> None:
    """A name that is taken is status 409."""
    with pytest.raises(Refusal) as refused:
        act(call, repositories.create_mine, body={"name": "tides"})
    assert refused.value.status == 409


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("[Name]: MaxSize", "Name: is too long."),
        ("[]: a body", "A body."),
        ("[BranchFilter]: no pattern", "Branch filter: no pattern."),
        ("[UserID]: Required", "UserID: is needed."),
        (
            "[Website]: Expected `str` matching regex '^(https?://[^\\s]+)?$'",
            "Website: must begin with https:// or http://.",
        ),
        ("[Color]: Expected `str` matching regex '^#'", "Color: has not the right form."),
        ("user does not exist [uid: 0, name: ada]", "User does not exist: ada."),
        ("a pattern [ab]", "A pattern [ab]."),
        ("", "That was refused."),
        ("why?", "Why?"),
    ],
)
def test_reasons_become_sentences(message: str, shown: str) -> None:
    """Whatever form the API gives them."""
    assert problem_with(Refusal(422, message)) == shown
