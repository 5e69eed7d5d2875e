"""The HTTP API under `/api/v1`: one module per resource, each thin."""

from holdfast.hosting.api.routes import routes

__all__ = ["routes"]
