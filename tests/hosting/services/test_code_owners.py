"""Code owners: matching of rules, review requests and required approvals."""

from base64 import b64encode
from pathlib import Path

import httpx
import pytest

from holdfast.hosting.access import Actor, RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.git.repository import open_repository
from holdfast.hosting.services import code_owners, pull_comparisons, pulls, repositories
from holdfast.hosting.services.code_owners import LARGEST, CodeOwners, parse, read_rules, rules_for
from holdfast.hosting.store.accounts import find_user
from holdfast.hosting.store.repositories import find_repository
from tests.conftest import wait_for
from tests.hosting.api_clients import ServiceClients
from tests.hosting.git.oracle import commit, new_repository
from tests.hosting.repository_helpers import (
    READ,
    let_in,
    make_organization,
    make_people,
    make_repository,
    make_team,
)

GITEA = r"""
# a comment
.*\.go @ann @crew/hands
docs/.* @bea # and why
!src/.* @cid
*.js @broken
src/nobody
"""
GITHUB = """
* @ann
*.md @bea
/docs/ @cid
src/*.go @dan
build
lib/* @eve
apps/web @fay
"""


def owners(text: str, *paths: str, is_github: bool = False) -> list[str]:
    """Return the owners of paths."""
    owner_rules = rules_for(parse(text, is_github=is_github), paths, last_counts=is_github)
    return [name for rule in owner_rules for name in rule.owners]


def test_all_rules_that_match_count_in_giteas_syntax() -> None:
    """A pattern matches a whole path, and an invalid line is ignored."""
    assert owners(GITEA, "src/a.go") == ["ann", "crew/hands"]
    assert owners(GITEA, "docs/a.go") == ["ann", "crew/hands", "bea", "cid"]
    assert owners(GITEA, "src/x/docs/a", "src/a.js") == []
    assert owners(GITEA, "src/nobody") == []


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("x", "ann"),
        ("a/b.md", "bea"),
        ("docs/b.md", "cid"),
        ("a/docs/x", "ann"),
        ("src/a.go", "dan"),
        ("src/b/a.go", "ann"),
        ("lib/a", "eve"),
        ("lib/a/b", "ann"),
        ("apps/web/a/b", "fay"),
    ],
)
def test_the_last_rule_that_matches_counts_in_githubs_syntax(path: str, name: str) -> None:
    """Patterns are those of `.gitignore`, and a rule without owners removes the owners of earlier rules."""
    assert owners(GITHUB, path, is_github=True) == [name]
    assert owners(GITHUB, "build/x", is_github=True) == []


def test_a_path_without_a_rule_has_no_owners() -> None:
    """A path that no rule matches has no owners in GitHub's syntax or in Gitea's."""
    assert owners("*.md @bea", "x", is_github=True) == []
    assert owners(r".*\.md @bea", "x") == []


def test_the_first_file_with_rules_counts(tmp_path: Path) -> None:
    """Rules are read from the first CODEOWNERS file that is not too large.

    Those of `.github/CODEOWNERS` have GitHub's syntax, in which only the last rule that matches applies.
    """
    folder = new_repository(tmp_path / "ship.git")

    def read(files: dict[bytes, bytes | None]) -> tuple[list[tuple[str, ...]], bool]:
        commit_id = commit(folder, files)
        rules, last_counts = read_rules(open_repository(folder), commit_id)
        return [tuple(rule.owners) for rule in rules], last_counts

    assert read({b"README.md": b"# Ship"}) == ([], False)
    assert read({b".github/CODEOWNERS": b"* @ann"}) == ([("ann",)], True)
    assert read({b"docs/CODEOWNERS": b".* @bea"}) == ([("bea",)], False)
    largest = b".* @cid\n".ljust(LARGEST, b"#")
    assert read({b"CODEOWNERS": largest}) == ([("cid",)], False)
    assert read({b"CODEOWNERS": largest + b"#"}) == ([("bea",)], False)


def write(client: httpx.Client, path: str, text: str, branch: str, new: str = "") -> None:
    """Write a file."""
    body = {"content": b64encode(text.encode()).decode(), "branch": branch, "new_branch": new}
    assert client.post(f"/repos/ada/ship/contents/{path}", json=body).status_code == 201


