"""The form of a webhook and what the API is asked with it."""

import pytest

from holdfast.hosting.api.hook_options import TYPES
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.store.event_types import EVENTS, expanded
from holdfast.web.settings.hook_forms import KINDS, OFFERED, HookForm, body_of, new_form


def test_every_type_of_the_api_has_a_form() -> None:
    """And every event it offers is one."""
    assert set(KINDS) == set(TYPES)
    assert set(EVENTS) >= OFFERED


@pytest.mark.parametrize("event", sorted(OFFERED))
def test_a_ticked_event_is_that_one_alone(event: str) -> None:
    """Though the API takes some names for a group."""
    body = body_of(HookForm(type="gitea", url="https://a.example", events=[event]))
    assert expanded(body["events"]) == (event,)


def test_a_new_form_is_active_and_asks_for_pushes() -> None:
    """Its body says so; nothing is said of a secret that was not typed."""
    body = body_of(new_form("discord"))
    assert (body["type"], body["active"], body["events"]) == ("discord", True, ["push"])
    assert "secret" not in body["config"]
    assert "authorization_header" not in body


def test_a_type_nobody_knows_is_refused() -> None:
    """The form is then asked for again."""
    with pytest.raises(ApiError):
        body_of(HookForm(type="pigeon", events=["push"]))
