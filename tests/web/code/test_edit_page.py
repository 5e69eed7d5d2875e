"""The form that creates and edits files."""

from typing import Any

import httpx
import pytest

from holdfast.web.code import edit_page
from tests.hosting.api.file_helpers import POINTER, commit_all
from tests.hosting.api_clients import PASSWORD, ServiceClients
from tests.hosting.git_client import Git
from tests.web.browser import visitor
from tests.web.code.page_helpers import NOTES_URL, form_field, raw_file, textarea_content


def test_a_file_is_created_changed_and_moved(clients: ServiceClients, git: Git, ada: httpx.Client) -> None:
    """Each change is one commit with the message of the form; CRLF of the form is LF in the file."""
    form = ada.get(f"{NOTES_URL}/_new/main/dir?path=a")
    assert form_field(form.text, "path") == "dir/a"
    typed: dict[str, Any] = {"path": "dir/new file.txt", "content": "one\r\ntwo & <three>\r\n", "target": "here"}
    response = ada.post(f"{NOTES_URL}/_new/main/dir", data=typed | {"message": "Begin it", "telling": "because"})
    assert (response.status_code, response.headers["location"]) == (
        303,
        f"{NOTES_URL}/src/branch/main/dir/new%20file.txt",
    )
    assert raw_file(clients, "dir/new file.txt") == b"one\ntwo & <three>\n"
    commit = clients.anonymous.get("/repos/ada/Notes/commits").json()[0]["commit"]
    assert commit["message"] == "Begin it\n\nbecause\n"
    assert commit["author"]["name"] == "ada"

    page = ada.get(f"{NOTES_URL}/_edit/main/dir/new file.txt").text
    assert textarea_content(page) == "one\ntwo & <three>\n"
    typed = {"path": "moved.txt", "content": "\r\nother\r\n", "sha": form_field(page, "sha"), "target": "here"}
    seen = ada.post(f"{NOTES_URL}/_edit/main/dir/new file.txt", data=typed | {"action": "preview"})
    assert seen.status_code == 200
    assert "- one" in seen.text
    assert textarea_content(seen.text) == "\r\nother\r\n"
    moved = ada.post(f"{NOTES_URL}/_edit/main/dir/new file.txt", data=typed)
    assert moved.headers["location"] == f"{NOTES_URL}/src/branch/main/moved.txt"
    assert raw_file(clients, "moved.txt") == b"\nother\n"
    assert clients.open("").get(f"{NOTES_URL}/raw/branch/main/dir/new file.txt").status_code == 404
    assert "File moved.txt saved." in ada.get(moved.headers["location"]).text


def test_a_file_keeps_its_line_endings(clients: ServiceClients, git: Git, ada: httpx.Client) -> None:
    """A file with CRLF line endings still has them after an edit."""
    (git.folder / "dos.txt").write_bytes(b"a\r\nb\r\n")
    commit_all(git, "dos")
    git("push", "-q", "origin", "main")
    page = ada.get(f"{NOTES_URL}/_edit/main/dos.txt").text
    typed = {"path": "dos.txt", "content": "a\r\nc\r\n", "sha": form_field(page, "sha"), "target": "here"}
    ada.post(f"{NOTES_URL}/_edit/main/dos.txt", data=typed | {"lines_end": form_field(page, "lines_end")})
    assert raw_file(clients, "dos.txt") == b"a\r\nc\r\n"


@pytest.mark.parametrize("is_preview", [False, True])
def test_an_edit_of_a_deleted_branch_keeps_the_typed_text(
    clients: ServiceClients, git: Git, ada: httpx.Client, *, is_preview: bool
) -> None:
    """A branch may be deleted by a merge meanwhile: the text can be committed to a new one."""
    git("push", "-q", "origin", "main:fix")
    page = ada.get(f"{NOTES_URL}/_edit/fix/README.md").text
    assert ada.post(f"{NOTES_URL}/branches/delete", data={"name": "fix"}).status_code == 303
    typed = {"path": "README.md", "content": "# Mine <b>\n", "sha": form_field(page, "sha"), "message": "Mine"}
    action = {"action": "preview"} if is_preview else {}
    response = ada.post(f"{NOTES_URL}/_edit/fix/README.md", data=typed | {"target": "here"} | action)
    assert response.status_code == 409
    assert "The branch was deleted while you were editing" in response.text
    assert textarea_content(response.text) == "# Mine <b>\n"
    assert '+ <span class="h"># Mine' in response.text
    again = {name: form_field(response.text, name) for name in ("path", "sha", "message", "new_branch")}
    assert (again["message"], again["new_branch"]) == ("Mine", "ada-patch-1")
    data = again | {"content": "# Mine <b>\n", "target": "new"}
    assert f'action="{NOTES_URL}/_edit/main/README.md"' in response.text
    saved = ada.post(f"{NOTES_URL}/_edit/main/README.md", data=data)
    assert saved.headers["location"] == f"{NOTES_URL}/src/branch/ada-patch-1/README.md"
    assert raw_file(clients, "README.md", "ada-patch-1") == b"# Mine <b>\n"
    assert raw_file(clients, "README.md") != b"# Mine <b>\n"


