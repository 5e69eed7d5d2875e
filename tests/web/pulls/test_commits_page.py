"""The commits and files tabs of a pull request."""

from tests.web.pulls.conftest import AT, PullSite


def test_the_tabs_show_commits_and_files(site: PullSite) -> None:
    """Visitors see commits and files without the review form; the files of an issue are not found."""
    site.open_pull()
    site.api["ada"].post("/repos/ada/tides/issues", json={"title": "Leak"})
    for name in ("ada", None):
        browser = site.browser(name)
        assert "Write a.txt" in browser.get(f"{AT}/pulls/1/commits").text
        text = browser.get(f"{AT}/pulls/1/files").text
        assert "+ line <mark>ten</mark>" in text
        assert "- line <mark>10</mark>" in text
        assert ("Submit review" in text) == (name is not None)
        assert ('aria-label="Comment on line 10"' in text) == (name is not None)
        assert browser.get(f"{AT}/pulls/2/files").status_code == 404
    assert "Approve" not in site.browser("ada").get(f"{AT}/pulls/1/files").text
    assert "Approve" in site.browser("bob").get(f"{AT}/pulls/1/files").text
