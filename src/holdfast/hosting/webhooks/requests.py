"""Requests of webhook deliveries, and the records of their results."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import msgspec

from holdfast.hosting.store.hooks import Hook
from holdfast.hosting.store.outbox import LeasedHook, Result, WaitingDelivery
from holdfast.hosting.webhooks.backoff import retry_delay
from holdfast.hosting.webhooks.client import WebhookResponse
from holdfast.hosting.webhooks.signatures import delivery_headers, signature_headers, signed_request
from holdfast.hosting.webhooks.webhook_request import WebhookRequest
from holdfast.http_client.urls import without_credentials

__all__ = ["PAYLOAD_TYPES", "DeliveryAttempt", "MessageOf", "build_request"]

# Types that receive the payload; others receive a chat message.
PAYLOAD_TYPES: Final = frozenset({"gitea", "gogs"})
# Types with their own signature scheme, without delivery headers.
WITHOUT_DELIVERY_HEADERS: Final = frozenset({"feishu"})
MASK: Final = "******"
NUL: Final = msgspec.json.encode("\0").decode().strip('"')

MessageOf = Callable[[Hook, str, str, str, Callable[[str], str]], WebhookRequest | None]


def build_request(
    held: LeasedHook,
    delivery: WaitingDelivery,
    payload: str,
    open_secret: Callable[[str], str],
    message_of: MessageOf,
) -> WebhookRequest | None:
    """Build the request of a delivery; None if the webhook's type has no message for the event."""
    hook = held.hook
    secret = open_secret(hook.secret) if hook.secret else ""
    authorization = open_secret(hook.authorization) if hook.authorization else ""
    if hook.type in PAYLOAD_TYPES:
        return signed_request(
            url=hook.url,
            content_type=hook.content_type,
            payload=payload,
            uuid=delivery.uuid,
            kind=delivery.kind,
            target=held.target,
            secret=secret,
            authorization=authorization,
        )
    message = message_of(hook, delivery.kind, payload, delivery.uuid, open_secret)
    if message is None:
        return None
    headers = dict(message.headers)
    if hook.type not in WITHOUT_DELIVERY_HEADERS:
        headers = (
            delivery_headers(delivery.uuid, delivery.kind, held.target)
            | signature_headers(message.body, secret)
            | headers
        )
    if authorization:
        headers["Authorization"] = authorization
    return replace(message, headers=headers)


@dataclass(slots=True)
class DeliveryAttempt:
    """An attempt to deliver."""

    held: LeasedHook
    one: WaitingDelivery
    began: float
    """Monotonic time of the start."""
    outgoing: WebhookRequest | None = None
    answer: WebhookResponse | None = None
    outcome: str = "none"
    """`delivered`, `retried`, `failed` or `cancelled`, once it is recorded."""

    def succeeded(self, now: int) -> Result:
        """Return the result of a successful delivery; `now` is in milliseconds."""
        return self._result("delivered", now, error="" if self.answer is None else self.answer.cut)

    def ended(self, now: int, state: str, error: str) -> Result:
        """Return the result of a delivery that will not be retried."""
        return self._result(state, now, error=error)

    def again(self, now: int, error: str) -> Result:
        """Return the result of a delivery to retry, with its time."""
        retry_after = "" if self.answer is None else self.answer.header("retry-after")
        due_at = now + int(retry_delay(self.one.tries + 1, retry_after=retry_after) * 1000)
        return self._result("waiting", now, error=error, due_at=due_at)

    def _result(self, state: str, now: int, *, error: str, due_at: int | None = None) -> Result:
        outgoing, answer = self.outgoing, self.answer
        shown = {} if outgoing is None else dict(outgoing.headers)
        for name in shown:
            if name.lower() == "authorization":
                shown[name] = MASK
        return Result(
            delivery=self.one.id,
            state=state,
            tries=self.one.tries + 1,
            due_at=self.one.due_at if due_at is None else due_at,
            ended_at=0 if state == "waiting" else now // 1000,
            method="" if outgoing is None else outgoing.method,
            url=without_credentials(self.held.hook.url if outgoing is None else outgoing.url),
            headers=encode_headers(shown),
            body=self._own_body(),
            status=0 if answer is None else answer.status,
            answer_headers=encode_headers({} if answer is None else dict(answer.headers)),
            answer=b"" if answer is None else answer.body,
            error=error,
            milliseconds=int((time.monotonic() - self.began) * 1000),
        )

    def _own_body(self) -> str:
        """Return the request body if it is not the event's payload, else an empty string."""
        if self.outgoing is None or self.held.hook.type in PAYLOAD_TYPES:
            return ""
        return self.outgoing.body.decode(errors="replace")


def encode_headers(headers: dict[str, str]) -> str:
    """Encode headers as a JSON object; NUL, which PostgreSQL rejects, is removed."""
    text = msgspec.json.encode(headers).decode()
    if NUL not in text:
        return text
    return msgspec.json.encode({name: value.replace("\0", "") for name, value in headers.items()}).decode()
