"""Who is let in, and who is not."""

import pytest

from holdfast.hosting.store import accounts
from holdfast.secret import Secret
from tests.conftest import ADMIN_PASSWORD
from tests.hosting.world import PASSWORD, World


def test_a_wrong_credential_is_refused_even_where_none_is_needed(world: World) -> None:
    """An unreadable header counts as none."""
    for headers in (
        {"Authorization": "token " + "0" * 40},
        {"Authorization": "Bearer nonsense"},
        {"Authorization": "Basic YTpi"},
    ):
        refused = world.anonymous.get("/version", headers=headers)
        assert (refused.status_code, refused.json()["message"]) == (401, "invalid username, password or token")
    for header in ("Basic", "Basic !!!", "Basic YQ==", "something else entirely", "Negotiate abc"):
        assert world.anonymous.get("/version", headers={"Authorization": header}).status_code == 200


def test_guessing_a_password_is_slow_for_whoever_guesses(world: World) -> None:
    """After ten wrong ones even the right one waits; others are not held up."""
    world.account("ada")
    world.account("bob")
    for _ in range(10):
        assert world.anonymous.get("/user", auth=("ada", "wrong")).status_code == 401
    refused = world.anonymous.get("/user", auth=("ada", PASSWORD))
    assert refused.status_code == 429
    assert 0 < int(refused.headers["retry-after"]) <= 900
    assert world.anonymous.get("/user", auth=("bob", PASSWORD)).status_code == 200


def test_a_new_password_counts_at_once(world: World) -> None:
    """A password that was right is remembered for a moment, but not beyond its change."""
    world.account("ada")
    assert world.anonymous.get("/user", auth=("ada", PASSWORD)).status_code == 200
    accounts.set_password(world.database, "ada", Secret("another password"))
    assert world.anonymous.get("/user", auth=("ada", PASSWORD)).status_code == 401
    assert world.anonymous.get("/user", auth=("ada", "another password")).status_code == 200


@pytest.mark.parametrize(
    ("columns", "word"),
    [
        ({"is_active": False}, "activated"),
        ({"may_not_log_in": True}, "prohibited"),
        ({"must_change_password": True}, "change your password"),
    ],
)
def test_an_account_that_may_not_be_used_is_told_why(world: World, columns: dict[str, bool], word: str) -> None:
    """Without an address, as these errors have none."""
    refused = world.user("ada", **columns).get("/user")
    assert refused.status_code == 403
    assert set(refused.json()) == {"message"}
    assert word in refused.json()["message"]


def test_administrators_may_act_as_others(world: World) -> None:
    """By header or query; nobody else may, and nobody unknown can be acted as."""
    ada = world.user("ada")
    assert world.admin.get("/user", headers={"Sudo": "ADA"}).json()["login"] == "ada"
    assert world.admin.get("/user", params={"sudo": "ada"}).json()["login"] == "ada"
    refused = ada.get("/user", headers={"Sudo": "admin"})
    assert (refused.status_code, refused.json()) == (403, {"message": "Only administrators allowed to sudo."})
    assert world.admin.get("/user", headers={"Sudo": "nobody"}).status_code == 404


def test_the_cookie_of_the_website_counts_for_its_own_pages_only(world: World) -> None:
    """A script of another site is nobody."""
    with world.service.logged_in() as browser:
        assert browser.get("/api/v1/user").json()["login"] == "admin"
        foreign = browser.get("/api/v1/user", headers={"Sec-Fetch-Site": "cross-site"})
        assert (foreign.status_code, foreign.json()["message"]) == (401, "token is required")
        assert browser.get("/api/v1/user", headers={"Origin": "https://evil.example"}).status_code == 401


def test_a_password_reaches_everything(world: World) -> None:
    """It has no scopes."""
    assert world.anonymous.get("/user", auth=("admin", ADMIN_PASSWORD)).json()["is_admin"] is True
