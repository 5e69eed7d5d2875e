"""The collaborators page."""

import pytest

from tests.hosting.dependency_helpers import counting_queries
from tests.web.organization_fixture import EVIL, OrganizationFixture

PAGE = "/guild/ship/settings/collaborators"


def test_collaborators_are_added_changed_and_removed(guild: OrganizationFixture) -> None:
    """Each change takes effect on what the collaborator may open."""
    dora = guild.visit("dora")
    assert dora.post(PAGE, data={"name": " Eve ", "mode": "read"}).headers["location"] == PAGE
    assert guild.visit("eve").get(f"{PAGE}").status_code == 403  # she reads it now
    dora.post(PAGE, data={"name": "eve", "mode": "admin"})
    assert guild.visit("eve").get(PAGE).status_code == 200
    assert dora.post(f"{PAGE}/remove", data={"name": "eve"}).status_code == 303
    assert guild.visit("eve").get(PAGE).status_code == 404


def test_errors_are_explained(guild: OrganizationFixture) -> None:
    """An unknown, missing or unsuitable name and an unknown permission are refused with a message."""
    dora = guild.visit("dora")
    for form, status, said in (
        ({"name": EVIL, "mode": "read"}, 404, "There is no user or organization named &lt;script&gt;"),
        ({"name": "", "mode": "read"}, 422, "Name is required."),
        ({"name": "eve", "mode": "owner"}, 422, "must be read, write or admin"),
        ({"name": "guild", "mode": "read"}, 404, "There is no user or organization named guild."),
    ):
        response = dora.post(PAGE, data=form)
        assert response.status_code == status
        assert said in response.text
        assert "<script>" not in response.text
    assert dora.post(f"{PAGE}/remove", data={"name": "nobody-here"}).status_code == 404


def test_a_rejected_removal_leads_to_the_pages_of_the_list(guild: OrganizationFixture) -> None:
    """The name is not in the form that adds a collaborator."""
    dora = guild.visit("dora")
    for number in range(31):
        name = f"deckhand{number:02}"
        guild.clients.account(name)
        assert dora.post(PAGE, data={"name": name, "mode": "read"}).status_code == 303
    response = dora.post(f"{PAGE}/remove", data={"name": "nobody-here"})
    assert response.status_code == 404
    assert f'rel="next" href="{PAGE}?page=2"' in response.text
    assert 'value="nobody-here"' not in response.text
    assert 'value="deckhand30"' in dora.get(f"{PAGE}?page=2").text


def test_the_number_of_queries_does_not_grow_with_collaborators(
    guild: OrganizationFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page takes the same number of queries with more collaborators, at most 15."""
    dora = guild.visit("dora")
    counts = []
    for _ in range(2):
        with counting_queries(guild.clients.database, monkeypatch) as queries:
            assert dora.get(PAGE).status_code == 200
        counts.append(len(queries))
        for number in range(4):
            guild.clients.account(f"new{number}-{len(counts)}")
            guild.api.put(
                f"/repos/guild/ship/collaborators/new{number}-{len(counts)}", json={"permission": "read"}
            )
    assert counts[0] == counts[1] <= 15
