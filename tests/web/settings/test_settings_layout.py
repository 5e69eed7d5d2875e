"""The layout of settings pages."""

from tests.web.organization_fixture import OrganizationFixture


def test_the_current_section_is_marked(guild: OrganizationFixture) -> None:
    """The menus of a repository, an organization, an account and the administration mark the current page."""
    ada, admin = guild.visit("ada"), guild.visit("admin")
    for who, path, name in (
        (ada, "/guild/ship/settings/branches", "Branches"),
        (ada, "/-/orgs/guild/settings/members", "Members"),
        (ada, "/-/account/tokens", "Tokens"),
        (admin, "/-/admin/users", "Users"),
    ):
        text = who.get(path).text
        assert f'<a href="{path}" aria-current="page">{name}</a>' in text
        assert text.count("<h1") == 1


def test_a_rate_limit_is_shown_with_its_end(guild: OrganizationFixture) -> None:
    """The page for too many wrong passwords has status 429 and a Retry-After header."""
    ada = guild.visit("ada")
    form = {"old": "wrong", "new": "a-new-password", "again": "a-new-password"}
    responses = [ada.post("/-/account/password", data=form) for _ in range(11)]
    assert responses[0].status_code == 403
    assert responses[-1].status_code == 429
    assert int(responses[-1].headers["retry-after"]) > 0
    assert "Too many wrong passwords" in responses[-1].text
