"""The pages that upload avatars."""

import httpx
import pytest

from holdfast.hosting.services.avatars import MOST_BYTES
from holdfast.hosting.store import accounts
from tests.web.organization_fixture import OrganizationFixture

PNG = b"\x89PNG\r\n\x1a\n" + b"picture" * 10
PAGES = {
    "/-/account/avatar": "ada",
    "/-/orgs/guild/settings/avatar": "ada",
    "/guild/ship/settings/avatar": "dora",
}


def upload(browser: httpx.Client, page: str, content: bytes) -> httpx.Response:
    """Send the form with a picture."""
    return browser.post(page, files={"image": ("me.png", content, "image/png")})


def picture_of(guild: OrganizationFixture, page: str) -> str:
    """Return the address of the avatar that a page is about."""
    if page == "/-/account/avatar":
        return f"/avatars/{accounts.find_user(guild.clients.database, 'ada').id}"
    if page.startswith("/-/orgs"):
        return f"/avatars/{accounts.find_account(guild.clients.database, 'guild').id}"
    return f"/repo-avatars/{guild.api.get('/repos/guild/ship').json()['id']}"


@pytest.mark.parametrize("page", PAGES)
def test_a_picture_is_uploaded_and_removed(guild: OrganizationFixture, page: str) -> None:
    """A file that is no image or is too large is refused and leaves the avatar unchanged."""
    browser = guild.visit(PAGES[page])
    address = picture_of(guild, page)
    assert 'type="file"' in browser.get(page).text
    saved = upload(browser, page, PNG)
    assert (saved.status_code, saved.headers["location"]) == (303, page)
    text = browser.get(page).text
    assert "Avatar saved." in text
    assert f'src="{address}?v=' in text
    response = browser.get(address)
    assert (response.content, response.headers["content-type"]) == (PNG, "image/png")
    for wrong, status, words in (
        (b"<svg onload=alert(1)>", 422, "must be a PNG, JPEG, GIF or WebP image"),
        (b"", 422, "must be a PNG"),
        (PNG + b"x" * MOST_BYTES, 422, "bytes"),
    ):
        refused = upload(browser, page, wrong)
        assert refused.status_code == status
        assert words in refused.text
    assert browser.post(page, data={"other": "x"}).status_code == 422
    assert browser.get(address).content == PNG
    assert browser.post(page, data={"remove": "true"}).headers["location"] == page
    assert "Avatar removed." in browser.get(page).text
    assert browser.get(address).content != PNG
    assert upload(browser, page, b"x" * (MOST_BYTES + 2**20)).status_code == 413


@pytest.mark.parametrize(
    ("page", "allowed"),
    [
        ("/-/account/avatar", {"eve", "ben", "cleo", "dora", "ada", "admin"}),
        ("/-/orgs/guild/settings/avatar", {"ada", "admin"}),
        ("/guild/ship/settings/avatar", {"dora", "ada", "admin"}),
    ],
)
def test_the_page_requires_permission_to_change_the_avatar(
    guild: OrganizationFixture, page: str, allowed: set[str]
) -> None:
    """Users without permission can neither open the page nor upload a picture."""
    statuses = guild.statuses(page)
    assert {name for name, status in statuses.items() if status == 200} == allowed
    for name in set(statuses) - {"-"} - allowed:
        assert upload(guild.visit(name), page, PNG).status_code in {403, 404}
    assert upload(guild.visit(None), page, PNG).status_code in {303, 404}
    assert guild.visit("ada").get(picture_of(guild, page)).content != PNG


def test_the_pages_of_a_repository_show_its_avatar(guild: OrganizationFixture) -> None:
    """The avatar appears after the upload, and that of an archived repository cannot be changed."""
    dora = guild.visit("dora")
    assert "/repo-avatars/" not in dora.get("/guild/ship/issues").text
    upload(dora, "/guild/ship/settings/avatar", PNG)
    assert '<img class="avatar" src="/repo-avatars/' in dora.get("/guild/ship/issues").text
    guild.api.patch("/repos/guild/ship", json={"archived": True})
    assert upload(dora, "/guild/ship/settings/avatar", PNG + b"2").status_code == 423
