"""The sandboxed frame of diagrams and its content security policy."""

import re
from pathlib import Path

import pytest

from holdfast.web import diagram_frame
from holdfast.web.bundles import BUNDLES, Bundles
from tests.conftest import Service


def test_the_frame_has_a_policy_of_its_own(service: Service) -> None:
    """The frame is sandboxed without network access, and only pages of this site may embed it."""
    if not BUNDLES.address("diagram_frame"):
        pytest.skip("diagrams are not built: run `make assets`")
    with service.client() as client:
        response = client.get("/-/diagram")
        policy = dict(
            item.strip().partition(" ")[::2] for item in response.headers["content-security-policy"].split(";")
        )
        assert policy == {
            "default-src": "'none'",
            "script-src": "'self'",
            "style-src": "'unsafe-inline'",
            "sandbox": "allow-scripts",
            "frame-ancestors": "'self'",
            "base-uri": "'none'",
            "form-action": "'none'",
        }
        assert response.headers["content-type"] == "text/html; charset=utf-8"
        assert response.headers["x-content-type-options"] == "nosniff"
        (script,) = re.findall(r'<script type="module" crossorigin src="([^"]+)"', response.text)
        assert client.get(script).headers["access-control-allow-origin"] == "*"
        assert "frame-src" not in client.get("/").headers["content-security-policy"]


def test_without_the_script_there_is_no_frame(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without built assets, the frame has status 404."""
    monkeypatch.setattr(diagram_frame, "BUNDLES", Bundles(tmp_path))
    with service.client() as client:
        assert client.get("/-/diagram").status_code == 404
