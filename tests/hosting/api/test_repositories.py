"""The repository endpoints: create, edit, rename, archive, transfer and delete."""

import pytest

from holdfast.hosting.store import repositories
from tests.hosting.api_clients import ServiceClients
from tests.hosting.repository_helpers import READ, make_team


def test_a_new_repository_is_empty_and_its_makers_own(clients: ServiceClients) -> None:
    """A new repository shows its permissions, its clone URL and its state."""
    ada = clients.user("ada")
    response = ada.post("/user/repos", json={"name": "Notes", "description": "What I know"})
    assert response.status_code == 201
    shown = ada.get("/repos/ADA/notes").json()
    assert shown == response.json()
    assert (shown["full_name"], shown["empty"], shown["private"]) == ("ada/Notes", True, False)
    assert shown["permissions"] == {"admin": True, "push": True, "pull": True}
    assert shown["clone_url"].endswith("/ada/Notes.git")
    never = "1970-01-01T00:00:00Z"
    assert (shown["mirror_updated"], shown["mirror_last_sync_at"]) == (never, never)


def test_auto_init_makes_a_first_commit_with_a_readme(clients: ServiceClients) -> None:
    """The first commit is on the requested default branch, and its only file is the README."""
    ada = clients.user("ada")
    body = {"name": "notes", "auto_init": True, "default_branch": "trunk", "description": "What I know"}
    repo = ada.post("/user/repos", json=body).json()
    assert (repo["empty"], repo["default_branch"], repo["branch_count"]) == (False, "trunk", 1)
    (commit,) = ada.get("/repos/ada/notes/commits").json()
    assert (commit["parents"], commit["author"]["login"]) == ([], "ada")
    assert [item["name"] for item in ada.get("/repos/ada/notes/contents").json()] == ["README.md"]
    assert ada.get("/repos/ada/notes/raw/README.md").text == "# notes\n\nWhat I know\n"


@pytest.mark.parametrize(
    ("name", "status"),
    [
        *(("", 422), ("..", 422), (".", 422), ("a/b", 422), ("a b", 422), ("x" * 101, 422), ("notes.git", 422)),
        *(("nötes", 422), ("a\x00b", 422), ("notes.wiki", 422), ("-", 422), ("NOTES", 409), ("notes", 409)),
    ],
)
def test_invalid_names_are_refused(clients: ServiceClients, name: str, status: int) -> None:
    """Names that are invalid in a URL give 422, and a taken name in any case gives 409."""
    ada = clients.user("ada")
    assert ada.post("/user/repos", json={"name": "notes"}).status_code == 201
    assert ada.post("/user/repos", json={"name": name}).status_code == status


def test_a_taken_name_is_named_in_the_error(clients: ServiceClients) -> None:
    """Creating, renaming, generating and forking say that the repository exists, in words clients search for."""
    ada, bob = clients.user("ada"), clients.user("bob")
    ada.post("/orgs", json={"username": "crew"})
    for path in ("/user/repos", "/orgs/crew/repos"):
        for name in ("notes", "ship"):
            ada.post(path, json={"name": name, "auto_init": True, "template": True})
    generated = {"owner": "ada", "name": "ship", "git_content": True}
    bob.post("/user/repos", json={"name": "notes"})
    for refused in (
        ada.post("/user/repos", json={"name": "notes"}),
        ada.post("/orgs/crew/repos", json={"name": "Notes"}),
        clients.admin.post("/admin/users/ada/repos", json={"name": "notes"}),
        ada.patch("/repos/ada/ship", json={"name": "notes"}),
        ada.post("/repos/ada/notes/generate", json=generated),
        bob.post("/repos/ada/notes/forks", json={}),
    ):
        assert refused.status_code == 409
        assert refused.json()["message"] == "The repository with the same name already exists."


