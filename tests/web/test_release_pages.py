"""The release pages."""

from pathlib import Path

import pytest

from tests.hosting.api.file_helpers import make_files
from tests.hosting.api_clients import ServiceClients
from tests.hosting.git_client import Git
from tests.web.browser import visitor

HOME = "/repos/ada/Notes"
AT = "/ada/Notes/releases"


@pytest.fixture
def git(clients: ServiceClients, tmp_path: Path) -> Git:
    """Push Ada's repository `Notes`."""
    return make_files(clients, tmp_path)


def publish(clients: ServiceClients, tag: str, **fields: str | bool) -> int:
    """Create a release and return its id."""
    body = {"tag_name": tag, **fields}
    response = clients.open("/api/v1", "ada").post(f"{HOME}/releases", json=body)
    assert response.status_code == 201
    return int(response.json()["id"])


def test_releases_are_listed_newest_first_and_drafts_only_for_writers(clients: ServiceClients, git: Git) -> None:
    """Exactly one release is marked as latest, and a draft is not found for readers."""
    publish(clients, "v1", name="First <b>tide</b>", body="It **floats**.")
    publish(clients, "v2", name="Second")
    publish(clients, "v3-rc", prerelease=True)
    publish(clients, "v9", name="Unfinished", draft=True)
    reader, ada = visitor(clients), visitor(clients, "ada")
    seen = reader.get(AT).text
    assert seen.index("v3-rc") < seen.index("Second") < seen.index("First &lt;b&gt;tide")
    assert "<strong>floats</strong>" in seen
    assert seen.count(">Latest<") == 1
    assert seen.count(">Pre-release<") == 1
    assert "Unfinished" not in seen
    assert "Draft a new release" not in seen
    own = ada.get(AT).text
    assert "Unfinished" in own
    assert ">Draft<" in own
    assert f'href="{AT}/new"' in own
    assert reader.get(f"{AT}/tag/v9").status_code == 404
    assert ada.get(f"{AT}/tag/v9").status_code == 200
    assert reader.get(f"{AT}/tag/none").status_code == 404
    assert reader.get(f"{AT}?page=7").status_code == 200


def test_a_release_has_its_files_and_the_source(clients: ServiceClients, git: Git) -> None:
    """The file, the source archive and the tree of the tag can be opened."""
    number = publish(clients, "season/v1", name="Season")
    api = clients.open("/api/v1", "ada")
    files = {"attachment": ("chart of <tides>.txt", b"deep")}
    assert api.post(f"{HOME}/releases/{number}/assets", files=files).status_code == 201
    reader = visitor(clients)
    seen = reader.get(f"{AT}/tag/season/v1").text
    assert "chart of &lt;tides&gt;.txt" in seen
    assert reader.get(f"{AT}/download/season/v1/chart%20of%20%3Ctides%3E.txt").content == b"deep"
    assert "Source code (zip)" in seen
    assert reader.get("/api/v1/repos/ada/Notes/archive/season/v1.zip").status_code == 200
    assert "/ada/Notes/src/tag/season/v1" in seen
    assert reader.get("/ada/Notes/src/tag/season/v1").status_code == 200
    assert "Attach a file" not in seen
    assert "Attach a file" in visitor(clients, "ada").get(f"{AT}/tag/season/v1").text


def test_a_list_is_paged(clients: ServiceClients, git: Git) -> None:
    """A page has ten releases, and links to the pages around it."""
    for count in range(11):
        publish(clients, f"v{count}", draft=True)
    ada = visitor(clients, "ada")
    first, second = ada.get(AT).text, ada.get(f"{AT}?page=2").text
    assert first.count('<article class="box release">') == 10
    assert second.count('<article class="box release">') == 1
    assert 'rel="next"' in first
    assert 'rel="prev"' in second
