"""What a hook sends, and what is kept of it."""

import json
import time

import pytest

from holdfast.hosting.store.hooks import Hook
from holdfast.hosting.store.outbox import LeasedHook, WaitingDelivery
from holdfast.hosting.webhooks.client import WebhookResponse
from holdfast.hosting.webhooks.requests import DeliveryAttempt, build_request
from holdfast.hosting.webhooks.webhook_request import WebhookRequest
from tests.hosting.webhooks.outboxes import plain_message

ONE = WaitingDelivery(7, "a-uuid", 3, "push", 1, 1000, '{"n": 1}')


def held(**columns: str) -> LeasedHook:
    """Make a hook of an organization's, with a secret and an authorization."""
    values: dict[str, object] = dict.fromkeys(Hook.__dataclass_fields__, "")
    values |= {"id": 5, "type": "gitea", "url": "https://a:b@x.org/h", "content_type": "json"}
    values |= {"secret": "sealed s", "authorization": "sealed Bearer t", **columns}
    return LeasedHook(Hook(**values), "organization")  # type: ignore[arg-type]


def composed(**columns: str) -> WebhookRequest | None:
    """Make a request."""
    return build_request(
        held(**columns), ONE, ONE.payload, lambda text: text.removeprefix("sealed "), plain_message
    )


@pytest.mark.parametrize(
    ("kind", "announced"), [("gitea", True), ("gogs", True), ("slack", True), ("feishu", False)]
)
def test_every_type_says_who_it_is_and_most_say_what_they_tell(kind: str, *, announced: bool) -> None:
    """Feishu's receivers are told nothing but their message."""
    made, announced = composed(type=kind), kind != "feishu"
    assert made is not None
    assert made.headers["Authorization"] == "Bearer t"
    assert ("X-Gitea-Delivery" in made.headers) is announced
    assert ("X-Gitea-Signature" in made.headers) is announced
    assert made.body == (b'{"n": 1}' if kind in {"gitea", "gogs"} else b'text {"n": 1}')


def test_what_is_kept_has_no_secret() -> None:
    """Neither the authorization nor the password in an address."""
    attempt = DeliveryAttempt(
        held(), ONE, time.monotonic(), composed(), WebhookResponse(200, (("Set-Cookie", "a\0b"),), b"ok")
    )
    result = attempt.succeeded(5000)
    assert (result.state, result.tries, result.ended_at, result.status) == ("delivered", 2, 5, 200)
    assert result.url == "https://x.org/h"
    assert json.loads(result.headers)["Authorization"] == "******"
    assert json.loads(result.answer_headers) == {"Set-Cookie": "ab"}
    assert "Bearer" not in repr(result)
    assert result.body == ""


def test_the_next_try_is_later_than_the_last() -> None:
    """And keeps what was answered."""
    attempt = DeliveryAttempt(held(), ONE, time.monotonic(), composed(), WebhookResponse(500, (), b"no"))
    result = attempt.again(1_000_000, "it answered 500")
    assert (result.state, result.ended_at, result.error, result.answer) == ("waiting", 0, "it answered 500", b"no")
    assert 1_030_000 < result.due_at < 1_060_000


def test_what_ends_without_a_request_says_why() -> None:
    """There is nothing to show but the reason."""
    result = DeliveryAttempt(held(), ONE, time.monotonic()).ended(9000, "failed", "no")
    assert (result.state, result.method, result.headers, result.error) == ("failed", "", "{}", "no")
