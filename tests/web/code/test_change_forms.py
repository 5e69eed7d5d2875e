"""Branches, protection and permissions in all forms that change files."""

import httpx

from tests.hosting.api_clients import ServiceClients
from tests.hosting.git_client import Git
from tests.web.browser import visitor
from tests.web.code.page_helpers import NOTES_URL, form_field, raw_file, textarea_content


def test_a_new_branch_takes_the_change(clients: ServiceClients, git: Git, ada: httpx.Client) -> None:
    """The base branch stays as it is; an invalid name is refused, and the typed text is kept."""
    page = ada.get(f"{NOTES_URL}/_edit/feature/x/README.md").text
    assert form_field(page, "new_branch") == "ada-patch-1"
    typed = {"path": "README.md", "content": "# Other\n", "sha": form_field(page, "sha"), "target": "new"}
    for name in ("bad name", "", "main"):
        refused = ada.post(f"{NOTES_URL}/_edit/feature/x/README.md", data=typed | {"new_branch": name})
        assert refused.status_code in {409, 422}, name
        assert textarea_content(refused.text) == "# Other\n"
        assert 'role="alert"' in refused.text
    response = ada.post(f"{NOTES_URL}/_edit/feature/x/README.md", data=typed | {"new_branch": "fix/it"})
    assert response.headers["location"] == f"{NOTES_URL}/src/branch/fix/it/README.md"
    assert raw_file(clients, "README.md", "fix/it") == b"# Other\n"
    assert raw_file(clients, "README.md", "feature/x") == b"# Notes\n"


def test_a_protected_branch_is_reported_before_an_edit(clients: ServiceClients, git: Git) -> None:
    """Every form says that the branch is protected, and has a new branch selected."""
    clients.account("writer")
    clients.admin.put("/repos/ada/Notes/collaborators/writer", json={"permission": "write"})
    clients.admin.post("/repos/ada/Notes/branch_protections", json={"rule_name": "main", "enable_push": False})
    writer = visitor(clients, "writer")
    for form in ("_new/main", "_edit/main/README.md", "_delete/main/README.md", "_upload/main"):
        page = writer.get(f"{NOTES_URL}/{form}").text
        assert "is protected" in page, form
        assert 'value="new" checked' in page
    refused = writer.post(f"{NOTES_URL}/_new/main", data={"path": "x", "content": "kept", "target": "here"})
    assert refused.status_code == 403
    assert textarea_content(refused.text) == "kept"
    assert "is protected" not in writer.get(f"{NOTES_URL}/_new/feature/x").text


def test_only_writers_change_files(clients: ServiceClients, git: Git) -> None:
    """Visitors log in first, readers get status 403 or a fork, and an archived repository has status 423."""
    clients.account("reader")
    for form in ("_new/main", "_edit/main/README.md", "_delete/main/README.md", "_upload/main"):
        response = visitor(clients).get(f"{NOTES_URL}/{form}")
        assert response.status_code == 303
        assert response.headers["location"].startswith("/login?next=%2Fada%2FNotes%2F_")
        response = visitor(clients, "reader").get(f"{NOTES_URL}/{form}")
        assert (response.status_code, "Fork this repository" in response.text) in ((403, False), (200, True))
        assert (response.status_code == 200) == form.startswith("_edit/")
        assert visitor(clients, "reader").post(f"{NOTES_URL}/{form}", data={"path": "x"}).status_code == 403
        assert visitor(clients).post(f"{NOTES_URL}/{form}", data={"path": "x"}).status_code in {303, 401}
    clients.admin.patch("/repos/ada/Notes", json={"private": True})
    assert visitor(clients).get(f"{NOTES_URL}/_new/main").status_code == 404
    assert visitor(clients, "reader").post(f"{NOTES_URL}/_new/main", data={"path": "x"}).status_code == 404
    clients.admin.patch("/repos/ada/Notes", json={"archived": True})
    assert visitor(clients, "ada").get(f"{NOTES_URL}/_new/main").status_code == 423
    before = git("rev-parse", "main")
    assert clients.admin.get("/repos/ada/Notes/branches/main").json()["commit"]["id"] == before


def test_readers_edit_a_file_in_a_fork(clients: ServiceClients, git: Git) -> None:
    """The page of a file has the button for readers, but not for visitors, commits or archived repositories."""
    clients.account("reader")
    at, button = f"{NOTES_URL}/src/branch/main/README.md", f'href="{NOTES_URL}/_edit/main/README.md"'
    reader = visitor(clients, "reader")
    page = reader.get(at).text
    assert f'{button} title="Fork this repository and edit the file">Edit</a>' in page
    assert "_delete/" not in page
    assert f"{button}>Edit</a>" in visitor(clients, "ada").get(at).text
    assert "_edit/" not in visitor(clients).get(at).text
    assert "_edit/" not in reader.get(f"{NOTES_URL}/src/commit/{git('rev-parse', 'main')}/README.md").text
    clients.admin.patch("/repos/ada/Notes", json={"archived": True})
    assert "_edit/" not in reader.get(at).text
