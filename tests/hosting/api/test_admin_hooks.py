"""System webhooks and default webhooks."""

import pytest
from sqlalchemy import select

from holdfast.hosting.store.encryption import KEY_FILE, SecretCipher
from holdfast.hosting.store.tables import hooks
from tests.hosting.api.hook_helpers import CONFIG, create_hook
from tests.hosting.api_clients import ServiceClients

PATH = "/admin/hooks"


def system(flag: str = "true") -> dict[str, str]:
    """Return the config of a hook with this flag for system hooks."""
    return {**CONFIG, "is_system_webhook": flag}


@pytest.mark.parametrize(
    ("flag", "expected"), [("true", "true"), ("1", "true"), ("false", "false"), ("", "false"), ("0", "false")]
)
def test_a_hook_shows_whether_it_is_a_system_hook(clients: ServiceClients, flag: str, expected: str) -> None:
    """A hook is a system hook if the flag is true or 1; otherwise it is a default hook."""
    hook = create_hook(clients.admin, PATH, config=system(flag))
    assert hook["config"] == {"content_type": "json", "is_system_webhook": expected, "url": CONFIG["url"]}


def test_system_and_default_hooks_are_listed_together_or_apart(clients: ServiceClients) -> None:
    """The parameter `type` selects system hooks, default hooks or both, which are listed by id."""
    first, second = create_hook(clients.admin, PATH)["id"], create_hook(clients.admin, PATH, config=system())["id"]

    def listed(**query: str) -> list[int]:
        response = clients.admin.get(PATH, params=query)
        assert response.headers["x-total-count"] == str(len(response.json()))
        return [hook["id"] for hook in response.json()]

    assert (listed(), listed(type="all")) == ([first, second], [first, second])
    assert (listed(type="system"), listed(type="default")) == ([second], [first])
    assert clients.admin.get(PATH, params={"type": "other"}).status_code == 422


def test_the_kind_of_a_hook_cannot_be_changed(clients: ServiceClients) -> None:
    """A patch with another `is_system_webhook` is refused; one with the same value is accepted."""
    hook = create_hook(clients.admin, PATH, config=system())
    same = clients.admin.patch(f"{PATH}/{hook['id']}", json={"config": system()})
    assert same.status_code == 200
    response = clients.admin.patch(f"{PATH}/{hook['id']}", json={"config": system("false")})
    assert (response.status_code, response.json()["message"][:17]) == (422, "is_system_webhook")


def test_the_kind_is_ignored_in_other_hook_endpoints(clients: ServiceClients) -> None:
    """A user's hook with `is_system_webhook` does not receive events of other users."""
    ada = clients.user("ada")
    hook = create_hook(ada, "/user/hooks", config=system(), active=True, events=["repository"])
    clients.admin.post("/user/repos", json={"name": "ship"})
    assert hook["config"] == CONFIG
    assert ada.get(f"/user/hooks/{hook['id']}/deliveries").json() == []
    assert ada.get(PATH).status_code == 403


def test_a_system_hook_receives_events_of_every_repository(clients: ServiceClients) -> None:
    """A system hook receives the events of a user's repository; a default hook receives none itself."""
    hook_id = create_hook(clients.admin, PATH, config=system(), active=True, events=["repository"])["id"]
    pattern = create_hook(clients.admin, PATH, active=True, events=["repository"])["id"]
    clients.user("ada").post("/user/repos", json={"name": "ship"})
    assert len(clients.admin.get(f"{PATH}/{hook_id}/deliveries").json()) == 1
    assert clients.admin.get(f"{PATH}/{pattern}/deliveries").json() == []


def test_a_new_repository_gets_copies_of_the_default_hooks(clients: ServiceClients) -> None:
    """A copy has the secret of the default hook, receives the creation, and can be changed independently."""
    config = {**CONFIG, "secret": "hunter2", "channel": "#a"}
    names = ["repository", "push"]
    create_hook(clients.admin, PATH, type="slack", config=config, active=True, events=names, name="one")
    create_hook(clients.admin, PATH, config=system())
    ada = clients.user("ada")
    ada.post("/user/repos", json={"name": "ship"})
    (copy,) = ada.get("/repos/ada/ship/hooks").json()
    assert (copy["name"], copy["type"], copy["active"], sorted(copy["events"])) == (
        "one",
        "slack",
        True,
        sorted(names),
    )
    assert "is_system_webhook" not in copy["config"]
    assert copy["config"]["channel"] == "#a"
    path = f"/repos/ada/ship/hooks/{copy['id']}"
    assert [delivery["event"] for delivery in ada.get(f"{path}/deliveries").json()] == ["repository"]
    with clients.database.read() as connection:
        sealed = connection.execute(select(hooks.c.secret).where(hooks.c.id == copy["id"])).scalar_one()
    assert SecretCipher(clients.service.settings.data / KEY_FILE).decrypt(sealed) == "hunter2"
    assert ada.patch(path, json={"name": "mine"}).status_code == 200
    assert [hook["name"] for hook in clients.admin.get(PATH, params={"type": "default"}).json()] == ["one"]
    assert ada.delete(path).status_code == 204
