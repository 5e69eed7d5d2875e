"""The HTTP status and message of each type of error, in Gitea's wording."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from holdfast.hosting import errors
from holdfast.hosting.errors import Permission
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.store import faults

__all__ = ["error_status", "refusal_for"]

# The `Retry-After` of database and disk errors, in seconds.
RETRY_SECONDS: Final = {503: "5", 507: "60"}
# Gitea's messages for missing permissions.
FORBIDDEN: Final = {
    Permission.READ: "user should have specific read permission or be a repo admin or a site admin",
    Permission.WRITE: "user should have a permission to write to a repo",
    Permission.ADMIN: "user should be an owner or a collaborator with admin write of a repository",
    Permission.OWNER: "user should be the owner of the repo",
    Permission.AUTHOR: "only the author and people with write access may change this",
    Permission.SITE_ADMIN: "user should be the site admin",
    Permission.ORGANIZATION_MEMBER: "Must be an organization member",
    Permission.ORGANIZATION_OWNER: "Must be an organization owner",
    Permission.WRITE_BRANCH: "user should have a permission to write to the target branch",
    Permission.OWN_PERMISSION: ("only administrators of the repository may see the permissions of other users"),
    Permission.CREATE_REPOSITORIES: "Given user is not allowed to create repository in organization.",
    Permission.NEW_OWNER: "you may give a repository only to an owner you may make repositories for",
    Permission.ACCEPT_TRANSFER: "only the new owner may accept or reject this transfer",
    Permission.SELF: "only the user may do this",
    Permission.OWN_MEMBERSHIP: "only members themselves decide who may know of their membership",
    Permission.CREATE_ORGANIZATIONS: "you may not create organizations; ask an administrator",
    Permission.TEAM_MEMBER: "Must be a team member",
    Permission.TEAM_REPOSITORIES: (
        "Must be an organization owner, or an admin of the repository where those may do it"
    ),
    Permission.TOKENS: "only the user or an administrator may see these tokens",
}
STATUSES: Final[tuple[tuple[type[errors.HostingError], int], ...]] = (
    (errors.LoginRequired, 401),
    (errors.Forbidden, 403),
    (errors.IssueLocked, 403),
    (errors.RepositoryArchived, 423),
    (errors.RepositoryReadOnly, 423),
    (errors.PasswordRequired, 401),
    (errors.AccessDenied, 403),
    (errors.DoesNotExist, 404),
    (errors.NoSuchRef, 404),
    (errors.NoSuchRevision, 404),
    (errors.NoSuchObject, 404),
    (errors.NoSuchFolder, 404),
    (errors.RefExists, 409),
    (errors.RefMoved, 409),
    (errors.NotFastForward, 409),
    (errors.RefBusy, 409),
    (errors.RefRefused, 422),
    (errors.PathRefused, 422),
    (errors.PushRefused, 403),
    (errors.TokenNameTaken, 400),
    (errors.NameTaken, 422),
    (errors.EmailTaken, 422),
    (errors.TeamTaken, 422),
    (errors.AlreadyExists, 409),
    (errors.DependencyCycle, 409),
    (errors.Outdated, 409),
    (errors.UploadIncomplete, 409),
    (errors.UploadOffsetConflict, 409),
    (errors.MergeRefused, 405),
    (errors.StillBlocked, 412),
    (errors.MergedAlready, 412),
    (errors.UnknownState, 412),
    (errors.LastOwner, 403),
    (errors.OwnersTeamRequired, 403),
    (errors.OrganizationInUse, 409),
    (errors.TagInUse, 409),
    (errors.NotWaiting, 409),
    (errors.NothingToRedeliver, 409),
    (errors.WebhookInactive, 409),
    (errors.InvalidScope, 400),
    (errors.NotLineComment, 400),
    (errors.TooManyPins, 400),
    (errors.NoTeams, 405),
    (errors.SlackChannelRequired, 400),
    (errors.ChatStorageFull, 413),
    (errors.UploadOverrun, 413),
    (errors.Refused, 422),
    (errors.NoSuchLfsObject, 404),
    (errors.LfsMismatch, 422),
    (errors.BodyDamaged, 400),
    (errors.BodyTooLarge, 413),
    (errors.GitUnsupported, 501),
    (errors.LfsUnavailable, 503),
    (errors.GitTimedOut, 503),
    (errors.GitMissing, 503),
    (errors.GitDamaged, 503),
    (errors.EncryptionError, 503),
    (errors.ParsingBusy, 503),
    (errors.StorageFull, 507),
    (errors.StorageError, 503),
    (errors.DatabaseError, 503),
)


def refusal_for(error: Exception) -> ApiError | None:
    """Translate an exception to an error response; None if it is a bug.

    Causes are checked first: a full disk may appear as a branch that cannot be created.
    """
    if isinstance(error, errors.CrossRepositoryDependency):
        return ApiError(400, str(error), words=True)
    if isinstance(error, errors.HashingBusy | errors.TooManyGuesses):
        status = 503 if isinstance(error, errors.HashingBusy) else 429
        return ApiError(status, str(error), headers={"Retry-After": str(error.seconds)})
    translated = faults.translate(error) or error
    for kind, status in STATUSES:
        if isinstance(translated, kind):
            retry = RETRY_SECONDS.get(status)
            return ApiError(
                status, message_of(translated), headers=None if retry is None else {"Retry-After": retry}
            )
    return None


def message_of(error: Exception) -> str:
    """Return the message for a client, without internal details."""
    if isinstance(error, errors.Forbidden):
        return FORBIDDEN[error.permission]
    if isinstance(error, errors.NameTaken):
        return f"user already exists [name: {error.name}]"
    if isinstance(error, errors.DatabaseError) and str(error) not in faults.DATABASE_MESSAGES:
        return faults.UNANSWERED
    if isinstance(error, errors.StorageUnavailable) and str(error) not in faults.STORAGE_MESSAGES:
        return faults.UNREADABLE
    if isinstance(error, errors.EncryptionError):
        return "the server cannot use the key of its secrets"
    return str(error)


@contextmanager
def error_status(status: int, *kinds: type[errors.HostingError]) -> Iterator[None]:
    """Respond to errors of some types with another status than the default, where clients expect it."""
    try:
        yield
    except kinds as error:
        raise ApiError(status, str(error)) from error
