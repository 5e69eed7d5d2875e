"""The JSON format of the payloads of every event."""

import json
from typing import Any

import msgspec

from holdfast.hosting.app import App
from holdfast.hosting.services import repositories
from holdfast.hosting.services.pull_heads import move_head
from holdfast.hosting.store import comments, commit_statuses, issues, labels, milestones, releases, review_changes
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.events import Event, record
from holdfast.hosting.store.issues import Branches, IssueChanges, NewIssue
from holdfast.hosting.store.ref_events import record_updates
from holdfast.hosting.store.ref_updates import RefUpdate
from holdfast.hosting.store.releases import ReleaseFields
from holdfast.hosting.store.review_changes import NewReview
from holdfast.hosting.store.reviews import ReviewState
from holdfast.hosting.webhooks.payloads import payload_of
from holdfast.hosting.webhooks.payloads.render import KINDS
from tests.hosting.webhooks.event_helpers import recorded

ZERO = "0" * 40
ONE = "1" * 40


def everything(app: App, ada: Account) -> list[Event]:
    """Record an event of every kind and action, and return all events."""
    database = app.database
    home = repositories.create(app, ada, ada, repositories.NewRepository(name="ship"), {"a": b"a"})
    label = labels.add_label(database, home, "bug", "f00")
    goal = milestones.add_milestone(database, home, ada, "1.0")
    opened = []
    for branches in (None, Branches("fix", "main")):
        one = issues.open_issue(database, home, ada, NewIssue(title="It leaks", branches=branches))
        comment = comments.add_comment(database, home, one, ada, "b")
        comment = comments.edit_comment(database, home, one, comment, actor=ada, body="c")
        for changes in (
            IssueChanges(title="It sinks", labels=[label], assignees=[ada], milestone_id=goal.id),
            IssueChanges(labels=[], assignees=[], milestone_id=0, is_closed=True),
            IssueChanges(is_closed=False),
        ):
            issues.change_issue(database, home, one, ada, changes)
        comments.delete_comment(database, home, one, comment, actor=ada)
        opened.append(one)
    for state in ("APPROVED", "REQUEST_CHANGES", "COMMENT"):
        new = NewReview(state=ReviewState(state), body="b", commit_id=ONE)
        review_changes.save_review(database, home, opened[1], ada, new)
    review_changes.request_reviews(database, home, opened[1], ada, users={ada.id: True}, teams={})
    review_changes.remove_requests(database, home, opened[1], ada, users=[ada.id], teams=[])
    other = issues.open_issue(database, home, ada, NewIssue(title="The pump"))
    with database.write() as connection:
        for ref in ("refs/heads/fix", "refs/tags/v1"):
            for update in (RefUpdate(ref, ZERO, ONE), RefUpdate(ref, ONE, "2" * 40), RefUpdate(ref, ONE, ZERO)):
                record_updates(connection, home, ada.id, [update])
        for kind, action in (("issue_dependency", "added"), ("issue_unblocked", "")):
            record(
                connection,
                kind,
                owner_id=ada.id,
                repository_id=home.id,
                actor_id=ada.id,
                details={"action": action, "issue_id": opened[0].id, "blocker_id": other.id},
            )
        release = releases.add_release(connection, home, ada, ReleaseFields(tag_name="v1"))
        release = releases.change_release(connection, home, ada, release, ReleaseFields(tag_name="v1", body="b"))
        releases.delete_release(connection, home, ada, release)
        record(
            connection,
            "fork",
            owner_id=ada.id,
            repository_id=home.id,
            actor_id=ada.id,
            details={"fork_id": home.id + 1},
        )
        status = commit_statuses.add_status(connection, home, ada, ONE, context="ci", state="success")
        record(
            connection,
            "status",
            owner_id=ada.id,
            repository_id=home.id,
            actor_id=ada.id,
            details={"status": msgspec.to_builtins(status)},
        )
        move_head(connection, home, opened[1], "3" * 40, actor_id=ada.id, pushed=None)
    for one in opened:
        issues.delete_issue(database, home, one, ada)
    repositories.remove(app, home, ada)
    return recorded(database)


def assert_fits(kind: str, text: str) -> dict[str, Any]:
    """Compare a payload with its documented form: the types of its keys, and their order."""
    struct = KINDS[kind].payload
    payload: dict[str, Any] = json.loads(text)
    assert msgspec.to_builtins(msgspec.json.decode(text, type=struct)) == payload
    assert list(payload) == [name for name in struct.__struct_fields__ if name in payload]
    return payload


def test_every_kind_has_its_form(app: App, ada: Account) -> None:
    """Each kind of event has a payload of the documented form, also after its repository was deleted."""
    seen = set()
    for event in everything(app, ada):
        payload = assert_fits(event.kind, payload_of(app, event))
        seen.add(event.kind)
        if KINDS[event.kind].actions:
            assert payload["action"] in KINDS[event.kind].actions
        assert payload["sender"]["login"] == "Ada"
        if "repository" in payload and event.kind != "repository":
            assert payload["repository"] is None
    assert seen == set(KINDS)


def test_a_payload_is_indented_as_receivers_know_it(app: App, ada: Account) -> None:
    """Payloads are indented by two spaces, and those about repositories by one, as receivers expect."""
    home = repositories.create(app, ada, ada, repositories.NewRepository(name="ship"))
    issues.open_issue(app.database, home, ada, NewIssue(title="It leaks"))
    created, opened = (payload_of(app, event) for event in recorded(app.database))
    assert created.startswith('{\n "action": "created",\n "repository": {\n  "id": ')
    assert opened.startswith('{\n  "action": "opened",\n  "number": 1,\n  "issue": {\n    "id": ')
    assert '"assets": [],' in opened


def test_a_stored_payload_is_rendered_again_unchanged(app: App) -> None:
    """A payload that is stored with its event is returned unchanged, even if it is not JSON."""
    assert payload_of(app, Event(1, "push", None, None, None, "{}", 0, "{as it was}")) == "{as it was}"


def test_invalid_details_are_rendered(app: App) -> None:
    """Invalid details, which another version may have written, have a payload of the documented form."""
    for kind in KINDS:
        for details in ("{}", "[]", "not json", '{"issue_id":"x"}', '{"was":{"id":1}}'):
            payload = assert_fits(kind, payload_of(app, Event(1, kind, None, None, None, details, 0, "")))
            assert payload["sender"]["login"] == "Ghost"
