"""The OpenAPI document, and the page of the API reference."""

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import msgspec

from holdfast.hosting.http.endpoints import Endpoint, RawResponse, endpoint
from holdfast.hosting.openapi import document
from holdfast.hosting.request_context import RequestContext
from holdfast.web.pages import page, redirect_to

__all__ = ["ApiReference", "redirect_to_reference"]


def example_value(schema: dict[str, Any], schemas: dict[str, Any], depth: int = 0) -> object:
    """Return an example value of a schema."""
    if "$ref" in schema:
        return example_value(schemas[schema["$ref"].rpartition("/")[2]], schemas, depth)
    if "anyOf" in schema:
        return example_value(schema["anyOf"][0], schemas, depth)
    kind = schema.get("type")
    if "default" in schema and kind != "object":
        return schema["default"]
    if kind == "object" and depth < 3:
        return {
            name: example_value(inner, schemas, depth + 1) for name, inner in schema.get("properties", {}).items()
        }
    return {"string": "", "integer": 0, "boolean": False, "array": []}.get(str(kind))


class ApiReference:
    """Serves the OpenAPI document of a set of endpoints, and a page rendered from it."""

    def __init__(self, endpoints: Sequence[Endpoint]) -> None:
        self._endpoints = endpoints

    @cached_property
    def _described(self) -> tuple[bytes, dict[str, list[dict[str, Any]]]]:
        """The document and its operations by tag, generated on the first request."""
        whole = document(self._endpoints)
        groups: dict[str, list[dict[str, Any]]] = {}
        schemas = whole["components"]["schemas"]
        for path, methods in whole["paths"].items():
            for method, operation in methods.items():
                content = operation.get("requestBody", {}).get("content", {})
                schema = content.get("application/json", {}).get("schema")
                body = None
                if schema is not None:
                    body = msgspec.json.format(msgspec.json.encode(example_value(schema, schemas))).decode()
                described = {**operation, "method": method.upper(), "path": path, "body": body}
                groups.setdefault(operation["tags"][0], []).append(described)
        return msgspec.json.encode(whole), groups

    def pages(self) -> tuple[Endpoint, ...]:
        """Return the endpoints of the page and the document, which is also at Gitea's path."""
        return (
            endpoint("GET /api/docs", slow=True, name="show_reference")(self.show_page),
            endpoint("GET /api/openapi.json", slow=True, anonymous=True, name="show_openapi")(self.show_document),
            endpoint("GET /swagger.v1.json", slow=True, anonymous=True, name="show_swagger")(self.show_document),
        )

    def show_document(self, request: RequestContext) -> RawResponse:  # noqa: ARG002  # called like every handler
        """Return the document; cross-origin scripts may read it (CORS)."""
        content, _ = self._described
        return RawResponse(content, "application/json", headers={"Access-Control-Allow-Origin": "*"})

    def show_page(self, request: RequestContext) -> RawResponse:
        """Show the page."""
        _, groups = self._described
        return page(request, "reference.html", title="API", groups=groups, parts=split_path)


def split_path(path: str) -> list[str]:
    """Split a path where a line may break."""
    return re.findall(r"/[^/]*", path)


@endpoint("GET /api/swagger", anonymous=True)
def redirect_to_reference(request: RequestContext) -> RawResponse:  # noqa: ARG001  # called like every handler
    """Redirect from Gitea's path of the reference."""
    return redirect_to("/api/docs")
