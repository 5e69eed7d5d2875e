"""The endpoints of webhooks: the same for repositories, organizations, users and the whole service.

A module for each of them says whose its hooks are, and who may change them; `hook_endpoints` declares
the rest.
"""

from collections.abc import Callable, Iterable
from typing import Annotated, Any, Literal

import msgspec

from holdfast.hosting.api.hook_options import (
    CreateHookOption,
    EditHookOption,
    changed_columns,
    is_system,
    new_columns,
)
from holdfast.hosting.api.hook_trials import TrialQuery, try_push
from holdfast.hosting.errors import NotWaiting
from holdfast.hosting.http.context import RequestContext
from holdfast.hosting.http.decoders import Required
from holdfast.hosting.http.endpoints import Endpoint, endpoint
from holdfast.hosting.http.errors import ApiError, answering
from holdfast.hosting.http.pagination import PagedList, PageParams
from holdfast.hosting.http.times import read_time
from holdfast.hosting.schemas import hooks as shapes
from holdfast.hosting.store import deliveries
from holdfast.hosting.store import hooks as store
from holdfast.hosting.store.event_types import KINDS, dropped, no_event
from holdfast.hosting.store.hooks import HookOwner

__all__ = ["hook_endpoints", "webhooks_enabled"]

State = Literal["waiting", "delivered", "failed", "cancelled"]


class DeliveryQuery(msgspec.Struct, frozen=True):
    """Which deliveries to list."""

    status: State | None = None
    event: str = ""
    since: str = ""
    before: str = ""


class RedeliverOption(msgspec.Struct, frozen=True):
    """Which deliveries to make again: those of a time, all of them or some."""

    since: Annotated[str, Required] = ""
    before: str = ""
    status: Literal["delivered", "failed", "cancelled"] | None = None
    event: str = ""


class Redelivered(msgspec.Struct, frozen=True):
    """How many deliveries will be made again."""

    count: int


def webhooks_enabled(request: RequestContext) -> None:
    """Refuse where the settings say that there are no webhooks."""
    if not request.app.settings.webhooks:
        raise ApiError(403, "webhooks disabled by administrator")


def list_hooks(request: RequestContext, hook_owner: HookOwner, page: PageParams) -> PagedList[shapes.HookSchema]:
    """List the webhooks, oldest first."""
    found, total = store.hooks_of(request.app.database, hook_owner, skip=page.skip, limit=page.size)
    return PagedList([shapes.hook(kept) for kept in found], total)


def show_hook(request: RequestContext, hook_owner: HookOwner, id: int) -> shapes.HookSchema:  # noqa: A002  # as it is called in the path
    """Show a webhook."""
    return shapes.hook(store.find_hook(request.app.database, hook_owner, id))


def create_hook(request: RequestContext, hook_owner: HookOwner, body: CreateHookOption) -> shapes.HookSchema:
    """Make a webhook."""
    columns = new_columns(body, request.app.sealer)
    warn_of_dropped(request, body.events)
    system = is_system(body.config or {})
    return shapes.hook(store.add_hook(request.app.database, hook_owner, columns, is_system=system))


def edit_hook(request: RequestContext, hook_owner: HookOwner, id: int, body: EditHookOption) -> shapes.HookSchema:  # noqa: A002
    """Change a webhook; what is not said stays as it is."""
    database = request.app.database
    kept = store.find_hook(database, hook_owner, id)
    columns = changed_columns(kept, body, request.app.sealer)
    warn_of_dropped(request, body.events or ())
    return shapes.hook(store.change_hook(database, hook_owner, kept, columns))


def warn_of_dropped(request: RequestContext, names: Iterable[str]) -> None:
    """Name the events that nobody knows in a header: a client that asks for more than there is gets the rest."""
    unknown = dropped(names)
    if unknown:
        said = f"{no_event(unknown)}; dropped, the hook listens to the others"
        # Printable ASCII, so that no header begins in a name; the quotes around the text are the only double ones.
        text = said.replace("\\", "\\\\").replace('"', "'")
        request.response_headers["Warning"] = f'299 - "{text}"'


def delete_hook(request: RequestContext, hook_owner: HookOwner, id: int) -> None:  # noqa: A002
    """Remove a webhook, and the history of its deliveries."""
    database = request.app.database
    store.remove_hook(database, store.find_hook(database, hook_owner, id))


def try_hook(request: RequestContext, hook_owner: HookOwner, id: int, query: TrialQuery) -> None:  # noqa: A002
    """Tell a webhook of a push that brought nothing, to see whether it arrives."""
    kept = store.find_hook(request.app.database, hook_owner, id)
    try_push(request, hook_owner, kept, query)


def resume_hook(request: RequestContext, hook_owner: HookOwner, id: int) -> shapes.HookSchema:  # noqa: A002
    """Let a paused webhook be told again of what has waited."""
    database = request.app.database
    return shapes.hook(store.resume_hook(database, hook_owner, store.find_hook(database, hook_owner, id)))


