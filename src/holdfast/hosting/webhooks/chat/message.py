"""What a service needs to be sent a message, and what the services' modules share."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from holdfast.hosting.webhooks.chat.payload_fields import PayloadFields
from holdfast.redacted_repr import redacted

__all__ = ["JSON", "ChatMessage", "MessageContext"]

JSON: Final = "application/json"


@redacted
@dataclass(frozen=True, slots=True)
class MessageContext:
    """What is to be said, and how the hook is set up."""

    kind: str
    seen: PayloadFields
    url: str
    uuid: str
    secret: str
    """In the clear; empty when there is none."""
    meta: Mapping[str, str]
    now: float
    """Seconds since 1970."""


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message: where to, and the JSON of it."""

    url: str
    content: Mapping[str, object]
    method: str = "POST"
    headers: Mapping[str, str] = field(default_factory=dict)
