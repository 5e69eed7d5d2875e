"""The deliverer in its thread, with real payloads and secrets."""

import hashlib
import hmac
import json
from collections.abc import Callable
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Any

import httpx
import msgspec
import pytest

from holdfast.hosting.app import App
from holdfast.hosting.store.database import Database
from holdfast.hosting.webhooks.delivery_thread import delivering, new_client
from holdfast.secret import Secret
from holdfast.settings import Settings
from tests.conftest import ADMIN_PASSWORD, run_service, wait_for
from tests.hosting.webhooks.outboxes import Outbox
from tests.hosting.webhooks.receivers import Receiver, receiving


def test_what_happens_through_the_api_arrives_signed(
    settings: Settings, database: Database, receiver: Receiver
) -> None:
    """An issue and a commit made over the API are delivered with payloads and valid HMAC signatures."""
    inwards = msgspec.structs.replace(settings, webhook_allowed_hosts="loopback")
    with (
        contextmanager(run_service)(inwards, database, delivers=True) as service,
        httpx.Client(base_url=f"{service.url}/api/v1", auth=("admin", ADMIN_PASSWORD)) as client,
    ):
        assert client.post("/orgs", json={"username": "band"}).status_code == 201
        assert client.post("/orgs/band/repos", json={"name": "songs", "auto_init": True}).status_code == 201
        hook = {
            "type": "gitea",
            "active": True,
            "events": ["push", "issues"],
            "authorization_header": "Bearer t",
            "config": {"url": receiver.url(), "content_type": "json", "secret": "s3cret"},
        }
        created_hook = client.post("/orgs/band/hooks", json=hook).json()
        client.post("/repos/band/songs/issues", json={"title": "Out of tune"})
        client.post("/repos/band/songs/contents/a.txt", json={"content": "YQ=="})
        wait_for(lambda: len(receiver.seen) == 2)
        issue, push = receiver.seen
        path = f"/orgs/band/hooks/{created_hook['id']}/deliveries"
        wait_for(lambda: [item["status"] for item in client.get(path).json()] == ["delivered"] * 2)
        result = client.get(f"{path}/{issue.headers['x-gitea-delivery']}").json()
    assert json.loads(issue.body)["issue"]["title"] == "Out of tune"
    assert issue.headers["x-gitea-event"] == "issues"
    assert issue.headers["x-gitea-hook-installation-target-type"] == "organization"
    assert issue.headers["authorization"] == "Bearer t"
    for seen in (issue, push):
        mac = hmac.new(b"s3cret", seen.body, hashlib.sha256).hexdigest()
        assert seen.headers["x-hub-signature-256"] == f"sha256={mac}"
    assert json.loads(push.body)["ref"] == "refs/heads/main"
    assert "Bearer t" not in json.dumps(result)
    assert "s3cret" not in json.dumps(result)


def perform_twelve_actions(client: httpx.Client, ask: Callable[..., Any], hook: str) -> None:
    """Cause twelve events in a repository of Ada's, the last of which is its deletion."""
    client.headers["Sudo"] = "ada"
    ask("POST", "/user/repos", 201, name="ship", auto_init=True)
    ask("POST", "/repos/ada/ship/issues", 201, title="It leaks", body="badly")
    comment = ask("POST", "/repos/ada/ship/issues/1/comments", 201, body="Pump!")
    ask("PATCH", f"/repos/ada/ship/issues/comments/{comment['id']}", 200, body="Pump faster!")
    ask("PATCH", "/repos/ada/ship/issues/1", 201, title="It sinks")
    ask("PATCH", "/repos/ada/ship/issues/1", 201, state="closed")
    ask("POST", "/repos/ada/ship/contents/log.txt", 201, content="YQ==", message="The log")
    ask("DELETE", f"/repos/ada/ship/issues/comments/{comment['id']}", 204)
    ask("PATCH", "/repos/ada/ship", 200, name="wreck")
    del client.headers["Sudo"]
    ask("POST", "/admin/users/ada/rename", 204, new_username="countess")
    ask("POST", f"{hook}/tests", 204)
    ask("DELETE", "/repos/countess/wreck/issues/1", 204)
    ask("DELETE", "/repos/countess/wreck", 204)
    ask("DELETE", "/admin/users/countess", 204)


