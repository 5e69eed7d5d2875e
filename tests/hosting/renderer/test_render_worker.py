"""The protocol of the render worker."""

import io

from holdfast.hosting.renderer.markdown import NOWHERE
from holdfast.hosting.renderer.render_worker import read_request, render, write_response


def test_requests_and_answers_have_their_length_before_them() -> None:
    """A request that ends within its length prefix is read as empty."""
    pipe = io.BytesIO()
    write_response(pipe, (True, "made"))
    whole = pipe.getvalue()
    assert read_request(io.BytesIO(whole)) == whole[4:]
    assert read_request(io.BytesIO(whole[:3])) == b""


def test_every_kind_is_rendered() -> None:
    """The worker renders Markdown, lists issue links and highlights source code by file name."""
    assert render("markdown", ["*a*", {"deeper": NOWHERE.deeper}]) == "<p><em>a</em></p>\n"
    assert render("issue_links", ["see #3", ["ada", "ship"], "http://a"]) == [("ada", "ship", 3)]
    assert render("highlight", ["a.py", "# x\n"]) == (['<span class="c"># x</span>'], [])
    assert render("highlight_blocks", [[("py", "# x\n"), ("none", "# x\n")]]) == [
        ['<span class="c"># x</span>'],
        None,
    ]
