"""References to issues and files in rendered texts."""

import base64

from tests.web.organization_fixture import OrganizationFixture

TEXT = (
    "One #1, none #99, theirs ada/diary#1, nobody's ada/nothing#1, @ben, @guild, @nobody-at-all, {commit}, {none}"
)


def test_only_references_to_existing_issues_are_links(guild: OrganizationFixture) -> None:
    """References to unknown issues, users, repositories and commits stay text."""
    api = guild.api
    commit = api.get("/repos/guild/ship/branches/main").json()["commit"]["id"]
    none = "ab" * 20
    text = TEXT.format(commit=commit, none=none)
    assert api.post("/repos/guild/ship/issues", json={"title": "First", "body": text}).status_code == 201
    page = guild.visit("ben").get("/guild/ship/issues/1").text
    for path in ("/guild/ship/issues/1", "/ben", "/guild", f"/guild/ship/commit/{commit}"):
        assert f'<a href="{path}" class=' in page, path
    for path in ("/guild/ship/issues/99", "/nobody-at-all", f"/guild/ship/commit/{none}", "/ada/nothing/issues/1"):
        assert f'href="{path}"' not in page, path
    for words in ("none #99,", "nobody's ada/nothing#1,", "@nobody-at-all,", none[:10]):
        assert words.replace("'", "&#39;") in page or words in page


def test_a_reference_does_not_reveal_a_private_issue(guild: OrganizationFixture) -> None:
    """A reference in a README is a link for users who may read the issue, and text for others."""
    api = guild.api
    assert api.post("/user/repos", json={"name": "diary", "private": True}).status_code == 201
    assert api.post("/repos/ada/diary/issues", json={"title": "Mine"}).status_code == 201
    content = base64.b64encode(b"See ada/diary#1.").decode()
    body = {"content": content, "message": "Add a text"}
    assert api.post("/repos/guild/ship/contents/docs/README.md", json=body).status_code == 201
    link = '<a href="/ada/diary/issues/1"'
    path = "/guild/ship/src/branch/main/docs"
    assert link in guild.visit("ada").get(path).text
    for name in ("ben", "dora"):
        page = guild.visit(name).get(path).text
        assert "See ada/diary#1." in page
        assert link not in page


def test_a_relative_link_in_an_issue_leads_to_a_file_of_the_default_branch(guild: OrganizationFixture) -> None:
    """There is no other directory it could be relative to."""
    issue = {"title": "First", "body": "[read me](README.md)"}
    assert guild.api.post("/repos/guild/ship/issues", json=issue).status_code == 201
    page = guild.visit("ben").get("/guild/ship/issues/1").text
    assert 'href="/guild/ship/src/branch/main/README.md"' in page
