"""The pages of a repository, its directories and its files."""

import re
from html import unescape
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from tests.hosting.api.file_helpers import LARGE, OID, commit_all
from tests.hosting.api_clients import PASSWORD, ServiceClients
from tests.hosting.dependency_helpers import counting_queries
from tests.hosting.git_client import Git
from tests.web.browser import visitor
from tests.web.code.hostile import BRANCH, EVIL, NAMES, make_hostile

AT = "/ada/Notes"
PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20
PDF = b"%PDF-1.4\n"


def links(page: str) -> list[str]:
    """Return the link targets of a page."""
    return [unescape(item) for item in re.findall(r'<a [^>]*?href="?([^" >]+)', page)]


def test_the_first_page_shows_the_files(clients: ServiceClients, git: Git) -> None:
    """The page has the last commit, the clone URL, counts of commits and refs, and the README."""
    page = visitor(clients).get(AT)
    assert page.status_code == 200
    for words in (
        "README.md",
        "second",
        "2 Jan 2025",
        f"{clients.service.url}/ada/Notes.git",
        "<strong>2</strong> commits",
        "<strong>2</strong> branches",
        "<strong>2</strong> tags",
        "feature/x",
        "Notes</h2>",
    ):
        assert words in page.text, words
    assert page.text.index(">dir<") < page.text.index(">README.md<"), "directories come first"
    assert "Add file" not in page.text
    assert len(page.content) < 200_000


def test_every_link_of_a_page_works(clients: ServiceClients, git: Git, ada: httpx.Client) -> None:
    """Every link that the owner sees on pages of the code is answered with status 200."""
    seen: set[str] = set()
    for page in (
        AT,
        f"{AT}/src/branch/main/dir/sub",
        f"{AT}/src/branch/feature/x/README.md",
        f"{AT}/src/tag/v2.0/README.md",
    ):
        seen |= {link for link in links(ada.get(page).text) if link.startswith(AT) and "/issues" not in link}
    assert len(seen) > 30
    for link in sorted(seen):
        if not link.startswith(f"{AT}/settings"):
            assert ada.get(link).status_code == 200, link


def test_a_file_is_shown_with_its_lines(clients: ServiceClients, git: Git) -> None:
    """Lines are numbered and highlighted, and Markdown has a rendered view and a source view."""
    (git.folder / "go.py").write_text("def go():\n    return '<here>'\n")
    commit_all(git, "third")
    git("push", "-q", "origin", "main")
    page = visitor(clients).get(f"{AT}/src/branch/main/go.py").text
    assert "<span id=L2><a href=#L2 tabindex=-1>2</a>" in page
    assert '<span class="k">def</span>' in page
    assert "&lt;here&gt;" in page
    for button in ("Raw", "Download", "Blame", "History", "Permalink"):
        assert f">{button}</a>" in page
    assert ">Edit</a>" not in page
    lasting = git("rev-parse", "HEAD")
    assert f'href="{AT}/src/commit/{lasting}/go.py"' in page
    # Markdown is shown rendered, with a switch to how it was written.
    site = visitor(clients)
    assert "Notes</h2>" in site.get(f"{AT}/src/branch/main/README.md").text
    source = site.get(f"{AT}/src/branch/main/README.md?view=source").text
    assert '<span class="h"># Notes</span>' in source
    assert 'aria-current="true">Source' in source


SHOWN = {
    "p.png": (PNG, f'<img src="{AT}/raw/branch/main/p.png"'),
    "p.svg": (b"<svg onload='alert(1)'></svg>", f'<img src="{AT}/raw/branch/main/p.svg"'),
    "p.pdf": (PDF, f'<iframe class="pdf-viewer" src="{AT}/raw/branch/main/p.pdf"'),
    "p.ogg": (b"OggS\0" + b"\0" * 40, f'src="{AT}/raw/branch/main/p.ogg"'),
    "p.bin": (b"\0\1\2", "Binary file not shown"),
    "p.txt": (b"a\n" * 1_500_000, "too large to display"),
    "p.min.js": (b"x" * 30_000, "cut here"),
    "empty": (b"", "This file is empty"),
}


