"""The page that `go get` reads: the `go-import` meta tag of a Go package (`?go-get=1`)."""

from contextlib import suppress
from urllib.parse import parse_qsl, quote, urlsplit

from markupsafe import Markup
from starlette.types import Scope

from holdfast.hosting.app import App
from holdfast.hosting.errors import NoSuchRepository
from holdfast.hosting.http.endpoints import RawResponse
from holdfast.hosting.store.faults import DRIVER_ERRORS
from holdfast.hosting.store.repositories import find_repository

__all__ = ["go_get_page", "is_go_get"]

PAGE = Markup(
    "<!doctype html>\n<html><head>"
    '<meta name="go-import" content="{package} git {clone}">'
    '<meta name="go-source" content="{package} _ {tree}{{/dir}} {tree}{{/dir}}/{{file}}#L{{line}}">'
    "</head><body>go get {package}</body></html>\n"
)


def is_go_get(scope: Scope) -> bool:
    """Return whether a request is `?go-get=1` for a repository or a path below it."""
    query: bytes = scope["query_string"]
    if scope["method"] != "GET" or b"go-get=1" not in query:
        return False
    names = scope["path"].split("/")[1:3]
    if len(names) < 2 or not all(names) or names[0] in {"api", "-"}:
        return False
    return ("go-get", "1") in parse_qsl(query.decode("ascii", "replace"))


def go_get_page(app: App, root: str, path: str) -> RawResponse:
    """Return the page for the repository in a path.

    It is the same for private repositories and for those that do not exist: go reads it unauthenticated, and git
    authenticates.
    """
    owner, name = path.split("/")[1:3]
    name = name.removesuffix(".git")
    branch = "main"
    with suppress(NoSuchRepository, *DRIVER_ERRORS):
        repository = find_repository(app.database, owner, name)
        if not repository.is_private and repository.owner.visibility == "public":
            branch = repository.default_branch
    where = f"{quote(owner)}/{quote(name)}"
    page = PAGE.format(
        package=f"{urlsplit(root).netloc}{urlsplit(root).path}/{where}",
        clone=f"{root}/{where}.git",
        tree=f"{root}/{where}/src/branch/{quote(branch)}",
    )
    return RawResponse(page.encode(), "text/html; charset=utf-8")
