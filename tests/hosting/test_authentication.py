"""Authentication by password, token and session cookie, and the rate limits of guesses."""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed

import httpx
import pyotp
import pytest

from holdfast.hosting.store import accounts
from holdfast.secret import Secret
from tests.conftest import ADMIN_PASSWORD
from tests.hosting.api_clients import PASSWORD, ServiceClients
from tests.hosting.passkey_helpers import ROOT, give_passkey
from tests.hosting.two_factor_helpers import give_second_factor


def test_a_wrong_credential_is_refused_at_public_endpoints(clients: ServiceClients) -> None:
    """A wrong credential gets 401 at a public endpoint, and an unreadable header is ignored."""
    for headers in (
        {"Authorization": "token " + "0" * 40},
        {"Authorization": "Bearer nonsense"},
        {"Authorization": "Basic YTpi"},
    ):
        refused = clients.anonymous.get("/version", headers=headers)
        assert (refused.status_code, refused.json()["message"]) == (401, "invalid username, password or token")
    for header in ("Basic", "Basic !!!", "Basic YQ==", "something else entirely", "Negotiate abc"):
        assert clients.anonymous.get("/version", headers={"Authorization": header}).status_code == 200


def test_guesses_of_a_password_are_limited(clients: ServiceClients) -> None:
    """After ten wrong passwords even the right one gets 429, and another user can still log in."""
    clients.account("ada")
    clients.account("bob")
    for _ in range(10):
        assert clients.anonymous.get("/user", auth=("ada", "wrong")).status_code == 401
    refused = clients.anonymous.get("/user", auth=("ada", PASSWORD))
    assert refused.status_code == 429
    assert 600 < int(refused.headers["retry-after"]) <= 900
    assert clients.anonymous.get("/user", auth=("bob", PASSWORD)).status_code == 200


def test_a_new_password_counts_at_once(clients: ServiceClients) -> None:
    """An old password that was cached as right is refused after a change of the password."""
    clients.account("ada")
    assert clients.anonymous.get("/user", auth=("ada", PASSWORD)).status_code == 200
    accounts.set_password(clients.database, "ada", Secret("another password"))
    assert clients.anonymous.get("/user", auth=("ada", PASSWORD)).status_code == 401
    assert clients.anonymous.get("/user", auth=("ada", "another password")).status_code == 200


@pytest.mark.parametrize(
    ("columns", "word"),
    [
        ({"is_active": False}, "activated"),
        ({"may_not_log_in": True}, "prohibited"),
        ({"must_change_password": True}, "change your password"),
    ],
)
def test_a_disabled_account_is_refused_with_the_reason(
    clients: ServiceClients, columns: dict[str, bool], word: str
) -> None:
    """A disabled account gets 403 with a message that has the reason, and no `url` field."""
    refused = clients.user("ada", **columns).get("/user")
    assert refused.status_code == 403
    assert set(refused.json()) == {"message"}
    assert word in refused.json()["message"]


def test_administrators_may_act_as_others(clients: ServiceClients) -> None:
    """An administrator acts as another user by header or query; other users and unknown names are refused."""
    ada = clients.user("ada")
    assert clients.admin.get("/user", headers={"Sudo": "ADA"}).json()["login"] == "ada"
    assert clients.admin.get("/user", params={"sudo": "ada"}).json()["login"] == "ada"
    refused = ada.get("/user", headers={"Sudo": "admin"})
    assert (refused.status_code, refused.json()) == (403, {"message": "Only administrators allowed to sudo."})
    assert clients.admin.get("/user", headers={"Sudo": "nobody"}).status_code == 404


def test_the_cookie_of_the_website_counts_for_its_own_pages_only(clients: ServiceClients) -> None:
    """A session cookie is not accepted in a cross-site request."""
    with clients.service.logged_in() as browser:
        assert browser.get("/api/v1/user").json()["login"] == "admin"
        foreign = browser.get("/api/v1/user", headers={"Sec-Fetch-Site": "cross-site"})
        assert (foreign.status_code, foreign.json()["message"]) == (401, "token is required")
        assert browser.get("/api/v1/user", headers={"Origin": "https://evil.example"}).status_code == 401


