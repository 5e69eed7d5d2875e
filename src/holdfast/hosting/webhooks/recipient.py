"""Whoever receives what webhooks send, as shapes are made for them."""

from dataclasses import dataclass

from holdfast.hosting import access
from holdfast.hosting.access import ANONYMOUS, Actor, Permissions
from holdfast.hosting.app import App
from holdfast.hosting.store.repositories import Repository

__all__ = ["Receiver"]


@dataclass(frozen=True, slots=True)
class Receiver:
    """Somebody outside: no account of theirs is known, so people's e-mail addresses are never told."""

    app: App

    @property
    def actor(self) -> Actor:
        """Nobody who is known."""
        return ANONYMOUS

    @property
    def root(self) -> str:
        """The address of the service."""
        return self.app.root

    @property
    def api(self) -> str:
        """The address of the API."""
        return f"{self.root}/api/v1"

    def access_to(self, repository: Repository) -> Permissions:
        """Return what whoever looks after the hook may do: hooks are made by those who own what they tell of."""
        return access.repository_access(Actor(repository.owner), repository, ())
