"""Conversion of an event to the request of a chat service."""

import time
from collections.abc import Callable
from typing import Final

import msgspec

from holdfast.hosting.store.hooks import Hook
from holdfast.hosting.webhooks.chat import (
    dingtalk,
    discord,
    feishu,
    matrix,
    msteams,
    packagist,
    slack,
    telegram,
    wechatwork,
)
from holdfast.hosting.webhooks.chat.message import JSON, ChatMessage, MessageContext
from holdfast.hosting.webhooks.chat.payload_fields import read
from holdfast.hosting.webhooks.webhook_request import WebhookRequest

__all__ = ["SERVICES", "message_of"]

SERVICES: Final[dict[str, Callable[[MessageContext], ChatMessage | None]]] = {
    "dingtalk": dingtalk.message,
    "discord": discord.message,
    "feishu": feishu.message,
    "matrix": matrix.message,
    "msteams": msteams.message,
    "packagist": packagist.message,
    "slack": slack.message,
    "telegram": telegram.message,
    "wechatwork": wechatwork.message,
}
"""The webhook types that receive a message instead of the payload."""


def message_of(
    hook: Hook,
    kind: str,
    payload: str,
    uuid: str,
    open_secret: Callable[[str], str],
    *,
    now: float | None = None,
) -> WebhookRequest | None:
    """Return the request that sends an event to a chat service; None if it has no message for this event."""
    context = MessageContext(
        kind=kind,
        payload=read(payload),
        url=hook.url,
        uuid=uuid,
        secret=open_secret(hook.secret) if hook.secret else "",
        meta=meta_of(hook),
        now=time.time() if now is None else now,
    )
    message = SERVICES[hook.type](context)
    if message is None:
        return None
    headers = {"Content-Type": JSON, **message.headers}
    if hook.authorization:
        headers["Authorization"] = open_secret(hook.authorization)
    body = msgspec.json.format(msgspec.json.encode(message.content), indent=2)
    return WebhookRequest(message.method, message.url, headers, body)


def meta_of(hook: Hook) -> dict[str, str]:
    """Decode the options of a webhook's type; invalid JSON counts as empty."""
    try:
        return msgspec.json.decode(hook.meta or "{}", type=dict[str, str])
    except msgspec.DecodeError:
        return {}
