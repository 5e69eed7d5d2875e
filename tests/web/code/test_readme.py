"""The README of a directory."""

from pathlib import Path

import pytest

from holdfast.hosting.git import trees
from holdfast.hosting.git.commits import build_tree
from holdfast.hosting.git.repository import open_repository
from holdfast.web.code.location import CodeLocation
from holdfast.web.code.readme import Readme, readme_of
from tests.hosting.git.oracle import new_repository


def render_readme(tmp_path: Path, files: dict[str, bytes]) -> Readme | None:
    """Render the README of a directory with these files."""
    repo = open_repository(new_repository(tmp_path / "1.git"))
    entries = trees.directory(repo, build_tree(repo.write, files))
    return readme_of(CodeLocation("/ada/notes", repo, "branch", "feature/x", "f" * 40), entries)


def test_markdown_comes_before_other_texts(tmp_path: Path) -> None:
    """A Markdown README is preferred in any case of its name; a directory may have no README."""
    readme = render_readme(tmp_path, {"README.txt": b"plain", "readme.MD": b"# Hello", "readme": b"bare"})
    assert readme is not None
    assert (readme.name, readme.address) == ("readme.MD", "/ada/notes/src/branch/feature/x/readme.MD")
    assert "Hello</h2>" in str(readme.html)
    assert render_readme(tmp_path / "other", {"read.me": b"no"}) is None


def test_a_plain_text_is_not_taken_for_markup(tmp_path: Path) -> None:
    """A README without an extension is shown as plain text."""
    readme = render_readme(tmp_path, {"README": b"# <b>not a heading</b>"})
    assert readme is not None
    assert readme.html is None
    assert readme.text == "# <b>not a heading</b>"


def test_relative_addresses_lead_into_the_same_tree(tmp_path: Path) -> None:
    """Links lead to pages and images to files of the same ref, and external images are removed."""
    text = (
        b"[a](docs/guide.md#x) [b](/top.txt) [c](../../../etc) ![d](img/a%20b.png) ![e](https://example.org/x.png)"
    )
    readme = render_readme(tmp_path, {"README.md": text})
    assert readme is not None
    html = str(readme.html)
    assert 'href="/ada/notes/src/branch/feature/x/docs/guide.md#text-x"' in html
    assert 'href="/ada/notes/src/branch/feature/x/top.txt"' in html
    assert 'href="/ada/notes/src/branch/feature/x/etc"' in html
    assert 'src="/ada/notes/media/branch/feature/x/img/a%20b.png"' in html
    assert 'src="https://example.org' not in html


@pytest.mark.parametrize(
    "text",
    [
        b"<script>alert(1)</script>",
        b"[x](javascript:alert(1))",
        b"![x](data:image/svg+xml;base64,AAAA)",
        b'<img src=x onerror="alert(1)">',
        b'<a href="jAvAsCrIpT:alert(1)">x</a>',
        b"<svg onload=alert(1)>",
        b'<p style="position:fixed">x</p>',
        b'<form action="/logout" method=post><button>x</button></form>',
        b"<iframe src=/></iframe>",
        b'<h1 id="main">x</h1>',
        b"<base href=//evil>",
    ],
)
def test_a_readme_is_sanitized(tmp_path: Path, text: bytes) -> None:
    """Scripts, event handlers, forms, styles, frames and ids of the page are removed."""
    readme = render_readme(tmp_path, {"README.md": text})
    assert readme is not None
    html = str(readme.html).lower()
    for word in (
        "<script",
        '="javascript:',
        '="data:',
        "onerror",
        "onload",
        "style=",
        "<form",
        "<iframe",
        "<base",
    ):
        assert word not in html
    assert 'id="main"' not in html


@pytest.mark.parametrize("text", [b">" * 20_000, b"[" * 20_000, b"*a " * 20_000, b"<div>" * 20_000, b"- " * 9_000])
def test_deep_nesting_is_limited(tmp_path: Path, text: bytes) -> None:
    """Deeply nested markup is rendered to a page of limited size."""
    readme = render_readme(tmp_path, {"README.md": text})
    assert readme is not None
    assert len(str(readme.html)) < 600_000


def test_footnotes_link_in_both_directions(tmp_path: Path) -> None:
    """Footnote ids have a prefix of their own, so that they do not collide with other ids of the page."""
    readme = render_readme(tmp_path, {"README.md": b"High[^a] and low[^a].\n\n[^a]: as the <b>gauge</b> says\n"})
    assert readme is not None
    html = str(readme.html)
    assert 'href="#text-fn1"' in html
    assert 'id="text-fnref1"' in html
    assert '<li id="text-fn1"' in html
    assert 'href="#text-fnref1"' in html
