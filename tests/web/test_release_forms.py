"""The forms that create, edit and delete releases and their files."""

import re
from pathlib import Path

import pytest

from holdfast.hosting.store import releases, repositories
from holdfast.hosting.store.attachments import attachments_of
from holdfast.hosting.store.releases import Release, holder_of
from tests.hosting.api.file_helpers import make_files
from tests.hosting.api_clients import ServiceClients
from tests.hosting.git_client import Git
from tests.hosting.repository_helpers import WRITE, let_in, make_people
from tests.web.browser import visitor

AT = "/ada/Notes/releases"


@pytest.fixture
def git(clients: ServiceClients, tmp_path: Path) -> Git:
    """Push Ada's repository `Notes`."""
    return make_files(clients, tmp_path)


def release_of(clients: ServiceClients, tag: str) -> Release | None:
    """Return the release of a tag of `Notes`."""
    repository = repositories.find_repository(clients.database, "ada", "Notes")
    return releases.find_by_tag(clients.database, repository, tag)


def test_a_release_is_drafted_published_edited_and_deleted(clients: ServiceClients, git: Git) -> None:
    """The tag is created when the release is published, and remains when the release is deleted."""
    ada, api = visitor(clients, "ada"), clients.open("/api/v1", "ada")
    assert 'value="v7"' in ada.get(f"{AT}/new?tag=v7").text
    form = {"tag_name": "v7", "target": "main", "name": "Seventh", "body": "kept <i>text</i>", "action": "draft"}
    response = ada.post(AT, data=form)
    assert response.headers["location"] == f"{AT}/tag/v7"
    assert "Draft of release Seventh saved." in ada.get(f"{AT}/tag/v7").text
    draft = release_of(clients, "v7")
    assert draft is not None
    assert draft.is_draft
    assert api.get("/repos/ada/Notes/tags/v7").status_code == 404
    shown = ada.get(f"{AT}/edit/v7").text
    assert "kept &lt;i&gt;text" in shown
    assert "Publish release" in shown
    published = {**form, "action": "publish", "prerelease": "on", "name": ""}
    assert ada.post(f"{AT}/{draft.id}", data=published).status_code == 303
    now = release_of(clients, "v7")
    assert now is not None
    assert (now.is_draft, now.is_prerelease, now.name) == (False, True, "")
    assert api.get("/repos/ada/Notes/tags/v7").status_code == 200
    assert "Update release" in ada.get(f"{AT}/edit/v7").text
    assert ada.post(f"{AT}/{now.id}/delete").headers["location"] == AT
    assert "Release v7 deleted." in ada.get(AT).text
    assert release_of(clients, "v7") is None
    assert api.get("/repos/ada/Notes/tags/v7").status_code == 200


def test_a_refused_form_keeps_its_values(clients: ServiceClients, git: Git) -> None:
    """A missing, used or invalid tag and an unknown target are refused with a message."""
    ada = visitor(clients, "ada")
    assert ada.post(AT, data={"tag_name": "v1", "body": "x"}).status_code == 303
    for tag, target, status, said in (
        ("", "", 422, "Tag name is required."),
        ("v1", "", 409, "There is already a release for this tag."),
        ("bad..name", "", 422, "not a valid branch or tag name"),
        ("v2", "nowhere", 404, "There is no branch, tag or commit named nowhere."),
    ):
        response = ada.post(AT, data={"tag_name": tag, "target": target, "body": "kept"})
        assert (response.status_code, said in response.text) == (status, True), response.text[-1500:]
        assert "kept</textarea>" in response.text


