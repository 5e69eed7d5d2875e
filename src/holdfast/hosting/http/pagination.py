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
# A page beyond this is beyond every list; the product with the size stays within 64 bits.
LAST_PAGE: Final = 2**40
FARTHEST: Final = 2**62
# How much of a list goes into one answer for clients that do not know it has pages.
ALL: Final = 5000

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PageParams:
    """Which part of a list was asked for."""

    number: int
    size: int

    @property
    def skip(self) -> int:
        """How many items come before it."""
        return min((self.number - 1) * self.size, FARTHEST)


@dataclass(frozen=True, slots=True)
class PagedList(Generic[T]):
    """One page of a list, and how many items the whole list has."""

    items: list[T]
    total: int
    page: PageParams | None = None
    """The page it is, where that was read otherwise than on other lists."""


def whole_number(text: str | None) -> int:
    """Read a number leniently: what is no number counts as 0."""
    try:
        return int(text or 0)
    except ValueError:
        return 0


def page_of(request: EndpointRequest) -> PageParams:
    """Read which page was asked for; nonsense means the first page of the usual size."""
    parameters = dict(request.query_pairs())
    number = min(max(whole_number(parameters.get("page")), 1), LAST_PAGE)
    # `per_page` is what clients made for another service's API send.
    size = whole_number(parameters.get("limit") or parameters.get("per_page"))
    return PageParams(number, DEFAULT_SIZE if size <= 0 else min(size, LARGEST_SIZE))


def page_or_all(request: EndpointRequest, page: PageParams) -> PageParams:
    """Return the page asked for, or everything for lists whose clients do not ask for pages."""
    asked = any(name in {"page", "limit", "per_page"} for name, _ in request.query_pairs())
    return page if asked else PageParams(1, ALL)


def link_header(request: EndpointRequest, page: PageParams, total: int) -> str:
    """Write the `Link` header; empty when everything is on one page."""
    if page == PageParams(1, ALL):
        # What `page_or_all` gives where no page was asked for: the rest comes in the largest ones.
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

    # PyGithub splits the header at a comma and a space, and finds no next page without the space.
    between = ", " if request.headers.get("user-agent", "").startswith("PyGithub") else ","
    return between.join(f'<{address}?{written(number)}>; rel="{rel}"' for number, rel in targets)


def count_headers(total: int) -> dict[str, str]:
    """Return the headers that tell how many items a list has."""
    return {"X-Total-Count": str(total), "Access-Control-Expose-Headers": "Link, X-Total-Count"}


def paging_headers(request: EndpointRequest, page: PageParams, total: int) -> dict[str, str]:
    """Return the headers that go with one page of a list."""
    headers = count_headers(total)
    link = link_header(request, page, total)
    return {"Link": link, **headers} if link else headers
