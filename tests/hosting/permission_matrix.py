"""The roles of the permission tests, the repositories and organizations they call, and what they may do there.

What a role may do is written by hand in two tables, so that the tests do not use the code under test.
"""

from dataclasses import dataclass

import httpx

from tests.hosting.api_clients import ServiceClients

__all__ = ["CIRCLES", "PLACES", "ROLES", "InOrganization", "InRepository", "PermissionMatrix", "create_matrix"]

ROLES = (
    *("nobody", "stranger", "restricted", "reader", "writer", "manager", "coder", "triager"),
    *("owner", "admin", "public-only", "scopeless", "reading"),
)
PLACES = {
    "open": "guild/open",
    "archived": "guild/archived",
    "off": "guild/off",
    "closed": "guild/closed",
    "limited": "circle/open",
    "hidden": "cabal/open",
    "own": "owner/own",
}
"""A public repository; one that is archived; one whose code, issues and pull requests are switched off; a private
one; public ones of organizations that are limited and private; and a private one of a person."""
CIRCLES = {"guild": "public", "circle": "limited", "cabal": "private"}

# r read, w write, a administer, o own every unit; C write code, I write issues besides; - nothing.
IN_REPOSITORIES = """
            open  archived  off   closed  limited  hidden  own
nobody      r     r         r     -       -        -       -
stranger    r     r         r     -       r        -       -
restricted  -     -         -     -       -        -       -
reader      r     r         r     r       r        r       r
writer      w     w         w     w       w        w       w
manager     a     a         a     a       a        a       a
coder       rC    rC        rC    C       rC       rC      -
triager     rI    rI        rI    I       rI       rI      -
owner       o     o         o     o       o        o       o
admin       o     o         o     o       o        o       o
public-only o     o         o     -       -        -       -
scopeless   o     o         o     o       o        o       o
reading     o     o         o     o       o        o       o
"""
# s see it, m belong to it, t belong to its team of coders, o own it; - it is not there for them.
IN_ORGANIZATIONS = """
            guild  circle  cabal
nobody      s      -       -
stranger    s      s       -
restricted  -      -       -
reader      s      s       -
writer      s      s       -
manager     s      s       -
coder       t      t       t
triager     m      m       m
owner       o      o       o
admin       o      o       o
public-only o      -       -
scopeless   o      o       o
reading     o      o       o
"""
MODES = {"r": 1, "w": 2, "a": 3, "o": 4}


@dataclass(frozen=True)
class InRepository:
    """The permissions of a role in a repository, as levels from 1 (read) to 4 (own)."""

    known: bool
    base: int
    code: int
    issues: int
    pulls: int
    archived: bool

    @property
    def sees(self) -> bool:
        """Whether the role may see the repository."""
        return bool(self.base or self.code or self.issues)


@dataclass(frozen=True)
class InOrganization:
    """The membership of a role in an organization."""

    known: bool
    letter: str
    is_owner: bool
    """Whether it is the user called owner, not only somebody who may do as much."""


def table(text: str) -> dict[tuple[str, str], str]:
    """Parse a table into its cells."""
    head, *rows = [line.split() for line in text.strip().splitlines()]
    return {(row[0], column): cell for row in rows for column, cell in zip(head, row[1:], strict=True)}


REPOSITORY_CELLS = table(IN_REPOSITORIES)
ORGANIZATION_CELLS = table(IN_ORGANIZATIONS)


@dataclass(frozen=True)
class PermissionMatrix:
    """The client of each role, and the ids of the objects in each repository and organization."""

    callers: dict[str, httpx.Client]
    numbers: dict[tuple[str, str], str]

    def in_repository(self, role: str, path: str) -> InRepository:
        """Return the permissions of a role in a repository."""
        cell = REPOSITORY_CELLS[role, path]
        base = max(MODES.get(letter, 0) for letter in cell)
        off = path == "off"
        return InRepository(
            known=role != "nobody",
            base=base,
            code=0 if off else max(base, 2 * ("C" in cell)),
            issues=0 if off else max(base, 2 * ("I" in cell)),
            pulls=0 if off else base,
            archived=path == "archived",
        )

    def in_organization(self, role: str, circle: str) -> InOrganization:
        """Return the membership of a role in an organization."""
        is_owner = role in {"owner", "public-only", "scopeless", "reading"}
        return InOrganization(role != "nobody", ORGANIZATION_CELLS[role, circle], is_owner)


def created(response: httpx.Response) -> dict[str, object]:
    """Check that the response is a success, and return its body."""
    assert response.status_code in {200, 201, 202, 204}, response.text
    return dict(response.json()) if response.content else {}


