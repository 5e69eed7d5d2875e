"""Templates of .gitignore files, licenses and labels, and repositories created with them."""

import base64
import datetime

from tests.hosting.api_clients import ServiceClients


def test_gitignore_templates_are_listed_and_shown(clients: ServiceClients) -> None:
    """Templates for `.gitignore` are found by their exact names."""
    names = clients.anonymous.get("/gitignore/templates").json()
    assert {"Go", "Python"} <= set(names)
    shown = clients.anonymous.get("/gitignore/templates/Python").json()
    assert shown["name"] == "Python"
    assert "__pycache__/" in shown["source"]
    for name in ("None", "..%2FPython", "python.gitignore"):
        assert clients.anonymous.get(f"/gitignore/templates/{name}").status_code == 404


def test_licenses_are_listed_and_shown(clients: ServiceClients) -> None:
    """Licenses are found by their SPDX identifiers in upper or lower case."""
    listed = {item["key"]: item for item in clients.anonymous.get("/licenses").json()}
    assert listed["MIT"]["name"] == "MIT License"
    assert listed["MIT"]["url"].endswith("/api/v1/licenses/MIT")
    shown = clients.anonymous.get("/licenses/mit").json()
    assert (shown["key"], "Permission is hereby granted" in shown["body"]) == ("MIT", True)
    assert clients.anonymous.get("/licenses/none").status_code == 404


def test_sets_of_labels_are_listed_and_shown(clients: ServiceClients) -> None:
    """There is a default set of labels, and an advanced one with exclusive labels."""
    assert clients.anonymous.get("/label/templates").json() == ["Default", "Advanced"]
    shown = clients.anonymous.get("/label/templates/Advanced").json()
    assert {"name", "color", "description", "exclusive"} == set(shown[0])
    assert any(item["exclusive"] for item in shown)
    assert clients.anonymous.get("/label/templates/None").status_code == 404


def test_a_repository_is_created_with_templates(clients: ServiceClients) -> None:
    """The first commit has the license with year and holder, the ignore patterns and the readme."""
    ada = clients.user("ada", full_name="Ada Lovelace")
    body = {"name": "ship", "auto_init": True, "license": "MIT", "gitignores": "Python,Go", "readme": "Default"}
    response = ada.post("/user/repos", json={**body, "issue_labels": "Default"})
    assert response.status_code == 201, response.text

    def text(path: str) -> str:
        return base64.b64decode(ada.get(f"/repos/ada/ship/contents/{path}").json()["content"]).decode()

    year = datetime.datetime.now(datetime.UTC).year
    assert f"Copyright (c) {year} Ada Lovelace" in text("LICENSE")
    assert "__pycache__/" in text(".gitignore")
    assert "# ---> Go" in text(".gitignore")
    assert text("README.md") == "# ship\n"
    assert "bug" in [label["name"] for label in ada.get("/repos/ada/ship/labels").json()]
    assert len(ada.get("/repos/ada/ship/commits").json()) == 1


def test_without_a_first_commit_there_are_only_labels(clients: ServiceClients) -> None:
    """Without `auto_init` a repository gets the labels and stays empty."""
    ada = clients.user("ada")
    body = {"name": "ship", "license": "MIT", "issue_labels": "Advanced"}
    assert ada.post("/user/repos", json=body).json()["empty"] is True
    assert len(ada.get("/repos/ada/ship/labels").json()) > 10


def test_unknown_templates_are_refused(clients: ServiceClients) -> None:
    """The error of an unknown template names the field, and no repository is created."""
    ada = clients.user("ada")
    for field, label in (
        ("license", "License"),
        ("gitignores", "Gitignores"),
        ("issue_labels", "IssueLabels"),
        ("readme", "Readme"),
    ):
        response = ada.post("/user/repos", json={"name": "ship", "auto_init": True, field: "none"})
        assert response.status_code == 422
        assert f"[{label}]" in response.json()["message"]
    many = ",".join(f"t{number}" for number in range(21))
    assert ada.post("/user/repos", json={"name": "ship", "gitignores": many}).status_code == 422
    assert ada.get("/repos/ada/ship").status_code == 404
