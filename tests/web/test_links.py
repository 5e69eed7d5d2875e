"""Links of all pages, followed to check that none is broken."""

import base64
import re
from html import unescape
from urllib.parse import urljoin, urlsplit

import httpx
import pytest

from holdfast.hosting.store import accounts, sessions
from tests.hosting.api_clients import ServiceClients
from tests.web.organization_fixture import OrganizationFixture

LINK = re.compile(r'<(?:a|link|script|img|iframe)\b[^>]*?\b(?:href|src)="?([^"\s>]+)')
MOST_PAGES = 1000
# Each of these would lead to the same pages once more.
NOT_FOLLOWED = re.compile(r"[?&](?:page|sort|state|line|view|q|label|depth)=|^/api/|/archive/|/avatars/|^/static/")


def fill(guild: OrganizationFixture) -> None:
    """Create one of each thing that pages link to."""
    api = guild.api
    text = "See #1, #99, guild/ship#2, guild/ship#98, @ada and @nobody-of-that-name.\n\n[relative](docs/a.md)"
    for path, content in (("docs/a.md", "# A\n"), ("README2.md", text), ("src/deep/b.py", "x = 1\n")):
        body = {"content": base64.b64encode(content.encode()).decode(), "message": f"Add {path}, see #1 and #97"}
        assert api.post(f"/repos/guild/ship/contents/{path}", json=body).status_code == 201
    api.post("/repos/guild/ship/branches", json={"new_branch_name": "topic"})
    api.post("/repos/guild/ship/tags", json={"tag_name": "v1"})
    api.post("/repos/guild/ship/labels", json={"name": "bug", "color": "d73a4a"})
    api.post("/repos/guild/ship/milestones", json={"title": "Season"})
    for title in ("First", "Second"):
        issue = {"title": title, "body": text, "labels": [1], "assignees": ["ada"], "milestone": 1}
        assert api.post("/repos/guild/ship/issues", json=issue).status_code == 201
    api.post("/repos/guild/ship/issues/1/comments", json={"body": text})
    api.post("/repos/guild/ship/issues/1/dependencies", json={"owner": "guild", "repo": "ship", "index": 2})
    api.post("/repos/guild/ship/branch_protections", json={"rule_name": "main"})
    hook = {"type": "gitea", "config": {"url": "http://127.0.0.1:9/", "content_type": "json"}, "events": ["push"]}
    for home in ("/repos/guild/ship", "/orgs/guild", "/user"):
        assert api.post(f"{home}/hooks", json=hook).status_code == 201


def links_of(response: httpx.Response) -> set[str]:
    """Return the links of a page to the same site."""
    results = {urljoin(str(response.url), unescape(link)) for link in LINK.findall(response.text)}
    parts = [urlsplit(item) for item in results]
    here = response.url.netloc.decode()
    return {f"{one.path}{f'?{one.query}' if one.query else ''}" for one in parts if one.netloc == here}


@pytest.mark.long
def test_every_link_of_every_page_works(guild: OrganizationFixture, clients: ServiceClients) -> None:
    """No page that an administrator reaches by links from the home page has an error status."""
    fill(guild)
    user = accounts.find_user(clients.database, "ada")
    accounts.change_account(clients.database, user, is_admin=True)
    client = clients.open("", Accept="text/html")
    client.cookies.set(sessions.COOKIE, sessions.start_session(clients.database, user, days=1).reveal())
    seen, waiting, dead = {"/"}, ["/"], []
    while waiting:
        assert len(seen) < MOST_PAGES, waiting
        path = waiting.pop()
        answer = client.get(path)
        if answer.status_code >= 400:
            dead.append((path, answer.status_code))
        if not answer.headers.get("content-type", "").startswith("text/html") or NOT_FOLLOWED.search(path):
            continue
        target = {urlsplit(answer.headers["location"]).path} if "location" in answer.headers else links_of(answer)
        new = sorted(target - seen)
        seen.update(new)
        waiting += new
    assert dead == []
    issue, file = "/guild/ship/issues/1", "/guild/ship/src/branch/main/src/deep/b.py"
    assert {issue, file, "/guild/ship/settings/hooks/1", "/-/account/hooks/3", "/-/admin/users/eve"} <= seen
