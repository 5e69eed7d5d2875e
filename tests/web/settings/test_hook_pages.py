"""The webhook pages of every kind of owner."""

import pytest

from holdfast.hosting.store.hooks import HOOK, Hook
from holdfast.hosting.store.tables import hooks
from tests.hosting.dependency_helpers import counting_queries
from tests.web.organization_fixture import EVIL, OrganizationFixture

PLACES = {
    "/guild/ship/settings/hooks": "ada",
    "/-/orgs/guild/settings/hooks": "ada",
    "/-/account/hooks": "ada",
    "/-/admin/hooks": "admin",
}
FORM = {"type": "gitea", "url": "https://ci.example/h", "events": ["push", "issues"], "active": "on", "name": "CI"}


def stored_webhook(guild: OrganizationFixture, number: int = 1) -> Hook:
    """Return a webhook as the database has it."""
    with guild.clients.database.read() as connection:
        return Hook(*connection.execute(hooks.select().with_only_columns(*HOOK).where(hooks.c.id == number)).one())


@pytest.mark.parametrize("path", PLACES)
def test_a_webhook_is_created_changed_tested_and_deleted(guild: OrganizationFixture, path: str) -> None:
    """The pages are the same for every kind of owner, and never contain the secrets."""
    who = guild.visit(PLACES[path])
    assert "No webhooks" in who.get(path).text
    assert "Telegram" in who.get(f"{path}/new").text
    form = who.get(f"{path}/new", params={"type": "gitea"})
    assert "Secret" in form.text
    assert "Channel" not in form.text
    response = who.post(f"{path}/new", data={**FORM, "secret": "hunter2", "authorization": "Bearer hunter3"})
    assert (response.status_code, response.headers["location"]) == (303, f"{path}/1")
    assert stored_webhook(guild).events == "push,issues"

    html = who.get(f"{path}/1").text
    assert "hunter" not in html
    assert html.count("leave empty to keep it") == 2
    changed = {**FORM, "url": "https://ci.example/other", "events": ["push", "create"], "branch_filter": "main"}
    assert who.post(f"{path}/1", data=changed).status_code == 303
    after = stored_webhook(guild)
    assert (after.url, after.events, after.branch_filter) == ("https://ci.example/other", "create,push", "main")
    assert after.secret  # what was left empty is kept
    assert who.post(f"{path}/1", data={**changed, "drop_secret": "on", "drop_authorization": "on"}).is_redirect
    assert (stored_webhook(guild).secret, stored_webhook(guild).authorization) == ("", "")

    repository = {"ref": ""} if path == "/guild/ship/settings/hooks" else {"repository": "guild/ship"}
    tried = who.post(f"{path}/1/test", data=repository)
    if path == "/-/account/hooks":
        assert tried.status_code == 404  # it is told of Ada's own repositories, and she has none
        assert "Repository does not exist" in tried.text
    else:
        assert tried.headers["location"] == f"{path}/1/deliveries"
        assert "Pending" in who.get(path).text
    assert who.post(f"{path}/1/delete").headers["location"] == path
    assert who.get(f"{path}/1").status_code == 404


def test_a_header_that_another_host_receives_is_told(guild: OrganizationFixture) -> None:
    """A webhook keeps its header when its URL changes; the page says so if that is of another host."""
    who, path = guild.visit("ada"), "/guild/ship/settings/hooks"
    who.post(f"{path}/new", data={**FORM, "url": "https://ci.example/a", "authorization": "Bearer hunter3"})
    header = stored_webhook(guild).authorization
    notice = "Its authorization header is now sent to other.example:8443."
    for changes, is_told in (
        ({"url": "https://ci.example/b"}, False),
        ({"url": "https://other.example:8443/b"}, True),
        ({"url": "https://other.example:8443/c"}, False),
    ):
        assert who.post(f"{path}/1", data={**FORM, **changes}).status_code == 303
        assert stored_webhook(guild).authorization == header
        text = who.get(f"{path}/1").text
        assert ("Webhook saved." in text, notice in text) == (True, is_told)
    for choice in ({"authorization": "Bearer hunter4"}, {"drop_authorization": "on"}, {}):
        who.post(f"{path}/1", data={**FORM, "url": f"https://ci{len(choice)}.example", **choice})
        assert "is now sent" not in who.get(f"{path}/1").text


def test_only_administrators_of_the_owner_see_webhooks(guild: OrganizationFixture) -> None:
    """An unreadable repository is not found; for other owners, visitors are redirected to log in."""
    hidden, low = 404, 403
    assert guild.statuses("/guild/ship/settings/hooks") == {
        "-": hidden,
        "eve": hidden,
        "ben": low,
        "cleo": low,
        "dora": 200,
        "ada": 200,
        "admin": 200,
    }
    assert guild.statuses("/-/orgs/guild/settings/hooks")["dora"] == low
    for path in ("/-/account/hooks", "/-/admin/hooks", "/-/orgs/guild/settings/hooks"):
        response = guild.visit(None).get(path)
        assert response.headers["location"].startswith("/login?next=")
    assert guild.statuses("/-/admin/hooks")["ada"] == low
    assert guild.visit("cleo").post("/guild/ship/settings/hooks/new", data=FORM).status_code == low


