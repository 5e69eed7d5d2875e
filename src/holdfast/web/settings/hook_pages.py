"""The pages of webhooks, the same for every kind of home: listing, making, changing, trying and removing them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import msgspec

from holdfast.hosting.http.context import RequestContext
from holdfast.hosting.http.endpoints import Endpoint, RawResponse, endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.pagination import PageParams
from holdfast.hosting.store import backlog
from holdfast.hosting.store import hooks as store
from holdfast.hosting.store.hooks import HookOwner
from holdfast.web.api_actions import act
from holdfast.web.pages import go
from holdfast.web.settings.hook_forms import EVENT_GROUPS, KINDS, HookForm, body_of, form_of, new_form
from holdfast.web.settings.hook_owners import HOMES, HookHome

__all__ = ["MADE", "HookPages"]

AT: Final = "Webhooks"


class TypeQuery(msgspec.Struct, frozen=True):
    """Which type was chosen."""

    type: str = ""


class TrialForm(msgspec.Struct, frozen=True):
    """What a trial is about; empty means the latest."""

    repository: str = ""
    ref: str = ""


@dataclass(frozen=True, slots=True)
class HookPages:
    """The pages of the hooks of one kind of home."""

    home: HookHome

    def show(
        self,
        request: RequestContext,
        template: str,
        *,
        title: str,
        refusal: ApiError | None = None,
        **values: object,
    ) -> RawResponse:
        """Show one of the pages."""
        return self.home.frame(
            request,
            f"settings/{template}",
            at=AT,
            title=title,
            refusal=refusal,
            hooks_path=self.home.root(request),
            home=self.home,
            kinds=KINDS,
            **values,
        )

    def list_page(self, request: RequestContext, page: PageParams) -> RawResponse:
        """List the webhooks with how they fare."""
        listed = act(request, self.home.list_hooks, page=page)
        last = backlog.last_deliveries(request.app.database, [hook.id for hook in listed.items])
        return self.show(
            request, "hooks.html", title="Webhooks", hooks=listed.items, total=listed.total, page=page, last=last
        )

    def new_page(self, request: RequestContext, query: TypeQuery) -> RawResponse:
        """Ask for the type first, then for what a webhook of that type needs."""
        if query.type not in KINDS:
            return self.show(request, "hook_types.html", title="New webhook")
        return self._form(request, new_form(query.type), None)

    def create(self, request: RequestContext, body: HookForm) -> RawResponse:
        """Make a webhook."""
        try:
            made = act(request, self.home.create, body=body_of(body))
        except ApiError as refusal:
            if body.type not in KINDS:
                raise
            return self._form(request, body, None, refusal)
        return go(f"{self.home.root(request)}/{made.id}", "created")

    def edit_page(self, request: RequestContext, home: HookOwner, id: int) -> RawResponse:  # noqa: A002  # as it is called in the path
        """Show a webhook's settings."""
        kept = store.find_hook(request.app.database, home, id)
        return self._form(request, form_of(kept), kept)

    def edit(self, request: RequestContext, home: HookOwner, id: int, body: HookForm) -> RawResponse:  # noqa: A002
        """Change a webhook."""
        kept = store.find_hook(request.app.database, home, id)
        typed = msgspec.structs.replace(body, type=kept.type)
        try:
            act(request, self.home.edit, {"id": id}, body=body_of(typed, kept))
        except ApiError as refusal:
            return self._form(request, typed, kept, refusal)
        return go(f"{self.home.root(request)}/{id}", "changed")

    def delete(self, request: RequestContext, id: int) -> RawResponse:  # noqa: A002
        """Remove a webhook with its history."""
        act(request, self.home.delete, {"id": id})
        return go(self.home.root(request), "deleted")

    def test(self, request: RequestContext, home: HookOwner, id: int, body: TrialForm) -> RawResponse:  # noqa: A002
        """Try a webhook out."""
        kept = store.find_hook(request.app.database, home, id)
        query = {"repository": body.repository.strip(), "ref": body.ref.strip()}
        try:
            act(request, self.home.test, {"id": id}, query={name: text for name, text in query.items() if text})
        except ApiError as refusal:
            return self._form(request, form_of(kept), kept, refusal)
        return go(f"{self.home.root(request)}/{id}/deliveries", "test-sent")

    def resume(self, request: RequestContext, id: int) -> RawResponse:  # noqa: A002
        """Let a paused webhook go on."""
        act(request, self.home.resume, {"id": id})
        return go(f"{self.home.root(request)}/{id}", "resumed")

    def _form(
        self, request: RequestContext, form: HookForm, kept: store.Hook | None, refusal: ApiError | None = None
    ) -> RawResponse:
        kind = KINDS[form.type]
        offered = {name for _, events in EVENT_GROUPS for name, _, _ in events}
        return self.show(
            request,
            "hook.html",
            title=f"New webhook: {kind.name}" if kept is None else kept.name or f"Webhook {kept.id}",
            refusal=refusal,
            form=form,
            kind=kind,
            hook=kept,
            groups=EVENT_GROUPS,
            others=[name for name in form.events if name not in offered],
        )


def pages_of(home: HookHome) -> tuple[Endpoint, ...]:
    """Declare the pages of the hooks of one kind of home; the API's guards decide who may see them."""
    pages, path = HookPages(home), home.pattern
    declared = partial(declare, home)
    return (
        declared(pages.list_page, f"GET {path}"),
        declared(pages.new_page, f"GET {path}/new"),
        declared(pages.create, f"POST {path}/new"),
        declared(pages.edit_page, f"GET {path}/{{id}}"),
        declared(pages.edit, f"POST {path}/{{id}}"),
        declared(pages.delete, f"POST {path}/{{id}}/delete"),
        declared(pages.test, f"POST {path}/{{id}}/test"),
        declared(pages.resume, f"POST {path}/{{id}}/resume"),
    )


def declare(home: HookHome, run: Callable[..., Any], route: str) -> Endpoint:
    """Declare one page of the hooks of a home."""
    api = home.list_hooks
    name = f"{home.word}_hooks_{run.__name__}"
    return endpoint(route, scope=api.scope, guards=api.guards, slow=True, name=name)(run)


MADE: Final = tuple(page for home in HOMES for page in pages_of(home))
