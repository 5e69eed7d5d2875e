"""The form that deletes a file."""

import os
from pathlib import Path

import httpx

from tests.hosting.api.file_helpers import commit_all
from tests.hosting.api_clients import ServiceClients
from tests.hosting.git_client import Git
from tests.web.code.page_helpers import NOTES_URL, form_field, raw_file


def test_a_file_is_deleted_when_it_is_still_the_same(clients: ServiceClients, git: Git, ada: httpx.Client) -> None:
    """A file that was changed after the form was opened is not deleted until the form is sent again."""
    page = ada.get(f"{NOTES_URL}/_delete/main/README.md").text
    old = form_field(page, "sha")
    ada.post(f"{NOTES_URL}/_edit/main/README.md", data={"path": "README.md", "content": "new\n", "sha": old})
    refused = ada.post(f"{NOTES_URL}/_delete/main/README.md", data={"sha": old, "message": "Away"})
    assert refused.status_code == 422
    assert "has changed since you opened the page" in refused.text
    assert form_field(refused.text, "message") == "Away"
    assert raw_file(clients, "README.md") == b"new\n"
    sent = {"sha": form_field(refused.text, "sha"), "message": "Away"}
    gone = ada.post(f"{NOTES_URL}/_delete/main/README.md", data=sent)
    assert (gone.status_code, gone.headers["location"]) == (303, f"{NOTES_URL}/src/branch/main")
    assert ada.get(f"{NOTES_URL}/src/branch/main/README.md").status_code == 404
    assert clients.anonymous.get("/repos/ada/Notes/commits").json()[0]["commit"]["message"] == "Away\n"


def test_a_link_and_the_last_file_of_a_folder_can_be_deleted(
    clients: ServiceClients, git: Git, ada: httpx.Client
) -> None:
    """A directory, a submodule and a path without a file cannot be deleted."""
    for path in ("link", "dir/sub/file.txt"):
        sha = form_field(ada.get(f"{NOTES_URL}/_delete/main/{path}").text, "sha")
        assert ada.post(f"{NOTES_URL}/_delete/main/{path}", data={"sha": sha}).status_code == 303
    for path in ("dir", "lib", "nothing", "link"):
        assert ada.get(f"{NOTES_URL}/_delete/main/{path}").status_code == 404
        assert ada.post(f"{NOTES_URL}/_delete/main/{path}", data={"sha": "0" * 40}).status_code == 404


def test_a_file_whose_name_is_not_utf8_can_be_deleted(
    clients: ServiceClients, git: Git, ada: httpx.Client
) -> None:
    """The URLs of the file and of its form contain the bytes of the name, percent-encoded."""
    path = f"{git.folder}/caf".encode() + b"\xe9"
    Path(os.fsdecode(path)).write_text("latin\n")
    commit_all(git, "odd")
    git("push", "-q", "origin", "main")
    assert "_delete/main/caf%E9" in ada.get(f"{NOTES_URL}/src/branch/main/caf%E9").text
    sha = form_field(ada.get(f"{NOTES_URL}/_delete/main/caf%E9").text, "sha")
    assert ada.post(f"{NOTES_URL}/_delete/main/caf%E9", data={"sha": sha}).status_code == 303
    assert clients.anonymous.get("/repos/ada/Notes/raw/caf%E9").status_code == 404
    assert ada.get(f"{NOTES_URL}/_edit/main/caf%E9").status_code == 404
