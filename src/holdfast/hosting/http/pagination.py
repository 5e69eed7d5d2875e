"""Pagination: page parameters, and the `Link` and `X-Total-Count` headers."""

from dataclasses import dataclass
from typing import Final, Generic, TypeVar
from urllib.parse import urlencode

from holdfast.hosting.http.context import EndpointRequest

__all__ = [
    "DEFAULT_SIZE",
    "LARGEST_SIZE",
    "PageParams",
    "PagedList",
    "count_headers",
    "link_header",
    "page_of",
    "page_or_all",
    "paging_headers",
    "whole_number",
]

DEFAULT_SIZE: Final = 30
LARGEST_SIZE: Final = 50
# Maximum page number, beyond every list; multiplied by the page size it fits into 64 bits.
LAST_PAGE: Final = 2**40
FARTHEST: Final = 2**62
# Maximum items in a response to clients that do not request a page.
ALL: Final = 5000

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PageParams:
    """The requested page of a list."""

    number: int
    size: int

    @property
    def skip(self) -> int:
        """The offset: the number of items before the page."""
        return min((self.number - 1) * self.size, FARTHEST)


@dataclass(frozen=True, slots=True)
class PagedList(Generic[T]):
    """One page of a list, and the total number of items."""

    items: list[T]
    total: int
    page: PageParams | None = None
    """The page, if it was not read by `page_of`."""


def whole_number(text: str | None) -> int:
    """Parse a number; anything invalid is 0."""
    try:
        return int(text or 0)
    except ValueError:
        return 0


def page_of(request: EndpointRequest) -> PageParams:
    """Return the requested page; invalid parameters mean the first page of the default size."""
    parameters = dict(request.query_pairs())
    number = min(max(whole_number(parameters.get("page")), 1), LAST_PAGE)
    # Clients written for GitHub's API send `per_page`.
    size = whole_number(parameters.get("limit") or parameters.get("per_page"))
    return PageParams(number, DEFAULT_SIZE if size <= 0 else min(size, LARGEST_SIZE))


def page_or_all(request: EndpointRequest, page: PageParams) -> PageParams:
    """Return the requested page, or the whole list (up to a limit) if no page was requested."""
    asked = any(name in {"page", "limit", "per_page"} for name, _ in request.query_pairs())
    return page if asked else PageParams(1, ALL)


def link_header(request: EndpointRequest, page: PageParams, total: int) -> str:
    """Return the value of the `Link` header; empty if there is only one page."""
    if page == PageParams(1, ALL):
        # From `page_or_all` without a requested page: the rest follows in pages of the maximum size.
        if total <= page.size:
            return ""
        page = PageParams(page.size // LARGEST_SIZE, LARGEST_SIZE)
    last = max(-(-total // page.size), 1)
    if last == 1:
        return ""
    current = min(page.number, last)
    targets: list[tuple[int, str]] = []
    if current < last:
        targets += [(current + 1, "next"), (last, "last")]
    if current > 1:
        targets += [(1, "first"), (current - 1, "prev")]
    others = [(name, value) for name, value in request.query_pairs() if name not in {"page", "limit"}]
    address = f"{request.root}{request.scope['path']}"

    def written(number: int) -> str:
        return urlencode(sorted([*others, ("limit", str(page.size)), ("page", str(number))]))

    # PyGithub splits the header at ", ", and finds no next page without the space.
    between = ", " if request.headers.get("user-agent", "").startswith("PyGithub") else ","
    return between.join(f'<{address}?{written(number)}>; rel="{rel}"' for number, rel in targets)


def count_headers(total: int) -> dict[str, str]:
    """Return the headers with the total number of items."""
    return {"X-Total-Count": str(total), "Access-Control-Expose-Headers": "Link, X-Total-Count"}


def paging_headers(request: EndpointRequest, page: PageParams, total: int) -> dict[str, str]:
    """Return the headers of one page of a list."""
    headers = count_headers(total)
    link = link_header(request, page, total)
    return {"Link": link, **headers} if link else headers
