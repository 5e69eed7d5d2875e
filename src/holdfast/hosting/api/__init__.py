"""The HTTP API under `/api/v1`: one module per resource, each thin."""

from holdfast.hosting.api.routes import endpoints
from holdfast.hosting.http.application import EndpointApp
from holdfast.hosting.http.authentication import Authenticator

__all__ = ["Authenticator", "EndpointApp", "endpoints"]
