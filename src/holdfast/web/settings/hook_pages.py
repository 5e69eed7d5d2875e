"""The pages of webhooks, the same for every kind of owner: list, create, edit, test and delete them."""

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

import msgspec

from holdfast.hosting.access import WebhookOwner
from holdfast.hosting.errors import HostingError
from holdfast.hosting.http.endpoints import Endpoint, RawResponse
from holdfast.hosting.http.pagination import PageParams
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas import hooks as schemas
from holdfast.hosting.services import webhooks
from holdfast.hosting.store import backlog
from holdfast.hosting.store.hooks import Hook
from holdfast.web.pages import redirect_to
from holdfast.web.settings.hook_forms import (
    EVENT_GROUPS,
    KINDS,
    OFFERED,
    HookForm,
    form_of,
    new_form,
    new_webhook,
    webhook_edit,
)
from holdfast.web.settings.hook_owners import OWNERS, WebhookPagesOwner

__all__ = ["MADE", "HookPages"]

AT: Final = "Webhooks"


class TypeQuery(msgspec.Struct, frozen=True):
    """The chosen type."""

    type: str = ""


class TestForm(msgspec.Struct, frozen=True):
    """The repository and ref of a test delivery; empty means the latest."""

    repository: str = ""
    ref: str = ""


@dataclass(frozen=True, slots=True)
class HookPages:
    """The pages of the webhooks of one kind of owner."""

    owner: WebhookPagesOwner

    def show(
        self,
        request: RequestContext,
        template: str,
        *,
        title: str,
        error: HostingError | None = None,
        **values: object,
    ) -> RawResponse:
        """Render one of the pages."""
        return self.owner.frame(
            request,
            f"settings/{template}",
            at=AT,
            title=title,
            refusal=error,
            hooks_path=self.owner.root(request),
            owner_kind=self.owner.word,
            kinds=KINDS,
            **values,
        )

    def list_page(self, request: RequestContext, hook_owner: WebhookOwner, page: PageParams) -> RawResponse:
        """List the webhooks with the state of their last delivery."""
        hook_summaries, total = webhooks.list_webhooks(
            request.app, request.actor, hook_owner, skip=page.skip, limit=page.size
        )
        return self.show(
            request,
            "hooks.html",
            title="Webhooks",
            hooks=[schemas.hook(hook) for hook in hook_summaries],
            total=total,
            page=page,
            last=backlog.last_deliveries(request.app.database, [hook.id for hook in hook_summaries]),
            events_of_owner=self.owner.events,
        )

    def new_page(self, request: RequestContext, query: TypeQuery) -> RawResponse:
        """Show the choice of a type, then the form of that type."""
        if query.type not in KINDS:
            return self.show(request, "hook_types.html", title="New webhook")
        return self._form(request, new_form(query.type), None)

    def create(self, request: RequestContext, hook_owner: WebhookOwner, body: HookForm) -> RawResponse:
        """Create a webhook."""
        try:
            created = webhooks.create(request.app, request.actor, hook_owner, new_webhook(body))
        except HostingError as error:
            if body.type not in KINDS:
                raise
            return self._form(request, body, None, error)
        return redirect_to(f"{self.owner.root(request)}/{created.id}", "webhook-created")

    def edit_page(self, request: RequestContext, hook_owner: WebhookOwner, id: int) -> RawResponse:  # noqa: A002  # named in the path
        """Show the settings of a webhook."""
        hook = webhooks.find(request.app, request.actor, hook_owner, id)
        return self._form(request, form_of(hook), hook)

    def edit(self, request: RequestContext, hook_owner: WebhookOwner, id: int, body: HookForm) -> RawResponse:  # noqa: A002  # the path parameter's name
        """Edit a webhook."""
        hook = webhooks.find(request.app, request.actor, hook_owner, id)
        typed = msgspec.structs.replace(body, type=hook.type)
        try:
            edited = webhooks.edit(request.app, request.actor, hook_owner, id, webhook_edit(typed, hook))
        except HostingError as error:
            return self._form(request, typed, hook, error)
        path, place = f"{self.owner.root(request)}/{id}", urlsplit(edited.url).netloc
        # As in the API, a URL of another host keeps the header, which whoever set it may not expect.
        keeps_header = edited.authorization != "" and edited.authorization == hook.authorization
        if keeps_header and place != urlsplit(hook.url).netloc:
            return redirect_to(path, "webhook-redirected", place)
        return redirect_to(path, "webhook-updated")

    def delete(self, request: RequestContext, hook_owner: WebhookOwner, id: int) -> RawResponse:  # noqa: A002  # the path parameter's name
        """Delete a webhook with its deliveries."""
        webhooks.delete(request.app, request.actor, hook_owner, id)
        return redirect_to(self.owner.root(request), "webhook-deleted")

    def test(self, request: RequestContext, hook_owner: WebhookOwner, id: int, body: TestForm) -> RawResponse:  # noqa: A002  # the path parameter's name
        """Send a test delivery."""
        hook = webhooks.find(request.app, request.actor, hook_owner, id)
        ref, repository = body.ref.strip(), body.repository.strip()
        try:
            webhooks.send_test(request.app, request.actor, hook_owner, id, ref=ref, repository=repository)
        except HostingError as error:
            return self._form(request, form_of(hook), hook, error)
        return redirect_to(f"{self.owner.root(request)}/{id}/deliveries", "test-queued")

    def resume(self, request: RequestContext, hook_owner: WebhookOwner, id: int) -> RawResponse:  # noqa: A002  # the path parameter's name
        """Resume the deliveries of a paused webhook."""
        webhooks.resume(request.app, request.actor, hook_owner, id)
        return redirect_to(f"{self.owner.root(request)}/{id}", "webhook-resumed")

    def _form(
        self, request: RequestContext, form: HookForm, hook: Hook | None, error: HostingError | None = None
    ) -> RawResponse:
        kind = KINDS[form.type]
        return self.show(
            request,
            "hook.html",
            title=f"New webhook: {kind.name}" if hook is None else hook.name or f"Webhook {hook.id}",
            error=error,
            form=form,
            kind=kind,
            hook=hook,
            groups=EVENT_GROUPS,
            others=[name for name in form.events if name not in OFFERED],
        )


def pages_of(owner: WebhookPagesOwner) -> tuple[Endpoint, ...]:
    """Declare the pages of the webhooks of one kind of owner."""
    pages = HookPages(owner)
    return (
        owner.declare(pages.list_page, "GET"),
        owner.declare(pages.new_page, "GET", "/new"),
        owner.declare(pages.create, "POST", "/new"),
        owner.declare(pages.edit_page, "GET", "/{id}"),
        owner.declare(pages.edit, "POST", "/{id}"),
        owner.declare(pages.delete, "POST", "/{id}/delete"),
        owner.declare(pages.test, "POST", "/{id}/test"),
        owner.declare(pages.resume, "POST", "/{id}/resume"),
    )


MADE: Final = tuple(page for owner in OWNERS for page in pages_of(owner))