@pytest.mark.parametrize("path", ["dir/new.txt", "dir/.git/config", ""])
def test_a_new_file_of_a_deleted_branch_keeps_the_typed_text(
    clients: ServiceClients, git: Git, ada: httpx.Client, path: str
) -> None:
    """It can be created in the default branch or a new one; an invalid path is refused there."""
    git("push", "-q", "origin", "main:fix")
    assert ada.post(f"{NOTES_URL}/branches/delete", data={"name": "fix"}).status_code == 303
    typed = {"path": path, "content": "new\n", "target": "here"}
    response = ada.post(f"{NOTES_URL}/_new/fix/dir", data=typed)
    assert response.status_code == 409
    assert textarea_content(response.text) == "new\n"
    assert form_field(response.text, "path") == path
    assert f'action="{NOTES_URL}/_new/main"' in response.text
    saved = ada.post(f"{NOTES_URL}/_new/main", data=typed)
    if path == "dir/new.txt":
        assert saved.headers["location"] == f"{NOTES_URL}/src/branch/main/dir/new.txt"
        assert raw_file(clients, path) == b"new\n"
    else:
        assert saved.status_code == 422
        assert textarea_content(saved.text) == "new\n"


def test_a_conflicting_edit_keeps_the_typed_text(clients: ServiceClients, git: Git, ada: httpx.Client) -> None:
    """The page shows what changed, and offers to commit to a new branch, to replace the file, or to start over."""
    page = ada.get(f"{NOTES_URL}/_edit/main/README.md").text
    mine = {"path": "README.md", "content": "# Mine <b>\n", "sha": form_field(page, "sha"), "message": "Mine"}
    ada.post(f"{NOTES_URL}/_edit/main/README.md", data=mine | {"content": "# Theirs\n", "message": "Faster"})

    conflict = ada.post(f"{NOTES_URL}/_edit/main/README.md", data=mine | {"target": "here"})
    assert conflict.status_code == 409
    for words in (
        "Somebody else changed",
        "Faster",
        '- <span class="h"># Notes',
        '+ <span class="h"># Theirs',
        "Start over",
    ):
        assert words in conflict.text
    assert textarea_content(conflict.text) == "# Mine <b>\n"
    assert raw_file(clients, "README.md") == b"# Theirs\n"
    assert form_field(conflict.text, "message") == "Mine"

    stored = mine | {name: form_field(conflict.text, name) for name in ("sha", "new_branch")}
    aside = ada.post(f"{NOTES_URL}/_edit/main/README.md", data=stored | {"target": "new"})
    assert aside.headers["location"] == f"{NOTES_URL}/src/branch/ada-patch-1/README.md"
    assert raw_file(clients, "README.md", "ada-patch-1") == b"# Mine <b>\n"
    assert raw_file(clients, "README.md") == b"# Theirs\n"
    over = ada.post(f"{NOTES_URL}/_edit/main/README.md", data=stored | {"target": "here"})
    assert over.status_code == 303
    assert raw_file(clients, "README.md") == b"# Mine <b>\n"


