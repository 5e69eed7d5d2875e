"""The account settings of a user."""

from holdfast.hosting.store import accounts, sessions, tokens
from holdfast.secret import Secret
from tests.hosting.api_clients import PASSWORD
from tests.web.organization_fixture import EVIL, OrganizationFixture

PAGE = "/-/account"
NEW = "another-password"


def form(**changed: str) -> dict[str, str]:
    """Return the form that changes a password."""
    return {"old": PASSWORD, "new": NEW, "again": NEW, **changed}


def test_a_profile_is_changed(guild: OrganizationFixture) -> None:
    """Invalid values are refused with a message and stay in the form, and hostile names are escaped."""
    eve = guild.visit("eve")
    typed = {"full_name": EVIL, "email": "eve@elsewhere.example", "visibility": "limited", "hide_email": "on"}
    assert eve.post(PAGE, data=typed).headers["location"] == PAGE
    after = accounts.find_user(guild.clients.database, "eve")
    assert (after.full_name, after.email, after.visibility) == (EVIL, "eve@elsewhere.example", "limited")
    assert after.hides_email
    assert "<script>" not in eve.get(PAGE).text
    for wrong, said in (
        ({"email": "ada@example.org"}, "already in use"),
        ({"email": ""}, "Email is required."),
        ({"email": "nobody"}, "not an e-mail address"),
        ({"website": "javascript:alert(1)"}, "Website: must begin with"),
        ({"visibility": "secret"}, "Visibility"),
        ({"full_name": "x" * 500}, "Full name is too long"),
    ):
        response = eve.post(PAGE, data={**typed, "location": "typed", **wrong})
        assert response.status_code in {409, 422}
        assert said in response.text
        assert "typed" in response.text
    assert accounts.find_user(guild.clients.database, "eve").email == "eve@elsewhere.example"
    assert guild.visit(None).get(PAGE).headers["location"] == "/login?next=%2F-%2Faccount"


def test_a_new_password_needs_the_old_one_and_ends_other_sessions(guild: OrganizationFixture) -> None:
    """The session that changes the password stays valid."""
    here, there = guild.visit("eve"), guild.visit("eve")
    for wrong, said in (
        ({"old": "a-wrong-password"}, "That is not your password."),
        ({"again": "something else"}, "do not match"),
        ({"new": PASSWORD, "again": PASSWORD}, "must differ"),
        ({"new": "short", "again": "short"}, "at least 8 characters"),
        ({"new": "x" * 2000, "again": "x" * 2000}, "too long"),
    ):
        response = here.post(f"{PAGE}/password", data=form(**wrong))
        assert response.status_code in {403, 422}
        assert said in response.text
        assert PASSWORD not in response.text
    assert there.get(PAGE).status_code == 200
    assert here.post(f"{PAGE}/password", data=form()).status_code == 303
    assert here.get(PAGE).status_code == 200
    assert there.get(PAGE).status_code == 303
    assert accounts.check_password(guild.clients.database, "eve", Secret(NEW)) is not None


def test_whoever_must_change_their_password_does_that_first(guild: OrganizationFixture) -> None:
    """Every page redirects to the form until the password was changed."""
    database = guild.clients.database
    accounts.change_account(database, accounts.find_user(database, "eve"), must_change_password=True)
    eve = guild.visit("eve")
    for path in ("/", PAGE, "/guild", "/-/account/tokens"):
        response = eve.get(path)
        assert (response.status_code, response.headers["location"]) == (303, "/-/account/password")
    assert "You must change your password" in eve.get("/-/account/password").text
    assert eve.post(PAGE, data={"full_name": "x"}).headers["location"] == "/-/account/password"
    assert accounts.find_user(database, "eve").full_name == ""
    assert eve.post(f"{PAGE}/password", data=form()).headers["location"] == "/"
    assert eve.get(PAGE).status_code == 200


def test_a_disabled_account_has_no_access(guild: OrganizationFixture) -> None:
    """A disabled account gets status 403 even for the page that changes its password."""
    eve = guild.visit("eve")
    account = accounts.find_user(guild.clients.database, "eve")
    accounts.change_account(guild.clients.database, account, may_not_log_in=True, must_change_password=True)
    assert eve.get("/-/account/password").status_code == 403


def test_tokens_and_impersonating_administrators_change_no_secrets(guild: OrganizationFixture) -> None:
    """The pages and forms of secrets have status 403 for a token and for an administrator with `Sudo`."""
    browser = guild.visit("eve")
    eve = accounts.find_user(guild.clients.database, "eve")
    _, value = tokens.create_token(guild.clients.database, eve, "all", ("all",))
    token = {"Authorization": f"token {value.reveal()}"}
    admin = guild.visit("admin")
    for client, headers in ((guild.visit(None), token), (admin, {"Sudo": "eve"})):
        for path in ("password", "tokens", "sessions"):
            assert client.get(f"{PAGE}/{path}", headers=headers).status_code == 403
        for path in ("password", "tokens", "sessions/end", "sessions/others"):
            data = {**form(), "name": "more", "password": PASSWORD, "everything": "on"}
            assert client.post(f"{PAGE}/{path}", headers=headers, data=data).status_code == 403
    assert accounts.check_password(guild.clients.database, "eve", Secret(PASSWORD)) is not None
    assert browser.get(f"{PAGE}/tokens").text.count('name="id" value="') == 1
    assert len(sessions.sessions_of(guild.clients.database, eve)) == 1
