"""The history of webhooks: what was sent when, what came back, and sending it once more."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final
from urllib.parse import parse_qsl, quote, urlencode

import msgspec
from markupsafe import escape

from holdfast.hosting.http.context import RequestContext
from holdfast.hosting.http.endpoints import Endpoint, RawResponse
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.pagination import PagedList, PageParams
from holdfast.hosting.store import hooks as store
from holdfast.hosting.store.event_types import KINDS as EVENTS
from holdfast.hosting.store.hooks import HookOwner
from holdfast.web.api_actions import act
from holdfast.web.pages import go
from holdfast.web.settings.hook_owners import HOMES, HookHome
from holdfast.web.settings.hook_pages import HookPages, declare

__all__ = ["MADE", "BodyExcerpt", "shown_body"]

STATES: Final = ("waiting", "delivered", "failed", "cancelled")
# Of a body so much is shown, counted as the page is sent; all of it is one link away.
LARGEST_SHOWN: Final = 48 * 1024
MOST_HEADERS: Final = 100
LONGEST_HEADER: Final = 1000
FIRST: Final = PageParams(1, 30)
NOTHING_AGAIN: Final = "Nothing of that time can be sent again: there was nothing, or it waits to be sent already."


class DeliveryHistoryQuery(msgspec.Struct, frozen=True):
    """Which deliveries to show."""

    status: str = ""
    event: str = ""
    since: str = ""
    before: str = ""


class RangeForm(DeliveryHistoryQuery, frozen=True):
    """Which deliveries to make again."""


@dataclass(frozen=True, slots=True)
class BodyExcerpt:
    """A body as far as a page shows it."""

    text: str
    size: int
    is_cut: bool


def shown_body(text: str) -> BodyExcerpt:
    """Write a body for people: JSON on several lines, also out of a form, and not more than a page holds."""
    size = len(text.encode())
    inner = dict(parse_qsl(text)).get("payload", text) if text.startswith("payload=") else text
    try:
        written = json.dumps(json.loads(inner), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        written = inner
    # Half of a pair, which JSON can spell, is nothing a page can be written with.
    written = written.encode("utf-8", "replace").decode()
    left = LARGEST_SHOWN
    for index, letter in enumerate(written):
        left -= len(str(escape(letter)).encode("utf-8", "replace"))
        if left < 0:
            return BodyExcerpt(written[:index], size, is_cut=True)
    return BodyExcerpt(written, size, is_cut=False)


def shown_headers(headers: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the headers as far as a page shows them."""
    kept = list(headers.items())[:MOST_HEADERS]
    return [
        (name[:LONGEST_HEADER], value if len(value) <= LONGEST_HEADER else f"{value[:LONGEST_HEADER]}…")
        for name, value in kept
    ]


