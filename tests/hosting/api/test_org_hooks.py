"""Webhooks of organizations."""

import httpx
import pytest

from holdfast.hosting.store import tables
from holdfast.settings import Settings
from tests.hosting.api.hook_helpers import CONFIG, create_hook, hook_ids
from tests.hosting.api_clients import ServiceClients

PATH = "/orgs/guild/hooks"
KEYS = [
    *("id", "name", "type", "branch_filter", "config", "events", "authorization_header", "active"),
    *("updated_at", "created_at", "paused_at", "pause_reason"),
]


@pytest.fixture
def ada(clients: ServiceClients) -> httpx.Client:
    """Let Ada own an organization, and return her client."""
    client = clients.user("ada")
    assert client.post("/orgs", json={"username": "guild"}).status_code == 201
    return client


def test_a_hook_has_every_key_in_order(ada: httpx.Client) -> None:
    """The minimal request creates an inactive hook for pushes."""
    hook = create_hook(ada, PATH)
    assert list(hook) == KEYS
    assert hook["config"] == {"content_type": "json", "url": "https://ci.example/h"}
    assert (hook["name"], hook["type"], hook["branch_filter"]) == ("", "gitea", "")
    assert (hook["events"], hook["active"], hook["authorization_header"]) == (["push"], False, "")
    assert (hook["paused_at"], hook["pause_reason"]) == (None, "")
    assert ada.get(f"{PATH}/{hook['id']}").json() == hook


def test_secrets_are_never_shown_and_not_readable_at_rest(clients: ServiceClients, ada: httpx.Client) -> None:
    """The secrets of a hook are in no response, and the database has them in encrypted form only."""
    config = {**CONFIG, "secret": "hunter2", "url": "https://joe:hunter3@ci.example/h?x=1"}
    hook = create_hook(ada, PATH, config=config, authorization_header="Bearer hunter4")
    shown = [str(hook), ada.get(PATH).text, ada.get(f"{PATH}/{hook['id']}").text]
    assert "hunter" not in "".join(shown)
    assert hook["config"] == {"content_type": "json", "url": "https://ci.example/h?x=1"}
    with clients.database.read() as connection:
        assert "hunter" not in str(connection.execute(tables.hooks.select()).one())


def test_a_slack_hook_shows_its_channel(ada: httpx.Client) -> None:
    """The channel is trimmed, and the keys of a Slack hook are in order."""
    config = {**CONFIG, "channel": " #builds ", "username": "bot", "ignored": "x"}
    hook = create_hook(ada, PATH, type="slack", config=config)
    assert list(hook["config"].items()) == [  # type: ignore[attr-defined]  # decoded JSON
        ("channel", "#builds"),
        ("color", ""),
        ("content_type", "json"),
        ("icon_url", ""),
        ("url", "https://ci.example/h"),
        ("username", "bot"),
    ]


def test_hooks_are_listed_by_their_number_in_pages(ada: httpx.Client) -> None:
    """A page of hooks has the total and links to the other pages."""
    numbers = [create_hook(ada, PATH, name=f"hook {count}")["id"] for count in range(5)]
    response = ada.get(PATH, params={"limit": 2, "page": 2})
    assert [hook["id"] for hook in response.json()] == numbers[2:4]
    assert response.headers["x-total-count"] == "5"
    assert 'page=3>; rel="next"' in response.headers["link"]
    last = ada.get(PATH, params={"limit": 2, "page": 3})
    assert ([hook["id"] for hook in last.json()], last.headers["x-total-count"]) == (numbers[4:], "5")
    whole = ada.get(PATH)
    assert ([hook["id"] for hook in whole.json()], "link" in whole.headers) == (numbers, False)


@pytest.mark.parametrize(
    ("page", "expected"),
    [("-1", 1), ("0", 1), ("abc", 1), ("99999999999999999999999", 0), ("9223372036854775807", 0), ("2", 0)],
)
def test_an_invalid_page_number_is_the_first_page(ada: httpx.Client, page: str, expected: int) -> None:
    """A page beyond the last is empty, and still has the total."""
    create_hook(ada, PATH)
    response = ada.get(PATH, params={"page": page, "limit": "99999999999999999999"})
    assert (response.status_code, len(response.json()), response.headers["x-total-count"]) == (200, expected, "1")


@pytest.mark.parametrize("method", ["GET", "PATCH", "DELETE"])
def test_unknown_hooks_are_not_found(ada: httpx.Client, method: str) -> None:
    """An unknown id, one beyond 64 bits and a text that is no number give 404."""
    for number in ("999999", "0", "-1", "x", "9223372036854775807", "9223372036854775808", "9" * 40):
        response = ada.request(method, f"{PATH}/{number}", json={} if method == "PATCH" else None)
        assert (response.status_code, response.json()["message"]) == (404, "not found"), number


