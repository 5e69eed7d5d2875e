"""Turns an event into the message of a chat service."""

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
"""The types of hooks that are sent a message instead of the payload."""


def message_of(
    hook: Hook,
    kind: str,
    payload: str,
    uuid: str,
    open_secret: Callable[[str], str],
    *,
    now: float | None = None,
) -> WebhookRequest | None:
    """Return the request that tells a chat service of an event, or nothing when it is not told of such a one."""
    wanted = MessageContext(
        kind=kind,
        seen=read(payload),
        url=hook.url,
        uuid=uuid,
        secret=open_secret(hook.secret) if hook.secret else "",
        meta=meta_of(hook),
        now=time.time() if now is None else now,
    )
    made = SERVICES[hook.type](wanted)
    if made is None:
        return None
    headers = {"Content-Type": JSON, **made.headers}
    if hook.authorization:
        headers["Authorization"] = open_secret(hook.authorization)
    body = msgspec.json.format(msgspec.json.encode(made.content), indent=2)
    return WebhookRequest(made.method, made.url, headers, body)


def meta_of(hook: Hook) -> dict[str, str]:
    """Read what only some types of hooks have; a hook made without it has none."""
    try:
        return msgspec.json.decode(hook.meta or "{}", type=dict[str, str])
    except msgspec.DecodeError:
        return {}
