"""The administration pages of health, queue, settings and storage."""

import pytest

from holdfast.hosting.access import Actor
from holdfast.hosting.app import App
from holdfast.hosting.store import accounts
from holdfast.hosting.store.tables import deliveries, hooks
from tests.hosting.api.hook_helpers import create_hook, deliver_tests
from tests.hosting.dependency_helpers import counting_queries
from tests.hosting.services.chat_backup_helpers import begun, uploaded
from tests.web.organization_fixture import EVIL, OrganizationFixture


def test_the_health_page_shows_every_check(guild: OrganizationFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page has five checks, the database and the data folder, and names the check that fails."""
    admin = guild.visit("admin")
    with counting_queries(guild.clients.database, monkeypatch) as queries:
        text = admin.get("/-/admin").text
    assert len(queries) <= 15
    assert "Unhealthy" not in text
    assert text.count("Healthy") == 5
    assert "SQLite 3" in text or "PostgreSQL" in text
    assert str(guild.clients.service.settings.data) in text
    monkeypatch.setattr("holdfast.hosting.services.health.expected_revision", lambda: "9999")
    text = admin.get("/-/admin").text
    assert "but this version expects 9999" in text
    assert "Unhealthy: Database schema." in text


def test_failures_of_webhooks_are_not_healthy_and_the_link_leads_to_them(guild: OrganizationFixture) -> None:
    """The health page links to the failed deliveries, and that page to the deliveries of the webhook."""
    admin = guild.visit("admin")
    path = "/repos/guild/ship/hooks"
    number = create_hook(guild.api, path, active=True)["id"]
    deliver_tests(guild.api, path, number)
    with guild.clients.database.write() as connection:
        connection.execute(deliveries.update().values(state="failed", tries=8, error="no connection"))
    text = admin.get("/-/admin").text
    assert text.count("Healthy") == 4
    assert "Unhealthy: Webhooks." in text
    assert "1 delivery failed recently" in text
    assert 'href="/-/admin/deliveries">Show failed deliveries' in text
    text = admin.get("/-/admin/deliveries").text
    assert "no connection" in text
    assert "1 failed" in text
    address = f"/guild/ship/settings/hooks/{number}/deliveries?status=failed"
    assert f'href="{address}"' in text
    assert guild.visit("ada").get(address).status_code == 200


def test_the_queue_shows_what_waits_and_why(guild: OrganizationFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """Webhooks of repositories and organizations are links, a user's own is named without one."""
    admin = guild.visit("admin")
    assert "No paused, delayed or failing webhooks" in admin.get("/-/admin/deliveries").text
    for path in ("/repos/guild/ship/hooks", "/orgs/guild/hooks"):
        number = create_hook(guild.api, path, active=True, name=EVIL)["id"]
        deliver_tests(guild.api, path, number)
    guild.api.post("/user/repos", json={"name": "own", "auto_init": True})
    own = create_hook(guild.api, "/user/hooks", active=True)["id"]
    guild.api.post(f"/user/hooks/{own}/tests")
    with guild.clients.database.write() as connection:
        connection.execute(deliveries.update().values(tries=2, error=f"no connection {EVIL}"))
        connection.execute(hooks.update().where(hooks.c.id == 2).values(paused_at=1, pause_reason="gave up"))
    with counting_queries(guild.clients.database, monkeypatch) as queries:
        text = admin.get("/-/admin/deliveries").text
    assert len(queries) <= 15
    assert "<script>" not in text
    assert "/guild/ship/settings/hooks/1" in text
    assert "/-/orgs/guild/settings/hooks/2" in text
    assert "gave up" in text
    assert "no connection" in text
    assert f"/-/account/hooks/{own}" not in text
    assert "webhook of ada" in text


def test_settings_are_shown_without_secrets(guild: OrganizationFixture) -> None:
    """Secret settings are masked, and the list of organizations includes private ones."""
    admin = guild.visit("admin")
    text = admin.get("/-/admin/settings").text
    assert "webhook_allowed_hosts" in text
    password = guild.clients.service.settings.admin_password
    assert password is not None
    assert password.reveal() not in text
    assert "********" in text
    guild.api.patch("/orgs/guild", json={"visibility": "private"})
    assert "/guild" in admin.get("/-/admin/organizations").text
    assert "No organizations match" in admin.get("/-/admin/organizations?q=zzz").text


def test_only_administrators_see_the_pages(guild: OrganizationFixture) -> None:
    """Other users get status 403, and visitors are redirected to log in."""
    for path in ("/-/admin", "/-/admin/deliveries", "/-/admin/organizations", "/-/admin/settings"):
        assert guild.visit("ada").get(path).status_code == 403
        assert guild.visit(None).get(path).status_code == 303


def test_administrators_see_the_size_of_chat_backups_and_nothing_of_them(guild: OrganizationFixture) -> None:
    """The page shows owners and sizes, but no name or id of a backup; other users get status 403."""
    app = App.open(guild.clients.service.settings)
    ada = accounts.find_user(app.database, "ada")
    backup = uploaded(app, Actor(ada), "Private name", b"content")
    begun(app, Actor(ada), "half", {"half": 3 * 2**20})
    app.close()
    admin = guild.visit("admin")
    text = admin.get("/-/admin/chat-backups").text
    assert "takes 3.0 MiB" in text
    assert "7 Bytes" in text
    assert "Upload in progress" in text
    assert "/ada" in text
    assert "Private name" not in text
    assert backup.uuid not in text
    assert 'aria-current="page">Chat backups' in text
    assert guild.visit("ada").get("/-/admin/chat-backups").status_code == 403
