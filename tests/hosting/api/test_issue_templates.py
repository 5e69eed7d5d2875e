"""The issue template endpoints."""

from base64 import b64encode

import httpx

from tests.hosting.api_clients import ServiceClients

BUG = b"---\nname: Bug\nabout: It is wrong\nlabels: [bug]\n---\nWhat?\n"


def commit(client: httpx.Client, files: dict[str, bytes]) -> None:
    """Commit files to Ada's repository."""
    entries = [
        {"operation": "create", "path": path, "content": b64encode(content).decode()}
        for path, content in files.items()
    ]
    response = client.post("/repos/ada/ship/contents", json={"files": entries})
    assert response.status_code == 201, response.text


def test_templates_are_those_of_the_first_folder_that_has_any(clients: ServiceClients) -> None:
    """Unreadable and too large templates, other files and `config.yml` are skipped; the rest is sorted by name."""
    ada = clients.user("ada")
    ada.post("/user/repos", json={"name": "ship"})
    assert ada.get("/repos/ada/ship/issue_templates").json() == []
    assert ada.get("/repos/ada/ship/issue_config").json() == {"blank_issues_enabled": True, "contact_links": []}
    commit(
        ada,
        {
            ".gitea/ISSUE_TEMPLATE/broken.yaml": b"name: [",
            ".gitea/ISSUE_TEMPLATE/notes.txt": b"x",
            ".github/ISSUE_TEMPLATE/bug.md": BUG,
            ".github/ISSUE_TEMPLATE/large.md": b"x" * 70_000,
            ".github/ISSUE_TEMPLATE/folder.md/x": b"x",
            ".github/ISSUE_TEMPLATE/idea.yml": (
                b"name: Idea\nabout: Something new\nbody: [{type: textarea, id: what, attributes: {label: What}}]"
            ),
            ".github/ISSUE_TEMPLATE/config.yml": b"blank_issues_enabled: false",
            ".gitlab/ISSUE_TEMPLATE/other.md": BUG,
        },
    )
    response = clients.anonymous.get("/repos/ada/ship/issue_templates")
    assert response.status_code == 200
    bug, idea = response.json()
    assert bug == {
        "name": "Bug",
        "title": "",
        "about": "It is wrong",
        "labels": ["bug"],
        "assignees": [],
        "ref": "",
        "content": "What?\n",
        "body": [],
        "file_name": ".github/ISSUE_TEMPLATE/bug.md",
    }
    assert (idea["name"], idea["content"]) == ("Idea", "")
    assert idea["body"] == [
        {
            "type": "textarea",
            "id": "what",
            "attributes": {"label": "What"},
            "validations": {},
            "visible": ["form", "content"],
        }
    ]
    assert ada.get("/repos/ada/ship/issue_config").json() == {"blank_issues_enabled": False, "contact_links": []}
    assert ada.get("/repos/ada/ship/issue_config/validate").json() == {"valid": True, "message": ""}


def test_settings_that_cannot_be_read_count_as_none_and_say_why(clients: ServiceClients) -> None:
    """Invalid settings have the default values, and the validation says what is wrong with them."""
    ada = clients.user("ada")
    ada.post("/user/repos", json={"name": "ship"})
    assert ada.get("/repos/ada/ship/issue_config/validate").json() == {"valid": True, "message": ""}
    commit(ada, {".gitea/issue_template/config.yaml": b"blank_issues_enabled: maybe"})
    assert ada.get("/repos/ada/ship/issue_config").json() == {"blank_issues_enabled": True, "contact_links": []}
    assert ada.get("/repos/ada/ship/issue_config/validate").json() == {
        "valid": False,
        "message": "'blank_issues_enabled' must be true or false",
    }
    commit(ada, {".forgejo/issue_template/config.yaml": b"blank_issues_enabled: false"})
    assert not ada.get("/repos/ada/ship/issue_config/validate").json()["valid"]
