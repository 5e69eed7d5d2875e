"""What webhooks say about an event: one JSON text for each, the same for everybody who is told."""

from holdfast.hosting.webhooks.payloads.before_delete import DeletedEntity, before_deleting
from holdfast.hosting.webhooks.payloads.render import payload_of, payload_renderer

__all__ = ["DeletedEntity", "before_deleting", "payload_of", "payload_renderer"]
