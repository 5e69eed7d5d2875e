"""Attachments of releases and issues in the database."""

import pytest

from holdfast.hosting.errors import AttachmentTaken, GoneMeanwhile, NoSuchAttachment
from holdfast.hosting.store import attachments, issues, releases
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.attachments import Attachment, AttachmentHolder
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.issues import NewIssue
from holdfast.hosting.store.releases import Release, ReleaseFields
from holdfast.hosting.store.repositories import Repository
from tests.hosting.repository_helpers import make_repository


@pytest.fixture
def ship(database: Database, ada: Account) -> Repository:
    """Make a repository."""
    return make_repository(database, ada)


@pytest.fixture
def release(database: Database, ship: Repository, ada: Account) -> Release:
    """Make a release."""
    with database.quick_write() as link:
        return releases.add_release(link, ship, ada, ReleaseFields(tag_name="v1"))


def attach(
    database: Database, ship: Repository, holder: AttachmentHolder, name: str, uuid: str = ""
) -> Attachment:
    """Attach a file."""
    with database.write() as connection:
        return attachments.add_attachment(
            connection,
            holder,
            uuid=uuid or f"{holder.id}-{name}",
            repository_id=ship.id,
            name=name,
            size=3,
            digest="d",
        )


def test_a_release_has_one_file_of_a_name(database: Database, ship: Repository, release: Release) -> None:
    """An attachment of a release can neither be added nor renamed with a name that the release has already."""
    holder = releases.holder_of(release)
    created_attachment = attach(database, ship, holder, "a.zip")
    other = attach(database, ship, holder, "b.zip")
    with pytest.raises(AttachmentTaken):
        attach(database, ship, holder, "a.zip", "another")
    with pytest.raises(AttachmentTaken):
        attachments.rename_attachment(database, other, "a.zip")
    assert attachments.rename_attachment(database, other, "c.zip").name == "c.zip"
    assert [attachment.name for attachment in attachments.attachments_of(database, holder)] == ["a.zip", "c.zip"]
    assert attachments.find_attachment(database, holder, created_attachment.id) == created_attachment
    assert attachments.find_by_uuid(database, created_attachment.uuid) == created_attachment
    with database.read() as connection:
        assert attachments.count_attachments(connection, holder) == 2
    with pytest.raises(NoSuchAttachment):
        attachments.find_attachment(
            database, AttachmentHolder("release_id", release.id + 1), created_attachment.id
        )
    with pytest.raises(GoneMeanwhile):
        attach(database, ship, AttachmentHolder("release_id", release.id + 1), "a.zip", "third")


def test_an_issue_may_have_files_of_the_same_name(database: Database, ship: Repository, ada: Account) -> None:
    """An issue can have two attachments of one name, and they are deleted with the issue."""
    issue = issues.open_issue(database, ship, ada, NewIssue(title="It leaks"))
    holder = AttachmentHolder("issue_id", issue.id)
    created_attachments = [attach(database, ship, holder, "image.png", uuid) for uuid in ("one", "two")]
    with database.read() as connection:
        result = attachments.stored_attachments(connection, "issue_id", [issue.id, issue.id + 1])
    assert result == {issue.id: created_attachments, issue.id + 1: []}
    assert attachments.existing_uuids(database, ["one", "three"]) == {"one"}
    attachments.delete_attachment(database, created_attachments[0])
    issues.delete_issue(database, ship, issue, ada)
    assert attachments.existing_uuids(database, ["one", "two"]) == set()


def test_downloads_are_added(database: Database, ship: Repository, release: Release) -> None:
    """Downloads are added to the count of each file, and those of a deleted file are dropped."""
    holder = releases.holder_of(release)
    created_attachments = [attach(database, ship, holder, name) for name in ("a", "b")]
    attachments.add_downloads(database, {created_attachments[1].id: 2, created_attachments[0].id: 1, 999: 5})
    attachments.add_downloads(database, {created_attachments[1].id: 1})
    assert [attachment.download_count for attachment in attachments.attachments_of(database, holder)] == [1, 3]
