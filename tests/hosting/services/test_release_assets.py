"""Files of releases: who may add, rename and delete them."""

from pathlib import Path

import pytest

from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    Forbidden,
    InvalidField,
    NoSuchAttachment,
    RepositoryArchived,
)
from holdfast.hosting.services import release_assets, releases
from holdfast.hosting.store import attachments
from holdfast.hosting.store.attachments import Attachment
from holdfast.hosting.store.releases import Release, ReleaseFields, holder_of
from tests.hosting.repository_helpers import add_commit
from tests.hosting.services.scenario import Caller, Scenario, make_scenario

pytestmark = pytest.mark.parametrize("settings", ["sqlite"], indirect=True)


@pytest.fixture
def scenario(app: App) -> Scenario:
    """Create the users and a repository with a commit."""
    created_scenario = make_scenario(app)
    add_commit(app.database, created_scenario.repository, "main")
    return created_scenario


@pytest.fixture
def release(scenario: Scenario) -> Release:
    """Make a release."""
    return releases.create(*scenario.caller(scenario.writer), ReleaseFields(tag_name="v1"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Write a file."""
    (tmp_path / "file").write_bytes(b"content")
    return tmp_path / "file"


@pytest.fixture
def asset(scenario: Scenario, release: Release, path: Path) -> Attachment:
    """Add a file to the release."""
    return release_assets.add(*scenario.caller(scenario.writer), release, name="boat.zip", path=path)


def refused(scenario: Scenario) -> list[tuple[type[Exception], Caller]]:
    """Return callers who may not change the files of releases, with the errors they get."""
    return [
        (Forbidden, scenario.caller(None)),
        (Forbidden, scenario.caller(scenario.reader)),
        (RepositoryArchived, scenario.caller(scenario.owner, scenario.archived())),
    ]


def names(scenario: Scenario, release: Release) -> list[str]:
    """Return the files of a release."""
    return [file.name for file in attachments.attachments_of(scenario.app.database, holder_of(release))]


def test_only_writers_change_the_files_of_a_release(
    scenario: Scenario, release: Release, asset: Attachment, path: Path
) -> None:
    """Readers do not, and nobody does in an archived repository."""
    for error, caller in refused(scenario):
        with pytest.raises(error):
            release_assets.add(*caller, release, name="oar.zip", path=path)
        with pytest.raises(error):
            release_assets.rename(*caller, asset, "oar.zip")
        with pytest.raises(error):
            release_assets.delete(*caller, asset)
    assert names(scenario, release) == ["boat.zip"]
    renamed = release_assets.rename(*scenario.caller(scenario.writer), asset, "oar.zip")
    assert (renamed.name, names(scenario, release)) == ("oar.zip", ["oar.zip"])
    release_assets.delete(*scenario.caller(scenario.writer), renamed)
    assert names(scenario, release) == []


def test_a_file_is_found_in_its_own_release_only(scenario: Scenario, release: Release, asset: Attachment) -> None:
    """The id of a file of another release is none."""
    other = releases.create(*scenario.caller(scenario.writer), ReleaseFields(tag_name="v2"))
    assert release_assets.find(scenario.app, release, asset.id).name == "boat.zip"
    with pytest.raises(NoSuchAttachment):
        release_assets.find(scenario.app, other, asset.id)


def test_a_file_is_not_renamed_to_nothing(scenario: Scenario, release: Release, asset: Attachment) -> None:
    """A new name is checked as the first one was."""
    with pytest.raises(InvalidField):
        release_assets.rename(*scenario.caller(scenario.writer), asset, "")
    assert names(scenario, release) == ["boat.zip"]