def test_code_owners_are_requested_and_one_has_to_approve(clients: ServiceClients, app: App) -> None:
    """Code owners of the changed files are requested, except the author and those who have reviewed already."""
    ada = clients.user("ada")
    ada.post("/user/repos", json={"name": "ship", "auto_init": True, "default_branch": "main"})
    ship = find_repository(clients.database, "ada", "ship")
    people = {name: clients.account(name) for name in ("bob", "eve")}
    let_in(clients.database, ship, people["bob"], 2)
    write(ada, ".gitea/CODEOWNERS", "hull.* @bob @ada\nmast @eve @bob\nsail @nobody\nkeel @ada\n", "main")
    for path in ("hull.txt", "sail", "keel"):
        write(ada, path, "x\n", "fix" if path != "hull.txt" else "main", "fix" if path == "hull.txt" else "")
    ada.post("/repos/ada/ship/pulls", json={"title": "t", "head": "fix", "base": "main"})
    owner = find_user(app.database, "ada")
    home = find_repository(app.database, "ada", "ship")
    target = RepositoryAccess(home, repositories.permissions_in(app, Actor(owner), home))
    issue = pulls.find(app, target, 1)

    def asked() -> list[str]:
        shown = ada.get("/repos/ada/ship/pulls/1").json()["requested_reviewers"]
        return [item["login"] for item in shown]

    assert asked() == ["bob"]
    head = ada.get("/repos/ada/ship/branches/fix").json()["commit"]["id"]
    both = CodeOwners(frozenset({people["bob"].id, owner.id}), frozenset())
    assert code_owners.missing_approvals(app, home, issue, head, None) == [both]
    ada.post("/repos/ada/ship/branch_protections", json={"rule_name": "main", "block_on_codeowner_reviews": True})
    refused = ada.post("/repos/ada/ship/pulls/1/merge", json={"do": "merge"})
    assert (refused.status_code, "code owners" in refused.json()["message"]) == (405, True)
    bob = clients.with_token(people["bob"])
    assert bob.post("/repos/ada/ship/pulls/1/reviews", json={"event": "APPROVED"}).status_code == 200
    assert code_owners.missing_approvals(app, home, issue, head, None) == []
    write(ada, "mast", "x\n", "fix")
    pull_comparisons.compare_outdated(app, home.id)
    # The task of the service may be at it at the same time.
    wait_for(lambda: asked() == ["eve"])
    pull_comparisons.compare_outdated(app, home.id)
    code_owners.request_reviews(app, owner, home, issue)
    assert asked() == ["eve"]
    assert ada.post("/repos/ada/ship/pulls/1/merge", json={"do": "merge"}).status_code == 200


def test_a_team_owns_files_and_one_of_its_members_approves(clients: ServiceClients, app: App) -> None:
    """Teams that cannot read the repository or do not exist are not requested as reviewers."""
    ada, bob = clients.user("ada"), clients.account("bob")
    ada.post("/orgs", json={"username": "fleet"})
    ada.post("/orgs/fleet/repos", json={"name": "ship", "auto_init": True, "default_branch": "main"})
    teams = {}
    for name in ("crew", "cooks"):
        body = {"name": name, "permission": "write", "units": ["repo.code", "repo.pulls"]}
        teams[name] = ada.post("/orgs/fleet/teams", json=body).json()["id"]
        ada.put(f"/teams/{teams[name]}/members/bob")
    ada.put(f"/teams/{teams['crew']}/repos/fleet/ship")

    def put(path: str, text: str, branch: str, new: str = "") -> None:
        body = {"content": b64encode(text.encode()).decode(), "branch": branch, "new_branch": new}
        assert ada.post(f"/repos/fleet/ship/contents/{path}", json=body).status_code == 201

    put("CODEOWNERS", "hull @fleet/crew @fleet/cooks @fleet/nobody\n", "main")
    put("hull", "x\n", "main", "fix")
    pull = ada.post("/repos/fleet/ship/pulls", json={"title": "t", "head": "fix", "base": "main"}).json()
    shown = ada.get("/repos/fleet/ship/pulls/1").json()
    assert [team["name"] for team in shown["requested_reviewers_teams"]] == ["crew"]
    home = find_repository(app.database, "fleet", "ship")
    target = RepositoryAccess(home, repositories.permissions_in(app, Actor(bob), home))
    issue = pulls.find(app, target, 1)
    owners = CodeOwners(frozenset(), frozenset({teams["crew"]}))
    assert code_owners.missing_approvals(app, home, issue, pull["head"]["sha"], None) == [owners]
    member = clients.with_token(bob)
    assert member.post("/repos/fleet/ship/pulls/1/reviews", json={"event": "APPROVED"}).status_code == 200
    assert code_owners.missing_approvals(app, home, issue, pull["head"]["sha"], None) == []


def test_a_user_and_a_team_of_one_name_own_different_files(app: App) -> None:
    """The team does not own what the user owns, and teams of other organizations own nothing."""
    ann, bea = make_people(app.database, "ann", "bea")
    crew = make_organization(app.database, "crew", ann)
    ship = make_repository(app.database, crew)
    make_team(app.database, crew, "Ann", [bea], mode=READ, places=(ship,))
    rules = parse("a @ann\nb @Crew/ann\nc @other/ann\nd @nobody", is_github=False)
    of_user, of_team = code_owners.owners_of(app, ship, rules)
    assert of_user == CodeOwners(frozenset({ann.id}), frozenset())
    assert (of_team.users, len(of_team.teams)) == (frozenset(), 1)