def test_what_is_not_text_is_shown_as_what_it_is(clients: ServiceClients, git: Git) -> None:
    """Media files are shown in the page under a policy that runs nothing; a submodule is not found."""
    for name, (content, _) in SHOWN.items():
        (git.folder / name).write_bytes(content)
    commit_all(git, "third")
    git("push", "-q", "origin", "main")
    site = visitor(clients)
    for name, (_, words) in SHOWN.items():
        page = site.get(f"{AT}/src/branch/main/{name}")
        assert page.status_code == 200
        assert words in page.text
        assert len(page.content) < 200_000
        policy = page.headers["content-security-policy"]
        assert ("frame-src 'self'" in policy) == (name == "p.pdf")
        assert "onload" not in page.text
        raw = site.get(f"{AT}/raw/branch/main/{name}")
        assert name == "p.ogg" or "default-src 'none'" in raw.headers["content-security-policy"]
    # A link is not followed, and a submodule leads nowhere.
    assert "dir/sub" in site.get(f"{AT}/src/branch/main/link").text
    assert site.get(f"{AT}/src/tag/v2.0/lib").status_code == 404


def test_an_lfs_object_is_shown_through_its_pointer(clients: ServiceClients, git: Git) -> None:
    """A pointer whose object was not uploaded is reported; a path missing on another branch is explained."""
    site = visitor(clients)
    missing = site.get(f"{AT}/src/branch/main/large.bin").text
    assert "has not been uploaded" in missing
    clients.open("/ada/Notes.git/info/lfs", "ada").put(f"/objects/{OID}/{len(LARGE)}", content=LARGE)
    there = site.get(f"{AT}/src/branch/main/large.bin").text
    assert f'href="{AT}/media/branch/main/large.bin"' in there
    assert "Git LFS" in there
    # A path another branch lacks is explained, with the way to what is there.
    page = site.get(f"{AT}/src/branch/feature/x/run")
    assert page.status_code == 404
    assert "File not found" in page.text
    assert f'href="{AT}/src/branch/feature/x"' in page.text


def test_a_long_text_is_shown_in_pages(clients: ServiceClients, git: Git) -> None:
    """Every page is below 200 kB, and the pages together have every line once and in order."""
    (git.folder / "long.py").write_text("".join(f"value_{number} = {number}\n" for number in range(9_000)))
    commit_all(git, "third")
    git("push", "-q", "origin", "main")
    site, at, seen = visitor(clients), f"{AT}/src/branch/main/long.py", list[int]()
    page = site.get(at)
    for _ in range(20):
        assert len(page.content) < 200_000
        seen += map(int, re.findall(r"<span id=L(\d+)>", page.text))
        after = re.search(r'href="(\?view=source&amp;line=\d+)">Next lines', page.text)
        if after is None:
            break
        page = site.get(at + unescape(after[1]))
    assert seen == list(range(1, 9_001))


def test_an_empty_repository_says_how_to_begin(clients: ServiceClients) -> None:
    """The owner sees the commands and a link to a first file; a visitor reads that nothing was pushed."""
    clients.account("ada")
    clients.anonymous.post("/user/repos", json={"name": "new"}, auth=("ada", PASSWORD))
    page = visitor(clients, "ada").get("/ada/new").text
    assert f"git clone {clients.service.url}/ada/new.git" in page
    assert 'href="/ada/new/_new/main?path=README.md"' in page
    stranger = visitor(clients).get("/ada/new").text
    assert "Nothing has been pushed yet" in stranger
    assert "_new" not in stranger


