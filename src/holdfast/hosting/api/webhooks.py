"""Webhooks of repositories, organizations, users and the service: the same endpoints under four paths."""

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from holdfast.hosting.access import WebhookOwner
from holdfast.hosting.guards import (
    ORGANIZATION_WEBHOOKS,
    OWN_WEBHOOKS,
    REPOSITORY_WEBHOOKS,
    SERVICE_WEBHOOKS,
)
from holdfast.hosting.http.decoders import Required, decode_time
from holdfast.hosting.http.endpoints import Endpoint, endpoint
from holdfast.hosting.http.pagination import PagedList, PageParams
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas import hooks as schemas
from holdfast.hosting.services import webhook_deliveries, webhooks
from holdfast.hosting.store.deliveries import DeliveryFilter
from holdfast.hosting.store.event_types import unknown_events, unknown_events_message
from holdfast.redacted_repr import redacted

__all__ = ["ENDPOINTS"]

# Booleans in `config`, whose values are strings.
TRUE: Final = frozenset({"1", "t", "T", "true", "TRUE", "True"})
FALSE: Final = frozenset({"", "0", "f", "F", "false", "FALSE", "False"})

Name = Annotated[str, Meta(max_length=webhooks.MAX_NAME)]
Authorization = Annotated[str, Meta(max_length=webhooks.MAX_AUTHORIZATION)]


@redacted
class CreateHookOption(msgspec.Struct, frozen=True):
    """A new webhook; it is inactive by default."""

    type: Annotated[str, Required] = ""
    config: Annotated[dict[str, str] | UnsetType, Required] = UNSET
    events: list[str] = []
    branch_filter: Name = ""
    authorization_header: Authorization = ""
    active: bool = False
    name: Name = ""


@redacted
class EditHookOption(msgspec.Struct, frozen=True):
    """Changes; an absent key keeps the value, in `config` too."""

    config: dict[str, str] | UnsetType = UNSET
    events: list[str] | UnsetType = UNSET
    branch_filter: Name | UnsetType = UNSET
    authorization_header: Authorization | UnsetType = UNSET
    active: bool | UnsetType = UNSET
    name: Name | UnsetType = UNSET


class ServiceHookQuery(msgspec.Struct, frozen=True):
    """Filters of the webhooks of the service."""

    type: Literal["all", "system", "default"] = "all"


class TestHookQuery(msgspec.Struct, frozen=True):
    """The revision of a test, and the repository if a webhook has several."""

    ref: str = ""
    repository: str = ""


class DeliveryQuery(msgspec.Struct, frozen=True):
    """Filters of deliveries."""

    status: Literal["waiting", "delivered", "failed", "cancelled"] | None = None
    event: str = ""
    since: str = ""
    before: str = ""


class RedeliverOption(msgspec.Struct, frozen=True):
    """Filters of the deliveries to repeat."""

    since: Annotated[str, Required] = ""
    before: str = ""
    status: Literal["delivered", "failed", "cancelled"] | None = None
    event: str = ""


class RedeliveryResponse(msgspec.Struct, frozen=True):
    """The number of queued deliveries."""

    count: int


def list_hooks(
    request: RequestContext, hook_owner: WebhookOwner, page: PageParams
) -> PagedList[schemas.HookSchema]:
    """List the webhooks, oldest first."""
    hook_summaries, total = webhooks.list_webhooks(
        request.app, request.actor, hook_owner, skip=page.skip, limit=page.size
    )
    return PagedList([schemas.hook(hook) for hook in hook_summaries], total)


def list_service_hooks(
    request: RequestContext, hook_owner: WebhookOwner, query: ServiceHookQuery, page: PageParams
) -> PagedList[schemas.HookSchema]:
    """List the system webhooks and the default webhooks for new repositories, oldest first."""
    scope = None if query.type == "all" else query.type
    hook_summaries, total = webhooks.list_webhooks(
        request.app, request.actor, hook_owner, skip=page.skip, limit=page.size, scope=scope
    )
    return PagedList([schemas.hook(hook) for hook in hook_summaries], total)


def show_hook(request: RequestContext, hook_owner: WebhookOwner, id: int) -> schemas.HookSchema:  # noqa: A002  # named in the path
    """Show a webhook."""
    return schemas.hook(webhooks.find(request.app, request.actor, hook_owner, id))