def test_a_private_repository_is_not_found_by_others(clients: ServiceClients) -> None:
    """Users who may not see a private repository get 404 for every request, and no list has it."""
    ada, eve = clients.user("ada"), clients.user("eve")
    ada.post("/user/repos", json={"name": "diary", "private": True})
    for who in (eve, clients.anonymous):
        assert who.get("/repos/ada/diary").status_code == 404
        assert who.patch("/repos/ada/diary", json={"private": False}).status_code == 404
        assert who.delete("/repos/ada/diary").status_code == 404
        assert who.get("/users/ada/repos").json() == []
        assert who.get("/repos/search", params={"q": "diary"}).json()["data"] == []
    assert clients.admin.get("/repos/ada/diary").json()["private"] is True


def test_a_rename_leaves_a_redirect_until_the_name_is_taken(clients: ServiceClients) -> None:
    """Requests to the former name are redirected with their query."""
    ada = clients.user("ada")
    ada.post("/user/repos", json={"name": "notes"})
    assert ada.patch("/repos/ada/notes", json={"name": "journal"}).json()["full_name"] == "ada/journal"
    moved = clients.anonymous.get("/repos/ada/notes/topics", params={"page": "2"})
    assert moved.status_code == 301
    assert moved.headers["location"] == f"{clients.service.url}/api/v1/repos/ada/journal/topics?page=2"
    ada.post("/user/repos", json={"name": "notes"})
    assert clients.anonymous.get("/repos/ada/notes").json()["name"] == "notes"


def test_settings_are_changed_by_administrators_only(clients: ServiceClients) -> None:
    """A collaborator with write access may not change settings, but one with admin access may."""
    ada, bob = clients.user("ada"), clients.user("bob")
    ada.post("/user/repos", json={"name": "notes"})
    assert bob.patch("/repos/ada/notes", json={"has_issues": False}).status_code == 403
    for permission, status in (("write", 403), ("admin", 200)):
        assert ada.put("/repos/ada/notes/collaborators/bob", json={"permission": permission}).status_code == 204
        assert bob.patch("/repos/ada/notes", json={"has_issues": False}).status_code == status
        assert ada.get("/repos/ada/notes").json()["has_issues"] is (status == 403)
    assert bob.delete("/repos/ada/notes").status_code == 403
    assert bob.patch("/repos/ada/notes", json={"private": True}).status_code == 422


def test_absent_keys_keep_their_value(clients: ServiceClients) -> None:
    """An edit changes only the fields in the body."""
    ada = clients.user("ada")
    before = ada.post("/user/repos", json={"name": "notes", "description": "old"}).json()
    tracker = {"enable_issue_dependencies": False}
    after = ada.patch(
        "/repos/ada/notes", json={"website": "https://example.org", "internal_tracker": tracker}
    ).json()
    assert after["internal_tracker"]["enable_issue_dependencies"] is False
    assert after["website"] == "https://example.org"
    same = {key: value for key, value in after.items() if key not in {"website", "internal_tracker", "updated_at"}}
    assert same == {key: before[key] for key in same}


def test_archiving_is_undone_by_unarchiving(clients: ServiceClients) -> None:
    """An archived repository shows the time of archiving, and is read-only until it is unarchived."""
    ada = clients.user("ada")
    ada.post("/user/repos", json={"name": "notes"})
    archived = ada.patch("/repos/ada/notes", json={"archived": True}).json()
    assert (archived["archived"], archived["archived_at"] > "2020") == (True, True)
    assert ada.put("/repos/ada/notes/topics", json={"topics": ["a"]}).status_code == 423
    assert ada.patch("/repos/ada/notes", json={"archived": False}).json()["archived_at"] == "1970-01-01T00:00:00Z"
    assert ada.put("/repos/ada/notes/topics", json={"topics": ["a"]}).status_code == 204


def test_deleting_removes_the_row_and_the_folder(clients: ServiceClients) -> None:
    """Deleting removes the repository and its folder, and the id is never used again."""
    ada = clients.user("ada")
    first = ada.post("/user/repos", json={"name": "notes"}).json()
    folders = clients.service.settings.data / "repositories"
    assert ada.get("/repos/ada/notes/branches").status_code == 200
    assert len(list(folders.glob("*/*.git"))) == 1
    assert ada.delete("/repos/ada/notes").status_code == 204
    assert ada.get("/repos/ada/notes").status_code == 404
    assert list(folders.glob("*/*.git")) == []
    assert ada.post("/user/repos", json={"name": "notes"}).json()["id"] > first["id"]


