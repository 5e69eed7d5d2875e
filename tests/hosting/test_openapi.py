"""The document describes every route, and is itself well-formed."""

from jsonschema import Draft202012Validator

from holdfast.hosting.api import endpoints
from holdfast.hosting.http.endpoints import PARAMETER
from holdfast.hosting.openapi import document
from tests.conftest import Service

DOCUMENT = document(endpoints())


def test_every_route_is_in_the_document() -> None:
    """With its method, and a name nothing else has."""
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
    """And every reference leads somewhere."""
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
    """The class is `IssueSchema`; clients know the component as `Issue`."""
    schemas = DOCUMENT["components"]["schemas"]
    assert schemas["Issue"]["title"] == "Issue"
    assert "IssueSchema" not in schemas
    assert "Schema" not in str(schemas)


def test_required_fields_of_bodies_are_marked() -> None:
    """They have a default in the code only so that their absence can be explained."""
    assert "name" in DOCUMENT["components"]["schemas"]["CreateRepoOption"]["required"]


def test_the_document_is_served(service: Service) -> None:
    """At our address, and where clients of other servers look."""
    with service.client() as client:
        for path in ("/api/openapi.json", "/swagger.v1.json"):
            assert client.get(path).json()["openapi"] == "3.1.0"
        for path in ("/api/swagger", "/api/v1/swagger"):
            response = client.get(path)
            assert (response.status_code, response.headers["location"].endswith("/api/docs")) == (303, True)
