"""Whom a shape is made for."""

from typing import Protocol

from holdfast.hosting.access import Actor
from holdfast.hosting.app import App

__all__ = ["Viewer"]


class Viewer(Protocol):
    """Somebody who will read a shape: a actor of the API, or whoever receives what a webhook sends."""

    @property
    def app(self) -> App:
        """The service it comes from."""

    @property
    def actor(self) -> Actor:
        """Who is asking, which decides what some fields show."""

    @property
    def root(self) -> str:
        """The address of the service as the viewer knows it, without a slash at the end."""

    @property
    def api(self) -> str:
        """The address of the API."""
