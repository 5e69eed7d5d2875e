"""A webhook request before it is sent."""

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["WebhookRequest"]


@dataclass(frozen=True, slots=True)
class WebhookRequest:
    """A request to a receiver; header names are unique."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes
