"""The API reference page."""

import json
import re

from holdfast.hosting.api import endpoints
from holdfast.web.reference import example_value
from tests.conftest import Service


def test_every_endpoint_is_on_the_page(service: Service) -> None:
    """Every endpoint of the API has a section with a form to try it."""
    with service.client() as client:
        page = client.get("/api/docs").text
    for endpoint in endpoints():
        assert f'id="{endpoint.name}"' in page
    assert page.count('class="request-form stack"') == len(endpoints())


def test_a_body_starts_from_an_example_that_is_json() -> None:
    """The example is generated from the schema, with references and defaults."""
    schemas = {"Inner": {"type": "object", "properties": {"a": {"type": "integer"}}}}
    schema = {
        "type": "object",
        "properties": {"x": {"anyOf": [{"$ref": "#/c/Inner"}, {"type": "null"}]}, "y": {"default": "z"}},
    }
    assert json.loads(json.dumps(example_value(schema, schemas))) == {"x": {"a": 0}, "y": "z"}


def test_the_page_loads_nothing_from_elsewhere(service: Service) -> None:
    """The reference of the API loads only scripts of this site."""
    with service.client() as client:
        page = client.get("/api/docs").text
        scripts = re.findall(r'<script src="([^"]+)"', page)
        assert scripts == ["/static/site.js", "/static/reference.js"]
        assert [client.get(script).status_code for script in scripts] == [200, 200]
    assert not re.search(r'(?:src|href)="https?:', page)
