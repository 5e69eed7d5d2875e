"""The OpenAPI document: it is valid, and describes every route."""

from jsonschema import Draft202012Validator

from holdfast.hosting.api import endpoints
from holdfast.hosting.http.endpoints import PARAMETER
from holdfast.hosting.openapi import document
from tests.conftest import Service

DOCUMENT = document(endpoints())


def test_every_route_is_in_the_document() -> None:
    """Each route is in the document with its method, its path parameters and a unique operation id."""
    for endpoint in endpoints():
        path = PARAMETER.sub(r"{\1}", endpoint.path)
        operation = DOCUMENT["paths"][path][endpoint.method.lower()]
        assert operation["operationId"] == endpoint.name
        assert operation["summary"].endswith(".")
        named = {parameter["name"] for parameter in operation["parameters"] if parameter["in"] == "path"}
        assert named == {name for name, _ in PARAMETER.findall(path)}
    names = [endpoint.name for endpoint in endpoints()]
    assert len(set(names)) == len(names)
    assert sum(len(methods) for methods in DOCUMENT["paths"].values()) == len(names)


def test_every_schema_is_one() -> None:
    """Each component is a valid JSON Schema, and each reference names an existing component."""
    schemas = DOCUMENT["components"]["schemas"]
    for schema in schemas.values():
        Draft202012Validator.check_schema(schema)

    def references(value: object) -> list[str]:
        if isinstance(value, dict):
            here = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
            return here + [item for inner in value.values() for item in references(inner)]
        return [item for inner in value for item in references(inner)] if isinstance(value, list) else []

    assert {name.rpartition("/")[2] for name in references(DOCUMENT)} <= set(schemas)


def test_component_names_have_no_schema_suffix() -> None:
    """The component of the class `IssueSchema` has the name `Issue`."""
    schemas = DOCUMENT["components"]["schemas"]
    assert schemas["Issue"]["title"] == "Issue"
    assert "IssueSchema" not in schemas
    assert "Schema" not in str(schemas)


def test_required_fields_of_bodies_are_marked() -> None:
    """A required field is marked although its class has a default, which only allows a better error."""
    assert "name" in DOCUMENT["components"]["schemas"]["CreateRepoOption"]["required"]


def test_the_document_is_served(service: Service) -> None:
    """The document is served at our path and at that of Gitea, and the paths of Swagger redirect to the docs."""
    with service.client() as client:
        for path in ("/api/openapi.json", "/swagger.v1.json"):
            assert client.get(path).json() == DOCUMENT
        for path in ("/api/swagger", "/api/v1/swagger"):
            response = client.get(path)
            assert (response.status_code, response.headers["location"].endswith("/api/docs")) == (303, True)
