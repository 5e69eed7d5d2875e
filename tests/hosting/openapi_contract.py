"""Validates every response of the API against the OpenAPI document that the service serves."""

import re
from typing import Any

import httpx
import msgspec
from jsonschema_rs import Draft202012Validator

from holdfast.hosting.api import endpoints
from holdfast.hosting.http.application import PREFIX
from holdfast.hosting.http.endpoints import Endpoint
from holdfast.hosting.http.router import Router
from holdfast.hosting.openapi import document

__all__ = ["check_response"]

DOCUMENT = document(endpoints())
ROUTER: Router[Endpoint] = Router()
for declared in endpoints():
    ROUTER.add(declared.method, declared.path, declared)
REFERENCE = re.compile(r'"#/components/schemas/([^"]+)"')
validators: dict[tuple[str, str], Draft202012Validator] = {}


def documented_response(endpoint: Endpoint) -> dict[str, Any]:
    """Return the responses of an endpoint in the document."""
    path = endpoint.path.replace("...}", "}")
    responses: dict[str, Any] = DOCUMENT["paths"][path][endpoint.method.lower()]["responses"]
    return responses


def with_components(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema with the components it refers to; with all of them, a validator is made much slower."""
    found: dict[str, Any] = {}
    pending = [schema]
    while pending:
        for name in REFERENCE.findall(msgspec.json.encode(pending.pop()).decode()):
            if name not in found:
                found[name] = DOCUMENT["components"]["schemas"][name]
                pending.append(found[name])
    return {**schema, "components": {"schemas": found}}


def check_response(response: httpx.Response) -> None:
    """Fail when a response does not match the document."""
    path = response.request.url.raw_path.decode().partition("?")[0]
    if not path.startswith(f"{PREFIX}/") or response.request.method == "OPTIONS":
        return
    match = ROUTER.find(response.request.method, path.removeprefix(PREFIX))
    if match.endpoint is None:
        assert response.status_code in {404, 405}
        return
    endpoint = f"{match.endpoint.method} {match.endpoint.path} -> {response.status_code}"
    assert response.status_code != 500, endpoint
    responses = documented_response(match.endpoint)
    assert str(response.status_code) in responses, f"{endpoint} is not in the document"
    content = responses[str(response.status_code)].get("content", {})
    if response.request.method == "HEAD" or response.status_code == 304:
        return
    response.read()
    if not content:
        assert response.content == b"", endpoint
    if "*/*" in content and not response.headers["content-type"].startswith("application/json"):
        return
    if "application/json" in content:
        assert response.headers["content-type"] == "application/json;charset=utf-8", endpoint
        validator = validators.get((match.endpoint.name, str(response.status_code)))
        if validator is None:
            validator = Draft202012Validator(with_components(content["application/json"]["schema"]))
            validators[match.endpoint.name, str(response.status_code)] = validator
        problems = [
            f"{error.instance_path}: {error.message[:200]}" for error in validator.iter_errors(response.json())
        ]
        assert not problems, f"{endpoint}: {problems[:3]}"
        if response.status_code == 200 and response.request.method == "GET" and isinstance(response.json(), list):
            assert "x-total-count" in response.headers, f"{endpoint} does not count its list"