def test_hooks_of_other_organizations_are_not_found(clients: ServiceClients, ada: httpx.Client) -> None:
    """A hook is not found at another organization, a repository, a user or the instance."""
    number = create_hook(ada, PATH)["id"]
    ada.post("/orgs", json={"username": "other"})
    ada.post("/orgs/guild/repos", json={"name": "ship"})
    for path in ("/orgs/other/hooks", "/repos/guild/ship/hooks", "/user/hooks"):
        assert ada.get(f"{path}/{number}").status_code == 404
        assert ada.delete(f"{path}/{number}").status_code == 404
    assert clients.admin.get(f"/admin/hooks/{number}").status_code == 404
    assert ada.get(f"{PATH}/{number}").status_code == 200


def test_errors_are_reported_in_a_fixed_order(clients: ServiceClients, ada: httpx.Client) -> None:
    """The organization, the login and the ownership are checked before the body."""
    eve = clients.user("eve")
    bad = {"type": "nonsense"}
    assert clients.anonymous.post("/orgs/nobody/hooks", json=bad).status_code == 404
    assert clients.anonymous.post(PATH, json=bad).json()["message"] == "token is required"
    response = eve.post(PATH, json=bad)
    assert (response.status_code, response.json()["message"]) == (403, "Must be an organization owner")
    assert eve.get(PATH).status_code == 403
    assert ada.post(PATH, json=bad).status_code == 422


@pytest.mark.parametrize("active", [True, False])
def test_a_patch_changes_only_what_it_says(ada: httpx.Client, active: bool) -> None:  # noqa: FBT001  # a parameter of the test
    """Absent and null fields keep their values, also within the config."""
    config = {**CONFIG, "secret": "x"}
    hook = create_hook(
        ada, PATH, config=config, active=active, events=["issues_only"], branch_filter="main", name="one"
    )
    path = f"{PATH}/{hook['id']}"
    assert strip(ada.patch(path, json={}).json()) == strip(hook)
    assert strip(ada.patch(path, json={"name": None, "config": None, "events": None}).json()) == strip(hook)
    changed = ada.patch(path, json={"config": {"content_type": "form"}})
    assert changed.status_code == 200
    assert strip(changed.json()) == strip({**hook, "config": {**CONFIG, "content_type": "form"}})
    changed = ada.patch(path, json={"events": ["create", "push"], "active": not active, "name": ""})
    assert (changed.json()["events"], changed.json()["active"], changed.json()["name"]) == (
        ["create", "push"],
        not active,
        "",
    )
    assert changed.json()["branch_filter"] == "main"
    assert ada.patch(path, json={"branch_filter": ""}).json()["branch_filter"] == ""


def strip(hook: dict[str, object]) -> dict[str, object]:
    """Return a hook without the time of its last change."""
    return {key: value for key, value in hook.items() if key != "updated_at"}


def test_the_type_of_a_hook_stays(ada: httpx.Client) -> None:
    """A patch with another type is accepted, but the type stays."""
    hook = create_hook(ada, PATH)
    assert ada.patch(f"{PATH}/{hook['id']}", json={"type": "slack"}).json()["type"] == "gitea"


def test_a_hook_can_be_removed_once(ada: httpx.Client) -> None:
    """A deleted hook gives 404 and is not listed."""
    hook = create_hook(ada, PATH)
    assert ada.delete(f"{PATH}/{hook['id']}").status_code == 204
    assert ada.delete(f"{PATH}/{hook['id']}").status_code == 404
    assert ada.get(PATH).json() == []


def test_hooks_are_kept_with_a_renamed_organization_and_deleted_with_it(
    clients: ServiceClients, ada: httpx.Client
) -> None:
    """A renamed organization keeps its hooks, and its deletion deletes them."""
    number = create_hook(ada, PATH)["id"]
    assert ada.post("/orgs/guild/rename", json={"new_name": "union"}).status_code == 204
    assert ada.get(f"/orgs/union/hooks/{number}").status_code == 200
    assert ada.get(f"{PATH}/{number}").status_code == 307
    assert ada.delete("/orgs/union").status_code == 204
    assert hook_ids(clients.database) == []


class TestSwitchedOff:
    """Tests with webhooks disabled in the settings."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        """Disable webhooks."""
        return Settings(
            data=settings.data,
            database_url=settings.database_url,
            admin_password=settings.admin_password,
            webhooks=False,
        )

    def test_hooks_are_refused_before_they_are_checked(self, clients: ServiceClients) -> None:
        """If webhooks are disabled, permitted users get 403 with a message, even for an invalid body."""
        clients.admin.post("/orgs", json={"username": "guild"})
        response = clients.admin.post(PATH, json={"type": "nonsense"})
        assert (response.status_code, response.json()["message"]) == (403, "webhooks disabled by administrator")
        assert clients.admin.get("/admin/hooks").status_code == 403
        assert clients.admin.get("/user/hooks").status_code == 403
        assert clients.anonymous.get(PATH).status_code == 401
