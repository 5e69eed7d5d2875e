"""Access tokens: creation, authentication, scopes, expiry and deletion."""

import time
from functools import partial

import pytest

from tests.conftest import ADMIN_PASSWORD
from tests.hosting.api_clients import PASSWORD, ServiceClients


def test_a_token_is_shown_once_and_authenticates(clients: ServiceClients) -> None:
    """The list of tokens has only the last eight characters of each."""
    clients.account("ada")
    response = clients.anonymous.post(
        "/users/ada/tokens", json={"name": "laptop", "scopes": ["read:user"]}, auth=("ada", PASSWORD)
    )
    assert response.status_code == 201
    value = response.json()["sha1"]
    assert len(value) == 40
    listed = clients.anonymous.get("/users/ada/tokens", auth=("ada", PASSWORD)).json()
    assert [(token["sha1"], token["token_last_eight"]) for token in listed] == [("", value[-8:])]
    for header in (f"token {value}", f"Bearer {value}", f"TOKEN {value}"):
        assert clients.client(Authorization=header).get("/user").json()["login"] == "ada"


@pytest.mark.parametrize("pair", ["{token}:", "{token}:x-oauth-basic", "ada:{token}"])
def test_a_token_can_be_the_password_of_basic_authentication(clients: ServiceClients, pair: str) -> None:
    """A token can be the user name or the password, for clients that support only these."""
    account = clients.account("ada")
    value = clients.with_token(account).headers["authorization"].removeprefix("token ")
    name, _, password = pair.format(token=value).partition(":")
    assert clients.anonymous.get("/user", auth=(name, password)).json()["login"] == "ada"


def test_a_token_in_the_query_works_with_a_warning(clients: ServiceClients) -> None:
    """A token in the query is accepted for old clients, and the response has a warning header."""
    value = clients.admin.headers["authorization"].removeprefix("token ")
    response = clients.anonymous.get("/user", params={"token": value})
    assert response.status_code == 200
    assert "X-Gitea-Warning" in response.headers


def test_a_token_is_limited_to_its_scopes(clients: ServiceClients) -> None:
    """The error names the missing scope, and a scope for writing includes reading."""
    ada = clients.account("ada")
    assert clients.with_token(ada, "write:user").get("/user").status_code == 200
    refused = clients.with_token(ada, "read:issue").get("/user")
    assert refused.status_code == 403
    assert refused.json()["message"] == (
        "token does not have at least one of required scope(s), required=[read:user], token scope=read:issue"
    )
    assert clients.with_token(ada, "read:user").patch("/user/settings", json={}).status_code == 403


def test_tokens_are_made_with_a_password_only(clients: ServiceClients) -> None:
    """A token cannot create tokens, so that a stolen one cannot either."""
    clients.account("ada")
    body = {"name": "more", "scopes": ["all"]}
    assert clients.user("bob").post("/users/bob/tokens", json=body).status_code == 401
    assert clients.anonymous.post("/users/ada/tokens", json=body, auth=("ada", "wrong")).status_code == 401
    assert clients.anonymous.post("/users/ada/tokens", json=body, auth=("bob", PASSWORD)).status_code == 403
    assert (
        clients.anonymous.post("/users/ada/tokens", json=body, auth=("admin", ADMIN_PASSWORD)).status_code == 201
    )


def test_a_token_needs_a_name_of_its_own_and_known_scopes(clients: ServiceClients) -> None:
    """The error says whether the name or the scope is missing, unknown or taken."""
    clients.account("ada")

    def make(**body: object) -> tuple[int, str]:
        response = clients.anonymous.post("/users/ada/tokens", json=body, auth=("ada", PASSWORD))
        return response.status_code, response.json().get("message", "")

    assert make(scopes=["all"]) == (422, "[Name]: Required")
    assert make(name="a") == (400, "access token must have a scope")
    assert make(name="a", scopes=["everything"]) == (400, "unknown scope: everything")
    assert make(name="a", scopes=["all"])[0] == 201
    assert make(name="a", scopes=["all"]) == (400, "access token name has been used already")


