"""The deliverer as the service runs it: real payloads, real secrets, in a thread."""

import hashlib
import hmac
import json
from contextlib import contextmanager
from dataclasses import replace

import httpx
import msgspec
import pytest

from holdfast.hosting.events.delivering import delivering, new_client
from holdfast.hosting.host import Host
from holdfast.hosting.store.database import Database
from holdfast.secret import Secret
from holdfast.settings import Settings
from tests.conftest import ADMIN_PASSWORD, run_service, wait_for
from tests.hosting.events.outboxes import Outbox
from tests.hosting.events.receivers import Receiver


def test_what_happens_through_the_api_arrives_signed(
    settings: Settings, database: Database, receiver: Receiver
) -> None:
    """From a request to a receiver: the event, its payload, and the signature over it."""
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
        made = client.post("/orgs/band/hooks", json=hook).json()
        client.post("/repos/band/songs/issues", json={"title": "Out of tune"})
        client.post("/repos/band/songs/contents/a.txt", json={"content": "YQ=="})
        wait_for(lambda: len(receiver.seen) == 2)
        issue, push = receiver.seen
        path = f"/orgs/band/hooks/{made['id']}/deliveries"
        wait_for(lambda: [one["status"] for one in client.get(path).json()] == ["delivered"] * 2)
        one = client.get(f"{path}/{issue.headers['x-gitea-delivery']}").json()
    assert json.loads(issue.body)["issue"]["title"] == "Out of tune"
    assert issue.headers["x-gitea-event"] == "issues"
    assert issue.headers["x-gitea-hook-installation-target-type"] == "organization"
    assert issue.headers["authorization"] == "Bearer t"
    for seen in (issue, push):
        mac = hmac.new(b"s3cret", seen.body, hashlib.sha256).hexdigest()
        assert seen.headers["x-hub-signature-256"] == f"sha256={mac}"
    assert json.loads(push.body)["ref"] == "refs/heads/main"
    assert "Bearer t" not in json.dumps(one)
    assert "s3cret" not in json.dumps(one)


def test_a_kind_nobody_can_describe_is_said_and_waits(host: Host, outbox: Outbox, receiver: Receiver) -> None:
    """A later version may know it."""
    hook = outbox.hook(receiver.url())
    with delivering(host):
        outbox.happen([hook], kind="unheard-of")
        wait_for(lambda: outbox.rows()[0].tries == 1)
    assert "cannot be described" in outbox.rows()[0].error
    assert outbox.states() == ["waiting"]


def test_the_client_is_what_the_settings_say() -> None:
    """With a proxy where one is set."""
    plain = new_client(Settings())
    assert plain._proxy is None
    proxied = new_client(Settings(webhook_proxy_url=Secret("http://u:p@proxy:3128"), webhook_proxy_hosts="*.org"))
    assert proxied._proxy is not None
    assert (proxied._proxy.host, proxied._proxy.port) == ("proxy", 3128)
    assert proxied._proxy.serves("x.org")
    assert not proxied._proxy.serves("x.net")


def test_a_deliverer_that_cannot_start_says_so_and_the_service_goes_on(
    host: Host, capsys: pytest.CaptureFixture[str]
) -> None:
    """Settings are checked before, so this takes somebody who goes round that."""
    ill = replace(host, settings=msgspec.structs.replace(host.settings, webhook_allowed_hosts="[a"))
    with delivering(ill):
        pass
    assert "nothing is delivered any more" in capsys.readouterr().out
