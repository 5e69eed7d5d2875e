"""Error messages on pages, by type of error."""

import pytest

from holdfast.hosting import errors
from holdfast.hosting.errors import HostingError, InvalidField, Permission, Violation
from holdfast.hosting.http.errors import REQUIRED, TOO_LONG, TOO_SHORT, ApiError, FieldError
from holdfast.hosting.schemas.organizations import URL_PATTERN
from holdfast.web.error_messages import message_for, status_for


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (InvalidField("Title", Violation.REQUIRED), "Title is required."),
        (
            InvalidField("BranchFilter", Violation.TOO_LONG, 255),
            "Branch filter is too long (maximum is 255).",
        ),
        (InvalidField("Title", Violation.TOO_LONG), "Title is too long."),
        (InvalidField("Password", Violation.TOO_SHORT, 8), "Password is too short (minimum is 8)."),
        (InvalidField("DueDate", Violation.INVALID_DATE), "Due date must be a date."),
        (errors.InvalidReference("Labels", "the repository has no label 7"), "The repository has no label 7."),
        (errors.LoginRequired(), "You must be signed in to do this."),
        (errors.Forbidden(Permission.WRITE), "You need write access to this repository."),
        (errors.Forbidden(Permission.ORGANIZATION_OWNER), "Only owners of this organization can do this."),
        (errors.RepositoryArchived(), "This repository is archived and cannot be changed."),
        (errors.StillBlocked("x"), "This issue cannot be closed while issues that block it are open."),
        (errors.IssueLocked(), "This issue is locked: only people with write access can comment."),
        (
            errors.DependencyCycle((1, 2, 1), ("a/b#1", "a/b#2", "a/b#1")),
            "That would be a circular dependency, and none of these could ever be closed: a/b#1 → a/b#2 → a/b#1.",
        ),
        (
            errors.ChatStorageFull(12 * 2**20, 3 * 2**20),
            "Your chat backups may have 12 MB in total, and have 3 MB already. Delete some first.",
        ),
        (errors.UploadOffsetConflict(5), "The next chunk of this file begins at 5."),
        (errors.LastOwner("an organization needs an owner"), "An organization needs an owner."),
    ],
)
def test_a_typed_error_becomes_a_sentence_of_its_type(error: HostingError, shown: str) -> None:
    """The sentence has the data the error carries."""
    assert message_for(error) == shown


def test_there_is_a_sentence_for_every_permission() -> None:
    """The sentences of all permissions differ."""
    assert len({message_for(errors.Forbidden(permission)) for permission in Permission}) == len(Permission)


def test_a_page_does_not_show_where_the_database_is() -> None:
    """Messages of errors about the database and the data folder contain no path."""
    assert "/srv" not in message_for(errors.DatabaseUnavailable("cannot open /srv/holdfast/holdfast.db"))
    assert message_for(errors.WrongDataFolder("/srv/holdfast is another's")) == "Internal error."


def test_the_status_of_a_page_is_the_one_of_the_api() -> None:
    """An error without a status is a bug and is raised again."""
    assert status_for(ApiError(418)) == 418
    assert status_for(errors.RepositoryArchived()) == 423
    assert status_for(InvalidField("Title", Violation.REQUIRED)) == 422
    with pytest.raises(errors.WrongDataFolder):
        status_for(errors.WrongDataFolder("moved"))


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (FieldError("Name", TOO_LONG), "Name is too long."),
        (FieldError("Name", TOO_SHORT), "Name is too short."),
        (FieldError("UserID", REQUIRED), "UserID is required."),
        (FieldError("", "a body"), "A body."),
        (FieldError("BranchFilter", "no pattern"), "Branch filter: no pattern."),
        (FieldError("Website", "Expected", URL_PATTERN), "Website must begin with https:// or http://."),
        (FieldError("Color", "Expected", "^#"), "Color has an invalid format."),
        (errors.NoSuchAccount("ada"), "There is no user or organization named ada."),
        (errors.NoSuchBranch(7, "topic"), "There is no branch named topic."),
        (errors.UnknownDefaultBranch(7, "trunk"), "There is no branch named trunk."),
        (errors.FileExists("docs/a.md"), "There is already a file named docs/a.md."),
        (errors.FilePathRefused("path is a directory", "docs"), "Path is a directory: docs."),
        (FieldError("DueOn", REQUIRED), "Due date is required."),
        (InvalidField("UserName", Violation.REQUIRED), "Name is required."),
        (errors.NewBranchExists("topic"), "There is already a branch named topic."),
        (ApiError(422, "a pattern [ab]"), "A pattern [ab]."),
        (ApiError(422, "[Name]: no field"), "[Name]: no field."),
        (ApiError(422), "The request was refused."),
        (ApiError(422, "why?"), "Why?"),
    ],
)
def test_an_error_of_the_http_layer_becomes_a_sentence(error: ApiError | HostingError, shown: str) -> None:
    """The field and the reason are data of the error; messages are not parsed."""
    assert message_for(error) == shown
