"""What a webhook sends: one request, made but not sent."""

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["WebhookRequest"]


@dataclass(frozen=True, slots=True)
class WebhookRequest:
    """One request to a receiver; `headers` has one value for each name."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes
