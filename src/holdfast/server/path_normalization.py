"""Merges repeated slashes in the path of a request, like nginx, before any other middleware reads it.

Clients join a base URL that ends in a slash with a path that begins with one. All code that routes, logs or builds
a URL from the path sees the merged path. A slash encoded as `%2F` is part of its segment and is kept.

Paths of files are no exception: git has no empty path component, so `a//b` can only be `a/b`, to which a path in a
JSON body is normalized as well. Otherwise a doubled slash would end the search for a branch name such as
`feature/x` early, and a file of the default branch would be served instead.
"""

from collections.abc import Awaitable
from urllib.parse import unquote

from starlette.types import ASGIApp, Receive, Scope, Send

from holdfast.hosting.http.router import merge_slashes

__all__ = ["MergeSlashes"]


class MergeSlashes:
    """Middleware that rewrites `//api/v1//version` to `/api/v1/version`."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Serve one request."""
        raw: bytes = scope.get("raw_path") or b""
        if b"//" in raw:
            merged = merge_slashes(raw.decode("latin-1"))
            scope = {**scope, "raw_path": merged.encode("latin-1"), "path": unquote(merged)}
        return self.app(scope, receive, send)
