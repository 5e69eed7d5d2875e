"""The input and output of the chat services' modules."""

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
    """An event to send, and the configuration of the webhook."""

    kind: str
    payload: PayloadFields
    url: str
    uuid: str
    secret: str
    """The decrypted secret; empty if there is none."""
    meta: Mapping[str, str]
    now: float
    """The current Unix time."""


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """A message: its URL and JSON content."""

    url: str
    content: Mapping[str, object]
    method: str = "POST"
    headers: Mapping[str, str] = field(default_factory=dict)