def create_matrix(clients: ServiceClients) -> PermissionMatrix:
    """Create the users, repositories and organizations."""
    people = {
        name: clients.account(name) for name in ("stranger", "reader", "writer", "manager", "coder", "triager")
    }
    people["owner"] = clients.account("owner")
    people["restricted"] = clients.account("restricted", is_restricted=True)
    callers = {name: clients.with_token(account) for name, account in people.items()}
    read_all = [
        f"read:{category}"
        for category in ("admin", "issue", "misc", "notification", "organization", "repository", "user")
    ]
    callers |= {
        "nobody": clients.anonymous,
        "admin": clients.admin,
        "public-only": clients.with_token(people["owner"], "all", "public-only"),
        "scopeless": clients.with_token(people["owner"], "read:misc"),
        "reading": clients.with_token(people["owner"], *read_all),
    }
    owner = callers["owner"]
    numbers: dict[tuple[str, str], str] = {}
    for name, visibility in CIRCLES.items():
        created(owner.post("/orgs", json={"username": name, "visibility": visibility}))
        for team, units in (("coders", {"repo.code": "write"}), ("triagers", {"repo.issues": "write"})):
            body = {"name": team, "permission": "read", "units_map": units, "includes_all_repositories": True}
            number = str(created(owner.post(f"/orgs/{name}/teams", json=body))["id"])
            created(owner.put(f"/teams/{number}/members/{team[:-1]}"))
            numbers[name, team] = number
        created(owner.put(f"/orgs/{name}/public_members/owner"))
        label = {"name": "all over", "color": "#123456"}
        numbers[name, "label"] = str(created(owner.post(f"/orgs/{name}/labels", json=label))["id"])
    for chat_items, path in PLACES.items():
        fill_repository(owner, chat_items, path, numbers)
    for circle in CIRCLES:
        create_hook(owner, circle, f"/orgs/{circle}/hooks", numbers)
    create_hook(clients.admin, "", "/admin/hooks", numbers)
    return PermissionMatrix({name: callers[name] for name in ROLES}, numbers)


def create_hook(client: httpx.Client, target_path: str, path: str, numbers: dict[tuple[str, str], str]) -> None:
    """Create a webhook with one delivery."""
    config = {"url": "https://example.org/hook", "content_type": "json"}
    number = str(created(client.post(path, json={"type": "gitea", "config": config}))["id"])
    created(client.post(f"{path}/{number}/tests"))
    numbers[target_path, "hook"] = number
    numbers[target_path, "delivery"] = str(client.get(f"{path}/{number}/deliveries").json()[0]["id"])


def fill_repository(owner: httpx.Client, target_path: str, path: str, numbers: dict[tuple[str, str], str]) -> None:
    """Create one repository with an object of each kind in it, and add the collaborators."""
    whose, name = path.split("/")
    here = f"/repos/{path}"
    body = {"name": name, "auto_init": True, "default_branch": "main", "private": target_path in {"closed", "own"}}
    repository = created(owner.post("/user/repos" if whose == "owner" else f"/orgs/{whose}/repos", json=body))
    numbers[target_path, "repository"] = str(repository["id"])
    for role, permission in (("reader", "read"), ("writer", "write"), ("manager", "admin")):
        created(owner.put(f"{here}/collaborators/{role}", json={"permission": permission}))
    created(owner.put(f"{here}/topics", json={"topics": ["play"]}))
    created(owner.post(f"{here}/branches", json={"new_branch_name": "side"}))
    created(owner.post(f"{here}/tags", json={"tag_name": "v1", "message": "One"}))
    created(owner.post(f"{here}/branch_protections", json={"rule_name": "kept"}))
    branch = owner.get(f"{here}/branches/main").json()
    numbers[target_path, "commit"] = branch["commit"]["id"]
    numbers[target_path, "tree"] = "main"
    numbers[target_path, "blob"] = owner.get(f"{here}/git/trees/main").json()["tree"][0]["sha"]
    tags = owner.get(f"{here}/git/refs/tags/v1").json()
    numbers[target_path, "tag"] = (tags[0] if isinstance(tags, list) else tags)["object"]["sha"]
    numbers[target_path, "label"] = str(
        created(owner.post(f"{here}/labels", json={"name": "bug", "color": "#ee0701"}))["id"]
    )
    numbers[target_path, "milestone"] = str(created(owner.post(f"{here}/milestones", json={"title": "One"}))["id"])
    issue = {"title": "Something", "labels": [int(numbers[target_path, "label"])]}
    numbers[target_path, "issue"] = str(created(owner.post(f"{here}/issues", json=issue))["number"])
    comments = f"{here}/issues/{numbers[target_path, 'issue']}/comments"
    numbers[target_path, "comment"] = str(created(owner.post(comments, json={"body": "Yes"}))["id"])
    pull = {"title": "A change", "head": "side", "base": "main"}
    numbers[target_path, "pull"] = str(created(owner.post(f"{here}/pulls", json=pull))["number"])
    create_hook(owner, target_path, f"{here}/hooks", numbers)
    if target_path == "archived":
        created(owner.patch(here, json={"archived": True}))
    if target_path == "off":
        created(owner.patch(here, json={"has_code": False, "has_issues": False, "has_pull_requests": False}))
