"""The HTTP API under `/api/v1`: one module per resource, each thin."""

from holdfast.hosting.api.cross_origin import CrossOrigin
from holdfast.hosting.api.routes import endpoints
from holdfast.hosting.authentication import Authenticator
from holdfast.hosting.http.application import EndpointApp

__all__ = ["Authenticator", "CrossOrigin", "EndpointApp", "endpoints"]
