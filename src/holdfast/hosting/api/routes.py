"""Every route of the API."""

from starlette.routing import BaseRoute, Route

from holdfast.hosting.api.version import show_version

__all__ = ["routes"]


def routes() -> list[BaseRoute]:
    """List the routes below `/api/v1`."""
    return [Route("/version", show_version, methods=["GET"])]
