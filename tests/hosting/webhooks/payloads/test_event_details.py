"""Event details in payloads: deleted objects, URLs, and what receivers may see."""

from dataclasses import replace

import msgspec

from holdfast.hosting.app import App
from holdfast.hosting.schemas.users import user
from holdfast.hosting.store import account_administration, issues
from holdfast.hosting.store.accounts import Account, find_user
from holdfast.hosting.store.issue_transactions import Issue
from holdfast.hosting.store.issues import NewIssue
from holdfast.hosting.webhooks.payloads.event_details import (
    EventDetails,
    Receiver,
    decode_details,
    deleted_row,
    load_event_context,
)
from tests.hosting.repository_helpers import make_people, make_repository
from tests.hosting.webhooks.event_helpers import last


def test_a_deleted_user_is_a_ghost(app: App, ada: Account) -> None:
    """The sender of an event is Ghost after the user is deleted, and the repository is still described."""
    (bob,) = make_people(app.database, "bob")
    issues.open_issue(app.database, make_repository(app.database, ada), bob, NewIssue(title="t"))
    assert load_event_context(Receiver(app), last(app.database, "issues")).sender.login == "bob"
    account_administration.delete_user(app.database, bob, actor=find_user(app.database, "admin"))
    event_context = load_event_context(Receiver(app), last(app.database, "issues"))
    assert (event_context.sender.login, event_context.sender.id) == ("Ghost", -1)
    assert event_context.repository_schema is not None
    assert event_context.repository_schema.full_name == "Ada/ship"


def test_deleted_things_are_described_from_the_details(app: App, ada: Account) -> None:
    """A deleted issue is read from the details of its event, and is None where they do not have it."""
    home = make_repository(app.database, ada)
    issue = issues.open_issue(app.database, home, ada, NewIssue(title="t"))
    issues.delete_issue(app.database, home, issue, ada)
    event = last(app.database, "issues")
    was = deleted_row(decode_details(event), Issue)
    assert was == issue
    assert deleted_row(EventDetails(), Issue) is None


def test_addresses_are_those_of_the_settings(app: App) -> None:
    """URLs begin with the root URL of the settings, or with localhost, as there is no request."""
    assert Receiver(app).root == "http://localhost:3000"
    named = replace(app, settings=msgspec.structs.replace(app.settings, root_url="https://git.example.org/h"))
    assert (Receiver(named).root, Receiver(named).api) == (
        "https://git.example.org/h",
        "https://git.example.org/h/api/v1",
    )


def test_email_addresses_are_hidden(app: App, ada: Account) -> None:
    """A payload has the noreply address of a user whose email address is hidden."""
    assert user(Receiver(app), ada).email == f"{ada.id}+ada@noreply.localhost"


def test_a_receiver_sees_a_repository_as_its_owner(app: App, ada: Account) -> None:
    """A receiver has the owner's access to a private repository, as its hook was added by an administrator."""
    closed = make_repository(app.database, ada, is_private=True)
    assert Receiver(app).access_to(closed).is_owner
