"""The pages of webhook deliveries."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markupsafe import escape

from holdfast.web.settings.delivery_pages import LARGEST_SHOWN, shown_body
from tests.hosting.api.hook_helpers import create_hook, deliver_tests, with_answer
from tests.hosting.dependency_helpers import counting_queries
from tests.web.organization_fixture import EVIL, OrganizationFixture

API = "/repos/guild/ship/hooks"
HOOK = "/guild/ship/settings/hooks/1/deliveries"


@pytest.fixture
def delivered(guild: OrganizationFixture) -> list[int]:
    """Create a webhook with three deliveries: one succeeded, one failed and one is pending."""
    create_hook(guild.api, API, active=True)
    numbers = deliver_tests(guild.api, API, 1, 3)
    with_answer(guild.clients.database, numbers[0])
    with_answer(
        guild.clients.database,
        numbers[1],
        state="failed",
        status=500,
        answer=EVIL.encode(),
        error="it answered 500",
    )
    return numbers


def test_the_history_is_filtered(guild: OrganizationFixture, delivered: list[int]) -> None:
    """Deliveries are filtered by status, event and time, and an invalid filter has status 422 and an alert."""
    who = guild.visit("ada")
    everything = who.get(HOOK).text
    assert everything.count(f'href="{HOOK}/') == 3
    failed = who.get(HOOK, params={"status": "failed"}).text
    assert f"{HOOK}/{delivered[1]}" in failed
    assert f"{HOOK}/{delivered[0]}" not in failed
    assert "No deliveries match" in who.get(HOOK, params={"event": "issues"}).text
    assert "No deliveries match" in who.get(HOOK, params={"since": "2100-01-01T00:00"}).text
    assert who.get(HOOK, params={"before": "2100-01-01T00:00", "event": "push"}).text.count(f'href="{HOOK}/') == 3
    for wrong in ({"status": "lost"}, {"event": "nonsense"}, {"since": "yesterday"}):
        response = who.get(HOOK, params=wrong)
        assert response.status_code == 422
        assert 'role="alert"' in response.text


def test_the_history_shows_errors_that_are_not_the_status(
    guild: OrganizationFixture, delivered: list[int]
) -> None:
    """The status of the response is shown by itself; the reason of a cancellation is shown beside it."""
    with_answer(guild.clients.database, delivered[2], state="cancelled", status=502, error="cancelled by ada")
    history = guild.visit("ada").get(HOOK).text
    assert "500 <span" in history
    assert "it answered" not in history
    assert "502 <span" in history
    assert "cancelled by ada" in history


def test_one_delivery_shows_what_was_sent_and_answered(guild: OrganizationFixture, delivered: list[int]) -> None:
    """Secrets in headers are masked, and the response is escaped."""
    who = guild.visit("ada")
    page = who.get(f"{HOOK}/{delivered[1]}").text
    assert "X-Gitea-Event" in page
    assert "hunter2" not in page
    assert "********" in page
    assert "&lt;script&gt;" in page
    assert "<script>" not in page
    assert f"/api/v1/repos/guild/ship/hooks/1/deliveries/{delivered[1]}" in page
    waiting = who.get(f"{HOOK}/{delivered[2]}").text
    assert "Not sent yet" in waiting
    assert ">Cancel<" in waiting
    assert who.get(f"{HOOK}/99999").status_code == 404
    assert who.get(f"{HOOK}/nonsense").status_code == 404


def test_deliveries_are_repeated_and_cancelled(guild: OrganizationFixture, delivered: list[int]) -> None:
    """Deliveries are repeated one by one or by time, and only pending ones can be cancelled."""
    who = guild.visit("ada")
    again = who.post(f"{HOOK}/{delivered[0]}/redeliver")
    assert again.status_code == 303
    assert "redelivery of" in who.get(again.headers["location"]).text
    assert who.post(f"{HOOK}/{delivered[2]}/cancel").status_code == 303
    twice = who.post(f"{HOOK}/{delivered[2]}/cancel")
    assert twice.status_code == 409
    assert "Only a pending delivery can be cancelled." in twice.text

    wanted = {"since": "2020-01-01T00:00", "status": "failed"}
    assert who.post(HOOK, data=wanted).headers["location"] == HOOK
    nothing = who.post(HOOK, data=wanted)
    assert nothing.status_code == 409  # it waits already
    assert "2020-01-01T00:00" in nothing.text
    assert who.post(HOOK, data={"since": ""}).status_code == 422


def test_only_administrators_see_and_repeat_deliveries(guild: OrganizationFixture, delivered: list[int]) -> None:
    """A writer gets status 403 for the history, a delivery, its repetition and its cancellation."""
    before = guild.api.get(f"{API}/1/deliveries").json()
    cleo = guild.visit("cleo")
    assert cleo.get(HOOK).status_code == 403
    assert cleo.get(f"{HOOK}/{delivered[0]}").status_code == 403
    assert cleo.post(f"{HOOK}/{delivered[0]}/redeliver").status_code == 403
    assert cleo.post(f"{HOOK}/{delivered[2]}/cancel").status_code == 403
    assert cleo.post(HOOK, data={"since": "2020-01-01T00:00", "status": "failed"}).status_code == 403
    assert guild.visit("eve").get(f"{HOOK}/{delivered[0]}").status_code == 404
    assert guild.api.get(f"{API}/1/deliveries").json() == before


def test_a_large_exchange_stays_a_small_page(guild: OrganizationFixture, delivered: list[int]) -> None:
    """A large body whose escaping makes it longer is truncated to a page of less than 200 kB."""
    response = ('"' * 65_536).encode()
    headers = json.dumps({f"X-{number}": "<" * 3000 for number in range(10)})
    with_answer(guild.clients.database, delivered[0], answer=response, body='"' * 300_000, answer_headers=headers)
    who = guild.visit("ada")
    page = who.get(f"{HOOK}/{delivered[0]}")
    assert len(page.content) < 200_000
    assert "Truncated" in page.text
    assert len(who.get(HOOK).content) < 200_000


def test_the_number_of_queries_is_bounded(
    guild: OrganizationFixture, delivered: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list of deliveries and the page of one delivery take at most 15 queries."""
    who = guild.visit("ada")
    for path in (HOOK, f"{HOOK}/{delivered[0]}"):
        with counting_queries(guild.clients.database, monkeypatch) as queries:
            assert who.get(path).status_code == 200
        assert len(queries) <= 15


@settings(max_examples=20)
@given(st.text(max_size=200) | st.builds(str.__mul__, st.sampled_from('"&<>\U0001f600'), st.integers(1, 60_000)))
def test_a_shown_body_is_bounded_in_size(text: str) -> None:
    """The escaped text has at most the largest size shown, and the real size of the body is kept."""
    body_excerpt = shown_body(text)
    assert len(str(escape(body_excerpt.text)).encode("utf-8", "replace")) <= LARGEST_SHOWN
    assert body_excerpt.size == len(text.encode("utf-8", "replace"))


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ('{"a":[1]}', '{\n  "a": [\n    1\n  ]\n}'),
        ("payload=%7B%22a%22%3A1%7D", '{\n  "a": 1\n}'),
        ("thank you", "thank you"),
        ('"\\ud800"', '"?"'),
        ("[" * 100_000, None),
        ("", ""),
    ],
)
def test_json_is_indented(body: str, shown: str | None) -> None:
    """JSON is indented, also in a form body; other text is unchanged, and deep nesting is no error."""
    text = shown_body(body).text
    assert text == shown if shown is not None else text.startswith("[[[")
