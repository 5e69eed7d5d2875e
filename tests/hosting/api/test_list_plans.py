"""Query plans of all lists of the API: none scans or sorts a whole table."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine

from holdfast.hosting.store.database import Database
from holdfast.hosting.store.prepared_statements import Statement
from holdfast.hosting.store.tables.columns import metadata
from tests.hosting.api_clients import ServiceClients
from tests.hosting.openapi_contract import DOCUMENT
from tests.hosting.permission_matrix import PermissionMatrix, create_matrix
from tests.hosting.store.query_plans import plan_of

# Lists that are sorted after they were read by index, and what bounds them.
SORTED: Final = {
    "/admin/hooks": "the system and default webhooks of the service, by number",
    "/orgs/{org}/members": "the members of one organization, by name",
    "/orgs/{org}/public_members": "the members of one organization, by name",
    "/orgs/{org}/teams": "the teams of one organization, the owners first",
    "/orgs/{org}/teams/search": "the teams of one organization, the owners first",
    "/repos/{owner}/{repo}/teams": "the teams of one organization, the owners first",
    "/user/teams": "the teams of one user, by organization",
    "/teams/{id}/members": "the members of one team, by name",
    "/teams/{id}/repos": "the repositories of one team, by name",
    "/user/orgs": "the organizations of one user, by name",
    "/users/{username}/orgs": "the organizations of one user, by name",
    "/user/repos": "the repositories that one user contributes to, by name",
    "/orgs/{org}/repos": "the repositories of one owner",
    "/users/{username}/repos": "the repositories of one owner",
    "/repos/{owner}/{repo}/forks": "the forks of one repository",
    "/user/starred": "what one user has starred, by name",
    "/users/{username}/starred": "what one user has starred, by name",
    "/user/subscriptions": "what one user watches, by name",
    "/users/{username}/subscriptions": "what one user watches, by name",
    "/repos/{owner}/{repo}/push_mirrors": "the push mirrors of one repository",
    "/repos/{owner}/{repo}/collaborators": "the collaborators of one repository, by name",
    "/repos/{owner}/{repo}/assignees": "those who were given access to one repository, by name",
    "/repos/{owner}/{repo}/reviewers": "those who were given access to one repository, by name",
    "/repos/{owner}/{repo}/milestones": "the milestones of one repository, those without a date last",
    "/repos/{owner}/{repo}/issues/{index}/dependencies": "the dependencies of one issue, its repository first",
    "/repos/{owner}/{repo}/issues/{index}/blocks": "the dependencies of one issue, its repository first",
    "/repos/{owner}/{repo}/issues/{index}/reactions": "the reactions to one issue",
    "/repos/{owner}/{repo}/issues/comments/{id}/reactions": "the reactions to one comment",
    "/repos/{owner}/{repo}/issues/{index}/subscriptions": "the subscribers of one issue",
    "/repos/{owner}/{repo}/branches": "the branch protections of one repository, by priority",
    "/repos/{owner}/{repo}/commits/{ref}/status": "the newest status of each context of one commit",
    "/repos/{owner}/{repo}/pulls/{index}/reviews": "the reviews of one pull request",
}
# Totals of what depends on who asks: each row is looked at, and none of them is sorted.
COUNTED: Final = {
    "/repos/search": "repositories",
    "/repos/issues/search": "repositories",
}
# Steps of the plans of SQLite and PostgreSQL.
SCAN: Final = re.compile(r"^SCAN (\w+)(?! USING (?:COVERING )?INDEX)\b|Seq Scan on (\w+)")
SORT: Final = re.compile(r"TEMP B-TREE FOR ORDER BY|^\W*Sort  ")
# What a search found by index, all of it: `substring_search` sorts no more than its most candidates.
CANDIDATES: Final = re.compile(r"WHERE (repositories|users)\.id IN \((?!SELECT).*ORDER BY (?!.*LIMIT)", re.DOTALL)
# Labels, assignees and milestones of the issues of one page.
OF_A_PAGE: Final = "WITH wanted AS"
VARIANTS: Final = {
    "/repos/{owner}/{repo}/issues": (
        *({"state": "all", "sort": sort} for sort in ("newest", "oldest", "recentupdate", "mostcomment")),
        {"state": "closed", "type": "issues"},
    ),
    "/repos/{owner}/{repo}/pulls": ({"state": "all"}, {"state": "closed", "sort": "oldest"}),
    "/repos/search": (
        *(
            {"sort": sort, "order": order}
            for sort in ("alpha", "created", "updated", "size", "id")
            for order in ("asc", "desc")
        ),
        *({"q": text, **more} for text in ("o", "op", "open", "%") for more in ({}, {"includeDesc": "true"})),
        {"q": "boats", "topic": "true"},
    ),
    "/users/search": tuple({"q": text} for text in ("o", "ow", "owner", "_")),
}


def paged_lists() -> list[str]:
    """Return the paths of all lists that have pages."""
    return [
        path
        for path, operations in DOCUMENT["paths"].items()
        if any(item["name"] == "page" for item in operations.get("get", {}).get("parameters", ()))
    ]


def address(path: str, numbers: dict[tuple[str, str], str]) -> str:
    """Return the address of a list in the first repository of the matrix."""
    values = {"owner": "guild", "repo": "open", "org": "guild", "username": "owner", "sha": "main"}
    values |= {"ref": "heads/main" if "/git/refs/" in path else "main", "filepath": "README.md"}
    values["index"] = numbers["open", "pull" if "/pulls/" in path else "issue"]
    values["id"] = numbers["open", "comment"]
    if path.startswith("/teams/"):
        values["id"] = numbers["guild", "coders"]
    if "/hooks/{id}" in path:
        values["id"] = numbers["guild" if path.startswith("/orgs") else "open" if "{repo}" in path else "", "hook"]
    return path.format(**values)


@contextmanager
def queries() -> Iterator[list[tuple[str, Any]]]:
    """Record the queries of all databases of this process, also those on the raw driver of SQLite."""
    results: list[tuple[str, Any]] = []
    run_bare = Statement.run_bare

    def note(_connection: object, _cursor: object, statement: str, parameters: Any, *_rest: object) -> None:
        if statement.lstrip().startswith(("SELECT", "WITH")):
            results.append((statement, parameters))

    def noted(prepared: Statement, link: Any, binds: dict[str, Any]) -> list[tuple[Any, ...]]:
        note(None, None, prepared.text("sqlite"), prepared.binds("sqlite", binds))
        return run_bare(prepared, link, binds)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Statement, "run_bare", noted)
            yield results
    finally:
        event.remove(Engine, "before_cursor_execute", note)


def faults_of(database: Database, path: str, statement: str, parameters: Any) -> list[str]:
    """Return the steps of a query's plan that grow with a table."""
    if statement.startswith(OF_A_PAGE):
        return []
    results = []
    for line in plan_of(database, statement, parameters).splitlines():
        scanned = SCAN.search(line)
        is_scan = scanned is not None and (scanned[1] or scanned[2]) in metadata.tables.keys() - {
            COUNTED.get(path)
        }
        if is_scan or (SORT.search(line) and path not in SORTED and not CANDIDATES.search(statement)):
            results.append(f"{path}: {line}: {statement}")
    return results