def test_only_writers_see_how_to_write(clients: ServiceClients, git: Git) -> None:
    """Writers see the links on a branch, but not on a tag and not in an archived repository."""
    clients.account("reader")
    clients.account("writer")
    clients.admin.put("/repos/ada/Notes/collaborators/writer", json={"permission": "write"})
    page = f"{AT}/src/branch/main/README.md"
    for link in (">Edit</a>", ">Delete</a>"):
        assert link in visitor(clients, "writer").get(page).text
    assert ">Delete</a>" not in visitor(clients, "reader").get(page).text
    assert ">Edit</a>" not in visitor(clients, "writer").get(f"{AT}/src/tag/v1.0/README.md").text
    clients.admin.patch("/repos/ada/Notes", json={"archived": True})
    assert ">Edit</a>" not in visitor(clients, "writer").get(page).text


def test_users_without_access_to_code_are_redirected_to_issues(clients: ServiceClients) -> None:
    """Other pages of the code have status 403; for users without any access the repository is not found."""
    clients.account("clerk")
    clients.account("stranger")
    clients.admin.post("/orgs", json={"username": "tidewater"})
    clients.admin.post("/orgs/tidewater/repos", json={"name": "plans", "private": True})
    team = {"name": "clerks", "permission": "read", "units_map": {"repo.issues": "read"}}
    data = clients.admin.post("/orgs/tidewater/teams", json=team).json()
    clients.admin.put(f"/teams/{data['id']}/members/clerk")
    clients.admin.put(f"/teams/{data['id']}/repos/tidewater/plans")
    response = visitor(clients, "clerk").get("/tidewater/plans")
    assert (response.status_code, response.headers["location"]) == (303, "/tidewater/plans/issues")
    assert visitor(clients, "clerk").get("/tidewater/plans/branches").status_code == 403
    assert visitor(clients, "stranger").get("/tidewater/plans").status_code == 404
    assert visitor(clients).get("/tidewater/plans").status_code == 404


def test_names_and_texts_are_escaped(clients: ServiceClients, tmp_path: Path) -> None:
    """Pages of a repository with hostile names have none of their markup, and their links to files work."""
    git = make_hostile(clients, tmp_path)
    site, root = visitor(clients, "ada"), "/ada/hostile"
    commit = git("rev-parse", "HEAD")
    branch = quote(BRANCH)
    pages = [
        root,
        f"{root}/src/branch/{branch}",
        f"{root}/src/branch/main/%3Ci%3Edir%0A",
        f"{root}/src/tag/t%22%3Cb%3E",
        f"{root}/commits/branch/{branch}",
        f"{root}/commit/{commit}",
        f"{root}/compare/main...{branch}",
        f"{root}/branches",
        f"{root}/tags",
        *(f"{root}/{page}/branch/main/{quote(name)}" for page in ("src", "blame", "commits") for name in NAMES),
        *(f"{root}/_delete/main/{quote(name)}" for name in NAMES[:4]),
        *(f"{root}/_edit/main/{quote(name)}" for name in NAMES[:4]),
    ]
    seen: set[str] = set()
    for address in pages:
        response = site.get(address)
        assert response.status_code == 200, address
        assert EVIL not in response.text
        assert "<b>" not in response.text
        assert "<img>" not in response.text
        assert 'href="javascript' not in response.text
        assert len(response.content) < 200_000
        seen |= {link for link in links(response.text) if link.startswith((f"{root}/src", f"{root}/raw"))}
    for link in sorted(seen):
        assert site.get(link).status_code == 200, link


def test_the_number_of_queries_of_a_page_is_bounded(
    clients: ServiceClients, git: Git, ada: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every page takes at most 15 queries with 60 files in the repository."""
    for number in range(60):
        (git.folder / f"file-{number}").write_text("x")
    commit_all(git, "many")
    git("push", "-q", "origin", "main")
    for address in (
        *(AT, f"{AT}/src/branch/main/run", f"{AT}/commits/branch/main", f"{AT}/blame/branch/main/run"),
        *(f"{AT}/branches", f"{AT}/tags", f"{AT}/compare/v1.0...main", f"{AT}/_edit/main/README.md", "/"),
        *("/-/explore?q=n", "/-/search?q=n"),
    ):
        with counting_queries(clients.database, monkeypatch) as queries:
            assert ada.get(address).status_code == 200
        assert len(queries) <= 15, (address, len(queries))
