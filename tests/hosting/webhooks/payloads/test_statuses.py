"""Webhook payloads of commit statuses."""

import json

import msgspec

from holdfast.hosting.app import App
from holdfast.hosting.git import refs
from holdfast.hosting.services import repositories
from holdfast.hosting.services.repositories import NewRepository
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.commit_statuses import CommitStatus
from holdfast.hosting.store.events import Event
from holdfast.hosting.webhooks.payloads import payload_of


def test_a_status_of_a_missing_commit_has_a_payload_without_it(app: App, ada: Account) -> None:
    """The payload of a status has its commit where the repository has it, and otherwise null."""
    home = repositories.create(app, ada, ada, NewRepository(name="ship"), {"a": b"a"})
    head = refs.resolve(app.copies.open(home), "main", "main")
    assert head is not None
    for sha, commit in ((head.commit, head.commit), ("1" * 40, None)):
        status = CommitStatus(7, sha, "ci", "warning", "", "", ada.id, 1_700_000_000)
        details = msgspec.json.encode({"status": status}).decode()
        payload = json.loads(payload_of(app, Event(1, "status", ada.id, home.id, ada.id, details, 0, "")))
        assert (payload["commit"] and payload["commit"]["id"]) == commit
        assert (payload["id"], payload["sha"], payload["state"], payload["context"]) == (7, sha, "warning", "ci")
        assert payload["created_at"] == payload["updated_at"] == "2023-11-14T22:13:20Z"
