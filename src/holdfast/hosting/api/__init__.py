"""The HTTP API under `/api/v1`: one module per resource, each thin."""

from holdfast.hosting.api.auth import Authenticator
from holdfast.hosting.api.routes import endpoints
from holdfast.hosting.api.serving import Api

__all__ = ["Api", "Authenticator", "endpoints"]