@dataclass(frozen=True, slots=True)
class DeliveryPages(HookPages):
    """The pages of what the hooks of one kind of home were told."""

    def history(
        self,
        request: RequestContext,
        home: HookOwner,
        id: int,  # noqa: A002  # named in the path
        query: DeliveryHistoryQuery,
        page: PageParams,  # named in the path
    ) -> RawResponse:
        """Show what a webhook was told, and is to be told, newest first."""
        return self._history(request, store.find_hook(request.app.database, home, id), query, page)

    def delivery(self, request: RequestContext, home: HookOwner, id: int, delivery: str) -> RawResponse:  # noqa: A002
        """Show one delivery: what was sent and what came back."""
        return self._delivery(request, store.find_hook(request.app.database, home, id), delivery)

    def redeliver(self, request: RequestContext, home: HookOwner, id: int, delivery: str) -> RawResponse:  # noqa: A002
        """Make a delivery again."""
        kept = store.find_hook(request.app.database, home, id)
        try:
            made = act(request, self.home.redeliver, {"id": id, "delivery": delivery})
        except ApiError as refusal:
            return self._delivery(request, kept, delivery, refusal)
        return go(f"{self.home.root(request)}/{id}/deliveries/{made.id}", "sent-again")

    def cancel(self, request: RequestContext, home: HookOwner, id: int, delivery: str) -> RawResponse:  # noqa: A002
        """Take back a delivery that waits."""
        kept = store.find_hook(request.app.database, home, id)
        try:
            act(request, self.home.cancel, {"id": id, "delivery": delivery})
        except ApiError as refusal:
            return self._delivery(request, kept, delivery, refusal)
        return go(f"{self.home.root(request)}/{id}/deliveries/{quote(delivery, safe='')}", "cancelled")

    def redeliver_range(self, request: RequestContext, home: HookOwner, id: int, body: RangeForm) -> RawResponse:  # noqa: A002
        """Make the deliveries of a time again."""
        kept = store.find_hook(request.app.database, home, id)
        wanted = {name: text for name in body.__struct_fields__ if (text := getattr(body, name).strip())}
        try:
            made = act(request, self.home.redeliver_all, {"id": id}, body=wanted)
        except ApiError as refusal:
            return self._history(request, kept, DeliveryHistoryQuery(), FIRST, refusal=refusal, again=body)
        if not made.count:
            nothing = ApiError(409, NOTHING_AGAIN)
            return self._history(request, kept, DeliveryHistoryQuery(), FIRST, refusal=nothing, again=body)
        return go(f"{self.home.root(request)}/{id}/deliveries", "sent-again")

    def _history(
        self,
        request: RequestContext,
        kept: store.Hook,
        query: DeliveryHistoryQuery,
        page: PageParams,
        *,
        refusal: ApiError | None = None,
        again: RangeForm | None = None,
    ) -> RawResponse:
        asked = {name: text for name in query.__struct_fields__ if (text := getattr(query, name).strip())}
        try:
            listed = act(request, self.home.list_deliveries, {"id": kept.id}, query=asked, page=page)
        except ApiError as wrong:
            refusal = wrong
            listed = PagedList([], 0)
        return self.show(
            request,
            "deliveries.html",
            title=f"Deliveries of {kept.name or f'webhook {kept.id}'}",
            refusal=refusal,
            hook=kept,
            deliveries=listed.items,
            total=listed.total,
            page=page,
            query=query,
            again=again or RangeForm(status="failed"),
            asked=asked,
            more=f"?{urlencode(asked)}&page=" if asked else "?page=",
            states=STATES,
            events=sorted(EVENTS),
        )

    def _delivery(
        self, request: RequestContext, kept: store.Hook, key: str, refusal: ApiError | None = None
    ) -> RawResponse:
        found = act(request, self.home.show_delivery, {"id": kept.id, "delivery": key})
        names = {**request.path, "id": str(kept.id), "delivery": str(found.id)}
        address = "/api/v1" + self.home.show_delivery.path
        for name, value in names.items():
            address = address.replace(f"{{{name}}}", quote(value, safe=""))
        sent, answer = found.request, found.response
        return self.show(
            request,
            "delivery.html",
            title=f"Delivery {found.id}",
            refusal=refusal,
            hook=kept,
            one=found,
            address=address,
            tries=request.app.settings.webhook_tries,
            sent_headers=[] if sent is None else shown_headers(sent.headers),
            sent_body=None if sent is None else shown_body(sent.body),
            answer_headers=[] if answer is None else shown_headers(answer.headers),
            answer_body=None if answer is None else shown_body(answer.body),
        )


def pages_of(home: HookHome) -> tuple[Endpoint, ...]:
    """Declare the pages of what the hooks of one kind of home were told."""
    pages, path = DeliveryPages(home), f"{home.pattern}/{{id}}"
    declared = partial(declare, home)
    return (
        declared(pages.history, f"GET {path}/deliveries"),
        declared(pages.redeliver_range, f"POST {path}/deliveries"),
        declared(pages.delivery, f"GET {path}/deliveries/{{delivery}}"),
        declared(pages.redeliver, f"POST {path}/deliveries/{{delivery}}/redeliver"),
        declared(pages.cancel, f"POST {path}/deliveries/{{delivery}}/cancel"),
    )


MADE: Final = tuple(page for home in HOMES for page in pages_of(home))
