"""The example in `docs/http-layer.md`."""

import re
from typing import Any

from holdfast.hosting.http.endpoints import Endpoint
from holdfast.hosting.openapi import document
from tests.conftest import ROOT


def test_the_example_declares_two_endpoints() -> None:
    """The example of the documentation declares a paged list and a change, which the OpenAPI document has."""
    hits = re.search(r"```python\n(.*?)```", (ROOT / "docs/http-layer.md").read_text(), re.DOTALL)
    assert hits is not None
    names: dict[str, Any] = {"__name__": "example"}
    exec(hits[1], names)
    listed, changed = names["list_moorings"], names["set_mooring"]
    assert isinstance(listed, Endpoint)
    assert (listed.method, listed.paged, listed.status) == ("GET", True, 200)
    assert isinstance(changed, Endpoint)
    assert (changed.parameters, changed.body) == ({"number": int}, names["MooringOption"])
    paths = document([listed, changed])["paths"]
    assert paths["/repos/{owner}/{repo}/moorings"]["get"]["summary"] == "List the moorings of a repository."
    assert "422" in paths["/repos/{owner}/{repo}/moorings/{number}"]["put"]["responses"]
