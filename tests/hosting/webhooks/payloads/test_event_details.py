"""What was written down about an event, and what can be looked up."""

from dataclasses import replace

from holdfast.hosting.app import Host
from holdfast.hosting.store import account_administration, issues
from holdfast.hosting.store.accounts import Account, find_user
from holdfast.hosting.store.issue_transactions import Issue
from holdfast.hosting.store.issues import NewIssue
from holdfast.hosting.webhooks.payloads.event_details import Facts, facts_of, look_up, remembered
from holdfast.hosting.webhooks.recipient import Receiver
from tests.hosting.places import make_people, make_repository
from tests.hosting.webhooks.telling import last


def test_whoever_is_gone_is_a_ghost(host: Host, ada: Account) -> None:
    """And what they did is told."""
    (bob,) = make_people(host.database, "bob")
    issues.open_issue(host.database, make_repository(host.database, ada), bob, NewIssue(title="t"))
    assert look_up(Receiver(host), last(host.database, "issues")).sender.login == "bob"
    account_administration.delete_user(host.database, bob, actor=find_user(host.database, "admin"))
    found = look_up(Receiver(host), last(host.database, "issues"))
    assert (found.sender.login, found.sender.id) == ("Ghost", -1)
    assert found.place is not None
    assert found.place.full_name == "Ada/ship"


def test_what_was_deleted_is_remembered(host: Host, ada: Account) -> None:
    """As far as it was written down."""
    home = make_repository(host.database, ada)
    issue = issues.open_issue(host.database, home, ada, NewIssue(title="t"))
    issues.delete_issue(host.database, home, issue, ada)
    event = last(host.database, "issues")
    was = remembered(facts_of(event), Issue)
    assert was is not None
    assert was == replace(was, id=issue.id, title="t", author_id=ada.id)
    assert remembered(Facts(), Issue) is None
