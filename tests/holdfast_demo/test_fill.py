"""The demo content of the first start, read over the API and with git."""

import re
import time
from pathlib import Path

import httpx
import pytest

from holdfast_demo import almanac, demo_issues, harbour
from holdfast_demo.client import pointer_to
from holdfast_demo.drawings import view_png
from holdfast_demo.people import EVERYBODY
from tests.hosting.git_client import Git
from tests.server_process import run_server, server_url

SECONDS = 60


def total(client: httpx.Client, path: str) -> int:
    """Return the total count of a list from the header of its first page."""
    response = client.get(path)
    assert response.status_code == 200, response.text
    return int(response.headers["X-Total-Count"])


@pytest.mark.long
def test_the_first_start_creates_the_demo_content(tmp_path: Path) -> None:
    """The pages work meanwhile; in the end everything is there, and no token is left behind."""
    with run_server(tmp_path / "data", "--demo") as (process, banner):
        password = re.search(r"password (\S+) \(shown", banner)
        assert password is not None
        with httpx.Client(base_url=server_url(banner), auth=("admin", password[1])) as client:
            assert client.get("/").status_code == 200
            assert process.stderr is not None
            log = ""
            deadline = time.monotonic() + SECONDS
            while "demo content" not in log and time.monotonic() < deadline:
                log += process.stderr.readline()
            assert "demo content created" in log
            assert password[1] not in log
            assert "webhook delivery" not in log
            check_content(client)
            check_webhook(client)
            check_conversations(client)
            clone(server_url(banner), tmp_path)


def check_content(client: httpx.Client) -> None:
    """Check over the API how many repositories, issues and users there are."""
    client.base_url = client.base_url.join("/api/v1")
    assert client.get("/users/admin/tokens").json() == []
    assert total(client, "/admin/users") == 1 + len(EVERYBODY)
    assert total(client, "/orgs/tidewater/public_members") == len(EVERYBODY)
    assert {team["name"] for team in client.get("/orgs/tidewater/teams").json()} == {"Owners", "Keepers", "Watch"}
    assert total(client, "/orgs/tidewater/repos") == 2
    assert total(client, "/orgs/tidewater/labels") == len(demo_issues.LABELS)
    for name, branches, issues in (
        ("harbour", harbour.PUSHED_BRANCHES, demo_issues.HARBOUR),
        ("almanac", almanac.PUSHED_BRANCHES, demo_issues.ALMANAC),
    ):
        repository = f"/repos/tidewater/{name}"
        assert {branch["name"] for branch in client.get(f"{repository}/branches").json()} == set(branches)
        assert total(client, f"{repository}/issues?state=all") == len(issues)
        assert total(client, f"{repository}/issues?state=closed") == sum(bool(issue.closed_by) for issue in issues)
        assert total(client, f"{repository}/issues/comments") == sum(len(issue.comments) for issue in issues)
    graph = client.get("/repos/tidewater/harbour/issues/2/dependencies/graph").json()
    assert [(node["repository"], node["number"]) for node in graph["nodes"]] == [
        ("tidewater/harbour", 2),
        ("tidewater/almanac", 4),
        ("tidewater/almanac", 1),
    ]
    assert total(client, "/repos/tidewater/harbour/issues?ready=false") == 4
    assert total(client, "/repos/tidewater/harbour/milestones?state=all") == len(demo_issues.MILESTONES)
    assert total(client, "/repos/tidewater/harbour/tags") == 9
    newest = client.get("/repos/tidewater/harbour/commits?limit=1").json()[0]
    assert newest["author"]["login"] in {person.name for person in EVERYBODY}


def check_webhook(client: httpx.Client) -> None:
    """Check that the webhook is inactive: its address is refused, so whatever it was sent would fail."""
    (hook,) = client.get("/orgs/tidewater/hooks").json()
    assert not hook["active"]
    assert {"push", "issues"} <= set(hook["events"])
    renamed = client.patch("/repos/tidewater/harbour/issues/1", json={"title": "The ferry is late"})
    assert renamed.status_code == 201
    assert total(client, f"/orgs/tidewater/hooks/{hook['id']}/deliveries") == 0


def check_conversations(client: httpx.Client) -> None:
    """Check that the administrator can read the conversations in a repository, and that others cannot."""
    assert total(client, "/repos/maren/conversations/commits") == 3
    page = client.get(f"{client.base_url.copy_with(path='/')}maren/conversations/src/branch/main/phone.binproto")
    assert page.status_code == 200
    assert "This file is a chat backup" in page.text
    assert httpx.get(page.url).status_code in {303, 404}


def clone(root: str, tmp_path: Path) -> None:
    """Clone as a stranger, with the submodule, and fetch the large file."""
    git = Git(tmp_path / "work")
    git("clone", "--quiet", f"{root}/tidewater/harbour.git", "harbour")
    git = Git(tmp_path / "work" / "harbour")
    assert git("fsck", "--strict", "--full") == ""
    assert int(git("rev-list", "--count", "--all")) > 300
    assert len(git("shortlog", "-s", "--all").splitlines()) == len(EVERYBODY)
    oldest, newest = (int(git("log", "-1", "--format=%ct", which)) for which in ("v0.1", "main"))
    assert 0 < time.time() - newest < 14 * 86_400 < newest - oldest
    git("submodule", "update", "--quiet", "--init")
    assert (git.folder / "almanac" / "sun.csv").is_file()
    assert git.folder.joinpath("docs", "index.md").resolve() == git.folder / "README.md"
    assert git.folder.joinpath("scripts", "harbour").stat().st_mode & 0o111
    for picture in re.findall(r"!\[[^]]+\]\(([^)]+)\)", (git.folder / "README.md").read_text()):
        assert (git.folder / picture).read_text().startswith("<svg")

    oid = pointer_to(view_png()).oid
    assert oid in git("show", "main:docs/view.png")
    objects = f"{root}/tidewater/harbour.git/info/lfs/objects"
    payload = {"operation": "download", "objects": [{"oid": oid, "size": len(view_png())}]}
    headers = {"Accept": "application/vnd.git-lfs+json"}
    response = httpx.post(f"{objects}/batch", json=payload, headers=headers).json()
    assert httpx.get(response["objects"][0]["actions"]["download"]["href"]).content == view_png()
