"""The permission play: every role tries every deed in every place, and gets exactly what it should."""

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
    """Whoever adds an endpoint says here who may use it."""
    declared = [f"{endpoint.method} {endpoint.path}" for endpoint in endpoints()]
    assert sorted(declared) == sorted([*ABOUT_REPOSITORIES, *ABOUT_ORGANIZATIONS, *ELSEWHERE])


def by_scope(role: str, route: str) -> int | None:
    """Say whether the token of a role does not reach so far."""
    too_far = role == "scopeless" or (role == "reading" and not route.startswith("GET"))
    return 403 if too_far and route not in UNSCOPED else None


def elsewhere(role: str, deed: EndpointPermission) -> int | None:
    """Say how a role is refused something that is about no repository and no organization."""
    if deed.asked == "anyone":
        return None
    if role == "nobody" or deed.asked == "password":
        return 401
    return 403 if deed.asked == "admin" and role != "admin" else None


@dataclass(frozen=True)
class Scene:
    """Who tries what and where, and the status they should be refused with."""

    role: str
    place: str
    route: str
    deed: EndpointPermission
    refused: int | None

    @property
    def method(self) -> str:
        """How the request is sent."""
        return self.route.partition(" ")[0]

    def address(self, cast: PermissionMatrix, **instead: str) -> str:
        """Write the path of the request."""
        path = self.route.partition(" ")[2].replace("...}", "}")
        values = {**self.deed.path, **instead}
        if self.place in PLACES:
            values["owner"], values["repo"] = PLACES[self.place].split("/")
        elif self.place:
            values["org"] = self.place
        for name, value in values.items():
            path = path.replace(f"{{{name}}}", self.number(cast, value))
        assert "{" not in path, path
        return path

    def number(self, cast: PermissionMatrix, value: str) -> str:
        """Read a value of a path; one in angle brackets differs from place to place."""
        if value == "<self>":
            return self.role if self.role in OWN_NAMES else "owner"
        return cast.numbers[self.place, value[1:-1]] if value.startswith("<") else value

    def perform(self, cast: PermissionMatrix) -> int | None:
        """Try it: the real thing where it should be refused, something harmless where it should not."""
        client, deed = cast.callers[self.role], self.deed
        if self.refused is not None or self.method == "GET":
            return client.request(self.method, self.address(cast), json=deed.body).status_code
        if deed.body is not None:
            return client.request(self.method, self.address(cast), json=SPOILED).status_code
        if deed.harmless is None:
            return None
        return client.request(self.method, self.address(cast, **deed.harmless)).status_code

    def is_wrong(self, status: int) -> bool:
        """Compare an answer with what it should be."""
        if self.refused is not None:
            return status != self.refused
        if self.method == "GET":
            let = self.deed.let if isinstance(self.deed.let, tuple) else (self.deed.let,)
            return status >= 400 and status not in let
        if self.deed.body is not None:
            return status != 422
        return status in {401, 403, 423} or status >= 500


def scenes(cast: PermissionMatrix) -> Iterator[Scene]:
    """Go through everything."""
    for role in ROLES:
        for place in PLACES:
            standing = cast.in_repository(role, place)
            for route, deed in ABOUT_REPOSITORIES.items():
                yield Scene(role, place, route, deed, by_scope(role, route) or refusal(deed.asked, standing))
        for circle in CIRCLES:
            there = cast.in_organization(role, circle)
            for route, deed in ABOUT_ORGANIZATIONS.items():
                yield Scene(role, circle, route, deed, by_scope(role, route) or refusal(deed.asked, there))
        for route, deed in ELSEWHERE.items():
            yield Scene(role, "", route, deed, by_scope(role, route) or elsewhere(role, deed))


@pytest.mark.long
@pytest.mark.timeout(1500)
def test_every_role_has_exactly_the_permitted_access(clients: ServiceClients) -> None:
    """Nothing is shown or done that should not be, and nothing refused that should be done."""
    cast = create_matrix(clients)
    wrong = []
    for scene in scenes(cast):
        status = scene.perform(cast)
        if status is not None and scene.is_wrong(status):
            place, expected = scene.place or "no place", scene.refused or "let"
            wrong.append(f"{scene.role} in {place}: {scene.route} -> {status}, not {expected}")
    assert not wrong, "\n".join([f"{len(wrong)} times:", *wrong[:60]])
