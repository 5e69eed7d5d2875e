"""The viewer for whom webhook payloads are rendered."""

from dataclasses import dataclass

from holdfast.hosting import access
from holdfast.hosting.access import ANONYMOUS, Actor, Permissions
from holdfast.hosting.app import App
from holdfast.hosting.store.repositories import Repository

__all__ = ["Receiver"]


@dataclass(frozen=True, slots=True)
class Receiver:
    """An anonymous viewer, who never sees e-mail addresses of users."""

    app: App

    @property
    def actor(self) -> Actor:
        """The anonymous actor."""
        return ANONYMOUS

    @property
    def root(self) -> str:
        """The URL of the service."""
        return self.app.root

    @property
    def api(self) -> str:
        """The URL of the API."""
        return f"{self.root}/api/v1"

    def access_to(self, repository: Repository) -> Permissions:
        """Return the owner's permissions: webhooks are managed by owners."""
        return access.repository_access(Actor(repository.owner), repository, ())
