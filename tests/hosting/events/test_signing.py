"""What a receiver is told besides the event, and the proof of who sends it."""

import hashlib
import hmac
from urllib.parse import parse_qs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.hosting.events.outgoing import Outgoing
from holdfast.hosting.events.signing import grouped, signed, signed_request


def request(payload: str = '{"a": "ä&b"}', *, content_type: str = "json", secret: str = "s") -> Outgoing:
    """Make a request."""
    return signed_request(
        url="https://x.org/h",
        content_type=content_type,
        payload=payload,
        uuid="7b",
        kind="issue_label",
        target="organization",
        secret=secret,
        authorization="Bearer t",
    )


def test_every_header_receivers_look_for_is_there() -> None:
    """Under the names of all three, the event by the name of its group and by its own."""
    made = request()
    for house in ("Gitea", "Gogs", "GitHub"):
        assert made.headers[f"X-{house}-Delivery"] == "7b"
        assert made.headers[f"X-{house}-Event"] == "issues"
        assert made.headers[f"X-{house}-Event-Type"] == "issue_label"
    assert made.headers["X-Gitea-Hook-Installation-Target-Type"] == "organization"
    assert made.headers["X-GitHub-Hook-Installation-Target-Type"] == "organization"
    assert made.headers["Authorization"] == "Bearer t"
    assert (made.method, made.url, made.headers["Content-Type"]) == ("POST", "https://x.org/h", "application/json")


@given(st.text(), st.text(min_size=1))
def test_a_form_carries_the_text_that_is_signed(payload: str, secret: str) -> None:
    """The signature is over the JSON, not over the form."""
    made = request(payload, content_type="form", secret=secret)
    fields = parse_qs(made.body.decode(), keep_blank_values=True)
    assert fields == {"payload": [payload]}
    mac = hmac.new(secret.encode(), payload.encode(), hashlib.sha256).hexdigest()
    assert made.headers["X-Hub-Signature-256"] == f"sha256={mac}"
    assert made.headers["X-Gitea-Signature"] == made.headers["X-Gogs-Signature"] == mac
    assert made.headers["Content-Type"] == "application/x-www-form-urlencoded"


def test_a_known_signature() -> None:
    """The example that GitHub's documentation gives to test implementations with."""
    headers = signed(b"Hello, World!", "It's a Secret to Everybody")
    expected = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    assert headers["X-Hub-Signature-256"] == f"sha256={expected}"


def test_without_a_secret_the_signatures_are_empty() -> None:
    """The headers are there all the same."""
    made = request(secret="")
    assert made.headers["X-Gitea-Signature"] == made.headers["X-Gogs-Signature"] == ""
    assert (made.headers["X-Hub-Signature"], made.headers["X-Hub-Signature-256"]) == ("sha1=", "sha256=")


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("push", "push"),
        ("issue_assign", "issues"),
        ("issue_milestone", "issues"),
        ("pull_request_sync", "pull_request"),
        ("pull_request_comment", "issue_comment"),
        ("pull_request_review_approved", "pull_request_approved"),
        ("issue_dependency", "issue_dependency"),
    ],
)
def test_sub_events_go_by_the_name_of_their_group(kind: str, name: str) -> None:
    """Everything else by its own."""
    assert grouped(kind) == name