def test_payloads_of_a_backlog_have_the_state_of_their_events(settings: Settings, database: Database) -> None:
    """Queued payloads show the state at the time of each event, and a redelivery sends the same bytes."""
    inwards = msgspec.structs.replace(settings, webhook_allowed_hosts="loopback", webhook_tries=3)
    with (
        contextmanager(run_service)(inwards, database) as service,
        httpx.Client(base_url=f"{service.url}/api/v1", auth=("admin", ADMIN_PASSWORD)) as client,
        receiving() as receiver,
    ):

        def ask(method: str, path: str, status: int, **body: object) -> Any:
            response = client.request(method, path, json=body)
            assert response.status_code == status, response.text
            return response.json() if response.content else None

        new = {"username": "ada", "email": "ada@example.org", "password": "a-password-for-ada"}
        ask("POST", "/admin/users", 201, **new, must_change_password=False)
        config = {"url": receiver.url(), "content_type": "json", "is_system_webhook": "true"}
        hook = ask("POST", "/admin/hooks", 201, type="gitea", active=True, events=["*"], config=config)
        path = f"/admin/hooks/{hook['id']}"
        perform_twelve_actions(client, ask, path)
        waiting = [delivery["id"] for delivery in client.get(f"{path}/deliveries?limit=50").json()][::-1]
        with closing(App.open(inwards)) as host, delivering(host):
            wait_for(lambda: client.get(f"{path}/deliveries?status=waiting").json() == [])
            ask("POST", f"{path}/deliveries/{waiting[-1]}/redeliver", 202)
            wait_for(lambda: client.get(f"{path}/deliveries?status=waiting").json() == [])
            ask("POST", f"{path}/redeliver", 202, since="2020-01-01T00:00:00Z")
            wait_for(lambda: len(receiver.seen) == 2 * len(waiting) + 1)
    first, again = receiver.seen[: len(waiting)], receiver.seen[len(waiting) + 1 :]
    assert [item.body for item in again] == [item.body for item in first]
    assert receiver.seen[len(waiting)].body == first[-1].body
    payloads = [(item.headers["x-gitea-event-type"], json.loads(item.body)) for item in first]
    created, opened, said_, edited, retitled, closed, push, unsaid, renamed, trial, deleted, gone = (
        item for _, item in payloads
    )
    assert [item.get("action", kind) for kind, item in payloads] == [
        *("created", "opened", "created", "edited", "edited", "closed"),
        *("push", "deleted", "renamed", "push", "deleted", "deleted"),
    ]
    assert (opened["issue"]["title"], opened["issue"]["state"]) == ("It leaks", "open")
    assert (said_["comment"]["body"], said_["issue"]["comments"]) == ("Pump!", 1)
    assert (edited["comment"]["body"], edited["issue"]["title"]) == ("Pump faster!", "It leaks")
    assert (retitled["issue"]["title"], retitled["issue"]["state"]) == ("It sinks", "open")
    assert (closed["issue"]["state"], closed["repository"]["open_issues_count"]) == ("closed", 0)
    assert push["commits"][0]["message"] == "The log\n"
    assert unsaid["issue"]["comments"] == 0
    for one in (created, opened, said_, edited, retitled, closed, push, unsaid):
        assert (one["repository"]["full_name"], one["sender"]["login"]) == ("ada/ship", "ada")
    assert renamed["repository"]["full_name"] == "ada/wreck"
    for one in (trial, deleted, gone):
        assert (one["repository"]["full_name"], one["sender"]["login"]) == ("countess/wreck", "admin")
    assert trial["commits"][0]["message"] == "The log\n"


def test_an_unknown_kind_of_event_is_logged_and_stays_pending(
    app: App, outbox: Outbox, receiver: Receiver
) -> None:
    """An event of an unknown kind stays pending with an error, as a later version may know it."""
    hook = outbox.hook(receiver.url())
    with delivering(app):
        outbox.record_events([hook], kind="unheard-of")
        wait_for(lambda: outbox.rows()[0].tries == 1)
    assert "cannot be rendered" in outbox.rows()[0].error
    assert outbox.states() == ["waiting"]


def test_the_client_is_what_the_settings_say() -> None:
    """The client has the proxy of the settings for its hosts, and none where none is set."""
    plain = new_client(Settings())
    assert plain.proxy is None
    proxied = new_client(Settings(webhook_proxy_url=Secret("http://u:p@proxy:3128"), webhook_proxy_hosts="*.org"))
    assert proxied.proxy is not None
    assert (proxied.proxy.url.host, proxied.proxy.url.port) == ("proxy", 3128)
    assert proxied.proxy.serves("x.org")
    assert not proxied.proxy.serves("x.net")


def test_a_deliverer_that_cannot_start_says_so_and_the_service_goes_on(
    app: App, capsys: pytest.CaptureFixture[str]
) -> None:
    """With an invalid setting the deliverer logs a crash and raises nothing."""
    ill = replace(app, settings=msgspec.structs.replace(app.settings, webhook_allowed_hosts="[a"))
    with delivering(ill):
        pass
    assert "webhook deliverer crashed" in capsys.readouterr().out
