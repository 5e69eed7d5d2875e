"""The page of a user's sessions."""

import re

import pytest

from holdfast.hosting.store.tables import sessions
from holdfast.web.settings.sessions import browser_name
from tests.hosting.api_clients import PASSWORD
from tests.web.organization_fixture import OrganizationFixture

PAGE = "/-/account/sessions"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


def test_sessions_are_listed_by_browser_and_ended(guild: OrganizationFixture) -> None:
    """Sessions are ended one by one or all others at once, and no session hash is on the page."""
    here, there, third = (guild.visit(None) for _ in range(3))
    for browser, agent in ((here, FIREFOX), (there, "<script>"), (third, "curl/8")):
        data = {"name": "eve", "password": PASSWORD}
        assert browser.post("/login", data=data, headers={"User-Agent": agent}).status_code == 303
    text = here.get(PAGE).text
    assert text.count("This browser") == 1
    assert "Firefox on Linux" in text
    assert "From 127.0.0.1" in text
    assert "<script>" not in text
    with guild.clients.database.read() as connection:
        hashes = connection.execute(sessions.select()).scalars().all()
    assert not any(item in text for item in hashes)

    keys = re.findall(r'name="key" value="([0-9a-f]+)"', text)
    assert len(keys) == 2
    assert guild.visit("ben").post(f"{PAGE}/end", data={"key": keys[0]}).status_code == 404
    assert here.post(f"{PAGE}/end", data={"key": keys[0]}).headers["location"] == PAGE
    assert [browser.get(PAGE).status_code for browser in (here, there, third)].count(200) == 2
    assert here.post(f"{PAGE}/others").status_code == 303
    assert [browser.get(PAGE).status_code for browser in (here, there, third)] == [200, 303, 303]


EDGE = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 "
    "Safari/537.36 Edg/140.0.0.0"
)
SAFARI = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    "Version/18.0 Mobile/15E148 Safari/604.1"
)
CHROME = "Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36"


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        (FIREFOX, "Firefox on Linux"),
        (EDGE, "Edge on Windows"),
        (SAFARI, "Safari on iOS"),
        (CHROME, "Chrome on Android"),
        ("curl/8.5.0", "curl/8.5.0"),
        ("", "A browser"),
        ("x" * 500, "x" * 60),
    ],
)
def test_browsers_have_their_common_names(agent: str, name: str) -> None:
    """A User-Agent often names several browsers, of which the real one is shown."""
    assert browser_name(agent) == name
