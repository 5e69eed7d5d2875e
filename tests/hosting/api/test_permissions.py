"""The permission matrix: every role calls every endpoint in every repository and organization."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from holdfast.hosting.api import endpoints
from tests.hosting.api.endpoint_permissions import (
    ABOUT_ORGANIZATIONS,
    ABOUT_REPOSITORIES,
    ELSEWHERE,
    UNSCOPED,
    EndpointPermission,
    refusal,
)
from tests.hosting.api_clients import ServiceClients
from tests.hosting.permission_matrix import CIRCLES, PLACES, ROLES, PermissionMatrix, create_matrix

OWN_NAMES = {"stranger", "restricted", "reader", "writer", "manager", "coder", "triager", "admin"}
# A body that is refused, but only after everything that decides about permission.
SPOILED = "neither an object nor a list"


def test_every_endpoint_has_a_permission_and_every_permission_an_endpoint() -> None:
    """A new endpoint requires an entry here that says who may use it."""
    declared = [f"{endpoint.method} {endpoint.path}" for endpoint in endpoints()]
    assert sorted(declared) == sorted([*ABOUT_REPOSITORIES, *ABOUT_ORGANIZATIONS, *ELSEWHERE])


def by_scope(role: str, route: str) -> int | None:
    """Return 403 if the scopes of the role's token do not permit the request."""
    too_far = role == "scopeless" or (role == "reading" and not route.startswith("GET"))
    return 403 if too_far and route not in UNSCOPED else None


def elsewhere(role: str, permission: EndpointPermission) -> int | None:
    """Return the status with which a request without a repository and an organization is refused."""
    if permission.asked == "anyone":
        return None
    if role == "nobody" or permission.asked == "password":
        return 401
    return 403 if permission.asked == "admin" and role != "admin" else None


@dataclass(frozen=True)
class PermissionCase:
    """A request of a role in a place, and the status with which it should be refused."""

    role: str
    place: str
    route: str
    permission: EndpointPermission
    refused: int | None

    @property
    def method(self) -> str:
        """The HTTP method of the request."""
        return self.route.partition(" ")[0]

    def address(self, matrix: PermissionMatrix, **instead: str) -> str:
        """Return the path of the request."""
        path = self.route.partition(" ")[2].replace("...}", "}")
        values = {**self.permission.path, **instead}
        if self.place in PLACES:
            values["owner"], values["repo"] = PLACES[self.place].split("/")
        elif self.place:
            values["org"] = self.place
        for name, value in values.items():
            path = path.replace(f"{{{name}}}", self.number(matrix, value))
        assert "{" not in path, path
        return path

    def number(self, matrix: PermissionMatrix, value: str) -> str:
        """Return a value of the path; a value in angle brackets is looked up for the place."""
        if value == "<self>":
            return self.role if self.role in OWN_NAMES else "owner"
        return matrix.numbers[self.place, value[1:-1]] if value.startswith("<") else value

    def perform(self, matrix: PermissionMatrix) -> int | None:
        """Send the real request if it should be refused, and otherwise one that changes nothing."""
        client, permission = matrix.callers[self.role], self.permission
        if self.refused is not None or self.method == "GET":
            return client.request(self.method, self.address(matrix), json=permission.body).status_code
        if permission.body is not None:
            return client.request(self.method, self.address(matrix), json=SPOILED).status_code
        if permission.harmless is None:
            return None
        return client.request(self.method, self.address(matrix, **permission.harmless)).status_code

    def is_wrong(self, status: int) -> bool:
        """Return whether a status differs from the expected one."""
        if self.refused is not None:
            return status != self.refused
        if self.method == "GET":
            let = self.permission.let if isinstance(self.permission.let, tuple) else (self.permission.let,)
            return status >= 400 and status not in let
        if self.permission.body is not None:
            return status != 422
        return status in {401, 403, 423} or status >= 500


def permission_cases(matrix: PermissionMatrix) -> Iterator[PermissionCase]:
    """Return every role with every endpoint in every place."""
    for role in ROLES:
        for place in PLACES:
            standing = matrix.in_repository(role, place)
            for route, permission in ABOUT_REPOSITORIES.items():
                yield PermissionCase(
                    role, place, route, permission, by_scope(role, route) or refusal(permission.asked, standing)
                )
        for circle in CIRCLES:
            there = matrix.in_organization(role, circle)
            for route, permission in ABOUT_ORGANIZATIONS.items():
                yield PermissionCase(
                    role, circle, route, permission, by_scope(role, route) or refusal(permission.asked, there)
                )
        for route, permission in ELSEWHERE.items():
            yield PermissionCase(role, "", route, permission, by_scope(role, route) or elsewhere(role, permission))


@pytest.mark.long
@pytest.mark.timeout(1500)
def test_every_role_has_exactly_the_permitted_access(clients: ServiceClients) -> None:
    """Each role is refused exactly the requests that the table of permissions forbids."""
    matrix = create_matrix(clients)
    wrong = []
    for case in permission_cases(matrix):
        status = case.perform(matrix)
        if status is not None and case.is_wrong(status):
            place, expected = case.place or "no place", case.refused or "let"
            wrong.append(f"{case.role} in {place}: {case.route} -> {status}, not {expected}")
    assert not wrong, "\n".join([f"{len(wrong)} times:", *wrong[:60]])
