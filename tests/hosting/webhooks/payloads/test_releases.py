"""Webhook payloads of releases."""

import json

from holdfast.hosting.access import Actor
from holdfast.hosting.app import App
from holdfast.hosting.services import releases, repositories
from holdfast.hosting.services.repositories import NewRepository
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.releases import ReleaseFields
from tests.hosting.services.scenario import accessed
from tests.hosting.webhooks.event_helpers import add_hook, recorded


def test_the_payload_of_a_release_has_its_state(app: App, ada: Account) -> None:
    """A published and a deleted release have complete payloads with the release count after the change."""
    home = repositories.create(app, ada, ada, NewRepository(name="ship"), {"a": b"a"})
    add_hook(app.database, ada, events="release")
    actor = Actor(ada)
    target = accessed(app, actor, home)
    release = releases.create(app, actor, target, ReleaseFields(tag_name="v1", name="One"))
    releases.delete(app, actor, target, release)
    payloads = [json.loads(event.payload) for event in recorded(app.database) if event.kind == "release"]
    assert [item["action"] for item in payloads] == ["published", "deleted"]
    for one, count in zip(payloads, (1, 0), strict=True):
        assert (one["release"]["tag_name"], one["release"]["name"], one["release"]["assets"]) == ("v1", "One", [])
        assert (one["release"]["author"]["login"], one["sender"]["login"]) == ("Ada", "Ada")
        assert one["repository"]["release_counter"] == count
