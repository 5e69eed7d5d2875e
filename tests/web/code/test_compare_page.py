"""The page that compares branches, tags and commits."""

from tests.hosting.api_clients import ServiceClients
from tests.hosting.git_client import Git
from tests.web.browser import visitor

AT = "/ada/Notes"


def test_two_sides_are_compared(clients: ServiceClients, git: Git) -> None:
    """The page has the commits and changes of the head since the merge base, also for tags and short ids."""
    site = visitor(clients)
    page = site.get(f"{AT}/compare/feature/x...main").text
    assert "1 commit" in page
    assert "><bdi>second</bdi></a>" in page
    assert "- deep" in page
    assert "+ deeper" in page
    assert "is up to date with all commits from" in site.get(f"{AT}/compare/main...feature/x").text
    assert site.get(f"{AT}/compare/v1.0...{git('rev-parse', '--short=8', 'main')}").status_code == 200
    assert "><bdi>second</bdi></a>" not in site.get(f"{AT}/compare/v1.0").text


def test_the_form_leads_to_the_comparison(clients: ServiceClients, git: Git) -> None:
    """The form redirects to the comparison; an unknown ref is answered with status 404 and its escaped name."""
    site = visitor(clients)
    assert "Choose two" in site.get(f"{AT}/compare").text
    response = site.get(f"{AT}/compare", params={"base": "feature/x", "head": "main"})
    assert (response.status_code, response.headers["location"]) == (303, f"{AT}/compare/feature/x...main")
    lost = site.get(f"{AT}/compare/main...<b>nowhere")
    assert lost.status_code == 404
    assert "There is no branch, tag or commit named &lt;b&gt;nowhere" in lost.text
    assert site.get(f"{AT}/compare/main...%FF").status_code == 404
    assert site.get(f"{AT}/compare/...").status_code == 404


def test_histories_without_a_common_commit_can_be_compared(clients: ServiceClients, git: Git) -> None:
    """The page says that there is no common ancestor."""
    git("checkout", "-q", "--orphan", "apart")
    git("commit", "-q", "-m", "apart")
    git("push", "-q", "origin", "apart")
    page = visitor(clients).get(f"{AT}/compare/main...apart")
    assert page.status_code == 200
    assert "No common ancestor" in page.text
