"""Webhook deliveries: list and show them, redeliver, cancel."""

from dataclasses import dataclass

from holdfast.hosting.access import Actor, WebhookOwner, require_webhook_admin
from holdfast.hosting.app import App
from holdfast.hosting.errors import InvalidValue, WebhookInactive
from holdfast.hosting.services import webhooks
from holdfast.hosting.store import deliveries
from holdfast.hosting.store.deliveries import Delivery, DeliveryFilter
from holdfast.hosting.store.event_types import KINDS
from holdfast.hosting.store.hooks import Hook

__all__ = ["STATES", "SentDelivery", "cancel", "find", "list_deliveries", "redeliver", "redeliver_all"]

STATES = ("waiting", "delivered", "failed", "cancelled")


@dataclass(frozen=True, slots=True)
class SentDelivery:
    """A delivery, with the payload of its event if that was sent as the body."""

    delivery: Delivery
    payload: str


def list_deliveries(
    app: App,
    actor: Actor,
    owner: WebhookOwner,
    webhook_id: int,
    filters: DeliveryFilter,
    *,
    skip: int,
    limit: int,
) -> tuple[list[Delivery], int]:
    """Return one page of a webhook's deliveries, newest first and without bodies, and the total."""
    hook = webhooks.find(app, actor, owner, webhook_id)
    check_filter(filters)
    return deliveries.deliveries_of(app.database, hook.id, filters, skip=skip, limit=limit)


def find(app: App, actor: Actor, owner: WebhookOwner, webhook_id: int, key: str) -> SentDelivery:
    """Return a delivery by id or UUID."""
    delivery = of_webhook(app, webhooks.find(app, actor, owner, webhook_id), key)
    return SentDelivery(delivery, "" if delivery.body else deliveries.payload_of(app.database, delivery))


def cancel(app: App, actor: Actor, owner: WebhookOwner, webhook_id: int, key: str) -> None:
    """Cancel a pending delivery; raise `NotWaiting` if it is not pending."""
    user = require_webhook_admin(actor, owner)
    delivery = of_webhook(app, webhooks.find(app, actor, owner, webhook_id), key)
    deliveries.cancel(app.database, delivery, f"cancelled by {user.name}")


def redeliver(app: App, actor: Actor, owner: WebhookOwner, webhook_id: int, key: str) -> Delivery:
    """Queue a delivery again, after the pending ones; raise `WebhookInactive` if the webhook is inactive."""
    hook = webhooks.find(app, actor, owner, webhook_id)
    delivery = of_webhook(app, hook, key)
    check_active(hook)
    return deliveries.redeliver(app.database, delivery)


def redeliver_all(app: App, actor: Actor, owner: WebhookOwner, webhook_id: int, filters: DeliveryFilter) -> int:
    """Queue the events of earlier deliveries again, each once and in order; return how many."""
    hook = webhooks.find(app, actor, owner, webhook_id)
    check_filter(filters)
    check_active(hook)
    return deliveries.redeliver_all(app.database, hook.id, filters)


def of_webhook(app: App, hook: Hook, key: str) -> Delivery:
    """Return a delivery of a webhook."""
    return deliveries.find_delivery(app.database, hook.id, key)


def check_filter(filters: DeliveryFilter) -> None:
    """Raise `InvalidValue` for an unknown state or event."""
    if filters.kind is not None and filters.kind not in KINDS:
        raise InvalidValue("Event", f"unknown event {filters.kind[:100]!r}")
    if filters.state is not None and filters.state not in STATES:
        raise InvalidValue("Status", f"unknown state {filters.state[:100]!r}")


def check_active(hook: Hook) -> None:
    """Raise `WebhookInactive` for an inactive webhook."""
    if not hook.is_active:
        raise WebhookInactive(deliveries.INACTIVE)
