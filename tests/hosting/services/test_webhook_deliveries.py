"""Deliveries of webhooks: permissions, redelivery and cancellation."""

import pytest

from holdfast.hosting.access import ANONYMOUS, Actor, WebhookOwner
from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    Forbidden,
    InvalidValue,
    LoginRequired,
    NoSuchDelivery,
    NotWaiting,
    WebhookInactive,
)
from holdfast.hosting.services import repositories, webhook_deliveries, webhooks
from holdfast.hosting.services.repositories import NewRepository
from holdfast.hosting.services.webhooks import NewWebhook, WebhookEdit
from holdfast.hosting.store import accounts
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.deliveries import DeliveryFilter
from holdfast.secret import Secret

pytestmark = pytest.mark.parametrize("settings", ["sqlite"], indirect=True)


@pytest.fixture
def ada(app: App) -> Account:
    """Add a user with a repository that has a commit."""
    user = accounts.create_user(app.database, "ada", Secret("correct horse"), email="ada@example.org")
    repositories.create(app, user, user, NewRepository(name="ship"), {"README.md": b"ship"})
    return user


@pytest.fixture
def webhook_id(app: App, ada: Account) -> int:
    """Create a webhook with one pending delivery."""
    wanted = NewWebhook(type="gitea", url="https://ci.example/h", content_type="json", is_active=True)
    created = webhooks.create(app, Actor(ada), WebhookOwner(ada), wanted)
    webhooks.send_test(app, Actor(ada), WebhookOwner(ada), created.id)
    return created.id


def test_other_users_neither_see_nor_change_deliveries(app: App, ada: Account, webhook_id: int) -> None:
    """Anonymous users have to log in, and other users may not list, read, redeliver or cancel deliveries."""
    ben = Actor(accounts.create_user(app.database, "ben", Secret("correct horse")))
    owner = WebhookOwner(ada)
    for actor, error in ((ANONYMOUS, LoginRequired), (ben, Forbidden)):
        with pytest.raises(error):
            webhook_deliveries.list_deliveries(app, actor, owner, webhook_id, DeliveryFilter(), skip=0, limit=1)
        with pytest.raises(error):
            webhook_deliveries.find(app, actor, owner, webhook_id, "1")
        with pytest.raises(error):
            webhook_deliveries.redeliver(app, actor, owner, webhook_id, "1")
        with pytest.raises(error):
            webhook_deliveries.redeliver_all(app, actor, owner, webhook_id, DeliveryFilter())
        with pytest.raises(error):
            webhook_deliveries.cancel(app, actor, owner, webhook_id, "1")
    ((one,), _) = webhook_deliveries.list_deliveries(
        app, Actor(ada), owner, webhook_id, DeliveryFilter(), skip=0, limit=9
    )
    assert (one.id, one.state) == (1, "waiting")


def test_a_delivery_is_cancelled_once_and_queued_again(app: App, ada: Account, webhook_id: int) -> None:
    """The error of a cancelled delivery names the user, and an event is not queued twice."""
    actor, owner = Actor(ada), WebhookOwner(ada)
    ((pending,), total) = webhook_deliveries.list_deliveries(
        app, actor, owner, webhook_id, DeliveryFilter(state="waiting"), skip=0, limit=9
    )
    assert total == 1
    webhook_deliveries.cancel(app, actor, owner, webhook_id, str(pending.id))
    sent_delivery = webhook_deliveries.find(app, actor, owner, webhook_id, pending.uuid)
    assert (sent_delivery.delivery.state, sent_delivery.delivery.error) == ("cancelled", "cancelled by ada")
    assert '"ref"' in sent_delivery.payload
    with pytest.raises(NotWaiting):
        webhook_deliveries.cancel(app, actor, owner, webhook_id, str(pending.id))
    assert webhook_deliveries.redeliver(app, actor, owner, webhook_id, str(pending.id)).again_of == pending.id
    # Its event is pending now, and is not queued twice.
    assert webhook_deliveries.redeliver_all(app, actor, owner, webhook_id, DeliveryFilter()) == 0


def test_nothing_is_redelivered_to_an_inactive_webhook(app: App, ada: Account, webhook_id: int) -> None:
    """Deliveries of an inactive webhook cannot be sent again."""
    actor, owner = Actor(ada), WebhookOwner(ada)
    webhooks.edit(app, actor, owner, webhook_id, WebhookEdit(is_active=False))
    ((one,), _) = webhook_deliveries.list_deliveries(
        app, actor, owner, webhook_id, DeliveryFilter(), skip=0, limit=9
    )
    with pytest.raises(WebhookInactive):
        webhook_deliveries.redeliver(app, actor, owner, webhook_id, str(one.id))
    with pytest.raises(WebhookInactive):
        webhook_deliveries.redeliver_all(app, actor, owner, webhook_id, DeliveryFilter())
    with pytest.raises(NoSuchDelivery):
        webhook_deliveries.redeliver(app, actor, owner, webhook_id, "999")
    assert webhook_deliveries.list_deliveries(
        app, actor, owner, webhook_id, DeliveryFilter(), skip=0, limit=9
    ) == ([one], 1)


@pytest.mark.parametrize("wanted", [DeliveryFilter(state="lost"), DeliveryFilter(kind="pushes")])
def test_an_unknown_state_or_event_is_refused(
    app: App, ada: Account, webhook_id: int, wanted: DeliveryFilter
) -> None:
    """An unknown filter is an error instead of an empty list."""
    with pytest.raises(InvalidValue):
        webhook_deliveries.list_deliveries(app, Actor(ada), WebhookOwner(ada), webhook_id, wanted, skip=0, limit=9)
