"""The page of the iframe that draws one diagram: sandboxed, with an opaque origin and no network access."""

from typing import Final

from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.request_context import RequestContext
from holdfast.web.bundles import BUNDLES

__all__ = ["show_diagram_frame"]

# Mermaid writes inline styles into the SVG. It can load nothing, and the opaque origin has no cookies or storage;
# the `sandbox` directive also applies when the page is opened outside of the iframe.
FRAME_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; sandbox allow-scripts; "
    "frame-ancestors 'self'; base-uri 'none'; form-action 'none'"
)
PAGE: Final = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="color-scheme" content="light dark">
<title>Diagram</title>
<style>
html, body {{ margin: 0; overflow: hidden; background: transparent; }}
svg {{ display: block; margin: auto; }}
</style>
<script type="module" crossorigin src="{script}"></script>
"""


@endpoint("GET /-/diagram", anonymous=True)
def show_diagram_frame(request: RequestContext) -> RawResponse:  # noqa: ARG001  # called like every handler
    """Return the page that `diagrams.js` posts the source of a diagram to."""
    script = BUNDLES.address("diagram_frame")
    if not script:
        raise ApiError(404)
    headers = {"Content-Security-Policy": FRAME_POLICY, "Cache-Control": "no-cache"}
    return RawResponse(PAGE.format(script=script).encode(), "text/html; charset=utf-8", headers=headers)
