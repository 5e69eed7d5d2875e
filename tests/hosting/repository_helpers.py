"""Helpers that create repositories, collaborators, organizations and teams."""

import json
from itertools import product
from typing import Any

import httpx
from sqlalchemy import insert, select

from holdfast.hosting import access
from holdfast.hosting.access import Actor
from holdfast.hosting.git.commits import Signature
from holdfast.hosting.services.repositories import initial_commit
from holdfast.hosting.store import issues, repositories, repository_log
from holdfast.hosting.store.accounts import Account, add_account, find_account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.issues import Branches, NewIssue
from holdfast.hosting.store.ref_updates import RefUpdate
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.tables import (
    collaborators,
    events,
    members,
    team_members,
    team_repositories,
    team_units,
    teams,
)
from tests.hosting.api_clients import ServiceClients

__all__ = [
    "READ",
    "WRITE",
    "access_for",
    "add_commit",
    "every_role",
    "let_in",
    "make_organization",
    "make_people",
    "make_repository",
    "make_team",
    "post_issue",
    "recorded_events",
    "with_branches",
]

READ, WRITE, ADMIN, OWNER = 1, 2, 3, 4
TEAMS: list[tuple[str, int, dict[str, int]]] = [
    ("nothing", 0, {}),
    ("reads", 1, {}),
    ("writes", 2, {}),
    ("administers", 3, {}),
    ("reads-issues", 0, {"repo.issues": 1, "repo.pulls": 0}),
    ("writes-pulls", 0, {"repo.code": 1, "repo.pulls": 2}),
    ("codes", 0, {"repo.code": 2}),
    ("administers-code", 0, {"repo.code": 3}),
]


def make_repository(
    database: Database, owner: Account, name: str = "ship", **columns: str | bool | int | None
) -> Repository:
    """Create a repository without a folder."""
    with database.write() as connection:
        created = repositories.add_repository(connection, owner, name, default_branch="main", **columns)
    return repositories.repository_by_id(database, created)


def with_branches(clients: ServiceClients, repository: Repository, *names: str) -> Repository:
    """Add one commit on main to a repository, and more branches that point to it."""
    add_commit(clients.database, repository, "main", *(names or ("fix", "other")))
    return repository


def add_commit(database: Database, repository: Repository, *branches: str) -> str:
    """Add branches to a repository that point to one commit of a file, and return the commit."""
    commit, pack = initial_commit({"a": b"a"}, Signature("Ada", "ada@example.org", 1))
    updates = [(None, RefUpdate(f"refs/heads/{name}", "0" * 40, commit)) for name in branches]
    with database.write() as connection:
        repository_log.append(connection, repository.id, updates, [pack])
    return commit


def let_in(database: Database, repository: Repository, user: Account, mode: int) -> None:
    """Add a collaborator."""
    with database.write() as connection:
        row = {"repository_id": repository.id, "user_id": user.id, "mode": mode}
        connection.execute(insert(collaborators), row)


def make_organization(database: Database, name: str, owner: Account, *, visibility: str = "public") -> Account:
    """Create an organization whose owner is in the team of owners."""
    with database.write() as connection:
        user_id = add_account(connection, name, is_organization=True, visibility=visibility)
    organization = find_account(database, user_id)
    make_team(database, organization, "Owners", [owner], mode=OWNER, everywhere=True)
    return organization


def make_team(
    database: Database,
    organization: Account,
    name: str,
    people: list[Account],
    *,
    mode: int = 0,
    units: dict[str, int] | None = None,
    everywhere: bool = False,
    places: tuple[Repository, ...] = (),
) -> None:
    """Create a team with members, repositories and permissions."""
    with database.write() as connection:
        row = {
            "organization_id": organization.id,
            "name": name,
            "folded_name": name.casefold(),
            "mode": mode,
            "includes_all_repositories": everywhere,
        }
        team = connection.execute(insert(teams).returning(teams.c.id), row).scalar_one()
        for person in people:
            connection.execute(insert(team_members), {"team_id": team, "user_id": person.id})
            if name == "Owners":
                connection.execute(insert(members), {"organization_id": organization.id, "user_id": person.id})
        for unit, level in (units or {}).items():
            connection.execute(insert(team_units), {"team_id": team, "unit": unit, "mode": level})
        for repository in places:
            connection.execute(insert(team_repositories), {"team_id": team, "repository_id": repository.id})


def make_people(database: Database, *names: str, **columns: str | bool) -> list[Account]:
    """Create users without a password, which is fast because nothing is hashed."""
    with database.write() as connection:
        user_ids = [add_account(connection, name, **columns) for name in names]  # type: ignore[arg-type]  # the names are right
    return [find_account(database, number) for number in user_ids]


def every_role(database: Database) -> list[Repository]:
    """Create users with every role, and repositories of every kind with an issue and a pull request."""
    owner, _ = make_people(database, "owner", "stranger")
    make_people(database, "restricted", is_restricted=True)
    homes = [owner, *make_people(database, "hidden", visibility="private")]
    for name in ("public", "limited", "private"):
        homes += [make_organization(database, name, owner, visibility=name)]
    other_repositories: list[Repository] = []
    for home, is_private, switch in product(homes, (False, True), ("", "has_issues", "has_pulls")):
        columns = {switch: False} if switch else {}
        name = f"{'closed' if is_private else 'open'}-{switch}x"
        other_repositories.append(make_repository(database, home, name, is_private=is_private, **columns))
    people = make_people(database, *(name for name, _, _ in TEAMS))
    for home in homes[2:]:
        mine = tuple(repository for repository in other_repositories if repository.owner.id == home.id)
        for person, (name, mode, units) in zip(people, TEAMS, strict=True):
            make_team(database, home, name, [person], mode=mode, units=units, places=mine)
    for mode, person in enumerate(make_people(database, "guest", "helper", "keeper"), start=READ):
        for target_repository in other_repositories:
            let_in(database, target_repository, person, mode)
    for target_repository in other_repositories:
        issues.open_issue(database, target_repository, owner, NewIssue(title="i"))
        issues.open_issue(
            database, target_repository, owner, NewIssue(title="p", branches=Branches("fix", "main"))
        )
    return other_repositories


def access_for(
    database: Database, person: Account | None, repository: Repository, *, public_only: bool
) -> access.Permissions:
    """Return the access that `access.py` decides."""
    grants = () if person is None else repositories.grants_of(database, person, repository)
    actor = Actor(person)
    if public_only:
        actor = Actor(person, token=PublicOnly())  # type: ignore[arg-type]  # has the one method that is called
    return access.repository_access(actor, repository, grants)


def make_branches(database: Database, repository: Repository, commit: str, *names: str) -> None:
    """Create branches at a commit, which need not exist."""
    updates = [(None, RefUpdate(f"refs/heads/{name}", "0" * 40, commit)) for name in names]
    with database.write() as connection:
        repository_log.append(connection, repository.id, updates)


class PublicOnly:
    """A token that is limited to public repositories."""

    scopes = ("public-only",)


def post_issue(client: httpx.Client, **body: object) -> dict[str, Any]:
    """Open an issue of Ada's through the API."""
    response = client.post("/repos/ada/ship/issues", json={"title": "It leaks", **body})
    assert response.status_code == 201, response.text
    created_body: dict[str, Any] = response.json()
    return created_body


def recorded_events(database: Database) -> list[tuple[str, dict[str, Any]]]:
    """Return the events, in order."""
    with database.read() as connection:
        rows = connection.execute(select(events.c.kind, events.c.details).order_by(events.c.id)).all()
    return [(kind, json.loads(details)) for kind, details in rows]