def test_an_administrator_transfers_a_repository_to_any_user(clients: ServiceClients) -> None:
    """An administrator transfers a repository to any user at once; an unknown user gives 404."""
    ada = clients.user("ada")
    clients.user("bob")
    ada.post("/user/repos", json={"name": "notes"})
    assert ada.post("/repos/ada/notes/transfer", json={"new_owner": "nobody"}).status_code == 404
    given = clients.admin.post("/repos/ada/notes/transfer", json={"new_owner": "bob"})
    assert (given.status_code, given.json()["full_name"]) == (202, "bob/notes")
    assert ada.get("/repos/ada/notes").status_code == 301


def test_lists_are_paged_with_their_headers(clients: ServiceClients) -> None:
    """The headers of a page have the total and links to the other pages."""
    ada = clients.user("ada")
    for number in range(5):
        ada.post("/user/repos", json={"name": f"r{number}"})
    response = ada.get("/user/repos", params={"limit": 2, "page": 2})
    assert [item["name"] for item in response.json()] == ["r2", "r3"]
    assert response.headers["x-total-count"] == "5"
    address = f"{clients.service.url}/api/v1/user/repos?limit=2&page="
    assert response.headers["link"] == (
        f'<{address}3>; rel="next",<{address}3>; rel="last",<{address}1>; rel="first",<{address}1>; rel="prev"'
    )
    result = clients.anonymous.get("/repos/search", params={"q": "R3"}).json()
    assert (result["ok"], [entry["name"] for entry in result["data"]]) == (True, ["r3"])


def test_a_transferred_repository_loses_the_labels_of_its_former_owner(clients: ServiceClients) -> None:
    """Issues lose labels of the former organization and keep those of the repository."""
    ada = clients.user("ada")
    ada.post("/orgs", json={"username": "acme"})
    label = ada.post("/orgs/acme/labels", json={"name": "bug", "color": "#ff0000"}).json()["id"]
    ada.post("/orgs/acme/repos", json={"name": "notes"})
    own = ada.post("/repos/acme/notes/labels", json={"name": "own", "color": "#00ff00"}).json()["id"]
    ada.post("/repos/acme/notes/issues", json={"title": "x", "labels": [label, own]})
    assert ada.post("/repos/acme/notes/transfer", json={"new_owner": "ada"}).status_code == 202
    stored = ada.get("/repos/ada/notes/issues/1").json()["labels"]
    assert [item["name"] for item in stored] == ["own"]


@pytest.mark.parametrize(
    ("unit", "seen"),
    [
        ("repo.code", {"branch_count": 2, "open_issues_count": 0, "open_pr_counter": 0}),
        ("repo.issues", {"branch_count": 0, "open_issues_count": 1, "open_pr_counter": 0}),
        ("repo.pulls", {"branch_count": 0, "open_issues_count": 0, "open_pr_counter": 1}),
    ],
)
def test_counts_of_units_without_access_are_hidden(
    clients: ServiceClients, unit: str, seen: dict[str, int]
) -> None:
    """A user with access to one unit of a private repository does not see counts of other units."""
    ada, bob = clients.user("ada"), clients.account("bob")
    ada.post("/orgs", json={"username": "guild"})
    ada.post("/orgs/guild/repos", json={"name": "ship", "private": True, "auto_init": True})
    ada.post("/repos/guild/ship/branches", json={"new_branch_name": "fix", "old_ref_name": "main"})
    ada.post("/repos/guild/ship/issues", json={"title": "It leaks"})
    ada.post("/repos/guild/ship/pulls", json={"title": "Caulk it", "head": "fix", "base": "main"})
    whole = ada.get("/repos/guild/ship").json()
    assert (whole["branch_count"], whole["open_issues_count"], whole["open_pr_counter"]) == (2, 1, 1)
    repository = repositories.find_repository(clients.database, "guild", "ship")
    make_team(clients.database, repository.owner, "some", [bob], units={unit: READ}, places=(repository,))
    shown = clients.with_token(bob).get("/repos/guild/ship").json()
    assert {name: shown[name] for name in seen} == seen
