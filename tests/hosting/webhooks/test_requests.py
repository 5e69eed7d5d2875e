"""Webhook requests: headers, bodies, and the stored request and response."""

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
    """Make a leased webhook of an organization, with a secret and an authorization header."""
    values: dict[str, object] = dict.fromkeys(Hook.__dataclass_fields__, "")
    values |= {"id": 5, "type": "gitea", "url": "https://a:b@x.org/h", "content_type": "json"}
    values |= {"secret": "sealed s", "authorization": "sealed Bearer t", **columns}
    return LeasedHook(Hook(**values), "organization")  # type: ignore[arg-type]  # fields of several types


def composed(**columns: str) -> WebhookRequest | None:
    """Build the request of a delivery."""
    return build_request(
        held(**columns), ONE, ONE.payload, lambda text: text.removeprefix("sealed "), plain_message
    )


@pytest.mark.parametrize(
    ("kind", "announced"), [("gitea", True), ("gogs", True), ("slack", True), ("feishu", False)]
)
def test_requests_of_every_type_but_feishu_have_delivery_headers(kind: str, *, announced: bool) -> None:
    """Requests to Feishu have the authorization but no delivery and signature headers."""
    request = composed(type=kind)
    assert request is not None
    assert request.headers["Authorization"] == "Bearer t"
    assert ("X-Gitea-Delivery" in request.headers) is announced
    assert ("X-Gitea-Signature" in request.headers) is announced
    assert request.body == (b'{"n": 1}' if kind in {"gitea", "gogs"} else b'text {"n": 1}')


def test_a_hook_without_secret_and_authorization_opens_neither() -> None:
    """An empty secret and an empty authorization are not decrypted."""

    def refuse(text: str) -> str:
        raise AssertionError(text)

    for kind in ("gitea", "slack"):
        request = build_request(
            held(type=kind, secret="", authorization=""), ONE, ONE.payload, refuse, plain_message
        )
        assert request is not None
        assert "Authorization" not in request.headers


def test_a_type_without_a_message_for_the_event_sends_nothing() -> None:
    """A chat service without a message for the event has no request, and that is no error."""
    request = build_request(
        held(type="slack", secret="", authorization=""), ONE, ONE.payload, str, lambda *_: None
    )
    assert request is None


def test_a_chat_message_is_kept_and_a_payload_is_not_kept_twice() -> None:
    """A payload is not stored with the delivery, as the event has it already."""
    for kind, body in (("slack", 'text {"n": 1}'), ("gogs", "")):
        attempt = DeliveryAttempt(held(type=kind), ONE, time.monotonic(), composed(type=kind))
        assert attempt.ended(9000, "failed", "no").body == body


def test_a_delivered_answer_that_was_cut_says_so() -> None:
    """A delivery with a cut answer is delivered, and its error says that the answer was cut."""
    response = WebhookResponse(200, (), b"ok", "the answer is larger than 64 KB; the rest was not read")
    cut = DeliveryAttempt(held(), ONE, time.monotonic(), composed(), response).succeeded(5000)
    assert (cut.state, cut.error) == ("delivered", response.cut)
    without = DeliveryAttempt(held(), ONE, time.monotonic(), composed()).succeeded(5000)
    assert (without.error, without.status, without.answer, without.answer_headers) == ("", 0, b"", "{}")


def test_the_time_that_an_attempt_took_is_kept_in_milliseconds() -> None:
    """The duration of an attempt is measured in milliseconds from its start to its result."""
    result = DeliveryAttempt(held(), ONE, time.monotonic() - 2.0, composed()).ended(9000, "failed", "no")
    assert 2000 <= result.milliseconds < 60_000
    assert result.due_at == ONE.due_at


def test_the_stored_request_has_no_secret() -> None:
    """The stored request has neither the authorization nor the credentials of the URL."""
    attempt = DeliveryAttempt(
        held(), ONE, time.monotonic(), composed(), WebhookResponse(200, (("Set-Cookie", "a\0b"),), b"ok")
    )
    result = attempt.succeeded(5000)
    assert (result.state, result.tries, result.ended_at, result.status) == ("delivered", 2, 5, 200)
    assert result.url == "https://x.org/h"
    assert json.loads(result.headers)["Authorization"] == "******"
    assert json.loads(result.answer_headers) == {"Set-Cookie": "ab"}
    assert not any(secret in repr(result) for secret in ("Bearer", "a:b@", "sealed"))
    assert result.body == ""


def test_the_next_try_is_later_than_the_last() -> None:
    """A failed attempt is due again after a delay, and keeps the answer."""
    attempt = DeliveryAttempt(held(), ONE, time.monotonic(), composed(), WebhookResponse(500, (), b"no"))
    result = attempt.again(1_000_000, "it answered 500")
    assert (result.state, result.ended_at, result.error, result.answer) == ("waiting", 0, "it answered 500", b"no")
    assert 1_030_000 < result.due_at < 1_060_000
    without = DeliveryAttempt(held(), ONE, time.monotonic(), composed()).again(1_000_000, "cut off")
    assert 1_030_000 < without.due_at < 1_060_000


def test_a_receiver_that_asks_for_a_later_try_gets_it() -> None:
    """The next attempt is due after the seconds of the Retry-After header."""
    response = WebhookResponse(503, (("Retry-After", "600"),), b"")
    result = DeliveryAttempt(held(), ONE, time.monotonic(), composed(), response).again(
        1_000_000, "it answered 503"
    )
    assert result.due_at == 1_600_000


def test_a_delivery_without_a_request_has_a_reason() -> None:
    """A delivery for which no request was built has only the URL of the hook and the error."""
    result = DeliveryAttempt(held(), ONE, time.monotonic()).ended(9000, "failed", "no")
    assert (result.state, result.method, result.headers, result.error) == ("failed", "", "{}", "no")
    assert (result.url, result.body, result.ended_at) == ("https://x.org/h", "", 9)
