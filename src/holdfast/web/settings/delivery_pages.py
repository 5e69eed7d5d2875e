"""The pages of webhook deliveries: list, show, redeliver and cancel them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, quote, urlencode

import msgspec
from markupsafe import escape

from holdfast.hosting.access import WebhookOwner
from holdfast.hosting.errors import HostingError, InvalidField, InvalidValue, NothingToRedeliver, Violation
from holdfast.hosting.http.decoders import decode_time
from holdfast.hosting.http.endpoints import Endpoint, RawResponse
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.pagination import PageParams
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas import hooks as schemas
from holdfast.hosting.services import webhook_deliveries, webhooks
from holdfast.hosting.store.deliveries import Delivery, DeliveryFilter
from holdfast.hosting.store.event_types import KINDS as EVENTS
from holdfast.hosting.store.hooks import Hook
from holdfast.web.pages import redirect_to
from holdfast.web.settings.hook_owners import OWNERS, WebhookPagesOwner
from holdfast.web.settings.hook_pages import HookPages

__all__ = ["MADE", "BodyExcerpt", "shown_body"]

# The part of a body that is shown, in bytes of escaped HTML; the page links to the full body.
LARGEST_SHOWN: Final = 48 * 1024
MOST_HEADERS: Final = 100
LONGEST_HEADER: Final = 1000
FIRST: Final = PageParams(1, 30)


class DeliveryHistoryQuery(msgspec.Struct, frozen=True):
    """The filters of the list."""

    status: str = ""
    event: str = ""
    since: str = ""
    before: str = ""


class RangeForm(DeliveryHistoryQuery, frozen=True):
    """The filters of the deliveries to redeliver."""


@dataclass(frozen=True, slots=True)
class BodyExcerpt:
    """The shown part of a body."""

    text: str
    size: int
    is_cut: bool


def shown_body(text: str) -> BodyExcerpt:
    """Format a body for the page: JSON is indented, and long bodies are truncated."""
    size = len(text.encode())
    inner = dict(parse_qsl(text)).get("payload", text) if text.startswith("payload=") else text
    try:
        written = json.dumps(json.loads(inner), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        written = inner
    # JSON can contain lone surrogates, which cannot be encoded in UTF-8.
    written = written.encode("utf-8", "replace").decode()
    left = LARGEST_SHOWN
    for index, letter in enumerate(written):
        left -= len(str(escape(letter)).encode("utf-8", "replace"))
        if left < 0:
            return BodyExcerpt(written[:index], size, is_cut=True)
    return BodyExcerpt(written, size, is_cut=False)


def shown_headers(headers: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the headers with long values truncated."""
    first_headers = list(headers.items())[:MOST_HEADERS]
    return [
        (name[:LONGEST_HEADER], value if len(value) <= LONGEST_HEADER else f"{value[:LONGEST_HEADER]}…")
        for name, value in first_headers
    ]


def delivery_filter(form: DeliveryHistoryQuery) -> DeliveryFilter:
    """Return the filter of a form."""
    return DeliveryFilter(
        state=form.status.strip() or None,
        kind=form.event.strip() or None,
        since=moment_in(form.since, "Since"),
        before=moment_in(form.before, "Before"),
    )


def moment_in(text: str, field: str) -> int | None:
    """Parse a time of a form as a Unix timestamp."""
    try:
        return decode_time(text, field) if text.strip() else None
    except ApiError:
        raise InvalidValue(field, "must be a time such as 2026-08-22T10:00") from None


