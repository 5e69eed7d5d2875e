"""The router."""

import pytest

from holdfast.hosting.http.router import Router, parts_of


@pytest.fixture
def router() -> Router[str]:
    """Create a router with routes that overlap."""
    router: Router[str] = Router()
    for route in (
        "GET /version",
        "GET /repos/search",
        "GET /repos/{owner}/{repo}",
        "PATCH /repos/{owner}/{repo}",
        "GET /repos/{owner}/{repo}/contents",
        "GET /repos/{owner}/{repo}/contents/{filepath...}",
        "GET /repos/{owner}/{repo}/commits/{ref...}/status",
        "GET /repos/{owner}/{repo}/commits/{sha}",
    ):
        method, _, path = route.partition(" ")
        router.add(method, path, route)
    return router


@pytest.mark.parametrize(
    ("path", "route", "parameters"),
    [
        ("/version", "GET /version", {}),
        ("/version/", "GET /version", {}),
        ("/repos/search", "GET /repos/search", {}),
        ("/repos/search/notes", "GET /repos/{owner}/{repo}", {"owner": "search", "repo": "notes"}),
        ("/repos/a/b/contents/", "GET /repos/{owner}/{repo}/contents", {"owner": "a", "repo": "b"}),
        (
            "/repos/a/b/contents/d%2Fe/f%20g",
            "GET /repos/{owner}/{repo}/contents/{filepath...}",
            {"owner": "a", "repo": "b", "filepath": "d/e/f g"},
        ),
        (
            "/repos/%FF/b/contents/caf%E9/%C3%A9",
            "GET /repos/{owner}/{repo}/contents/{filepath...}",
            {"owner": "\ufffd", "repo": "b", "filepath": "caf\udce9/\u00e9"},
        ),
        (
            "/repos/a/b/commits/x%FF/y/status",
            "GET /repos/{owner}/{repo}/commits/{ref...}/status",
            {"owner": "a", "repo": "b", "ref": "x\ufffd/y"},
        ),
        ("/repos/a%2Fx/b", "GET /repos/{owner}/{repo}", {"owner": "a/x", "repo": "b"}),
        (
            "/repos/a/b/commits/feature/x/status",
            "GET /repos/{owner}/{repo}/commits/{ref...}/status",
            {"owner": "a", "repo": "b", "ref": "feature/x"},
        ),
        (
            "/repos/a/b/commits/status",
            "GET /repos/{owner}/{repo}/commits/{sha}",
            {"owner": "a", "repo": "b", "sha": "status"},
        ),
    ],
)
def test_a_path_is_matched_to_its_route(
    router: Router[str], path: str, route: str, parameters: dict[str, str]
) -> None:
    """Literal segments win, an escaped slash stays in its segment, and a final slash is ignored.

    Invalid UTF-8 is kept as surrogates in file paths, and replaced in other parameters.
    """
    match = router.find("GET", path)
    assert (match.endpoint, match.parameters) == (route, parameters)


def test_head_is_answered_by_get(router: Router[str]) -> None:
    """HEAD is routed to the endpoint of GET without a declaration."""
    assert router.find("HEAD", "/version").endpoint == "GET /version"


@pytest.mark.parametrize("path", ["/", "", "/repos", "/repos//b", "/repos/a/b/c", "/version/x", "/repos/a/b//"])
def test_an_unknown_path_allows_no_method(router: Router[str], path: str) -> None:
    """A path that no route matches, such as one with an empty segment, has no allowed methods."""
    match = router.find("GET", path)
    assert (match.endpoint, match.allowed) == (None, ())


def test_a_wrong_method_is_answered_with_the_allowed_ones(router: Router[str]) -> None:
    """The allowed methods are those of every route that matches the path."""
    assert router.find("DELETE", "/repos/a/b").allowed == ("GET", "PATCH")


def test_a_duplicate_route_is_an_error(router: Router[str]) -> None:
    """Two routes that differ only in the names of their parameters are duplicates."""
    with pytest.raises(ValueError, match="declared twice"):
        router.add("GET", "/repos/{a}/{b}", "again")


def test_segments_are_decoded_after_splitting() -> None:
    """An escaped slash is part of its segment and does not separate segments."""
    assert parts_of("/a%2Fb/c%C3%A9/") == ["a/b", "cé"]