def test_a_token_is_removed_by_id_or_name_or_by_itself(clients: ServiceClients) -> None:
    """A token that is deleted by its id, by its name or by itself no longer authenticates."""
    ada = clients.account("ada")
    holder = clients.with_token(ada)
    shown = holder.get("/token").json()
    assert (shown["name"], shown["user"]["login"]) == ("token 0", "ada")
    named = clients.with_token(ada)
    name = named.get("/token").json()["name"]
    for key, client in ((shown["id"], holder), (name, named)):
        for status in (204, 404):
            response = clients.anonymous.delete(f"/users/ada/tokens/{key}", auth=("ada", PASSWORD))
            assert response.status_code == status
        assert client.get("/user").status_code == 401
    other = clients.with_token(ada)
    assert other.delete("/token").status_code == 204
    assert other.get("/user").status_code == 401


def test_a_token_may_expire(clients: ServiceClients, monkeypatch: pytest.MonkeyPatch) -> None:
    """An expired token gets 401 from the API, git and LFS, and does not count as a failed password."""
    clients.account("ada")
    auth = ("ada", PASSWORD)
    body = {"name": "laptop", "scopes": ["all"], "expires_at": "2100-01-02T03:04:05+01:00"}
    response = clients.anonymous.post("/users/ada/tokens", json=body, auth=auth)
    assert (response.status_code, response.json()["expires_at"]) == (201, "2100-01-02T02:04:05Z")
    other = clients.anonymous.post("/users/ada/tokens", json={"name": "other", "scopes": ["all"]}, auth=auth)
    assert other.json()["expires_at"] is None
    listed = clients.anonymous.get("/users/ada/tokens", auth=auth).json()
    assert [token["expires_at"] for token in listed] == ["2100-01-02T02:04:05Z", None]
    holder = clients.client(Authorization=f"token {response.json()['sha1']}")
    assert holder.get("/token").json()["expires_at"] == "2100-01-02T02:04:05Z"
    holder.post("/user/repos", json={"name": "diary", "private": True})
    end = 4_102_538_645
    for now, status in ((end - 1, 200), (end, 401), (end + 1, 401)):
        monkeypatch.setattr(time, "time", partial(float, now))
        assert holder.get("/user").status_code == status
        basic = [("x", response.json()["sha1"]), (response.json()["sha1"], "")]
        for pair in basic:
            assert clients.anonymous.get("/user", auth=pair).status_code == status
            for path in ("info/refs?service=git-upload-pack", "info/lfs/locks"):
                asked = clients.open("/ada/diary.git").get(f"/{path}", auth=pair)
                assert asked.status_code == status, path
    assert holder.get("/user").json()["message"] == "the access token has expired"
    assert clients.client(Authorization=f"token {other.json()['sha1']}").get("/user").status_code == 200
    for _ in range(12):
        assert clients.anonymous.get("/user", auth=("ada", response.json()["sha1"])).status_code == 401
    assert clients.anonymous.get("/user", auth=auth).status_code == 200


@pytest.mark.parametrize(
    "when", ["2001-01-01T00:00:00Z", "tomorrow", "10000-01-01T00:00:00Z", "1969-01-01T00:00:00Z"]
)
def test_a_token_expires_in_the_future(clients: ServiceClients, when: str) -> None:
    """A token whose expiry is in the past or is no valid time is refused."""
    clients.account("ada")
    body = {"name": "laptop", "scopes": ["all"], "expires_at": when}
    assert clients.anonymous.post("/users/ada/tokens", json=body, auth=("ada", PASSWORD)).status_code == 422


@pytest.mark.parametrize("when", ["0001-01-01T00:00:00Z", None])
def test_a_token_without_a_time_does_not_expire(clients: ServiceClients, when: str | None) -> None:
    """Null and the zero time of Go both mean that a token does not expire."""
    clients.account("ada")
    body = {"name": "laptop", "scopes": ["all"], "expires_at": when}
    response = clients.anonymous.post("/users/ada/tokens", json=body, auth=("ada", PASSWORD))
    assert (response.status_code, response.json()["expires_at"]) == (201, None)
