"""Helpers that create a repository with files of every kind and commit files with git and the API."""

import base64
import hashlib
import tarfile
from functools import cache
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from holdfast.hosting.store import lfs, repositories
from tests.hosting.api_clients import PASSWORD, ServiceClients
from tests.hosting.git_client import Git, address

__all__ = ["LARGE", "POINTER", "commit_all", "create_file", "make_files", "shape_of"]

LARGE = b"a large file, or so its pointer says\n"
OID = hashlib.sha256(LARGE).hexdigest()
POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{OID}\nsize {len(LARGE)}\n"
DATES = {"GIT_AUTHOR_DATE": "2025-01-02T03:04:05Z", "GIT_COMMITTER_DATE": "2025-01-02T03:04:06Z"}
MODULES = '[submodule "lib"]\n\tpath = lib\n\turl = https://example.org/lib.git\n'


def commit_all(git: Git, message: str, when: str = "2024-05-06T07:08:09+02:00") -> str:
    """Commit everything at a time, and return the commit's id."""
    git("add", "-A")
    git.environment |= {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
    git("commit", "-q", "--allow-empty", "-m", message)
    return git("rev-parse", "HEAD")


@cache
def packed_working_copy() -> bytes:
    """Commit one of everything in a working copy, once per process, and return it as a tar archive."""
    with TemporaryDirectory() as folder:
        git = Git(Path(folder) / "work")
        git("init", "-q", "-b", "main")
        (git.folder / "README.md").write_text("# Notes\n")
        (git.folder / "dir/sub").mkdir(parents=True)
        (git.folder / "dir/sub/file.txt").write_text("deep\n")
        (git.folder / "dir/100% näme?.txt").write_text("odd\n")
        commit_all(git, "first")
        git("tag", "v1.0")
        (git.folder / "empty").write_text("")
        (git.folder / "run").write_text("#!/bin/sh\n")
        (git.folder / "run").chmod(0o755)
        (git.folder / "link").symlink_to("dir/sub")
        (git.folder / "large.bin").write_text(POINTER)
        (git.folder / "dir/sub/file.txt").write_text("deeper\n")
        (git.folder / ".gitmodules").write_text(MODULES)
        git("add", "-A")
        git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},lib")
        git.environment |= DATES
        git("commit", "-qm", "second")
        git("tag", "-am", "the second", "v2.0")
        git("branch", "feature/x", "v1.0")
        packed = BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            archive.add(git.folder, "work")
    return packed.getvalue()


def make_files(clients: ServiceClients, folder: Path, *, private: bool = False) -> Git:
    """Create Ada and her repository `notes` with branches, tags, directories, a link, a program, a submodule."""
    clients.account("ada")
    body = {"name": "Notes", "private": private}
    assert clients.anonymous.post("/user/repos", json=body, auth=("ada", PASSWORD)).status_code == 201
    with tarfile.open(fileobj=BytesIO(packed_working_copy())) as archive:
        archive.extractall(folder, filter="tar")
    git = Git(folder / "work")
    git.environment |= DATES
    git("remote", "add", "origin", address(clients.service.url, "ada", PASSWORD, "ada/Notes"))
    # A pointer without its object cannot be pushed, but older repositories may contain one.
    repository = repositories.find_repository(clients.database, "ada", "notes")
    lfs.link(clients.database, repository, OID, len(LARGE))
    git("push", "-q", "origin", "refs/heads/*:refs/heads/*", "refs/tags/*:refs/tags/*")
    with clients.database.write() as connection:
        lfs.remove_links(connection, repository, [OID])
    return git


def shape_of(
    clients: ServiceClients, git: Git, path: str, ref: str = "branch/main", **more: Any
) -> dict[str, Any]:
    """Return the expected fields of a plain file, without those that are sent on request only."""
    root, sha = clients.service.url, git("rev-parse", f"HEAD:{path}")
    url = f"{root}/api/v1/repos/ada/Notes/contents/{path}?ref={ref.partition('/')[2].replace('/', '%2F')}"
    html, blob = f"{root}/ada/Notes/src/{ref}/{path}", f"{root}/api/v1/repos/ada/Notes/git/blobs/{sha}"
    return {
        "name": path.rpartition("/")[2],
        "path": path,
        "sha": sha,
        "type": "file",
        "mode": "100644",
        "size": int(git("cat-file", "-s", sha)),
        "encoding": None,
        "content": None,
        "target": None,
        "url": url,
        "html_url": html,
        "git_url": blob,
        "download_url": html.replace("/src/", "/raw/"),
        "submodule_git_url": None,
        "_links": {"self": url, "git": blob, "html": html},
    } | more


def create_file(client: httpx.Client, repo: str, path: str, content: str, **body: object) -> httpx.Response:
    """Commit a file through the API."""
    encoded = base64.b64encode(content.encode()).decode()
    response = client.post(f"/repos/{repo}/contents/{path}", json={"content": encoded, **body})
    assert response.status_code == 201, response.text
    return response
