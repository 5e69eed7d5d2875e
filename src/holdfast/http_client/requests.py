"""Requests, and the next request of a redirect."""

import functools
import re
from collections.abc import AsyncIterable, Mapping
from dataclasses import dataclass
from typing import Final

from holdfast.http_client.errors import InvalidRequest
from holdfast.http_client.urls import HttpUrl
from holdfast.redacted_repr import redacted

__all__ = ["REDIRECT_STATUSES", "HttpRequest", "check_headers", "redirected"]

REDIRECT_STATUSES: Final = frozenset({301, 302, 303, 307, 308})
CREDENTIAL_HEADERS: Final = frozenset({"authorization", "cookie", "proxy-authorization"})
CONTROL_CHARACTER: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
FIELD_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


@redacted
@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One request; a body that is not `bytes` is read once, while it is sent."""

    method: str
    url: HttpUrl
    headers: Mapping[str, str]
    body: bytes | AsyncIterable[bytes] | None = None


def check_headers(headers: Mapping[str, str]) -> None:
    """Raise `InvalidRequest` for header injection: names and values with line breaks or control characters."""
    # One search over all values; the single values are only searched if it finds something.
    if CONTROL_CHARACTER.search("".join(headers.values())) or not all(map(is_field_name, headers)):
        for name, value in headers.items():
            if not is_field_name(name) or CONTROL_CHARACTER.search(value):
                raise InvalidRequest(f"the header {name[:40]!r} contains an invalid character")


@functools.lru_cache(maxsize=256)
def is_field_name(name: str) -> bool:
    """Return whether a header name is valid (a token of RFC 9110, 5.6.2)."""
    return FIELD_NAME.fullmatch(name) is not None


def redirected(request: HttpRequest, status: int, location: str) -> HttpRequest:
    """Return the next request of a redirect (RFC 9110, 15.4); credentials and signatures stay with their origin.

    Raises `InvalidUrl` if the location is not an http or https URL.
    """
    url = request.url.redirected(location)
    method, headers, body = request.method, request.headers, request.body
    if status in {301, 302, 303} and method not in {"GET", "HEAD"}:
        method, body = "GET", None
        headers = {name: value for name, value in headers.items() if not name.lower().startswith("content-")}
    if url.origin != request.url.origin:
        headers = {name: value for name, value in headers.items() if not is_credential(name)}
    return HttpRequest(method, url, headers, body)


def is_credential(name: str) -> bool:
    """Return whether a header authenticates the sender: a credential, or a signature with a shared secret."""
    lower = name.lower()
    return lower in CREDENTIAL_HEADERS or "signature" in lower
