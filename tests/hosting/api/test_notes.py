"""The git notes endpoint."""

import subprocess
from pathlib import Path

import httpx

from tests.hosting.api_clients import ServiceClients

HOME = "/repos/ada/ship"


def test_a_pushed_note_is_shown(clients: ServiceClients, tmp_path: Path) -> None:
    """A note is found by commit or branch; a commit without a note and a private repository give 404."""
    ada = clients.user("ada")
    repo = ada.post("/user/repos", json={"name": "ship", "auto_init": True, "private": True}).json()
    head = ada.get(f"{HOME}/branches/main").json()["commit"]["id"]
    assert ada.get(f"{HOME}/git/notes/{head}").status_code == 404
    push_note(ada, repo["clone_url"], tmp_path, head)
    shown = ada.get(f"{HOME}/git/notes/{head}")
    assert shown.status_code == 200
    assert (shown.json()["message"], shown.json()["commit"]["sha"]) == ("Sails well\n", head)
    assert ada.get(f"{HOME}/git/notes/main").json() == shown.json()
    assert "files" not in ada.get(f"{HOME}/git/notes/main", params={"files": "false"}).json()["commit"]
    assert ada.get(f"{HOME}/git/notes/nowhere").status_code == 404
    assert clients.user("eve").get(f"{HOME}/git/notes/{head}").status_code == 404


def push_note(ada: httpx.Client, url: str, folder: Path, commit: str) -> None:
    """Write a note about a commit with git, and push it."""
    token = ada.headers["authorization"].split()[1]
    address = url.replace("://", f"://{token}:x-oauth-basic@")
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    copy = folder / "copy"
    subprocess.run(["git", "clone", "-q", address, str(copy)], check=True)
    for command in (
        (*who, "notes", "add", "-m", "Sails well", commit),
        ("push", "-q", "origin", "refs/notes/commits"),
    ):
        subprocess.run(["git", *command], cwd=copy, check=True)
