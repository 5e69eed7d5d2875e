"""Conversion of every event to a message for every chat service."""

import json

import pytest

from holdfast.hosting.app import App
from holdfast.hosting.services import repositories
from holdfast.hosting.store import issues
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.issues import NewIssue
from holdfast.hosting.webhooks.chat import message_of
from holdfast.hosting.webhooks.chat.conversion import SERVICES
from holdfast.hosting.webhooks.payloads import payload_of
from tests.hosting.webhooks.chat.samples import EVERY, hook, sample, wire
from tests.hosting.webhooks.event_helpers import last

TALKING = sorted(set(SERVICES) - {"packagist"})


@pytest.mark.parametrize("service", TALKING)
def test_every_event_becomes_a_message(service: str) -> None:
    """A message names the repository and the user, is indented JSON, and is sent to the hook's URL."""
    for kind, action in EVERY:
        payload = json.loads(sample(kind, action))
        payload["sender"] |= {"login": "grace"}
        request = wire(hook(service), kind, json.dumps(payload))
        assert request is not None, kind
        text = request.body.decode()
        assert text.startswith('{\n  "'), kind
        said = text.replace("\\\\", "")
        assert "ada/ship" in said, kind
        assert "grace" in said, kind
        assert request.headers["Content-Type"] == "application/json"
        assert request.url.startswith("https://chat.example/hook")
        assert request.method == ("PUT" if service == "matrix" else "POST")


@pytest.mark.parametrize("service", SERVICES)
def test_a_push_without_commits_has_no_message(service: str) -> None:
    """A push without commits sends no message to any chat service."""
    empty = json.dumps({**json.loads(sample("push", "")), "commits": [], "total_commits": 0})
    assert wire(hook(service), "push", empty) is None


@pytest.mark.parametrize("service", TALKING)
def test_deleted_things_are_described_as_far_as_possible(service: str) -> None:
    """A payload without repository, issue and sender still has a message, except for a push."""
    for kind, action in EVERY:
        for empty in ("{}", json.dumps({"action": action, "repository": None, "issue": None, "sender": None})):
            request = wire(hook(service), kind, empty)
            assert (request is None) == (kind == "push")


@pytest.mark.parametrize("meta", ["", "{}", "not json", '{"channel":1}'])
def test_a_hook_without_settings_of_its_type_still_works(meta: str) -> None:
    """A hook whose settings are missing or invalid sends a message, as the API stores none for most types."""
    for service in TALKING:
        assert wire(hook(service, meta=meta), "issues", sample("issues", "opened")) is not None


def test_only_an_existing_secret_is_decrypted() -> None:
    """A hook without a secret decrypts nothing, and a secret is in neither the body nor the URL."""

    def refuse(_: str) -> str:
        raise AssertionError

    for service in TALKING:
        payload = sample("issues", "opened")
        assert message_of(hook(service), "issues", payload, "u", refuse) is not None
        request = wire(hook(service, secret="sealed:hunter2"), "issues", payload)
        assert b"hunter2" not in request.body
        assert "hunter2" not in request.url


def test_the_authorization_header_is_sent() -> None:
    """The decrypted authorization of the hook is sent, as Matrix requires one."""
    room = hook("matrix", authorization="sealed:Bearer syt_1")
    assert wire(room, "issues", sample("issues", "opened")).headers["Authorization"] == "Bearer syt_1"


def test_real_payloads_are_understood(app: App, ada: Account) -> None:
    """Every chat service makes a message of the real payloads of a repository and an issue."""
    home = repositories.create(app, ada, ada, repositories.NewRepository(name="ship"))
    issues.open_issue(app.database, home, ada, NewIssue(title="It leaks", body="Below."))
    for kind in ("repository", "issues"):
        payload = payload_of(app, last(app.database, kind))
        for service in TALKING:
            request = wire(hook(service), kind, payload)
            assert "Ada/ship" in request.body.decode()
