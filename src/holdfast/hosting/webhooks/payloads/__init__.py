"""What webhooks say about an event: one JSON text for each, the same for everybody who is told."""

from holdfast.hosting.webhooks.payloads.make import payload_of, payload_renderer
from holdfast.hosting.webhooks.payloads.settling import Doomed, before_deleting

__all__ = ["Doomed", "before_deleting", "payload_of", "payload_renderer"]
