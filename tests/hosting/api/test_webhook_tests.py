"""Test deliveries of webhooks."""

import httpx
import msgspec
import pytest
from sqlalchemy import select

from holdfast.hosting.store.tables import deliveries, events
from tests.hosting.api.hook_helpers import create_hook
from tests.hosting.api_clients import ServiceClients


@pytest.fixture
def ada(clients: ServiceClients) -> httpx.Client:
    """Let Ada own an organization with two repositories that have commits and one that has none."""
    client = clients.user("ada")
    assert client.post("/orgs", json={"username": "guild"}).status_code == 201
    for name, init in (("ship", True), ("boat", True), ("raft", False)):
        assert client.post("/orgs/guild/repos", json={"name": name, "auto_init": init}).status_code == 201
    return client


def queued_tests(clients: ServiceClients) -> list[tuple[int, str, dict[str, str]]]:
    """Return the hook, the repository and the details of each queued test delivery."""
    statement = select(deliveries.c.hook_id, events.c.repository_id, events.c.details, events.c.kind)
    with clients.database.read() as connection:
        rows = connection.execute(statement.join(events, events.c.id == deliveries.c.event_id)).all()
    assert {row.kind for row in rows} <= {"push"}
    return [(row.hook_id, row.repository_id, msgspec.json.decode(row.details)) for row in rows]


def test_a_test_delivery_goes_to_that_hook_whatever_its_events(clients: ServiceClients, ada: httpx.Client) -> None:
    """A test ignores the events and the branch filter of its hook, and goes to no other hook."""
    create_hook(ada, "/orgs/guild/hooks", active=True)
    hook = create_hook(ada, "/repos/guild/ship/hooks", events=["issues"], branch_filter="other")["id"]
    response = ada.post(f"/repos/guild/ship/hooks/{hook}/tests")
    assert (response.status_code, response.content) == (204, b"")
    head = ada.get("/repos/guild/ship/branches/main").json()["commit"]["id"]
    number = ada.get("/repos/guild/ship").json()["id"]
    facts = {"ref": "refs/heads/main", "before": head, "after": head, "ref_type": "branch"}
    assert queued_tests(clients) == [(hook, number, facts)]


def test_a_ref_can_be_chosen(clients: ServiceClients, ada: httpx.Client) -> None:
    """The ref of a test delivery is a branch, a tag or a commit; an unknown one gives 404."""
    path = "/repos/guild/ship/hooks"
    hook = create_hook(ada, path)["id"]
    ada.post("/repos/guild/ship/tags", json={"tag_name": "v1", "message": "One"})
    ada.post("/repos/guild/ship/branches", json={"new_branch_name": "side"})
    head = ada.get("/repos/guild/ship/branches/main").json()["commit"]["id"]
    for ref in ("side", "refs/heads/side", "v1", head):
        assert ada.post(f"{path}/{hook}/tests", params={"ref": ref}).status_code == 204
    assert [facts["ref"] for _, _, facts in queued_tests(clients)] == ["refs/heads/side"] * 2 + [
        "refs/tags/v1",
        head,
    ]
    assert {facts["after"] for _, _, facts in queued_tests(clients)} == {head}
    response = ada.post(f"{path}/{hook}/tests", params={"ref": "nowhere"})
    assert (response.status_code, response.json()["message"]) == (404, "ref does not exist: nowhere")


def test_an_empty_repository_has_no_test_event(ada: httpx.Client) -> None:
    """A test in an empty repository is refused with a message."""
    hook = create_hook(ada, "/repos/guild/raft/hooks")["id"]
    response = ada.post(f"/repos/guild/raft/hooks/{hook}/tests")
    assert (response.status_code, response.json()["message"]) == (404, "repository is empty")
    assert ada.post("/repos/guild/raft/hooks/999999/tests").json()["message"] == "not found"


def test_a_repository_can_be_chosen_where_there_are_several(clients: ServiceClients, ada: httpx.Client) -> None:
    """A test uses the named repository, or the last one pushed to; empty and unknown ones give 404."""
    hook = create_hook(ada, "/orgs/guild/hooks")["id"]
    path = f"/orgs/guild/hooks/{hook}/tests"
    body = {"content": "", "branch": "main"}
    assert ada.post("/repos/guild/ship/contents/new.txt", json=body).status_code == 201
    for chosen in ({}, {"repository": "boat"}, {"repository": "GUILD/Boat"}):
        assert ada.post(path, params=chosen).status_code == 204
    ship, boat = (ada.get(f"/repos/guild/{name}").json()["id"] for name in ("ship", "boat"))
    assert [number for _, number, _ in queued_tests(clients)] == [ship, boat, boat]
    for chosen, message in (
        ({"repository": "raft"}, "repository is empty"),
        ({"repository": "nothing"}, "repository does not exist: nothing"),
        ({"repository": "ada/boat"}, "repository does not exist: ada/boat"),
    ):
        response = ada.post(path, params=chosen)
        assert (response.status_code, response.json()["message"]) == (404, message)


def test_repositories_of_others_cannot_be_chosen(clients: ServiceClients, ada: httpx.Client) -> None:
    """A user's hook is tested with their own repositories only, and a hook of the instance with any."""
    hook = create_hook(ada, "/user/hooks")["id"]
    response = ada.post(f"/user/hooks/{hook}/tests")
    nothing = "there is no repository with commits to try it with"
    assert (response.status_code, response.json()["message"]) == (404, nothing)
    assert ada.post(f"/user/hooks/{hook}/tests", params={"repository": "guild/ship"}).status_code == 404
    system = create_hook(clients.admin, "/admin/hooks")["id"]
    assert clients.admin.post(f"/admin/hooks/{system}/tests").status_code == 204
    response = clients.admin.post(f"/admin/hooks/{system}/tests", params={"repository": "ship"})
    assert (response.status_code, response.json()["message"][:14]) == (422, "[Repository]: ")
    assert (
        clients.admin.post(f"/admin/hooks/{system}/tests", params={"repository": "guild/ship"}).status_code == 204
    )