def list_deliveries(
    request: RequestContext,
    hook_owner: HookOwner,
    id: int,  # noqa: A002
    query: DeliveryQuery,
    page: PageParams,
) -> PagedList[shapes.DeliverySchema]:
    """List what a webhook was told and is to be told, newest first."""
    database = request.app.database
    kept = store.find_hook(database, hook_owner, id)
    wanted = wanted_ones(query)
    found, total = deliveries.deliveries_of(database, kept.id, wanted, skip=page.skip, limit=page.size)
    return PagedList([shapes.delivery(one) for one in found], total)


def show_delivery(
    request: RequestContext, hook_owner: HookOwner, id: int, delivery: str
) -> shapes.DeliveryDetails:  # noqa: A002
    """Show a delivery by its number or its uuid, with what was sent and what came back."""
    found = found_delivery(request, hook_owner, id, delivery)
    payload = "" if found.body else deliveries.payload_of(request.app.database, found)
    return shapes.details(found, payload)


def cancel_delivery(request: RequestContext, hook_owner: HookOwner, id: int, delivery: str) -> None:  # noqa: A002
    """Take back a delivery that waits, so that those behind it are not held up."""
    found = found_delivery(request, hook_owner, id, delivery)
    with answering(409, NotWaiting):
        deliveries.cancel(request.app.database, found, f"cancelled by {request.user.name}")


def redeliver(request: RequestContext, hook_owner: HookOwner, id: int, delivery: str) -> shapes.DeliverySchema:  # noqa: A002
    """Make a delivery again, after everything that waits already."""
    found = found_delivery(request, hook_owner, id, delivery)
    check_active(store.find_hook(request.app.database, hook_owner, id))
    return shapes.delivery(deliveries.redeliver(request.app.database, found))


def redeliver_all(request: RequestContext, hook_owner: HookOwner, id: int, body: RedeliverOption) -> Redelivered:  # noqa: A002
    """Make the deliveries of a time again, each event once and in order."""
    database = request.app.database
    kept = store.find_hook(database, hook_owner, id)
    wanted = wanted_ones(body)
    check_active(kept)
    return Redelivered(deliveries.redeliver_all(database, kept.id, wanted))


def check_active(kept: store.Hook) -> None:
    """Refuse to queue for a hook that nothing is sent to."""
    if not kept.is_active:
        raise ApiError(409, deliveries.INACTIVE)


def found_delivery(request: RequestContext, hook_owner: HookOwner, number: int, key: str) -> deliveries.Delivery:
    """Find a delivery of a hook."""
    database = request.app.database
    return deliveries.find_delivery(database, store.find_hook(database, hook_owner, number).id, key)


def wanted_ones(asked: DeliveryQuery | RedeliverOption) -> deliveries.DeliveryFilter:
    """Read which deliveries are asked for."""
    if asked.event and asked.event not in KINDS:
        raise ApiError(422, f"[Event]: unknown event {asked.event[:100]!r}")
    return deliveries.DeliveryFilter(
        state=asked.status,
        kind=asked.event or None,
        since=read_time(asked.since, "Since") if asked.since else None,
        before=read_time(asked.before, "Before") if asked.before else None,
    )


def hook_endpoints(
    word: str,
    path: str,
    *,
    scope: str,
    guards: tuple[Callable[[RequestContext], object], ...],
    lists: Callable[..., object] = list_hooks,
) -> tuple[Endpoint, ...]:
    """Declare the endpoints of the hooks of one kind of owner; the last of the guards gives that."""
    one, history = f"{path}/{{id}}", f"{path}/{{id}}/deliveries"
    entry = f"{history}/{{delivery}}"
    missing = (401, 403, 404)

    def declare(run: Callable[..., object], route: str, name: str, **more: Any) -> Endpoint:
        options = {"refuses": missing, **more}
        return endpoint(route, scope=scope, guards=guards, tag=f"{word}_hooks", name=name, **options)(run)

    return (
        declare(lists, f"GET {path}", f"list_{word}_hooks"),
        declare(create_hook, f"POST {path}", f"create_{word}_hook", status=201, refuses=(400, *missing, 422)),
        declare(show_hook, f"GET {one}", f"show_{word}_hook"),
        declare(edit_hook, f"PATCH {one}", f"edit_{word}_hook", refuses=(400, *missing, 422)),
        declare(delete_hook, f"DELETE {one}", f"delete_{word}_hook"),
        declare(try_hook, f"POST {one}/tests", f"test_{word}_hook"),
        declare(resume_hook, f"POST {one}/resume", f"resume_{word}_hook"),
        declare(
            redeliver_all, f"POST {one}/redeliver", f"redeliver_{word}_hook", status=202, refuses=(*missing, 409)
        ),
        declare(list_deliveries, f"GET {history}", f"list_{word}_hook_deliveries", slow=True),
        declare(show_delivery, f"GET {entry}", f"show_{word}_hook_delivery", slow=True),
        declare(cancel_delivery, f"DELETE {entry}", f"cancel_{word}_hook_delivery", refuses=(*missing, 409)),
        declare(
            redeliver,
            f"POST {entry}/redeliver",
            f"redeliver_{word}_hook_delivery",
            status=202,
            refuses=(*missing, 409),
        ),
    )