def test_a_password_has_every_scope(clients: ServiceClients) -> None:
    """A password has no scopes that could limit it: it reads and writes at endpoints of different scopes."""
    login = ("admin", ADMIN_PASSWORD)
    assert clients.anonymous.get("/user", auth=login).json()["is_admin"] is True
    for path in ("/admin/users", "/notifications", "/repos/issues/search", "/user/orgs", "/user/repos"):
        assert clients.anonymous.get(path, auth=login).status_code == 200, path
    for path, body in (
        ("/user/repos", {"name": "ship"}),
        ("/repos/admin/ship/issues", {"title": "One"}),
        ("/orgs", {"username": "guild"}),
    ):
        assert clients.anonymous.post(path, auth=login, json=body).status_code == 201, path


NAMES = ["ada", "bob", "x", "", "oauth2", "x-access-token", "nobody at all", "0" * 40]


@pytest.mark.parametrize("name", NAMES)
def test_a_token_is_a_password_under_any_name(clients: ServiceClients, name: str) -> None:
    """A token is accepted as password under any name, as CI systems send a name of their own."""
    clients.user("bob")
    token = token_of(clients.user("ada"))
    assert clients.anonymous.get("/user", auth=(name, token)).json()["login"] == "ada"


@pytest.mark.parametrize("password", ["", "x-oauth-basic"])
def test_a_token_is_a_name_without_a_password(clients: ServiceClients, password: str) -> None:
    """A token is accepted as user name with the password of GitHub's clients or none, and with no other."""
    token = token_of(clients.user("ada"))
    assert clients.anonymous.get("/user", auth=(token, password)).json()["login"] == "ada"
    assert clients.anonymous.get("/user", auth=(token, "x")).status_code == 401


def test_a_token_under_another_name_reaches_no_further_than_its_scopes(clients: ServiceClients) -> None:
    """A token under another user's name acts as its owner, and is not accepted as that user's password."""
    bob = clients.account("bob")
    token = token_of(clients.with_token(bob, "read:user"))
    assert clients.anonymous.get("/user", auth=("admin", token)).json()["login"] == "bob"
    assert clients.anonymous.get("/admin/users", auth=("admin", token)).status_code == 403
    changed = clients.anonymous.patch("/user/settings", auth=("bob", token), json={"full_name": "Bob"})
    assert (changed.status_code, "write:user" in changed.json()["message"]) == (403, True)
    assert clients.anonymous.get("/users/admin/tokens", auth=("admin", token)).status_code == 401


def test_a_token_is_not_limited_by_guesses_of_others(clients: ServiceClients) -> None:
    """A token under a limited name is accepted, and does not reset the count of wrong passwords."""
    clients.account("bob")
    token = token_of(clients.user("ada"))
    for _ in range(10):
        assert clients.anonymous.get("/user", auth=("bob", "wrong")).status_code == 401
    assert clients.anonymous.get("/user", auth=("bob", token)).status_code == 200
    assert clients.anonymous.get("/user", auth=("bob", PASSWORD)).status_code == 429


def test_guesses_of_tokens_are_limited_like_passwords(clients: ServiceClients) -> None:
    """A wrong password in the form of a token counts as a guess at the password of the name."""
    accounts.create_user(clients.database, "ada", Secret("ab" * 20))
    assert clients.anonymous.get("/user", auth=("ada", "ab" * 20)).status_code == 200
    for number in range(10):
        assert clients.anonymous.get("/user", auth=("ada", f"{number:040x}")).status_code == 401
    assert clients.anonymous.get("/user", auth=("ada", "cd" * 20)).status_code == 429


def test_a_revoked_token_locks_no_user_out(clients: ServiceClients) -> None:
    """Requests with revoked tokens are limited apart, and users of the same address can still log in."""
    clients.account("ada")
    for number in range(120):
        response = clients.anonymous.get("/user", auth=("x-access-token", f"{number:040x}"))
        assert response.status_code == (401 if number < 100 else 429)
    assert clients.anonymous.get("/user", auth=("ada", PASSWORD)).status_code == 200


def token_of(client: httpx.Client) -> str:
    """Return the token a client sends."""
    return client.headers["authorization"].removeprefix("token ")


