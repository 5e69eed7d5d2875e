"""Whoever receives what webhooks send, as shapes are made for them."""

from dataclasses import dataclass

from holdfast.hosting import access
from holdfast.hosting.access import ANONYMOUS, Access, Caller
from holdfast.hosting.app import Host
from holdfast.hosting.store.repositories import Repository

__all__ = ["Receiver"]


@dataclass(frozen=True, slots=True)
class Receiver:
    """Somebody outside: no account of theirs is known, so people's e-mail addresses are never told."""

    host: Host

    @property
    def caller(self) -> Caller:
        """Nobody who is known."""
        return ANONYMOUS

    @property
    def root(self) -> str:
        """The address of the service."""
        return self.host.root

    @property
    def api(self) -> str:
        """The address of the API."""
        return f"{self.root}/api/v1"

    def access_to(self, repository: Repository) -> Access:
        """Return what whoever looks after the hook may do: hooks are made by those who own what they tell of."""
        return access.repository_access(Caller(repository.owner), repository, ())
