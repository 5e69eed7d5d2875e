"""The OpenAPI 3.1 document, generated from the declarations of the endpoints."""

import re
from collections.abc import Sequence
from http import HTTPStatus
from types import UnionType
from typing import Any, Final, get_args, get_origin

import msgspec

from holdfast import __version__
from holdfast.hosting.http.decoders import is_required
from holdfast.hosting.http.endpoints import PARAMETER, Endpoint, RawResponse
from holdfast.hosting.http.errors import ErrorBody, MessageBody
from holdfast.hosting.http.pagination import PagedList

__all__ = ["document"]

REFERENCE: Final = "#/components/schemas/{name}"
JSON: Final = "application/json"
SUFFIX: Final = re.compile(r"(?<=[a-z])Schema\b")
PAGING: Final = (
    ("page", "Which page of the list, from 1."),
    ("limit", "How many items a page has; 30 by default, 50 at most."),
)


def document(endpoints: Sequence[Endpoint]) -> dict[str, Any]:
    """Return the OpenAPI document of endpoints."""
    types = sorted(set(structs(endpoints)), key=lambda kind: SUFFIX.sub("", repr(kind)))
    schemas, components = without_suffix(msgspec.json.schema_components(types, ref_template=REFERENCE))
    by_type = dict(zip(types, schemas, strict=True))
    mark_required(types, components)
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in endpoints:
        path = PARAMETER.sub(r"{\1}", endpoint.path)
        paths.setdefault(path, {})[endpoint.method.lower()] = operation(endpoint, by_type)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Holdfast",
            "version": __version__,
            "description": "Repositories, issues and their files. Clients made for Gitea's API work with it.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/api/v1"}],
        "security": [{}, {"token": []}, {"basic": []}],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {
                "token": {
                    "type": "apiKey",
                    "in": "header",
                    "name": "Authorization",
                    "description": "The word `token`, a space, and an access token.",
                },
                "basic": {"type": "http", "scheme": "basic"},
            },
        },
    }


def without_suffix(value: Any) -> Any:
    """Return generated schemas with the suffix `Schema` removed from every component name, title and reference.

    The suffix only distinguishes the class from that of the stored row: clients know `Issue`, not `IssueSchema`.
    """
    if isinstance(value, dict):
        return {
            SUFFIX.sub("", key): SUFFIX.sub("", inner)
            if key in {"title", "$ref"} and isinstance(inner, str)
            else without_suffix(inner)
            for key, inner in value.items()
        }
    return [without_suffix(inner) for inner in value] if isinstance(value, list | tuple) else value


def component_name(kind: type) -> str:
    """Return the name of a type in the components of the document."""
    return SUFFIX.sub("", kind.__name__)


def structs(endpoints: Sequence[Endpoint]) -> list[Any]:
    """List the types of all request bodies and responses."""
    kinds: list[Any] = [ErrorBody, MessageBody]
    for endpoint in endpoints:
        kinds += [kind for kind in (endpoint.body, endpoint.query) if kind is not None]
        answers = (endpoint.answers, *endpoint.also.values())
        kinds += [kind for answer in answers if (kind := schema_type_of(answer)) is not None]
    return kinds


def schema_type_of(answers: Any) -> Any:
    """Return the type of a response body: for a `PagedList` it is a list."""
    if answers in {type(None), RawResponse}:
        return None
    if isinstance(answers, UnionType) and RawResponse in get_args(answers):
        (answers,) = (kind for kind in get_args(answers) if kind is not RawResponse)
    if get_origin(answers) is PagedList:
        return list[get_args(answers)[0]]  # type: ignore[misc]  # a type made at run time
    if get_origin(answers) is tuple:
        return schema_type_of(get_args(answers)[1])
    return answers


def mark_required(types: list[Any], components: dict[str, Any]) -> None:
    """Mark the required fields of bodies; they have defaults only so that their absence gives a clear error."""
    for kind in types:
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct) and component_name(kind) in components:
            needed = [key for key in kind.__struct_encode_fields__ if is_required(kind, key)]
            if needed:
                schema = components[component_name(kind)]
                schema["required"] = sorted({*schema.get("required", []), *needed})


