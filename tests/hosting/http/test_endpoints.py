"""Declarations of endpoints by the signatures of their handlers."""

import msgspec
import pytest

from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.guards import in_repository, reads
from holdfast.hosting.http.endpoints import endpoint, number
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.pagination import PagedList, PageParams
from holdfast.hosting.request_context import RequestContext


class Body(msgspec.Struct, frozen=True):
    """A body."""

    name: str = ""


def test_a_signature_is_the_declaration() -> None:
    """Path parameters, body, page, values of guards and status follow from the signature."""

    @endpoint("POST /repos/{owner}/{repo}/x/{id}", scope="repository", guards=(in_repository, reads(Unit.CODE)))
    def act(
        request: RequestContext,
        target: RepositoryAccess,
        id: int,  # noqa: A002  # named in the path
        body: Body,
        page: PageParams,  # named in the path
    ) -> PagedList[Body]:
        """Do something. And more about it."""
        raise NotImplementedError

    assert (act.method, act.path, act.name, act.status) == ("POST", "/repos/{owner}/{repo}/x/{id}", "act", 200)
    assert (act.parameters, act.wants, act.body, act.paged) == (
        {"id": int},
        {"target": RepositoryAccess},
        Body,
        True,
    )
    assert act.writes


def test_no_result_is_a_204() -> None:
    """An endpoint that returns None and declares no status has status 204."""

    @endpoint("DELETE /x")
    def act(request: RequestContext) -> None:
        """Do something."""

    assert act.status == 204


def test_a_parameter_without_a_provider_is_an_error() -> None:
    """The error is raised when the endpoint is declared."""
    with pytest.raises(TypeError, match="nothing provides target"):

        @endpoint("GET /x")
        def act(request: RequestContext, target: RepositoryAccess) -> Body:
            """Do something."""
            raise NotImplementedError


@pytest.mark.parametrize(("text", "value"), [("0", 0), ("-5", -5), ("9223372036854775807", 2**63 - 1)])
def test_numbers_in_paths_are_parsed(text: str, value: int) -> None:
    """Integers of 64 bits are accepted, also negative ones."""
    assert number(text) == value


@pytest.mark.parametrize("text", ["", "x", "1.0", "--1", "9223372036854775808", "9" * 5000, "²", " 1"])
def test_an_invalid_number_is_not_found(text: str) -> None:
    """A text that is no integer of 64 bits gives 404 and no server error."""
    with pytest.raises(ApiError) as excinfo:
        number(text)
    assert excinfo.value.status == 404
