"""The request context of the host: the application, and the actor of a request."""

from starlette.requests import empty_receive
from starlette.types import Receive, Scope

from holdfast.hosting.access import ANONYMOUS, Actor
from holdfast.hosting.app import App
from holdfast.hosting.http.application import ServingOptions
from holdfast.hosting.http.context import EndpointRequest
from holdfast.hosting.store.accounts import Account

__all__ = ["RequestContext", "serving_options"]


class RequestContext(EndpointRequest):
    """A request with its application and its actor."""

    def __init__(
        self, app: App, scope: Scope, receive: Receive = empty_receive, path: dict[str, str] | None = None
    ) -> None:
        super().__init__(scope, receive, {} if path is None else path, "")
        self.root = (
            app.settings.root_url or f"{scope.get('scheme', 'http')}://{self.header('host') or 'localhost'}"
        )
        self._app = app
        self.actor: Actor = ANONYMOUS
        self.may_hash = False
        """Whether this runs in the password thread pool."""
        self.identified: Actor | None = None
        """The actor that was authenticated there."""
        self.repository = ""
        """The full name of the repository that a guard found, for the pages of errors."""

    @property
    def caller(self) -> object:
        """The ids of the user, the token and the impersonating administrator, and whether a password was sent."""
        actor = self.actor
        return (
            actor.user and actor.user.id,
            actor.token and actor.token.id,
            actor.impersonated_by and actor.impersonated_by.id,
            actor.by_password,
        )

    @property
    def app(self) -> App:
        """The application."""
        return self._app

    @property
    def api(self) -> str:
        """The URL of the API."""
        return f"{self.root}/api/v1"

    @property
    def user(self) -> Account:
        """The signed-in user; a guard must have required one."""
        user = self.actor.user
        if user is None:
            raise LookupError("no guard required a signed-in user")
        return user


def serving_options(app: App) -> ServingOptions:
    """Return the serving options of an application's endpoints."""
    return ServingOptions(
        app.settings,
        reads_on_loop=app.database.is_sqlite,
        upload_folder=app.folders.incoming,
        data_version=app.database.version,
    )
