"""Errors of the API: a status, a message, and the JSON that Gitea's clients expect."""

from collections.abc import Mapping
from typing import Final

import msgspec

__all__ = [
    "REQUIRED",
    "TOO_LONG",
    "TOO_SHORT",
    "ApiError",
    "ErrorBody",
    "FieldError",
    "MessageBody",
    "no_route",
    "replace_surrogates",
]

NOT_FOUND: Final = "not found"
# Validation error texts of Gitea's API.
REQUIRED: Final = "Required"
TOO_LONG: Final = "MaxSize"
TOO_SHORT: Final = "MinSize"
LONGEST_ROUTE: Final = 200


class ErrorBody(msgspec.Struct, frozen=True):
    """An error message, and the URL of the API documentation."""

    message: str
    url: str


class MessageBody(msgspec.Struct, frozen=True):
    """An error message without a URL, for errors about the account itself."""

    message: str


class ApiError(Exception):
    """An error response with a status; `message` is sent to the client and must not contain secrets.

    With `bare`, the response has no documentation URL; with `words`, its body is the plain message.
    """

    def __init__(
        self,
        status: int,
        message: str = "",
        *,
        bare: bool = False,
        words: bool = False,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        # May quote the path of a file, which git stores as bytes.
        self.message = replace_surrogates(message) or (NOT_FOUND if status == 404 else "")
        self.bare = bare
        self.words = words
        self.headers = headers or {}


class FieldError(ApiError):
    """A validation error of a field in a body or query, with status 422.

    `field` is the title of the field, empty for the whole body; `reason` is the validation error. `pattern` is the
    regular expression that the value does not match, if any.
    """

    def __init__(self, field: str, reason: str, pattern: str = "") -> None:
        super().__init__(422, f"[{field}]: {reason}")
        self.field = field
        self.reason = reason
        self.pattern = pattern


def replace_surrogates(text: str) -> str:
    """Replace surrogates (of bytes that are not UTF-8, decoded by `surrogateescape`) by replacement characters."""
    if text.isascii():
        return text
    try:
        return text.encode(errors="surrogateescape").decode(errors="replace")
    except UnicodeEncodeError:
        return text.encode(errors="surrogatepass").decode(errors="replace")


def no_route(root: str, method: str, path: str, allowed: str = "") -> ErrorBody:
    """Return the body of a 404 or 405 error for a route; a long path is truncated."""
    shown = replace_surrogates(path if len(path) <= LONGEST_ROUTE else f"{path[:LONGEST_ROUTE]}...")
    if allowed:
        return ErrorBody(f"method not allowed: {method} {shown}; allowed are {allowed}", f"{root}/api/swagger")
    return ErrorBody(f"no such route: {method} {shown}", f"{root}/api/swagger")
