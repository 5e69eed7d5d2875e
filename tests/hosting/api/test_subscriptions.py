"""Stars and watches of repositories."""

import httpx
import pytest

from tests.hosting.api_clients import ServiceClients
from tests.hosting.repository_helpers import make_repository


def counts(client: httpx.Client, path: str = "/repos/ada/ship") -> tuple[int, int]:
    """Return how many users starred a repository, and how many watch it."""
    shown = client.get(path).json()
    return shown["stars_count"], shown["watchers_count"]


def listed_names(response: httpx.Response, field: str = "login") -> list[str]:
    """Return the names of a list, after checking its total."""
    results = [item[field] for item in response.json()]
    assert response.headers["X-Total-Count"] == str(len(results))
    return results


def test_a_star_is_set_shown_and_removed(clients: ServiceClients, ada: httpx.Client) -> None:
    """A repeated star counts once."""
    bob = clients.user("bob")
    assert bob.get("/user/starred/ada/ship").status_code == 404
    for _ in range(2):
        assert bob.put("/user/starred/ada/ship").status_code == 204
    assert bob.get("/user/starred/ada/ship").status_code == 204
    assert ada.get("/user/starred/ada/ship").status_code == 404
    assert counts(ada) == (1, 0)
    assert bob.get("/user").json()["starred_repos_count"] == 1
    assert [ada.get(f"/users/{name}").json()["starred_repos_count"] for name in ("bob", "ada")] == [1, 0]
    assert listed_names(clients.anonymous.get("/repos/ada/ship/stargazers")) == ["bob"]
    assert listed_names(bob.get("/user/starred"), "full_name") == ["ada/ship"]
    assert listed_names(clients.anonymous.get("/users/bob/starred"), "full_name") == ["ada/ship"]
    for _ in range(2):
        assert bob.delete("/user/starred/ada/ship").status_code == 204
    assert counts(ada) == (0, 0)
    assert listed_names(bob.get("/user/starred"), "full_name") == []


def test_a_repository_is_watched(clients: ServiceClients, ada: httpx.Client) -> None:
    """A watched repository has a subscription, and is counted and listed until that is deleted."""
    bob = clients.user("bob")
    assert bob.get("/repos/ada/ship/subscription").status_code == 404
    response = bob.put("/repos/ada/ship/subscription")
    assert response.status_code == 200
    shown = response.json()
    assert (shown["subscribed"], shown["ignored"], shown["reason"]) == (True, False, None)
    assert shown["repository_url"].endswith("/api/v1/repos/ada/ship")
    assert shown["url"] == shown["repository_url"] + "/subscription"
    assert bob.get("/repos/ada/ship/subscription").json() == shown
    assert counts(ada) == (0, 1)
    assert listed_names(ada.get("/repos/ada/ship/subscribers")) == ["bob"]
    assert listed_names(bob.get("/user/subscriptions"), "full_name") == ["ada/ship"]
    assert listed_names(ada.get("/users/bob/subscriptions"), "full_name") == ["ada/ship"]
    assert bob.delete("/repos/ada/ship/subscription").status_code == 204
    assert (bob.get("/repos/ada/ship/subscription").status_code, counts(ada)) == (404, (0, 0))


def test_a_repository_that_became_private_is_not_listed_to_others(
    clients: ServiceClients, ada: httpx.Client
) -> None:
    """The star is kept, in case the repository becomes public again."""
    bob = clients.user("bob")
    bob.put("/user/starred/ada/ship")
    ada.patch("/repos/ada/ship", json={"private": True})
    assert listed_names(bob.get("/user/starred"), "full_name") == []
    assert bob.get("/user/starred/ada/ship").status_code == 404
    assert bob.get("/repos/ada/ship/stargazers").status_code == 404
    assert counts(ada) == (1, 0)
    ada.patch("/repos/ada/ship", json={"private": False})
    assert listed_names(bob.get("/user/starred"), "full_name") == ["ada/ship"]


LISTS = ("/user/starred", "/user/subscriptions", "/users/bob/starred", "/users/bob/subscriptions")


def test_a_token_for_profiles_lists_no_repositories(clients: ServiceClients) -> None:
    """Stars and watches also name private repositories, which takes the scope of repositories."""
    bob = clients.account("bob")
    make_repository(clients.database, bob, "hush", is_private=True)
    everything = clients.with_token(bob)
    everything.put("/repos/bob/hush/subscription")
    everything.put("/user/starred/bob/hush")
    profiles = clients.with_token(bob, "write:user")
    both = clients.with_token(bob, "read:user", "read:repository")
    for path in LISTS:
        refused = profiles.get(path)
        assert (refused.status_code, "read:user read:repository" in refused.text) == (403, True)
        assert listed_names(both.get(path), "name") == ["hush"]
    for method in ("GET", "PUT", "DELETE"):
        assert profiles.request(method, "/user/starred/bob/hush").status_code == 403
    assert both.get("/user/starred/bob/hush").status_code == 204


@pytest.mark.parametrize(("visibility", "anonymous", "known"), [("limited", [], ["eve"]), ("private", [], [])])
def test_hidden_users_are_not_listed(
    clients: ServiceClients, ada: httpx.Client, visibility: str, anonymous: list[str], known: list[str]
) -> None:
    """A hidden stargazer is listed only to users who may see them, and to administrators."""
    eve = clients.user("eve")
    eve.put("/user/starred/ada/ship")
    clients.admin.patch("/admin/users/eve", json={"visibility": visibility})
    assert listed_names(clients.anonymous.get("/repos/ada/ship/stargazers")) == anonymous
    assert listed_names(ada.get("/repos/ada/ship/stargazers")) == known
    assert listed_names(eve.get("/repos/ada/ship/stargazers")) == ["eve"]
    assert listed_names(clients.admin.get("/repos/ada/ship/stargazers")) == ["eve"]


def test_a_deleted_user_no_longer_counts(clients: ServiceClients, ada: httpx.Client) -> None:
    """A deleted user is removed from the numbers of stars and watchers; other users still count."""
    bob, eve = clients.user("bob"), clients.user("eve")
    for client in (bob, eve):
        client.put("/user/starred/ada/ship")
        client.put("/repos/ada/ship/subscription")
    assert counts(ada) == (2, 2)
    assert clients.admin.delete("/admin/users/bob").status_code == 204
    assert counts(ada) == (1, 1)
    assert listed_names(ada.get("/repos/ada/ship/stargazers")) == ["eve"]


def test_lists_are_paged(clients: ServiceClients) -> None:
    """The list of starred repositories has pages and a total, and only starred repositories are on it."""
    account = clients.account("ada")
    client = clients.with_token(account)
    make_repository(clients.database, account, "without")
    for name in ("a", "b", "c"):
        make_repository(clients.database, account, name)
        client.put(f"/user/starred/ada/{name}")
    page = client.get("/user/starred", params={"limit": 2, "page": 2})
    assert [item["name"] for item in page.json()] == ["c"]
    assert page.headers["X-Total-Count"] == "3"
