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
    """A delivery with request and response; each is null before it happened."""

    request: Request | None
    response: Response | None


@lru_cache(maxsize=4096)
def hook(kept: Hook | HookSummary) -> HookSchema:
    """Encode a webhook, cached; the keys of `config` are sorted."""
    config = {"content_type": kept.content_type, "url": kept.url}
    if kept.scope in {"system", "default"}:
        config = {
            "content_type": kept.content_type,
            "is_system_webhook": "true" if kept.scope == "system" else "false",
            "url": kept.url,
        }
    if kept.type == "slack":
        config = dict(sorted({**config, **read_object(kept.meta)}.items()))
    return HookSchema(
        id=kept.id,
        name=kept.name,
        type=kept.type,
        branch_filter=kept.branch_filter,
        config=config,
        events=list(event_names(kept.events)),
        authorization_header="",
        active=bool(kept.is_active),
        updated_at=moment(kept.updated_at),
        created_at=moment(kept.created_at),
        paused_at=moment_or_none(kept.paused_at),
        pause_reason=kept.pause_reason,
    )


read_object = msgspec.json.Decoder(dict[str, str]).decode


def delivery(kept: Delivery) -> DeliverySchema:
    """Encode a delivery without request and response."""
    return DeliverySchema(
        id=kept.id,
        uuid=kept.uuid,
        hook_id=kept.hook_id,
        event=kept.kind,
        status=kept.state,
        again_of=kept.again_of,
        tries=kept.tries,
        next_try_at=moment(kept.due_at // 1000) if kept.state == "waiting" else None,
        created_at=moment(kept.created_at),
        ended_at=moment_or_none(kept.ended_at),
        response_status=kept.status or None,
        duration_ms=kept.milliseconds,
        error=kept.error,
    )


def details(kept: Delivery, payload: str) -> DeliveryDetails:
    """Encode a delivery with request and response; `payload` is the body if it is not stored with the delivery."""
    request = response = None
    if kept.method:
        sent = {
            name: MASK if name.lower() == "authorization" else value
            for name, value in read_object(kept.headers).items()
        }
        request = Request(kept.method, kept.url, sent, kept.body or payload)
    if kept.status:
        response = Response(kept.status, read_object(kept.answer_headers), kept.answer.decode("utf-8", "replace"))
    facts = msgspec.structs.asdict(delivery(kept))
    return DeliveryDetails(**facts, request=request, response=response)
