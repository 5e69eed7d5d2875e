"""Holds every answer of the API against the OpenAPI document it serves about itself."""

from typing import Any

import httpx
from jsonschema_rs import Draft202012Validator

from holdfast.hosting.api import endpoints
from holdfast.hosting.http.application import PREFIX
from holdfast.hosting.http.endpoints import Endpoint
from holdfast.hosting.http.router import Router
from holdfast.hosting.openapi import document

__all__ = ["check_answer"]

DOCUMENT = document(endpoints())
ROUTER: Router[Endpoint] = Router()
for declared in endpoints():
    ROUTER.add(declared.method, declared.path, declared)
validators: dict[tuple[str, str], Draft202012Validator] = {}


def described(endpoint: Endpoint) -> dict[str, Any]:
    """Return what the document says an endpoint answers."""
    path = endpoint.path.replace("...}", "}")
    answers: dict[str, Any] = DOCUMENT["paths"][path][endpoint.method.lower()]["responses"]
    return answers


def check_answer(answer: httpx.Response) -> None:
    """Fail when an answer is not as the document describes it."""
    path = answer.request.url.raw_path.decode().partition("?")[0]
    if not path.startswith(f"{PREFIX}/") or answer.request.method == "OPTIONS":
        return
    match = ROUTER.find(answer.request.method, path.removeprefix(PREFIX))
    if match.endpoint is None:
        assert answer.status_code in {404, 405}
        return
    place = f"{match.endpoint.method} {match.endpoint.path} -> {answer.status_code}"
    assert answer.status_code != 500, place
    answers = described(match.endpoint)
    assert str(answer.status_code) in answers, f"{place} is not in the document"
    content = answers[str(answer.status_code)].get("content", {})
    if answer.request.method == "HEAD" or answer.status_code == 304:
        return
    answer.read()
    if not content:
        assert answer.content == b"", place
    if "*/*" in content and not answer.headers["content-type"].startswith("application/json"):
        return
    if "application/json" in content:
        assert answer.headers["content-type"] == "application/json;charset=utf-8", place
        validator = validators.get((match.endpoint.name, str(answer.status_code)))
        if validator is None:
            schema = {**content["application/json"]["schema"], "components": DOCUMENT["components"]}
            validator = Draft202012Validator(schema)
            validators[match.endpoint.name, str(answer.status_code)] = validator
        problems = [
            f"{error.instance_path}: {error.message[:200]}" for error in validator.iter_errors(answer.json())
        ]
        assert not problems, f"{place}: {problems[:3]}"
        if answer.status_code == 200 and answer.request.method == "GET" and isinstance(answer.json(), list):
            assert "x-total-count" in answer.headers, f"{place} does not count its list"
