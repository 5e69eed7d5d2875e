"""The viewer that JSON is encoded for."""

from typing import Protocol

from holdfast.hosting.access import Actor
from holdfast.hosting.app import App

__all__ = ["Viewer"]


class Viewer(Protocol):
    """The reader of encoded JSON: the actor of an API request, or the receiver of a webhook."""

    @property
    def app(self) -> App:
        """The service."""

    @property
    def actor(self) -> Actor:
        """The actor, on whose permissions some fields depend."""

    @property
    def root(self) -> str:
        """The root URL as the viewer sees it, without a trailing slash."""

    @property
    def api(self) -> str:
        """The URL of the API."""