@pytest.mark.parametrize("path", ["/api/v1/user", "/admin/none.git/info/refs?service=git-upload-pack", "/login"])
def test_guesses_at_once_are_limited_as_those_in_turn_are(clients: ServiceClients, path: str) -> None:
    """Of concurrent wrong passwords ten get 401 and the others 429, over the API, git and the website."""
    limit = clients.service.settings.login_failures

    def guess(number: int) -> int:
        with clients.service.client() as client:
            if path == "/login":
                return client.post(path, data={"name": "admin", "password": f"wrong{number}"}).status_code
            return client.get(path, auth=("admin", f"wrong{number}")).status_code

    with ThreadPoolExecutor(16) as threads:
        outcomes = Counter(threads.map(guess, range(3 * limit)))
    assert outcomes == {401: limit, 429: 2 * limit}


@pytest.mark.parametrize("password", ["wrong", "0123456789" * 4])
@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/v1/user", 401),
        ("/admin/none.git/info/refs?service=git-upload-pack", 401),
        ("/admin/none.git/info/lfs/locks", 401),
        ("/no/such/page/at/all", 404),
        ("/admin", 401),
    ],
)
def test_passwords_are_hashed_in_threads_of_their_own(
    clients: ServiceClients, monkeypatch: pytest.MonkeyPatch, path: str, status: int, password: str
) -> None:
    """A password of any form is hashed in a thread of the password pool, and not on the event loop."""
    asked: list[str] = []
    verify = accounts.verify

    def noted(password_hash: str, typed: Secret) -> bool:
        asked.append(threading.current_thread().name)
        return verify(password_hash, typed)

    monkeypatch.setattr(accounts, "verify", noted)
    with clients.service.client() as client:
        headers = {"Accept": "application/vnd.git-lfs+json"} if "lfs" in path else {}
        assert client.get(path, auth=("admin", password), headers=headers).status_code == status
    assert "stage" not in asked
    assert all(name.startswith("holdfast-password") for name in asked)
    assert len(asked) == (status == 401)


