"""Webhook payloads: the JSON of each event, the same for all receivers."""

from holdfast.hosting.webhooks.payloads.before_delete import DeletedEntity, before_deleting
from holdfast.hosting.webhooks.payloads.render import payload_of, payload_renderer

__all__ = ["DeletedEntity", "before_deleting", "payload_of", "payload_renderer"]