def create_hook(request: RequestContext, hook_owner: WebhookOwner, body: CreateHookOption) -> schemas.HookSchema:
    """Create a webhook."""
    config = {} if body.config is UNSET else body.config
    new = webhooks.NewWebhook(
        type=body.type,
        url=config.get("url", UNSET),
        content_type=config.get("content_type", UNSET),
        secret=config.get("secret", ""),
        authorization=body.authorization_header,
        events=tuple(body.events),
        branch_filter=body.branch_filter,
        is_active=body.active,
        name=body.name,
        is_system=boolean(config.get("is_system_webhook", "")),
        **slack_options(config),
    )
    created = webhooks.create(request.app, request.actor, hook_owner, new)
    warn_of_dropped(request, body.events)
    return schemas.hook(created)


def edit_hook(
    request: RequestContext,
    hook_owner: WebhookOwner,
    id: int,  # noqa: A002  # the path parameter's name
    body: EditHookOption,
) -> schemas.HookSchema:
    """Change a webhook; absent keys keep their value."""
    config = {} if body.config is UNSET else body.config
    changes = webhooks.WebhookEdit(
        url=config.get("url", UNSET),
        content_type=config.get("content_type", UNSET),
        secret=config.get("secret", UNSET),
        is_system=boolean(config["is_system_webhook"]) if "is_system_webhook" in config else UNSET,
        authorization=body.authorization_header,
        events=UNSET if body.events is UNSET else tuple(body.events),
        branch_filter=body.branch_filter,
        is_active=body.active,
        name=body.name,
        **slack_options(config),
    )
    edited = webhooks.edit(request.app, request.actor, hook_owner, id, changes)
    warn_of_dropped(request, body.events or ())
    return schemas.hook(edited)


def slack_options(config: Mapping[str, str]) -> dict[str, str | UnsetType]:
    """Return the options that only webhooks for Slack have."""
    return {option: config.get(option, UNSET) for option in webhooks.SLACK_OPTIONS}


def boolean(text: str) -> bool | None:
    """Parse a boolean; None if it is invalid."""
    return text in TRUE if text in TRUE | FALSE else None


def warn_of_dropped(request: RequestContext, names: Iterable[str]) -> None:
    """Name unknown events in a `Warning` header; the known ones are accepted."""
    unknown = unknown_events(names)
    if unknown:
        warning = f"{unknown_events_message(unknown)}; ignored, the other events are used"
        # Printable ASCII prevents header injection; the only double quotes are those around the text.
        text = warning.replace("\\", "\\\\").replace('"', "'")
        request.response_headers["Warning"] = f'299 - "{text}"'


def delete_hook(request: RequestContext, hook_owner: WebhookOwner, id: int) -> None:  # noqa: A002  # the path parameter's name
    """Delete a webhook and its deliveries."""
    webhooks.delete(request.app, request.actor, hook_owner, id)


def test_hook(request: RequestContext, hook_owner: WebhookOwner, id: int, query: TestHookQuery) -> None:  # noqa: A002  # the path parameter's name
    """Send a webhook a push event without new commits."""
    webhooks.send_test(
        request.app, request.actor, hook_owner, id, ref=query.ref.strip(), repository=query.repository
    )


def resume_hook(request: RequestContext, hook_owner: WebhookOwner, id: int) -> schemas.HookSchema:  # noqa: A002  # the path parameter's name
    """Resume a paused webhook."""
    return schemas.hook(webhooks.resume(request.app, request.actor, hook_owner, id))


def list_deliveries(
    request: RequestContext,
    hook_owner: WebhookOwner,
    id: int,  # noqa: A002  # the path parameter's name
    query: DeliveryQuery,
    page: PageParams,
) -> PagedList[schemas.DeliverySchema]:
    """List the deliveries of a webhook, newest first."""
    deliveries, total = webhook_deliveries.list_deliveries(
        request.app, request.actor, hook_owner, id, delivery_filter(query), skip=page.skip, limit=page.size
    )
    return PagedList([schemas.delivery(stored) for stored in deliveries], total)


def show_delivery(
    request: RequestContext,
    hook_owner: WebhookOwner,
    id: int,  # noqa: A002  # the path parameter's name
    delivery: str,
) -> schemas.DeliveryDetails:
    """Show a delivery by id or UUID, with request and response."""
    sent_delivery = webhook_deliveries.find(request.app, request.actor, hook_owner, id, delivery)
    return schemas.details(sent_delivery.delivery, sent_delivery.payload)