def test_a_deleted_file_can_be_created_again(clients: ServiceClients, git: Git, ada: httpx.Client) -> None:
    """The form of a file that was deleted meanwhile offers to create the file."""
    page = ada.get(f"{NOTES_URL}/_edit/main/README.md").text
    mine = {"path": "README.md", "content": "# Mine\n", "sha": form_field(page, "sha"), "target": "here"}
    ada.post(f"{NOTES_URL}/_delete/main/README.md", data={"sha": mine["sha"]})
    conflict = ada.post(f"{NOTES_URL}/_edit/main/README.md", data=mine)
    assert conflict.status_code == 409
    assert "deleted or moved" in conflict.text
    assert f'action="{NOTES_URL}/_new/main"' in conflict.text
    assert ada.post(f"{NOTES_URL}/_new/main", data=mine | {"sha": ""}).status_code == 303
    assert raw_file(clients, "README.md") == b"# Mine\n"


def test_a_first_file_can_be_written_here(clients: ServiceClients) -> None:
    """The first file creates the default branch of an empty repository."""
    clients.account("ada")
    clients.anonymous.post("/user/repos", json={"name": "Notes"}, auth=("ada", PASSWORD))
    ada = visitor(clients, "ada")
    assert "first commit" in ada.get(f"{NOTES_URL}/_new/main?path=README.md").text
    response = ada.post(f"{NOTES_URL}/_new/main", data={"path": "README.md", "content": "# Hello\n"})
    assert response.headers["location"] == f"{NOTES_URL}/src/branch/main/README.md"
    assert "Hello</h2>" in ada.get(NOTES_URL).text
    assert ada.get(f"{NOTES_URL}/_new/other").status_code == 404


def test_an_invalid_edit_is_refused_and_keeps_the_typed_text(
    clients: ServiceClients, git: Git, ada: httpx.Client
) -> None:
    """An invalid path, a path that exists and a NUL byte are refused."""
    for path, message in (
        ("README.md", "There is already a file named README.md. Your text is kept below."),
        ("README.md/x", "a subdirectory: README.md. Your text is kept below."),
        ("../.git/config", "Path contains a malformed path component: ../.git/config."),
        (".git", "Path contains a malformed path component: .git."),
        ("", "Path"),
    ):
        refused = ada.post(f"{NOTES_URL}/_new/main", data={"path": path, "content": "kept <b>"})
        assert refused.status_code == 422, path
        assert message in refused.text
        assert "[path" not in refused.text
        assert textarea_content(refused.text) == "kept <b>"
    with_nul = ada.post(f"{NOTES_URL}/_new/main", data={"path": "x", "content": "a\0b"})
    assert with_nul.status_code == 422


def test_binary_files_cannot_be_edited(
    clients: ServiceClients, git: Git, ada: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Binary files, LFS pointers and files that are too large have no form; a directory is not found."""
    (git.folder / "b.bin").write_bytes(b"\xff\0")
    (git.folder / "pointer").write_text(POINTER)
    commit_all(git, "more")
    git("push", "-q", "origin", "main")
    assert "not text" in ada.get(f"{NOTES_URL}/_edit/main/b.bin").text
    assert "outside of git" in ada.get(f"{NOTES_URL}/_edit/main/pointer").text
    for path in ("dir", "nothing", "main", ""):
        assert ada.get(f"{NOTES_URL}/_edit/main/{path}").status_code == 404
    assert ada.get(f"{NOTES_URL}/_edit/nowhere/README.md").status_code == 404
    monkeypatch.setattr(edit_page, "LARGEST", 3)
    assert "too large" in ada.get(f"{NOTES_URL}/_edit/main/README.md").text


def test_changing_a_file_does_not_move_one_with_a_line_break_in_its_name(
    clients: ServiceClients, git: Git, ada: httpx.Client
) -> None:
    """An input field drops the line break of the path, and that is not a new path."""
    (git.folder / "two\nlines.txt").write_text("one\n")
    commit_all(git, "Two lines")
    git("push", "-q", "origin", "main")
    form = ada.get(f"{NOTES_URL}/_edit/main/two%0Alines.txt").text
    sent = {
        "path": form_field(form, "path").replace("\n", ""),
        "content": "two\n",
        "sha": form_field(form, "sha"),
        "target": "here",
    }
    saved = ada.post(f"{NOTES_URL}/_edit/main/two%0Alines.txt", data=sent)
    assert saved.status_code == 303, saved.text
    assert raw_file(clients, "two%0Alines.txt") == b"two\n"
    assert clients.open("").get(f"{NOTES_URL}/raw/branch/main/twolines.txt").status_code == 404