@pytest.mark.parametrize("path", ["/api/v1/user", "/admin/none.git/info/refs?service=git-upload-pack"])
def test_a_correct_password_of_concurrent_requests_is_hashed_once(
    clients: ServiceClients, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """Requests that wait for the same password are neither counted nor hashed; each wrong one is both."""
    asked: list[str] = []
    verify = accounts.verify

    def noted(password_hash: str, typed: Secret) -> bool:
        asked.append(typed.reveal())
        return verify(password_hash, typed)

    def send(password: str) -> int:
        with clients.service.client() as client:
            return client.get(path, auth=("admin", password)).status_code

    monkeypatch.setattr(accounts, "verify", noted)
    limit = clients.service.settings.login_failures
    with ThreadPoolExecutor(16) as threads:
        statuses = set(threads.map(send, [ADMIN_PASSWORD] * 3 * limit))
        assert statuses == ({200} if path == "/api/v1/user" else {404})
        assert asked == [ADMIN_PASSWORD]
        outcomes = Counter(threads.map(send, ["wrong"] * 3 * limit))
    assert outcomes == {401: limit, 429: 2 * limit}
    assert asked == [ADMIN_PASSWORD, *["wrong"] * limit]


def test_a_busy_password_pool_is_reported(clients: ServiceClients) -> None:
    """A full pool answers 503 with Retry-After, and requests with a token are answered meanwhile."""
    started, leave = threading.Semaphore(0), threading.Event()

    def slow(_hash: str, _typed: Secret) -> bool:
        started.release()
        leave.wait(30)
        return False

    def attempt(number: int) -> httpx.Response:
        with clients.service.client() as client:
            headers = {"X-Forwarded-For": f"198.51.100.{number % 8}"}
            if number % 2:
                return client.post("/login", data={"name": f"u{number}", "password": "wrong"}, headers=headers)
            return client.get("/api/v1/user", auth=(f"u{number}", "wrong"), headers=headers)

    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(100) as threads:
        patch.setattr(accounts, "verify", slow)
        pending = [threads.submit(attempt, number) for number in range(100)]
        for _ in range(clients.service.settings.password_hash_concurrency):
            assert started.acquire(timeout=30)
        refused = [done.result() for done, _ in zip(as_completed(pending), range(20), strict=False)]
        assert {response.status_code for response in refused} == {503}
        assert all(int(response.headers["Retry-After"]) > 0 for response in refused)
        assert clients.admin.get("/user").status_code == 200
        assert not started.acquire(blocking=False)
        leave.set()
        assert {response.result().status_code for response in pending} == {401, 503}


def test_wrong_tokens_are_limited_by_address(clients: ServiceClients) -> None:
    """Wrong tokens get 429 after the limit, and the address can still log in with a password."""
    limit = clients.service.settings.login_failures * 10
    with clients.service.client() as client:
        wrong = {"Authorization": "token " + "0" * 40}
        for _ in range(limit):
            assert client.get("/api/v1/user", headers=wrong).status_code == 401
        refused = client.get("/api/v1/user", headers=wrong)
        assert (refused.status_code, int(refused.headers["Retry-After"]) > 0) == (429, True)
        assert client.get("/admin/none.git/info/refs?service=git-upload-pack", headers=wrong).status_code == 429
        assert client.get("/api/v1/user", auth=("admin", ADMIN_PASSWORD)).status_code == 200


def test_a_password_needs_a_code_where_there_is_a_second_factor(clients: ServiceClients) -> None:
    """A password needs a one-time code in X-Gitea-OTP that was not used before; tokens need none."""
    ada = clients.user("ada")
    token = token_of(ada)
    account = accounts.find_user(clients.database, "ada")
    assert clients.anonymous.get("/user", auth=("ada", PASSWORD)).status_code == 200
    secret, codes = give_second_factor(clients.service.settings, account)
    refused = clients.anonymous.get("/user", auth=("ada", PASSWORD))
    assert refused.status_code == 401
    assert "X-Gitea-OTP" in refused.json()["message"]
    wrong = clients.anonymous.get("/user", auth=("ada", "wrong"), headers={"X-Gitea-OTP": codes[0].reveal()})
    assert (wrong.status_code, wrong.json()["message"]) == (401, "invalid username, password or token")
    header = {"X-Gitea-OTP": pyotp.TOTP(secret).now()}
    assert clients.anonymous.get("/user", auth=("ada", PASSWORD), headers=header).json()["login"] == "ada"
    again = clients.anonymous.get("/user", auth=("ada", PASSWORD), headers=header)
    assert again.status_code == 401
    assert "used before" in again.json()["message"]
    header = {"X-Gitea-OTP": codes[0].reveal()}
    response = clients.anonymous.post(
        "/users/ada/tokens",
        auth=("ada", PASSWORD),
        headers=header,
        json={"name": "new", "scopes": ["read:user"]},
    )
    assert response.status_code == 201, response.text
    for value in (token, response.json()["sha1"]):
        assert clients.anonymous.get("/user", auth=("ada", value)).json()["login"] == "ada"
    git = clients.open("").get("/ada/ship.git/info/refs?service=git-upload-pack", auth=("ada", PASSWORD))
    assert git.status_code == 401


def test_a_password_needs_a_token_where_there_is_only_a_passkey(clients: ServiceClients) -> None:
    """With only a passkey a password is refused, except with an unused recovery code."""
    ada = clients.user("ada")
    _, codes = give_passkey(clients.service.settings, accounts.find_user(clients.database, "ada"), ROOT)
    assert ada.get("/user").status_code == 200
    refused = clients.anonymous.get("/user", auth=("ada", PASSWORD))
    assert refused.status_code == 401
    assert "access token" in refused.json()["message"]
    for code, status in (("123456", 401), (codes[0].reveal(), 200), (codes[0].reveal(), 401)):
        header = {"X-Gitea-OTP": code}
        assert clients.anonymous.get("/user", auth=("ada", PASSWORD), headers=header).status_code == status


def test_guesses_of_a_code_are_limited(clients: ServiceClients) -> None:
    """After ten wrong one-time codes the API answers 429 with Retry-After."""
    clients.account("ada")
    give_second_factor(clients.service.settings, accounts.find_user(clients.database, "ada"))
    for _ in range(10):
        wrong = clients.anonymous.get("/user", auth=("ada", PASSWORD), headers={"X-Gitea-OTP": "123"})
        assert wrong.status_code == 401
    refused = clients.anonymous.get("/user", auth=("ada", PASSWORD), headers={"X-Gitea-OTP": "123"})
    assert refused.status_code == 429
    assert 0 < int(refused.headers["retry-after"]) <= 900
