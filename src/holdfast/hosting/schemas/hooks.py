"""Schemas of webhooks and deliveries."""

from functools import lru_cache

import msgspec

from holdfast.hosting.schemas.times import Time, moment, moment_or_none
from holdfast.hosting.store.deliveries import Delivery
from holdfast.hosting.store.event_types import event_names
from holdfast.hosting.store.hooks import Hook, HookSummary
from holdfast.redacted_repr import redacted
from holdfast.secret import MASK

__all__ = ["DeliveryDetails", "DeliverySchema", "HookSchema", "Request", "Response", "delivery", "details", "hook"]


@redacted
class HookSchema(msgspec.Struct, frozen=True):
    """A webhook; its secret and its authorization header are never included."""

    id: int
    name: str
    type: str
    branch_filter: str
    config: dict[str, str]
    events: list[str]
    authorization_header: str
    active: bool
    updated_at: Time
    created_at: Time
    paused_at: Time | None
    pause_reason: str


class DeliverySchema(msgspec.Struct, frozen=True):
    """A delivery of an event, and its state."""

    id: int
    uuid: str
    hook_id: int
    event: str
    status: str
    again_of: int | None
    tries: int
    next_try_at: Time | None
    created_at: Time
    ended_at: Time | None
    response_status: int | None
    duration_ms: int
    error: str


class Request(msgspec.Struct, frozen=True):
    """The request of the last attempt; credentials are masked."""

    method: str
    url: str
    headers: dict[str, str]
    body: str


class Response(msgspec.Struct, frozen=True):
    """The response, with the beginning of its body."""

    status: int
    headers: dict[str, str]
    body: str


class DeliveryDetails(DeliverySchema, frozen=True):
    """A delivery with request and response; each is null until it exists."""

    request: Request | None
    response: Response | None


@lru_cache(maxsize=4096)
def hook(stored: Hook | HookSummary) -> HookSchema:
    """Encode a webhook, cached; the keys of `config` are sorted."""
    config = {"content_type": stored.content_type, "url": stored.url}
    if stored.scope in {"system", "default"}:
        config = {
            "content_type": stored.content_type,
            "is_system_webhook": "true" if stored.scope == "system" else "false",
            "url": stored.url,
        }
    if stored.type == "slack":
        config = dict(sorted({**config, **read_object(stored.meta)}.items()))
    return HookSchema(
        id=stored.id,
        name=stored.name,
        type=stored.type,
        branch_filter=stored.branch_filter,
        config=config,
        events=list(event_names(stored.events)),
        authorization_header="",
        active=bool(stored.is_active),
        updated_at=moment(stored.updated_at),
        created_at=moment(stored.created_at),
        paused_at=moment_or_none(stored.paused_at),
        pause_reason=stored.pause_reason,
    )


read_object = msgspec.json.Decoder(dict[str, str]).decode


def delivery(stored: Delivery) -> DeliverySchema:
    """Encode a delivery without request and response."""
    return DeliverySchema(
        id=stored.id,
        uuid=stored.uuid,
        hook_id=stored.hook_id,
        event=stored.kind,
        status=stored.state,
        again_of=stored.again_of,
        tries=stored.tries,
        # A delivery that is due at once has no time.
        next_try_at=moment(stored.due_at // 1000 or stored.created_at) if stored.state == "waiting" else None,
        created_at=moment(stored.created_at),
        ended_at=moment_or_none(stored.ended_at),
        response_status=stored.status or None,
        duration_ms=stored.milliseconds,
        error=stored.error,
    )


def details(stored: Delivery, payload: str) -> DeliveryDetails:
    """Encode a delivery with request and response; `payload` is the body if it is not stored with the delivery."""
    request = response = None
    if stored.method:
        sent = {
            name: MASK if name.lower() == "authorization" else value
            for name, value in read_object(stored.headers).items()
        }
        request = Request(stored.method, stored.url, sent, stored.body or payload)
    if stored.status:
        response = Response(
            stored.status, read_object(stored.answer_headers), stored.answer.decode("utf-8", "replace")
        )
    facts = msgspec.structs.asdict(delivery(stored))
    return DeliveryDetails(**facts, request=request, response=response)
