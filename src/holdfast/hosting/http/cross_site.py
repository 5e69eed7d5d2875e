"""Protection against cross-site request forgery (CSRF), for the API and for pages."""

from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers

__all__ = ["is_cross_site"]

OWN_SITE: Final = frozenset({"same-origin", "none"})


def is_cross_site(headers: Headers) -> bool:
    """Return whether a browser sent a request on behalf of another site.

    Browsers send `Sec-Fetch-Site`, older ones `Origin`. A client that sends neither is not a browser, and has no
    cookies that another site could use.
    """
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site not in OWN_SITE
    origin = headers.get("origin")
    return origin is not None and host_of(origin) != headers.get("host")


def host_of(origin: str) -> str | None:
    """Return the host and port of an origin; None if it is not a URL."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None