def operation(endpoint: Endpoint, by_type: dict[Any, Any]) -> dict[str, Any]:
    """Return the operation object of an endpoint."""
    description: dict[str, Any] = {
        "operationId": endpoint.name,
        "summary": re.split(r"(?<=\.)\s", endpoint.summary, maxsplit=1)[0],
        "tags": [endpoint.tag],
        "parameters": parameters(endpoint),
        "responses": responses(endpoint, by_type),
    }
    if endpoint.body is not None:
        description["requestBody"] = {
            "content": {
                kind: {"schema": by_type[endpoint.body]} for kind in (JSON, "application/x-www-form-urlencoded")
            },
            "required": True,
        }
    if endpoint.uploads:
        description["requestBody"] = {"content": {"application/octet-stream": {}}, "required": True}
    return description


def parameters(endpoint: Endpoint) -> list[dict[str, Any]]:
    """Return the path and query parameters of an endpoint."""
    parameter_list: list[dict[str, Any]] = []
    for name, _ in PARAMETER.findall(endpoint.path):
        kind = endpoint.parameters.get(name, int if name == "id" else str)
        schema = {"type": "integer", "format": "int64"} if kind is int else {"type": "string", "minLength": 1}
        parameter_list.append({"name": name, "in": "path", "required": True, "schema": schema})
    if endpoint.query is not None:
        fields = msgspec.json.schema(endpoint.query)
        described = fields["$defs"][endpoint.query.__name__]
        for name, schema in described["properties"].items():
            parameter_list.append({"name": name, "in": "query", "schema": schema})
    if endpoint.paged:
        parameter_list += [
            {"name": name, "in": "query", "description": text, "schema": {"type": "integer"}}
            for name, text in PAGING
        ]
    return parameter_list


def responses(endpoint: Endpoint, by_type: dict[Any, Any]) -> dict[str, Any]:
    """Return the responses of an endpoint.

    Any endpoint may respond to invalid credentials, an invalid or too large body, a database that is down, or a
    full disk.
    """
    response_map = {str(endpoint.status): success(endpoint.status, endpoint.answers, by_type)}
    if endpoint.cacheable:
        response_map["304"] = {"description": HTTPStatus(304).phrase}
    for status, answers in endpoint.also.items():
        response_map[str(status)] = success(status, answers, by_type)
    refused = {401, 403, *endpoint.refuses}
    named = {name for name, _ in PARAMETER.findall(endpoint.path)}
    if "owner" in named:
        refused.add(301)
    if named & {"owner", "org", "username"}:
        refused.add(307)
    if endpoint.body is not None or endpoint.uploads:
        refused |= {400, 413, 415, 422}
    if endpoint.query is not None:
        refused.add(422)
    if "repo" in named:
        # Reading a repository may create a local copy of it.
        refused.add(507)
    refused |= {400, 404, 429, 503}
    if endpoint.writes:
        refused |= {409, 507}
    refused -= endpoint.also.keys()
    errors = {"anyOf": [by_type[ErrorBody], by_type[MessageBody]]}
    for status in sorted(refused):
        response_map[str(status)] = {
            "description": HTTPStatus(status).phrase,
            "content": {JSON: {"schema": errors}},
        }
    return response_map


def success(status: int, answers: Any, by_type: dict[Any, Any]) -> dict[str, Any]:
    """Return the response object of a success status."""
    description: dict[str, Any] = {"description": HTTPStatus(status).phrase}
    kind = schema_type_of(answers)
    if answers is RawResponse:
        description["content"] = {"*/*": {}}
    elif kind is not None:
        description["content"] = {JSON: {"schema": by_type[kind]}}
        if isinstance(answers, UnionType) and RawResponse in get_args(answers):
            description["content"]["*/*"] = {}
    if get_origin(answers) is PagedList:
        description["headers"] = {
            "X-Total-Count": {"schema": {"type": "integer"}, "description": "How many items the list has."},
            "Link": {"schema": {"type": "string"}, "description": "Where the other pages are."},
        }
    return description