def check_lists(clients: ServiceClients, matrix: PermissionMatrix) -> Iterator[str]:
    """Request every list as an owner, an administrator and another user, and return the faults of its queries."""
    for path in paged_lists():
        answered = set()
        for role in ("owner", "admin", "stranger"):
            for variant in ({}, *VARIANTS.get(path, ())):
                with queries() as statements:
                    response = matrix.callers[role].get(
                        address(path, matrix.numbers), params={"page": 2, "limit": 2, **variant}
                    )
                answered.add(response.status_code)
                for statement, parameters in statements:
                    yield from faults_of(clients.database, path, statement, parameters)
        assert 200 in answered or path in UNANSWERED, (path, answered)


# Nobody has a webhook of their own or a review here, and tokens are listed with a password only.
UNANSWERED: Final = {
    "/users/{username}/tokens",
    "/user/hooks/{id}/deliveries",
    "/repos/{owner}/{repo}/pulls/{index}/reviews/{id}/comments",
}


def test_no_list_reads_or_sorts_a_whole_table(clients: ServiceClients) -> None:
    """No query of a paged list scans or sorts a table, for an owner, an administrator and a stranger."""
    assert list(check_lists(clients, create_matrix(clients))) == []


def test_every_exemption_names_a_list() -> None:
    """Each exemption names an existing list with pages."""
    assert {*SORTED, *COUNTED, *UNANSWERED, *VARIANTS} <= set(paged_lists())
