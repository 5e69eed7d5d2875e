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
# What is wrong with a field, in the words clients know.
REQUIRED: Final = "Required"
TOO_LONG: Final = "MaxSize"
TOO_SHORT: Final = "MinSize"
LONGEST_ROUTE: Final = 200


class ErrorBody(msgspec.Struct, frozen=True):
    """What went wrong, and where the API is described."""

    message: str
    url: str


class MessageBody(msgspec.Struct, frozen=True):
    """What went wrong; refusals about the account itself have no address."""

    message: str


class ApiError(Exception):
    """Ends a request with an error status; `message` is for the client and must not quote secrets.

    A `bare` one has no address in its answer; of one that is `words` the answer is the message and nothing else.
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
        # It may quote the path of a file, which in git is bytes.
        self.message = replace_surrogates(message) or (NOT_FOUND if status == 404 else "")
        self.bare = bare
        self.words = words
        self.headers = headers or {}


class FieldError(ApiError):
    """Refuses a body or a query because of a field, with the status 422.

    `field` is the title of the field, empty for the whole body; `reason` says what is wrong. Where the value does
    not match a regular expression, that is `pattern`.
    """

    def __init__(self, field: str, reason: str, pattern: str = "") -> None:
        super().__init__(422, f"[{field}]: {reason}")
        self.field = field
        self.reason = reason
        self.pattern = pattern


def replace_surrogates(text: str) -> str:
    """Return a text with replacement characters for bytes that are not UTF-8, which `surrogateescape` has kept."""
    if text.isascii():
        return text
    try:
        return text.encode(errors="surrogateescape").decode(errors="replace")
    except UnicodeEncodeError:
        return text.encode(errors="surrogatepass").decode(errors="replace")


def no_route(root: str, method: str, path: str, allowed: str = "") -> ErrorBody:
    """Name a route that is not there, or that has other methods only; a long path is cut."""
    shown = replace_surrogates(path if len(path) <= LONGEST_ROUTE else f"{path[:LONGEST_ROUTE]}...")
    if allowed:
        return ErrorBody(f"method not allowed: {method} {shown}; allowed are {allowed}", f"{root}/api/swagger")
    return ErrorBody(f"no such route: {method} {shown}", f"{root}/api/swagger")
