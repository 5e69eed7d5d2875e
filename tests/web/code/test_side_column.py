"""The side column of a repository's first page."""

import httpx

from holdfast.web.code.side_column import shares_of
from tests.hosting.api_clients import ServiceClients
from tests.hosting.git_client import Git
from tests.web.browser import visitor


def test_shares_add_up_and_small_languages_are_put_together() -> None:
    """The parts of the bar follow each other, and the last ones are grouped as other."""
    sizes = {"Python": 500, "C": 300, "Go": 100, "Rust": 50, "Lua": 20, "Perl": 15, "Awk": 10, "Tcl": 5}
    shares = shares_of(sizes)
    assert [(share.name, share.percent, round(share.start)) for share in shares] == [
        ("Python", 50.0, 0),
        ("C", 30.0, 50),
        ("Go", 10.0, 80),
        ("Rust", 5.0, 90),
        ("Lua", 2.0, 95),
        ("Perl", 1.5, 97),
        ("Other", 1.5, 98),
    ]
    assert shares_of({}) == []
    assert shares_of({"Empty": 0}) == []


def test_the_first_page_tells_about_the_repository(clients: ServiceClients, git: Git, ada: httpx.Client) -> None:
    """The page has the description, linked topics, languages and the latest release."""
    api = clients.open("/api/v1", "ada")
    api.patch("/repos/ada/Notes", json={"description": "Tides & <b>winds</b>", "website": "https://example.org"})
    api.put("/repos/ada/Notes/topics", json={"topics": ["sea-charts", "tides"]})
    (git.folder / "tide.py").write_text("high = 1\n")
    git("add", "-A")
    git("commit", "-qm", "tide")
    git("push", "-q", "origin", "main")
    page = ada.get("/ada/Notes").text
    assert "Tides &amp; &lt;b&gt;winds" in page
    assert "No releases published." in page
    assert "/ada/Notes/releases/new" in page
    assert "<strong>Python</strong>" in page
    assert 'href="/-/explore?topic=sea-charts"' in page
    assert "/ada/Notes" in ada.get("/-/explore?topic=sea-charts").text
    assert "/ada/Notes" not in ada.get("/-/explore?topic=sea").text
    api.post("/repos/ada/Notes/releases", json={"tag_name": "v7", "name": "Seventh"})
    visited = visitor(clients).get("/ada/Notes").text
    assert "Seventh" in visited
    assert "/ada/Notes/releases/tag/v7" in visited
    assert "/ada/Notes/releases/new" not in visited
    # Only the first page has it.
    assert "About this repository" not in visitor(clients).get("/ada/Notes/src/branch/main/dir").text


def test_contributors_are_listed(clients: ServiceClients, git: Git, ada: httpx.Client) -> None:
    """Contributors with an account are linked, names are escaped, and email addresses are not shown."""
    api = clients.open("/api/v1", "ada")
    email = api.get("/user").json()["email"]
    for number in range(12):
        name = 'Bea & "co" crew' if number < 2 else f"Helper {number}"
        for author in (f"{name} <{len(name)}{max(number, 1)}@elsewhere.example>", f"Ada <{email}>"):
            git("commit", "-q", "--allow-empty", "-m", "x", f"--author={author}")
    git("push", "-q", "origin", "main")
    side = ada.get("/ada/Notes").text.partition("Contributors")[2].partition("</section>")[0]
    assert side.index('href="/ada"') < side.index("Bea &amp; &#34;co&#34; crew")
    assert "2 commits" in side
    assert side.count("<li>") == 8
    shown = int(side.partition('class="badge">')[2].partition("<")[0])
    assert f"And {shown - 8} more." in side
    assert "elsewhere.example" not in side


def test_an_account_with_several_addresses_is_listed_once(
    clients: ServiceClients, git: Git, ada: httpx.Client
) -> None:
    """Commits made on the website have another address than those that were pushed."""
    me = clients.open("/api/v1", "ada").get("/user").json()
    addresses = (me["email"], f"{me['id']}+ada@noreply.localhost")
    for author in [f"Ada <{address}>" for address in addresses] * 8 + ["Bea <bea@elsewhere.example>"] * 13:
        git("commit", "-q", "--allow-empty", "-m", "x", f"--author={author}")
    git("push", "-q", "origin", "main")
    side = ada.get("/ada/Notes").text.partition("Contributors")[2].partition("</section>")[0]
    assert side.count('href="/ada"') == 1
    assert int(side.partition('class="badge">')[2].partition("<")[0]) == side.count("<li>")
    # Together they are the most, and neither address alone has as many.
    assert side.index('href="/ada"') < side.index("Bea")


def test_a_private_account_is_not_linked(clients: ServiceClients, git: Git, ada: httpx.Client) -> None:
    """Visitors see the author name of the commits without a link, and administrators the link."""
    clients.account("hid", visibility="private")
    git("commit", "-q", "--allow-empty", "-m", "x", "--author=Hidden <hid@example.org>")
    git("push", "-q", "origin", "main")
    pages = {name: visitor(clients, name).get("/ada/Notes").text for name in (None, "admin")}
    sides = {name: page.partition("Contributors")[2].partition("</section>")[0] for name, page in pages.items()}
    assert "Hidden" in sides[None]
    assert 'href="/hid"' not in sides[None]
    assert 'href="/hid"' in sides["admin"]
    assert ada.get("/ada/Notes").status_code == 200