def cancel_delivery(request: RequestContext, hook_owner: WebhookOwner, id: int, delivery: str) -> None:  # noqa: A002  # the path parameter's name
    """Cancel a pending delivery, so that it no longer blocks later ones."""
    webhook_deliveries.cancel(request.app, request.actor, hook_owner, id, delivery)


def redeliver(request: RequestContext, hook_owner: WebhookOwner, id: int, delivery: str) -> schemas.DeliverySchema:  # noqa: A002  # the path parameter's name
    """Queue a delivery again, after all pending ones."""
    return schemas.delivery(webhook_deliveries.redeliver(request.app, request.actor, hook_owner, id, delivery))


def redeliver_all(
    request: RequestContext,
    hook_owner: WebhookOwner,
    id: int,  # noqa: A002  # the path parameter's name
    body: RedeliverOption,
) -> RedeliveryResponse:
    """Queue past deliveries again, each event once and in order."""
    return RedeliveryResponse(
        webhook_deliveries.redeliver_all(request.app, request.actor, hook_owner, id, delivery_filter(body))
    )


def delivery_filter(query: DeliveryQuery | RedeliverOption) -> DeliveryFilter:
    """Return the filter of a query or body."""
    return DeliveryFilter(
        state=query.status,
        kind=query.event or None,
        since=decode_time(query.since, "Since") if query.since else None,
        before=decode_time(query.before, "Before") if query.before else None,
    )


def declare(
    prefix: str,
    path: str,
    *,
    scope: str,
    guards: tuple[Callable[[RequestContext], object], ...],
    list_all: Callable[..., object] = list_hooks,
) -> tuple[Endpoint, ...]:
    """Declare the endpoints for one kind of owner, which the last guard returns."""
    hook_path, history = f"{path}/{{id}}", f"{path}/{{id}}/deliveries"
    entry = f"{history}/{{delivery}}"
    missing = (401, 403, 404)
    conflict = {"status": 202, "refuses": (*missing, 409)}

    def route(run: Callable[..., object], address: str, name: str, **more: Any) -> Endpoint:
        options = {"refuses": missing, **more}
        return endpoint(address, scope=scope, guards=guards, tag=f"{prefix}_hooks", name=name, **options)(run)

    return (
        route(list_all, f"GET {path}", f"list_{prefix}_hooks", cacheable=True),
        route(create_hook, f"POST {path}", f"create_{prefix}_hook", status=201, refuses=(400, *missing, 422)),
        route(show_hook, f"GET {hook_path}", f"show_{prefix}_hook"),
        route(edit_hook, f"PATCH {hook_path}", f"edit_{prefix}_hook", refuses=(400, *missing, 422)),
        route(delete_hook, f"DELETE {hook_path}", f"delete_{prefix}_hook"),
        route(test_hook, f"POST {hook_path}/tests", f"test_{prefix}_hook"),
        route(resume_hook, f"POST {hook_path}/resume", f"resume_{prefix}_hook"),
        route(redeliver_all, f"POST {hook_path}/redeliver", f"redeliver_{prefix}_hook", **conflict),
        route(list_deliveries, f"GET {history}", f"list_{prefix}_hook_deliveries", slow=True),
        route(show_delivery, f"GET {entry}", f"show_{prefix}_hook_delivery", slow=True),
        route(cancel_delivery, f"DELETE {entry}", f"cancel_{prefix}_hook_delivery", refuses=(*missing, 409)),
        route(redeliver, f"POST {entry}/redeliver", f"redeliver_{prefix}_hook_delivery", **conflict),
    )


ENDPOINTS: Final = (
    *declare("org", "/orgs/{org}/hooks", scope="organization", guards=ORGANIZATION_WEBHOOKS),
    *declare("repository", "/repos/{owner}/{repo}/hooks", scope="repository", guards=REPOSITORY_WEBHOOKS),
    *declare("user", "/user/hooks", scope="user", guards=OWN_WEBHOOKS),
    *declare("admin", "/admin/hooks", scope="admin", guards=SERVICE_WEBHOOKS, list_all=list_service_hooks),
)