WRONG: tuple[tuple[dict[str, object], str], ...] = (
    ({"url": "ftp://ci.example"}, "URL: must begin with https://"),
    ({"url": ""}, "URL: must begin with https://"),
    ({"events": []}, "choose at least one event"),
    ({"events": ["nonsense"]}, "choose at least one event"),
    ({"branch_filter": "[a"}, "Branch filter: "),
    ({"branch_filter": "x" * 256}, "Branch filter is too long"),
    ({"authorization": "a\nb"}, "Authorization header"),
    ({"type": "slack", "channel": " "}, "Channel: is required"),
)


def test_an_error_is_shown_above_the_typed_values(guild: OrganizationFixture) -> None:
    """A refused form creates no webhook and keeps the typed values except secrets."""
    who = guild.visit("ada")
    for wrong, said in WRONG:
        form = {**FORM, "name": "kept", "secret": "hunter2", **wrong}
        response = who.post("/guild/ship/settings/hooks/new", data=form)
        assert 400 <= response.status_code < 500
        assert said in response.text
        assert 'value="kept"' in response.text
        assert "hunter2" not in response.text
    assert guild.api.get("/repos/guild/ship/hooks").json() == []


def test_slack_has_its_own_fields(guild: OrganizationFixture) -> None:
    """The page of a Slack webhook has its channel and no field for an Authorization header."""
    who = guild.visit("ada")
    form = {**FORM, "type": "slack", "channel": "#harbour", "color": "#123456"}
    assert who.post("/guild/ship/settings/hooks/new", data=form).status_code == 303
    html = who.get("/guild/ship/settings/hooks/1").text
    assert "#harbour" in html
    assert "Sent as" not in html


def test_events_that_the_form_does_not_offer_stay(guild: OrganizationFixture) -> None:
    """Events that were set over the API remain when the form is saved."""
    body = {
        "type": "gitea",
        "events": ["push", "wiki"],
        "config": {"url": "https://a.example", "content_type": "form"},
    }
    assert guild.api.post("/repos/guild/ship/hooks", json=body).status_code == 201
    who = guild.visit("ada")
    assert "wiki" in who.get("/guild/ship/settings/hooks/1").text
    assert who.post("/guild/ship/settings/hooks/1", data={**FORM, "content_type": "form"}).status_code == 303
    assert stored_webhook(guild).events == "push,issues,wiki"


def test_a_paused_webhook_shows_the_reason_and_can_be_resumed(guild: OrganizationFixture) -> None:
    """The list, the webhook's page and the administrator's queue show the reason."""
    guild.visit("ada").post("/guild/ship/settings/hooks/new", data=FORM)
    with guild.clients.database.write() as connection:
        connection.execute(hooks.update().values(paused_at=1_700_000_000, pause_reason="nobody answered"))
    who = guild.visit("ada")
    for page in ("/guild/ship/settings/hooks", "/guild/ship/settings/hooks/1"):
        assert "nobody answered" in who.get(page).text
        assert "Paused" in who.get(page).text
    queue = guild.visit("admin").get("/-/admin/deliveries").text
    assert "nobody answered" in queue
    assert "/guild/ship/settings/hooks/1" in queue
    assert who.post("/guild/ship/settings/hooks/1/resume").status_code == 303
    assert stored_webhook(guild).paused_at == 0


def test_hostile_names_and_urls_are_escaped(guild: OrganizationFixture) -> None:
    """The list, the page of the webhook and its deliveries escape name, URL and branch filter."""
    form = {**FORM, "name": EVIL, "url": f"https://ci.example/{'x' * 1500}?<b>", "branch_filter": "<i>*"}
    who = guild.visit("ada")
    assert who.post("/guild/ship/settings/hooks/new", data=form).status_code == 303
    for page in ("", "/1", "/1/deliveries"):
        text = who.get(f"/guild/ship/settings/hooks{page}").text
        assert "&lt;script&gt;" in text
        assert not any(tag in text for tag in ("<script>", "<b>", "<i>"))


def test_the_number_of_queries_of_the_list_is_bounded(
    guild: OrganizationFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list takes at most 15 queries, and at most 3 more with webhooks than without."""
    who = guild.visit("ada")
    asked = []
    for _ in range(2):
        with counting_queries(guild.clients.database, monkeypatch) as queries:
            assert who.get("/guild/ship/settings/hooks").status_code == 200
        asked.append(len(queries))
        for _ in range(8):
            who.post("/guild/ship/settings/hooks/new", data=FORM)
            guild.api.post("/repos/guild/ship/hooks/1/tests")
    assert asked[1] <= asked[0] + 3  # what the last deliveries were is asked where there are hooks
    assert asked[1] <= 15


def test_an_unknown_webhook_is_not_found(guild: OrganizationFixture) -> None:
    """An unknown id has status 404, and an unknown type shows the choice of types."""
    who = guild.visit("ada")
    assert who.get("/guild/ship/settings/hooks/99").status_code == 404
    assert who.get("/guild/ship/settings/hooks/nonsense").status_code == 404
    assert "Choose a webhook type" in who.get("/guild/ship/settings/hooks/new?type=pigeon").text
    assert who.post("/guild/ship/settings/hooks/new", data={**FORM, "type": "pigeon"}).status_code == 422
