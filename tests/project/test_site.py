"""The documentation as a website: its pages, links and search, without external resources."""

import re
from pathlib import Path

import pytest
from tools.site import build, stage

from tests.conftest import ROOT


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site."""
    folder = tmp_path_factory.mktemp("site") / "site"
    build(ROOT, folder)
    return folder


@pytest.mark.long
def test_every_page_is_in_the_site_and_needs_no_network(site: Path) -> None:
    """Scripts, styles and fonts are files of the site; the search has an index of all pages."""
    for page in (ROOT / "docs").rglob("*.md"):
        name = page.relative_to(ROOT / "docs").with_suffix(".html")
        assert (site / name.with_name(name.name.replace("README", "index"))).is_file(), name
    for page in (site / "index.html", site / "guides/running.html", site / "project/SECURITY.html"):
        loaded = re.findall(r"<(?:script|link|img)[^>]+(?:src|href)=\"?([^\"> ]+)", page.read_text())
        assert loaded
        assert [url for url in loaded if "//" in url and "holdfast.example" not in url] == []
    assert "signalbackup-tools" in (site / "search/search_index.json").read_text()


def test_links_to_files_outside_the_pages_are_moved(tmp_path: Path) -> None:
    """Links to other files lead to a page of the site or to the sources; links between pages stay the same."""
    stage(ROOT, tmp_path / "docs")
    page = (tmp_path / "docs/trust/threat-model-backups.md").read_text()
    assert "](../project/SECURITY.md)" in page
    assert "](threat-model-hosting.md)" in page
    security = (tmp_path / "docs/project/SECURITY.md").read_text()
    assert "](../trust/threat-model-backups.md)" in security
    contributing = (tmp_path / "docs/project/CONTRIBUTING.md").read_text()
    assert "](https://holdfast.example/source/src/branch/main/changelog.d/README.md)" in contributing


def test_every_page_is_in_the_index_and_in_the_navigation() -> None:
    """A page that neither names is found by its search only; commands and decisions have indexes of their own."""
    pages = {path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")} - {Path("README.md")}
    listed = {
        page.as_posix() for page in pages if page.parent not in {Path("reference/commands"), Path("decisions")}
    }
    listed |= {"reference/commands/index.md", "decisions/README.md"}
    assert set(re.findall(r"\]\((\w[^)]+)\)", (ROOT / "docs/README.md").read_text())) == listed
    assert listed <= set(re.findall(r"[\w/-]+\.md", (ROOT / "mkdocs.yml").read_text()))