@dataclass(frozen=True, slots=True)
class DeliveryPages(HookPages):
    """The pages of the deliveries of one kind of owner's webhooks."""

    def history(
        self,
        request: RequestContext,
        hook_owner: WebhookOwner,
        id: int,  # noqa: A002  # named in the path
        query: DeliveryHistoryQuery,
        page: PageParams,
    ) -> RawResponse:
        """List the deliveries of a webhook, newest first."""
        return self._history(request, hook_owner, id, query, page)

    def delivery(self, request: RequestContext, hook_owner: WebhookOwner, id: int, delivery: str) -> RawResponse:  # noqa: A002  # the path parameter's name
        """Show one delivery: the request and the response."""
        return self._delivery(request, hook_owner, id, delivery)

    def redeliver(self, request: RequestContext, hook_owner: WebhookOwner, id: int, delivery: str) -> RawResponse:  # noqa: A002  # the path parameter's name
        """Redeliver a delivery."""
        try:
            queued = webhook_deliveries.redeliver(request.app, request.actor, hook_owner, id, delivery)
        except HostingError as error:
            return self._delivery(request, hook_owner, id, delivery, error)
        return redirect_to(f"{self.owner.root(request)}/{id}/deliveries/{queued.id}", "redelivery-queued")

    def cancel(self, request: RequestContext, hook_owner: WebhookOwner, id: int, delivery: str) -> RawResponse:  # noqa: A002  # the path parameter's name
        """Cancel a pending delivery."""
        try:
            webhook_deliveries.cancel(request.app, request.actor, hook_owner, id, delivery)
        except HostingError as error:
            return self._delivery(request, hook_owner, id, delivery, error)
        return redirect_to(
            f"{self.owner.root(request)}/{id}/deliveries/{quote(delivery, safe='')}", "delivery-cancelled"
        )

    def redeliver_range(
        self,
        request: RequestContext,
        hook_owner: WebhookOwner,
        id: int,  # noqa: A002  # the path parameter's name
        body: RangeForm,
    ) -> RawResponse:
        """Redeliver the deliveries of a time range."""
        try:
            if not body.since.strip():
                raise InvalidField("Since", Violation.REQUIRED)
            count = webhook_deliveries.redeliver_all(
                request.app, request.actor, hook_owner, id, delivery_filter(body)
            )
            if not count:
                raise NothingToRedeliver
        except HostingError as error:
            return self._history(request, hook_owner, id, DeliveryHistoryQuery(), FIRST, error=error, again=body)
        queued = f"{count} redeliver{'y' if count == 1 else 'ies'}"
        return redirect_to(f"{self.owner.root(request)}/{id}/deliveries", "deliveries-queued", queued)

    def _history(
        self,
        request: RequestContext,
        hook_owner: WebhookOwner,
        webhook_id: int,
        query: DeliveryHistoryQuery,
        page: PageParams,
        *,
        error: HostingError | None = None,
        again: RangeForm | None = None,
    ) -> RawResponse:
        hook = webhooks.find(request.app, request.actor, hook_owner, webhook_id)
        stored_deliveries: list[Delivery] = []
        total = 0
        try:
            stored_deliveries, total = webhook_deliveries.list_deliveries(
                request.app,
                request.actor,
                hook_owner,
                hook.id,
                delivery_filter(query),
                skip=page.skip,
                limit=page.size,
            )
        except (InvalidValue, InvalidField) as invalid:
            error = invalid
        asked = {name: text for name in query.__struct_fields__ if (text := getattr(query, name).strip())}
        return self.show(
            request,
            "deliveries.html",
            title=f"Deliveries of {hook.name or f'webhook {hook.id}'}",
            error=error,
            hook=hook,
            deliveries=[schemas.delivery(stored) for stored in stored_deliveries],
            total=total,
            page=page,
            query=query,
            again=again or RangeForm(status="failed"),
            asked=asked,
            more=f"?{urlencode(asked)}&page=" if asked else "?page=",
            states=webhook_deliveries.STATES,
            events=sorted(EVENTS),
        )

    def _delivery(
        self,
        request: RequestContext,
        hook_owner: WebhookOwner,
        webhook_id: int,
        key: str,
        error: HostingError | None = None,
    ) -> RawResponse:
        hook: Hook = webhooks.find(request.app, request.actor, hook_owner, webhook_id)
        sent_delivery = webhook_deliveries.find(request.app, request.actor, hook_owner, hook.id, key)
        details = schemas.details(sent_delivery.delivery, sent_delivery.payload)
        address = f"/api/v1{self.owner.api_path}/{hook.id}/deliveries/{details.id}"
        for name, value in request.path.items():
            address = address.replace(f"{{{name}}}", quote(value, safe=""))
        sent, received = details.request, details.response
        return self.show(
            request,
            "delivery.html",
            title=f"Delivery {details.id}",
            error=error,
            hook=hook,
            one=details,
            address=address,
            tries=request.app.settings.webhook_tries,
            sent_headers=[] if sent is None else shown_headers(sent.headers),
            sent_body=None if sent is None else shown_body(sent.body),
            answer_headers=[] if received is None else shown_headers(received.headers),
            answer_body=None if received is None else shown_body(received.body),
        )


def pages_of(owner: WebhookPagesOwner) -> tuple[Endpoint, ...]:
    """Declare the pages of the deliveries of one kind of owner's webhooks."""
    pages = DeliveryPages(owner)
    return (
        owner.declare(pages.history, "GET", "/{id}/deliveries"),
        owner.declare(pages.redeliver_range, "POST", "/{id}/deliveries"),
        owner.declare(pages.delivery, "GET", "/{id}/deliveries/{delivery}"),
        owner.declare(pages.redeliver, "POST", "/{id}/deliveries/{delivery}/redeliver"),
        owner.declare(pages.cancel, "POST", "/{id}/deliveries/{delivery}/cancel"),
    )


MADE: Final = tuple(page for owner in OWNERS for page in pages_of(owner))
