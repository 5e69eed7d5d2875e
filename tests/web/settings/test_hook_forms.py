"""The webhook form and the values it submits."""

import pytest

from holdfast.hosting.errors import InvalidValue, InvalidWebhookOption
from holdfast.hosting.services.webhooks import TYPES
from holdfast.hosting.store.event_types import EVENTS, expand_events
from holdfast.web.settings.hook_forms import KINDS, OFFERED, HookForm, new_form, new_webhook


def test_every_type_of_the_api_has_a_form() -> None:
    """The types of the form are those of the API, and every offered event is one of the API."""
    assert set(KINDS) == set(TYPES)
    assert set(EVENTS) >= OFFERED


@pytest.mark.parametrize("event", sorted(OFFERED))
def test_a_ticked_event_is_that_one_alone(event: str) -> None:
    """A selected event is not expanded to a group, although the API uses some names for groups."""
    wanted = new_webhook(HookForm(type="gitea", url="https://a.example", events=[event]))
    assert expand_events(wanted.events) == (event,)


def test_a_new_form_is_active_and_asks_for_pushes() -> None:
    """The webhook of a new form has neither a secret nor an Authorization header."""
    wanted = new_webhook(new_form("discord"))
    assert (wanted.type, wanted.is_active, wanted.events) == ("discord", True, ("push",))
    assert (wanted.secret, wanted.authorization) == ("", "")


def test_an_unknown_type_is_refused() -> None:
    """The error names the type as the invalid option."""
    with pytest.raises(InvalidWebhookOption) as excinfo:
        new_webhook(HookForm(type="pigeon", events=["push"]))
    assert excinfo.value.option == "type"


def test_a_form_without_events_is_refused() -> None:
    """A form whose only events are unknown is refused, as its webhook would receive nothing."""
    with pytest.raises(InvalidValue, match="at least one event"):
        new_webhook(HookForm(type="gitea", url="https://a.example", events=["nonsense"]))