def test_files_are_added_and_deleted(clients: ServiceClients, git: Git) -> None:
    """A second file of the same name and a form without a file are refused."""
    ada = visitor(clients, "ada")
    ada.post(AT, data={"tag_name": "v1"})
    release = release_of(clients, "v1")
    assert release is not None
    at = f"{AT}/{release.id}/assets"
    files = {"attachment": ("C:\\charts\\north.txt", b"deep")}
    assert ada.post(at, files=files).headers["location"] == f"{AT}/tag/v1#assets"
    (file,) = attachments_of(clients.database, holder_of(release))
    assert (file.name, file.size) == ("north.txt", 4)
    again = ada.post(at, files={"attachment": ("north.txt", b"x")})
    assert (again.status_code, "There is already a file with this name." in again.text) == (409, True)
    none = ada.post(at, files={"attachment": ("", b"")})
    assert (none.status_code, "Choose a file." in none.text) == (422, True)
    assert ada.post(at, data={"other": "x"}).status_code == 400
    assert ada.post(f"{at}/{file.id}/delete").headers["location"] == f"{AT}/tag/v1#assets"
    assert attachments_of(clients.database, holder_of(release)) == []
    assert ada.post(f"{at}/{file.id}/delete").status_code == 404
    assert ada.post(f"{AT}/99/delete").status_code == 404


def test_a_release_that_changed_meanwhile_is_not_overwritten(clients: ServiceClients, git: Git) -> None:
    """A draft that was published is not made a draft again by who edits it, unless they submit the form again."""
    ada, api = visitor(clients, "ada"), clients.open("/api/v1", "ada")
    ada.post(AT, data={"tag_name": "v1", "body": "Mine", "action": "draft"})
    release = release_of(clients, "v1")
    assert release is not None
    opened = ada.get(f"{AT}/edit/v1").text
    api.patch(f"/repos/ada/Notes/releases/{release.id}", json={"draft": False, "body": "Theirs <b>"})
    sent = {"tag_name": "v1", "body": "Mine, longer", "action": "draft", "version": version_in(opened)}
    refused = ada.post(f"{AT}/{release.id}", data=sent)
    assert refused.status_code == 409
    assert "changed while you were editing" in refused.text
    assert "Theirs &lt;b&gt;" in refused.text
    assert "Mine, longer" in refused.text
    now = release_of(clients, "v1")
    assert now is not None
    assert (now.body, now.is_draft) == ("Theirs <b>", False)
    again = {**sent, "action": "publish", "version": version_in(refused.text)}
    assert ada.post(f"{AT}/{release.id}", data=again).status_code == 303
    now = release_of(clients, "v1")
    assert now is not None
    assert (now.body, now.is_draft) == ("Mine, longer", False)


def version_in(text: str) -> str:
    """Return the version in the form of a release."""
    (version,) = re.findall(r'name="version" value="(\w+)"', text)
    return str(version)


def test_only_writers_change_releases_and_nobody_in_an_archive(clients: ServiceClients, git: Git) -> None:
    """Readers are refused, visitors are sent to log in, and an archived repository shows no forms."""
    bob, eve = make_people(clients.database, "bob", "eve")
    repository = repositories.find_repository(clients.database, "ada", "Notes")
    let_in(clients.database, repository, bob, WRITE)
    ada = visitor(clients, "ada")
    ada.post(AT, data={"tag_name": "v1"})
    release = release_of(clients, "v1")
    assert release is not None
    changing = (AT, f"{AT}/{release.id}", f"{AT}/{release.id}/delete", f"{AT}/{release.id}/assets")
    for path in changing:
        assert visitor(clients, eve.name).post(path, data={"tag_name": "x"}).status_code == 403
        assert visitor(clients).post(path, data={"tag_name": "x"}).status_code in {303, 401}
    assert release_of(clients, "x") is None
    assert release_of(clients, "v1") == release
    assert visitor(clients, eve.name).get(f"{AT}/new").status_code == 403
    assert visitor(clients, bob.name).get(f"{AT}/new").status_code == 200
    clients.open("/api/v1", "ada").patch("/repos/ada/Notes", json={"archived": True})
    assert f"{AT}/edit/" not in ada.get(f"{AT}/tag/v1").text
    assert f"{AT}/new" not in ada.get("/ada/Notes").text
    for path in changing:
        assert ada.post(path, data={"tag_name": "x"}).status_code == 423
    assert release_of(clients, "x") is None
    assert release_of(clients, "v1") == release
