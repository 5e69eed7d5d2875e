"""Errors of the git host.

HostingError
├── DatabaseError            the database cannot be used
│   ├── DatabaseTooNew       it was written by a newer Holdfast
│   └── DatabaseUnavailable  not reachable, locked, or out of connections; retryable
├── StorageError             the disk cannot be used
│   ├── StorageFull          no space left
│   ├── StorageReadOnly      not writable
│   ├── NoSuchStoredObject   the object store has no such key
│   └── StorageUnavailable   not readable, or the data folder is missing
├── AccessDenied             the actor lacks access
│   ├── LoginRequired        anonymous
│   ├── Forbidden            the actor lacks a permission
│   ├── AccountClosed        the account may not sign in
│   ├── SignUpDisabled       disabled in the settings
│   ├── IssueLocked          commenting requires write access
│   ├── ReactionNotAllowed   not an allowed reaction
│   ├── RepositoryReadOnly   files of an archived repository or a mirror cannot be changed
│   ├── RepositoryArchived   an archived repository cannot be changed
│   ├── PasswordRequired     the request has no password
│   ├── SessionRequired      a token does not suffice
│   ├── WebhooksDisabled     disabled in the settings
│   ├── ChallengeExpired     the challenge of a passkey has expired or was already used
│   ├── PasskeyRefused       an invalid response, or an unknown passkey
│   ├── PasskeyCounterReversed  a passkey may have been copied
│   ├── WrongCode            an invalid code of the second factor
│   └── WrongPassword        an invalid password
├── NoData                   no service was ever started here
├── WrongDataFolder          the data folder and the database do not belong together
├── EncryptionError          a secret cannot be encrypted or decrypted
│   ├── KeyMissing           there is no encryption key
│   ├── KeyUnusable          the key cannot be created, read or used
│   └── DecryptionFailed     encrypted with another key, or damaged
├── CrossRepositoryDependency disabled in the settings
├── DependencyCycle          issues would block each other
├── MergeRefused             a pull request cannot be merged
│   ├── MergeConflict        both branches changed the same files
│   ├── MergeTooLarge        a merge exceeds a limit
│   ├── NotReadyToMerge      requirements of a merge are not met
│   ├── NothingToMerge       the base branch already has all commits
│   ├── OpenBlockers         open issues block the pull request
│   └── UnrelatedHistories   the branches have no commit in common
├── NotLineComment           only a line comment has a conversation
├── Outdated                 it was changed concurrently
├── TooManyPins              no more issues can be pinned
├── UploadIncomplete         bytes of an upload are missing
├── UploadOffsetConflict     a chunk of an upload is not at the current end of its file
├── StillBlocked             an issue has open blockers
├── GitError                 a git operation failed
│   ├── BodyDamaged          a git request body cannot be decoded
│   ├── BodyTooLarge         a git request body exceeds the limit
│   ├── GitFailed            a git command failed
│   │   └── GitTimedOut      a git command was stopped at its limit of time or memory
│   ├── GitMissing           git is not installed, or too old
│   ├── NoSuchFolder         the repository is not on disk
│   ├── GitDamaged           an object or ref is missing or corrupt
│   ├── GitUnsupported       unsupported repository format
│   ├── NoSuchObject         no such object, or of another type
│   ├── NotFastForward       a branch would lose commits
│   ├── NoSuchRef            no such branch or tag
│   │   ├── NoSuchBranch     no such branch
│   │   ├── NoSuchLogEntry   no entry of the ref log that can be restored
│   │   └── NoSuchTag        no such tag
│   ├── NoSuchRevision       no branch, tag or commit id
│   ├── PathRefused          an invalid path
│   ├── RefBusy              a ref is locked by another process
│   ├── RefExists            a branch or tag already exists
│   │   ├── BranchExists     a branch already exists
│   │   └── TagExists        a tag already exists
│   ├── RefMoved             compare-and-set failed
│   └── RefRefused           an invalid ref name
│       └── RenameRefused    a branch with the new name exists
├── NoTeams                  a user's repository has no teams
├── Refused                  invalid request
│   ├── ArchiveTooLarge      an archive would exceed a limit
│   ├── TeamHasRepository    a team already has access to the repository
│   ├── TeamLacksRepository  a team has no access to the repository
│   ├── InvalidField         missing, too long, too short or out of range
│   ├── InvalidReference     a field names something that does not exist
│   ├── InvalidValue         the value of a field is invalid
│   │   └── UnknownDefaultBranch  the default branch to be does not exist
│   ├── InvalidYaml          a YAML file cannot be read
│   ├── TransferPending      another transfer of the repository is pending
│   ├── TooManyPasskeys      the user has the maximum number of passkeys
│   ├── PasskeysUnavailable  passkeys cannot be used at the service's URL
│   ├── TwoFactorDisabled    the user has no second factor
│   ├── UnknownName          a list names an unknown user or team
│   ├── VisibilityRefused    only owners may change the visibility
│   ├── InvalidWebhookOption a webhook option is missing or invalid
│   │   └── SlackChannelRequired  a webhook for Slack has no channel
│   ├── ColorRefused         not a colour
│   ├── EmailRefused         not an e-mail address
│   ├── EventRefused         unknown webhook events
│   ├── InvalidScope         an unknown token scope
│   ├── LastAdmin            no administrator would be left
│   ├── LastOwner            no owner would be left
│   ├── NameRefused          an invalid or reserved name
│   ├── NotAFork             the repository has no parent
│   ├── NotAMirror           the repository is not a mirror
│   ├── NotATemplate         the repository is not a template
│   ├── NotWaiting           a delivery has already ended
│   ├── NothingToRedeliver   no delivery matches the filter of a redelivery
│   ├── OwnerIsNoCollaborator  owners cannot be collaborators
│   ├── OwnAccount           administrators cannot delete their own account
│   ├── OwnersStay           the owners' team is fixed
│   │   └── OwnersTeamRequired  it cannot be deleted
│   ├── PatternRefused       an invalid glob pattern
│   ├── PasswordRefused      a password is too short
│   ├── RemoteFailed         a remote repository cannot be reached or read
│   ├── SshKeyRefused        not an OpenSSH public key, or a weak one
│   ├── TooManyAtOnce        a request exceeds a limit
│   ├── ChatStorageFull      the chat backups of a user exceed the quota
│   ├── UploadOverrun        a chunk exceeds the declared size of its file
│   ├── ReviewRefused        a review cannot be submitted, requested or dismissed
│   ├── WebhookInactive      the webhook is inactive
│   ├── StillInUse           it still has dependents
│   │   ├── OrganizationInUse  an organization owns repositories
│   │   └── TagInUse         a tag has a release
│   ├── MergedAlready        a merged pull request cannot be reopened
│   ├── UnknownState         neither open nor closed
│   └── FileRefused          an invalid change of a file
│       ├── ConditionFailed  a precondition failed
│       ├── FilePathRefused  the file cannot be changed at its path
│       │   └── FileExists   the file already exists
│       ├── FileTooLarge     the file exceeds the limit
│       ├── NewBranchExists  the branch to create by a commit already exists
│       └── ShaMismatch      the file was changed
├── DeliveryFailed           a webhook delivery failed; retried
│   └── DeliveryHopeless     not retried
│       ├── AddressRefused   the target's address is not allowed
│       └── UrlRefused       an invalid URL
├── PushRefused              branch protection
│   └── DefaultBranchRefused not allowed for the default branch
├── TooManyGuesses           rate limit of wrong passwords
│   ├── TooManyChallenges    rate limit of challenges for passkeys
│   └── TooManyCodes         rate limit of wrong codes
├── HashingBusy              too many concurrent password hashes
├── ParsingBusy              too many long texts wait to be parsed
├── AlreadyExists            it already exists
│   ├── AttachmentTaken      a release has a file of that name
│   ├── DependencyTaken      the dependency exists
│   ├── ForkExists           the owner already has a fork
│   ├── EmailTaken           the e-mail address is in use
│   ├── MergeScheduled       the pull request is scheduled to be merged
│   ├── NameTaken            the name is in use
│   ├── PasskeyTaken         the passkey was already added
│   ├── PullTaken            the branches have an open pull request
│   ├── LockTaken            the path is locked
│   ├── ProtectionTaken      the rule exists
│   ├── ReleaseTaken         the tag has a release
│   ├── RepositoryTaken      the repository exists
│   ├── SshKeyTaken          the SSH key is in use
│   ├── TeamTaken            the team exists
│   ├── TokenNameTaken       the token exists
│   └── TwoFactorEnabled     the user already has a second factor
├── DoesNotExist             it does not exist
│   ├── GoneMeanwhile        deleted concurrently
│   ├── NoSuchAttachment     no such attached file
│   ├── NoSuchChatBackup     no such chat backup that the actor may see
│   ├── NoSuchComment        no such comment
│   ├── NoSuchDelivery       no such delivery
│   ├── NoSuchEmail          no such secondary e-mail address
│   ├── NoSuchHook           no such webhook
│   ├── NoSuchDependency     no such dependency
│   ├── NoSuchIssue          no such issue
│   ├── NoSuchLabel          no such label
│   ├── NoSuchMigration      the repository was not migrated
│   ├── NoSuchMilestone      no such milestone
│   ├── NoSuchNotification   no such notification of the user
│   ├── NoSuchPasskey        no such passkey of the user
│   ├── NoSuchPushMirror     no such push mirror
│   ├── NoSuchLock           no such LFS lock
│   ├── NoSuchOrganization   no organization has that name
│   ├── NoSuchProtection     no such branch or tag protection
│   ├── NoSuchRelease        no such release
│   ├── NoSuchRepository     no such repository
│   ├── NoSuchReview         no such review
│   ├── NoSuchScheduledMerge a pull request has no scheduled merge
│   ├── NoSuchSession        no such session
│   ├── NoSuchSshKey         no such SSH key
│   ├── NoSuchTeam           no such team
│   ├── NoSuchTemplate       no such license, .gitignore template or label set
│   ├── NoSuchToken          no such token
│   ├── NoSuchTopic          no such topic
│   ├── NoSuchTransfer       the repository has no pending transfer
│   ├── NoSuchUser           no such user
│   │   └── NoSuchAccount    no such user or organization
│   └── RepositoryEmpty      no commits
├── LfsError                 an LFS object store operation failed
│   ├── LfsMismatch          size or hash differ
│   ├── LfsUnavailable       the store is not available
│   └── NoSuchLfsObject      no such object
└── SnapshotError            a backup of the service failed
    ├── SnapshotDamaged      damaged, truncated, or not a backup
    └── SnapshotRefused      an invalid target
"""

from enum import StrEnum
from typing import Final

from holdfast.errors import HoldfastError

__all__ = [
    "AccessDenied",
    "AccountClosed",
    "AddressRefused",
    "AlreadyExists",
    "ArchiveTooLarge",
    "AttachmentTaken",
    "BodyDamaged",
    "BodyTooLarge",
    "BranchExists",
    "ChallengeExpired",
    "ChatStorageFull",
    "ColorRefused",
    "ConditionFailed",
    "CrossRepositoryDependency",
    "DatabaseError",
    "DatabaseTooNew",
    "DatabaseUnavailable",
    "DecryptionFailed",
    "DefaultBranchRefused",
    "DeliveryFailed",
    "DeliveryHopeless",
    "DependencyCycle",
    "DependencyTaken",
    "DoesNotExist",
    "EmailRefused",
    "EmailTaken",
    "EncryptionError",
    "EventRefused",
    "FileExists",
    "FilePathRefused",
    "FileRefused",
    "FileTooLarge",
    "Forbidden",
    "ForkExists",
    "GitDamaged",
    "GitError",
    "GitFailed",
    "GitMissing",
    "GitTimedOut",
    "GitUnsupported",
    "GoneMeanwhile",
    "HashingBusy",
    "HostingError",
    "InvalidField",
    "InvalidReference",
    "InvalidScope",
    "InvalidValue",
    "InvalidWebhookOption",
    "InvalidYaml",
    "IssueLocked",
    "KeyMissing",
    "KeyUnusable",
    "LastAdmin",
    "LastOwner",
    "LfsError",
    "LfsMismatch",
    "LfsUnavailable",
    "LockTaken",
    "LoginRequired",
    "MergeConflict",
    "MergeRefused",
    "MergeScheduled",
    "MergeTooLarge",
    "MergedAlready",
    "NameRefused",
    "NameTaken",
    "NewBranchExists",
    "NoData",
    "NoSuchAccount",
    "NoSuchAttachment",
    "NoSuchBranch",
    "NoSuchChatBackup",
    "NoSuchComment",
    "NoSuchDelivery",
    "NoSuchDependency",
    "NoSuchEmail",
    "NoSuchFolder",
    "NoSuchHook",
    "NoSuchIssue",
    "NoSuchLabel",
    "NoSuchLfsObject",
    "NoSuchLock",
    "NoSuchLogEntry",
    "NoSuchMigration",
    "NoSuchMilestone",
    "NoSuchNotification",
    "NoSuchObject",
    "NoSuchOrganization",
    "NoSuchPasskey",
    "NoSuchProtection",
    "NoSuchPushMirror",
    "NoSuchRef",
    "NoSuchRelease",
    "NoSuchRepository",
    "NoSuchReview",
    "NoSuchRevision",
    "NoSuchScheduledMerge",
    "NoSuchSession",
    "NoSuchSshKey",
    "NoSuchStoredObject",
    "NoSuchTag",
    "NoSuchTeam",
    "NoSuchTemplate",
    "NoSuchToken",
    "NoSuchTopic",
    "NoSuchTransfer",
    "NoSuchUser",
    "NoTeams",
    "NotAFork",
    "NotAMirror",
    "NotATemplate",
    "NotFastForward",
    "NotLineComment",
    "NotReadyToMerge",
    "NotWaiting",
    "NothingToMerge",
    "NothingToRedeliver",
    "OpenBlockers",
    "OrganizationInUse",
    "Outdated",
    "OwnAccount",
    "OwnerIsNoCollaborator",
    "OwnersStay",
    "OwnersTeamRequired",
    "ParsingBusy",
    "PasskeyCounterReversed",
    "PasskeyRefused",
    "PasskeyTaken",
    "PasskeysUnavailable",
    "PasswordRefused",
    "PasswordRequired",
    "PathRefused",
    "PatternRefused",
    "Permission",
    "ProtectionTaken",
    "PullTaken",
    "PushRefused",
    "ReactionNotAllowed",
    "RefBusy",
    "RefExists",
    "RefMoved",
    "RefRefused",
    "Refused",
    "ReleaseTaken",
    "RemoteFailed",
    "RenameRefused",
    "RepositoryArchived",
    "RepositoryEmpty",
    "RepositoryReadOnly",
    "RepositoryTaken",
    "ReviewRefused",
    "SessionRequired",
    "ShaMismatch",
    "SignUpDisabled",
    "SlackChannelRequired",
    "SnapshotDamaged",
    "SnapshotError",
    "SnapshotRefused",
    "SshKeyRefused",
    "SshKeyTaken",
    "StillBlocked",
    "StillInUse",
    "StorageError",
    "StorageFull",
    "StorageReadOnly",
    "StorageUnavailable",
    "TagExists",
    "TagInUse",
    "TeamHasRepository",
    "TeamLacksRepository",
    "TeamTaken",
    "TokenNameTaken",
    "TooManyAtOnce",
    "TooManyChallenges",
    "TooManyCodes",
    "TooManyGuesses",
    "TooManyPasskeys",
    "TooManyPins",
    "TransferPending",
    "TwoFactorDisabled",
    "TwoFactorEnabled",
    "UnknownDefaultBranch",
    "UnknownName",
    "UnknownState",
    "UnrelatedHistories",
    "UploadIncomplete",
    "UploadOffsetConflict",
    "UploadOverrun",
    "UrlRefused",
    "Violation",
    "VisibilityRefused",
    "WebhookInactive",
    "WebhooksDisabled",
    "WrongCode",
    "WrongDataFolder",
    "WrongPassword",
]

# Maximum files named in the message of a merge conflict; the error has all of them.
SHOWN_CONFLICTS: Final = 10


class HostingError(HoldfastError):
    """The base of all errors of the host."""


class DatabaseError(HostingError):
    """The database cannot be used."""


class DatabaseTooNew(DatabaseError):
    """The database was written by a newer Holdfast than this one."""


class DatabaseUnavailable(DatabaseError):
    """The database is not reachable, locked, or out of connections; a retry may succeed."""


class StorageError(HostingError):
    """The disk of the data folder cannot be used."""


class StorageFull(StorageError):
    """The disk is full, or the quota is exhausted."""


class StorageReadOnly(StorageError):
    """The disk or the database is read-only, or the service lacks write permission."""


class NoSuchStoredObject(StorageError):
    """The object store has no object with this key."""


class StorageUnavailable(StorageError):
    """The disk is not readable, or the data folder is missing."""


class Permission(StrEnum):
    """A permission that an actor can lack."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"
    OWNER = "owner"
    AUTHOR = "author"
    """Changing something as its author or with write access."""
    SITE_ADMIN = "site admin"
    ORGANIZATION_MEMBER = "organization member"
    ORGANIZATION_OWNER = "organization owner"
    WRITE_BRANCH = "write branch"
    """Committing files to a branch."""
    OWN_PERMISSION = "own permission"
    """Reading the permissions of others in a repository."""
    CREATE_REPOSITORIES = "create repositories"
    """Creating repositories in an organization."""
    NEW_OWNER = "new owner"
    """Transferring a repository to an owner for whom the actor may create repositories."""
    ACCEPT_TRANSFER = "accept transfer"
    """Accepting or rejecting a pending transfer."""
    SELF = "self"
    """Changing one's own account only."""
    OWN_MEMBERSHIP = "own membership"
    CREATE_ORGANIZATIONS = "create organizations"
    TEAM_MEMBER = "team member"
    TEAM_REPOSITORIES = "team repositories"
    """Changing which teams have access to a repository."""
    TOKENS = "tokens"
    """Managing the access tokens of a user."""


class AccessDenied(HostingError):
    """The actor may not do this."""


class LoginRequired(AccessDenied):
    """Authentication is required."""

    def __init__(self) -> None:
        super().__init__("token is required")


class Forbidden(AccessDenied):
    """The actor lacks `permission`."""

    def __init__(self, permission: Permission) -> None:
        super().__init__(f"this needs the permission: {permission}")
        self.permission = permission


class AccountClosed(AccessDenied):
    """The account is not active, or prohibited from signing in."""

    def __init__(self) -> None:
        super().__init__("this account may not sign in")


class SignUpDisabled(AccessDenied):
    """Self-registration is disabled in the settings."""

    def __init__(self) -> None:
        super().__init__("sign-up is disabled")


class IssueLocked(AccessDenied):
    """Commenting on a locked issue requires write access."""

    def __init__(self) -> None:
        super().__init__("this issue is locked: only people with write access may comment")


class ReactionNotAllowed(AccessDenied):
    """`content` is not an allowed reaction."""

    def __init__(self, content: str) -> None:
        super().__init__(f"'{content}' is not an allowed reaction")
        self.content = content


class RepositoryArchived(AccessDenied):
    """An archived repository cannot be changed."""

    def __init__(self) -> None:
        super().__init__("repo is archived")


class RepositoryReadOnly(AccessDenied):
    """Files of an archived repository or of a mirror cannot be changed."""

    def __init__(self) -> None:
        super().__init__("repo is not allowed to edit")


class PasswordRequired(AccessDenied):
    """The request has no password."""

    def __init__(self) -> None:
        super().__init__("auth required")


class SessionRequired(AccessDenied):
    """A browser session is required; a token does not suffice."""

    def __init__(self) -> None:
        super().__init__("log in on the website for this; a token is not enough")


class ChallengeExpired(AccessDenied):
    """The challenge of a passkey response has expired, was already used, or was created for another purpose."""

    def __init__(self) -> None:
        super().__init__("the request has expired, or was answered before; try again")


class PasskeyRefused(AccessDenied):
    """The passkey response is invalid, or of an unknown passkey."""

    def __init__(self) -> None:
        super().__init__("the passkey was not accepted")


class PasskeyCounterReversed(AccessDenied):
    """The signature counter of a passkey is not above the last one, so the passkey may have been copied."""

    def __init__(self) -> None:
        super().__init__(
            "the passkey was not accepted: its signature counter went backwards, so it may have been copied; "
            "log in another way and remove it"
        )


class WrongCode(AccessDenied):
    """The code of the second factor is invalid, or was already used."""

    def __init__(self) -> None:
        super().__init__("the authentication code is wrong, or was used before")


class WrongPassword(AccessDenied):
    """The password of the acting user is wrong."""

    def __init__(self) -> None:
        super().__init__("that is not your password")


class WebhooksDisabled(AccessDenied):
    """Webhooks are disabled in the settings."""

    def __init__(self) -> None:
        super().__init__("webhooks disabled by administrator")


class NoData(HostingError):
    """The folder or database has no data; the message names them."""


class WrongDataFolder(HostingError):
    """The data folder and the database do not belong together; the message says what to do."""


class EncryptionError(HostingError):
    """A secret at rest cannot be encrypted or decrypted; the message never contains it."""


class KeyMissing(EncryptionError):
    """There is no encryption key."""


class KeyUnusable(EncryptionError):
    """The encryption key cannot be created, read or used."""


class DecryptionFailed(EncryptionError):
    """A secret was encrypted with another key, or is damaged."""


class CrossRepositoryDependency(HostingError):
    """Dependencies on issues of other repositories are disabled in the settings."""

    def __init__(self) -> None:
        super().__init__("CrossRepositoryDependencies not enabled")


class DependencyCycle(HostingError):
    """Issues would block each other; `path` has their ids, the first one repeated at the end.

    `names` has the names of those the actor may see, once they are known.
    """

    def __init__(self, path: tuple[int, ...], names: tuple[str, ...] = ()) -> None:
        super().__init__(f"circular dependency: {' -> '.join(names or map(str, path))}")
        self.path = path
        self.names = names


class MergeRefused(HostingError):
    """A pull request cannot be merged."""


class MergeConflict(MergeRefused):
    """Both branches changed the same files; `files` are their paths, as git names them."""

    def __init__(self, files: tuple[str, ...]) -> None:
        shown = ", ".join(files[:SHOWN_CONFLICTS])
        more = len(files) - SHOWN_CONFLICTS
        super().__init__(f"conflicts with the base branch in: {shown}" + (f" and {more} more" if more > 0 else ""))
        self.files = files


class MergeTooLarge(MergeRefused):
    """A merge would replay more commits or write more than the limit."""


class NotReadyToMerge(MergeRefused):
    """Requirements of a merge are not met; `reasons` are sentences."""

    def __init__(self, reasons: tuple[str, ...]) -> None:
        super().__init__("; ".join(reasons))
        self.reasons = reasons


class OpenBlockers(MergeRefused):
    """Open issues block a pull request; `visible` are the names of those that the actor may read."""

    def __init__(self, visible: tuple[str, ...]) -> None:
        named = f": {', '.join(visible)}" if visible else ""
        super().__init__(f"the pull request is blocked by open dependencies{named}")
        self.visible = visible


class NothingToMerge(MergeRefused):
    """The base branch already has all commits of the head branch."""

    def __init__(self) -> None:
        super().__init__("the base branch has all commits of the head branch already")


class UnrelatedHistories(MergeRefused):
    """The branches have no commit in common."""

    def __init__(self) -> None:
        super().__init__("the branches have no commit in common")


class NotLineComment(HostingError):
    """The comment is not about a line, so there is no conversation to resolve."""

    def __init__(self) -> None:
        super().__init__("only a comment on a line has a conversation that can be resolved")


class NoTeams(HostingError):
    """The repository `name` belongs to a user, and users have no teams."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} does not belong to an organization, so it has no teams")
        self.name = name


class TooManyPins(HostingError):
    """A repository already has the maximum of `most` pinned issues or pull requests."""

    def __init__(self, most: int) -> None:
        super().__init__(f"at most {most} issues and {most} pull requests can be pinned")
        self.most = most


class Outdated(HostingError):
    """The resource was changed in the meantime; read it again first (optimistic locking)."""


class StillBlocked(HostingError):
    """An issue cannot be closed while a blocker is open."""


class UploadIncomplete(HostingError):
    """Some bytes of an upload were not received yet."""

    def __init__(self) -> None:
        super().__init__("the upload is not complete")


class UploadOffsetConflict(HostingError):
    """A chunk does not start at the current end of its file, which is `expected`."""

    def __init__(self, expected: int) -> None:
        super().__init__(f"the next chunk of this file begins at {expected}")
        self.expected = expected


class GitError(HostingError):
    """An operation on a git repository failed."""


class BodyDamaged(GitError):
    """The body of a git client's request cannot be decoded."""


class BodyTooLarge(GitError):
    """The body of a git client's request exceeds the limit."""


class GitFailed(GitError):
    """A git command failed; `stderr` is the end of its output and must not be logged."""

    def __init__(
        self, command: str, problem: str, stderr: str = "", code: int | None = None, stdout: bytes = b""
    ) -> None:
        super().__init__(f"git {command} {problem}")
        self.command = command
        self.code = code
        self.stderr = stderr
        self.stdout = stdout


class GitTimedOut(GitFailed):
    """A git command was stopped at its limit of time or memory."""


class GitMissing(GitError):
    """The git program is not installed, or too old."""


class NoSuchFolder(GitError):
    """There is no repository with this id on disk."""


class GitDamaged(GitError):
    """An object or ref is missing or corrupt; `holdfast admin doctor` says more."""


class GitUnsupported(GitError):
    """The repository has an unsupported format."""


class NoSuchObject(GitError):
    """The repository has no object with this id, or it is of another type."""


class NoSuchRef(GitError):
    """The repository has no such branch or tag."""


class NoSuchBranch(NoSuchRef):
    """The repository has no branch `name`."""

    def __init__(self, repository_id: int, name: str) -> None:
        super().__init__(f"branch does not exist [repo_id: {repository_id} name: {name}]")
        self.name = name


class NoSuchLogEntry(NoSuchRef):
    """The ref log has no entry of this version that can be restored."""

    def __init__(self, version: int) -> None:
        super().__init__(f"no entry of the ref log can be restored [version: {version}]")
        self.version = version


class NoSuchTag(NoSuchRef):
    """The repository has no tag `name`."""

    def __init__(self, name: str) -> None:
        super().__init__(f"tag does not exist [name: {name}]")
        self.name = name


class NotFastForward(GitError):
    """The update is not a fast-forward."""

    def __init__(self) -> None:
        super().__init__("the new commit does not follow the branch; force is needed")


class NoSuchRevision(GitError):
    """`revision` is not a branch, tag or commit id of the repository."""

    def __init__(self, revision: str) -> None:
        super().__init__(f"object does not exist [id: {revision}, rel_path: ]")
        self.revision = revision


class PathRefused(GitError):
    """The path of a file is invalid."""


class RefBusy(GitError):
    """A ref is locked by another process; nothing has changed."""


class RefExists(GitError):
    """A branch or tag with this name already exists."""


class BranchExists(RefExists):
    """A branch `name` already exists."""

    def __init__(self, name: str) -> None:
        super().__init__(f"branch already exists [name: {name}]")
        self.name = name


class TagExists(RefExists):
    """A tag `name` already exists; the message is Gitea's."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


class RefMoved(GitError):
    """A ref is not at the expected commit (compare-and-set failed)."""


class RefRefused(GitError):
    """The name of a branch or tag is invalid."""


class RenameRefused(RefRefused):
    """A branch cannot be renamed to an existing one, including itself."""

    def __init__(self) -> None:
        super().__init__("Cannot rename a branch using the same name or rename to a branch that already exists.")


class Refused(HostingError):
    """The request is invalid; the message says why."""


class Violation(StrEnum):
    """How a field is invalid, by Gitea's names."""

    REQUIRED = "Required"
    TOO_LONG = "MaxSize"
    TOO_SHORT = "MinSize"
    REF_NAME = "GitRefName"
    INVALID_DATE = "must be a date"
    DATE_OUT_OF_RANGE = "must be between 1970 and 9999"


class InvalidField(Refused):
    """A field is invalid: `field` is its name in the API, and `limit` the maximum length."""

    def __init__(self, field: str, violation: Violation, limit: int | None = None) -> None:
        super().__init__(f"[{field}]: {violation}")
        self.field = field
        self.violation = violation
        self.limit = limit


class NotATemplate(Refused):
    """The repository `name` is not a template."""

    def __init__(self, name: str) -> None:
        super().__init__("this is not a template repo")
        self.name = name


class NotAMirror(Refused):
    """The repository `name` is not a mirror."""

    def __init__(self, name: str) -> None:
        super().__init__("Repository is not a mirror")
        self.name = name


class NotAFork(Refused):
    """The repository `name` is not a fork, or its parent was deleted."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} is not a fork")
        self.name = name


class InvalidReference(Refused):
    """A field names something that does not exist; `problem` is a clause that says what."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"[{field}]: {problem}")
        self.field = field
        self.problem = problem


class InvalidValue(Refused):
    """The value of a field is invalid: `field` is its name in the API, and `reason` says why."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"[{field}]: {reason}")
        self.field = field
        self.reason = reason


class UnknownDefaultBranch(InvalidValue):
    """A repository has no branch `name`, which is to be its default branch."""

    def __init__(self, repository_id: int, name: str) -> None:
        super().__init__("DefaultBranch", f"branch does not exist [repo_id: {repository_id} name: {name}]")
        self.name = name


class InvalidYaml(Refused):
    """A YAML file cannot be parsed, or does not have the required structure."""


class TransferPending(Refused):
    """Another transfer of the repository `name` is pending."""

    def __init__(self, name: str) -> None:
        super().__init__(f"a transfer of {name} is in progress already; reject it first")
        self.name = name


class TooManyPasskeys(Refused):
    """The user already has the maximum number of passkeys."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"an account can have {limit} passkeys; remove one first")
        self.limit = limit


class ArchiveTooLarge(Refused):
    """The archive of a commit would exceed a limit; `limit` is a number of `unit`."""

    def __init__(self, limit: int, unit: str) -> None:
        super().__init__(
            f"an archive of this commit would have more than {limit:,} {unit}; clone the repository instead"
        )
        self.limit = limit
        self.unit = unit


class PasskeysUnavailable(Refused):
    """Passkeys cannot be used at the URL of the service, such as an IP address."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)


class TwoFactorDisabled(Refused):
    """The user has not enabled two-factor authentication, or has no pending secret."""

    def __init__(self) -> None:
        super().__init__("two-factor authentication is not enabled")


class UnknownName(Refused):
    """A list names an unknown `kind` ("user" or "team") `name`."""

    def __init__(self, kind: str, name: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.name = name


class VisibilityRefused(Refused):
    """Only the owner of a repository may change its visibility."""

    def __init__(self) -> None:
        super().__init__("only the owner of a repository may change who can see it")


class InvalidWebhookOption(Refused):
    """A webhook option is missing or invalid: `reason` says how; the message is Gitea's."""

    def __init__(self, option: str, reason: str, message: str) -> None:
        super().__init__(message)
        self.option = option
        self.reason = reason


class SlackChannelRequired(InvalidWebhookOption):
    """A webhook for Slack has no channel."""

    def __init__(self) -> None:
        super().__init__("channel", "is required", "Invalid slack channel name")


class InvalidScope(Refused):
    """An access token cannot have this scope; None if no scope was given."""

    def __init__(self, scope: str | None) -> None:
        super().__init__("access token must have a scope" if scope is None else f"unknown scope: {scope}")
        self.scope = scope


class ColorRefused(Refused):
    """Not a colour."""


class EmailRefused(Refused):
    """Not an e-mail address."""


class EventRefused(Refused):
    """Unknown webhook events; the message lists the known ones."""


class LastAdmin(Refused):
    """The service would have no administrator left."""


class LastOwner(Refused):
    """An organization would have no owner left."""


class NameRefused(Refused):
    """A name is invalid or reserved; the message says why."""


class NotWaiting(Refused):
    """A delivery has already ended."""


class NothingToRedeliver(Refused):
    """No delivery matches the filter of a redelivery."""

    def __init__(self) -> None:
        super().__init__("no delivery of that time can be sent again: there is none, or all are pending")


class OwnerIsNoCollaborator(Refused):
    """The owner of a repository cannot be added as a collaborator."""

    def __init__(self) -> None:
        super().__init__("the owner of a repository cannot be its collaborator")


class OwnAccount(Refused):
    """Administrators cannot delete their own account."""

    def __init__(self) -> None:
        super().__init__("administrators cannot delete themselves")


class OwnersStay(Refused):
    """The owners' team of an organization cannot be deleted, renamed or restricted."""


class OwnersTeamRequired(OwnersStay):
    """The team of an organization's owners cannot be deleted."""

    def __init__(self) -> None:
        super().__init__("the team of the owners cannot be deleted")


class PatternRefused(Refused):
    """A glob pattern is invalid; the message says why."""


class PasswordRefused(Refused):
    """A password is too short."""


class RemoteFailed(Refused):
    """A remote repository cannot be reached, read or written; the message says why."""


class ReviewRefused(Refused):
    """A review cannot be submitted, requested or dismissed; the message says why."""


class WebhookInactive(Refused):
    """The webhook is inactive."""


class StillInUse(Refused):
    """It cannot be deleted while something depends on it; the message says what."""


class TagInUse(StillInUse):
    """A tag with a release cannot be deleted; the message is Gitea's."""

    def __init__(self) -> None:
        super().__init__("a tag attached to a release cannot be deleted directly")


class MergedAlready(Refused):
    """A merged pull request cannot be reopened or merged into another branch."""


class UnknownState(Refused):
    """`state` is neither open nor closed."""

    def __init__(self, state: str) -> None:
        super().__init__(f"unknown state: {state}")
        self.state = state


class OrganizationInUse(StillInUse):
    """An organization owns repositories, and cannot be deleted."""


class SshKeyRefused(Refused):
    """The text is not an OpenSSH public key, or the key is weak; the message says which."""


class TeamHasRepository(Refused):
    """The team `name` already has access to the repository."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the team {name} has the repository already")
        self.name = name


class TeamLacksRepository(Refused):
    """The team `name` has no access to the repository."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the team {name} does not have the repository")
        self.name = name


class TooManyAtOnce(Refused):
    """A request exceeds a limit of items or concurrency."""


class ChatStorageFull(Refused):
    """The chat backups of a user would exceed the quota of `limit` bytes; `used` bytes are in use."""

    def __init__(self, limit: int, used: int) -> None:
        super().__init__(f"chat backups of one user may have {limit} bytes in total; yours have {used} already")
        self.limit = limit
        self.used = used


class UploadOverrun(Refused):
    """A chunk exceeds the declared `size` of its file in bytes."""

    def __init__(self, size: int) -> None:
        super().__init__(f"this file was said to have {size} bytes")
        self.size = size


class FileRefused(Refused):
    """A change of a file is invalid; the message says why."""


class NewBranchExists(FileRefused):
    """The branch `name`, to be created by a commit, already exists."""

    def __init__(self, name: str) -> None:
        super().__init__(f"branch already exists [name: {name}]")
        self.name = name


class ConditionFailed(FileRefused):
    """The precondition of a change failed (`If-Match`, `If-None-Match`)."""


class FilePathRefused(FileRefused):
    """A file at `path` cannot be created or changed; `problem` says why."""

    def __init__(self, problem: str, path: str) -> None:
        super().__init__(f"{problem} [path: {path}]")
        self.problem = problem
        self.path = path


class FileExists(FilePathRefused):
    """A file to create already exists at `path`."""

    def __init__(self, path: str) -> None:
        super().__init__("repository file already exists", path)


class FileTooLarge(FileRefused):
    """A file exceeds the size limit."""


class ShaMismatch(FileRefused):
    """The file is not the version the client has seen; the message names it."""


class DeliveryFailed(HostingError):
    """A webhook delivery failed, and may succeed on a retry."""


class DeliveryHopeless(DeliveryFailed):
    """A webhook delivery failed, and a retry cannot succeed."""


class AddressRefused(DeliveryHopeless):
    """The address of a webhook's target is not allowed."""


class UrlRefused(DeliveryHopeless):
    """The URL of a webhook is invalid."""


class PushRefused(HostingError):
    """Branch protection forbids the change; the message is the rule's."""


class DefaultBranchRefused(PushRefused):
    """The change is not allowed for the default branch; the message says why."""


class HashingBusy(HostingError):
    """Too many passwords are being hashed concurrently; retry after `seconds`."""

    def __init__(self, seconds: int = 2) -> None:
        super().__init__("too many passwords are being checked at once; try again in a moment")
        self.seconds = seconds


class ParsingBusy(HostingError):
    """Too many long texts wait to be parsed for references to issues; retryable, nothing was changed."""

    def __init__(self) -> None:
        super().__init__("too many long texts are being parsed at once; try again in a moment")


class TooManyGuesses(HostingError):
    """The rate limit of wrong passwords is exceeded; retry after `seconds`."""

    def __init__(self, seconds: int) -> None:
        super().__init__("too many wrong passwords; try again later")
        self.seconds = seconds


class TooManyCodes(TooManyGuesses):
    """The rate limit of wrong codes of a second factor is exceeded; retry after `seconds`."""

    def __init__(self, seconds: int) -> None:
        super().__init__(seconds)
        self.args = ("too many wrong authentication codes; try again later",)


class TooManyChallenges(TooManyGuesses):
    """The rate limit of challenges for passkeys is exceeded; retry after `seconds`."""

    def __init__(self, seconds: int) -> None:
        super().__init__(seconds)
        self.args = ("too many requests to use a passkey; try again later",)


class AlreadyExists(HostingError):
    """It already exists."""


class AttachmentTaken(AlreadyExists):
    """A release already has a file of that name."""


class ReleaseTaken(AlreadyExists):
    """The tag already has a release."""


class DependencyTaken(AlreadyExists):
    """The dependency already exists."""


class EmailTaken(AlreadyExists):
    """The e-mail address is in use."""


class MergeScheduled(AlreadyExists):
    """The pull request is already scheduled to be merged."""


class NameTaken(AlreadyExists):
    """The name is in use; names are unique ignoring case."""

    def __init__(self, name: str) -> None:
        super().__init__(f"a user named {name} exists already")
        self.name = name


class PullTaken(AlreadyExists):
    """The branches already have an open pull request."""


class LockTaken(AlreadyExists):
    """The path is already locked."""


class ProtectionTaken(AlreadyExists):
    """The repository already has a rule with this name."""


class ForkExists(AlreadyExists):
    """The owner already has a fork of the repository `parent`, named `fork`."""

    def __init__(self, parent: str, fork: str) -> None:
        super().__init__(f"repository is already forked by user [fork: {fork}, parent: {parent}]")
        self.parent = parent
        self.fork = fork


class RepositoryTaken(AlreadyExists):
    """The owner already has a repository with this name."""


class TeamTaken(AlreadyExists):
    """The organization already has a team `name`."""

    def __init__(self, name: str) -> None:
        super().__init__(f"team already exists [name: {name}]")
        self.name = name


class SshKeyTaken(AlreadyExists):
    """The SSH key is already in use by a user or a repository."""

    def __init__(self) -> None:
        super().__init__("the key is in use already; a key belongs to one user or one repository")


class TokenNameTaken(AlreadyExists):
    """The user already has a token with this name."""


class PasskeyTaken(AlreadyExists):
    """The passkey was already added."""

    def __init__(self) -> None:
        super().__init__("this passkey was added already")


class TwoFactorEnabled(AlreadyExists):
    """The user has already enabled two-factor authentication."""

    def __init__(self) -> None:
        super().__init__("two-factor authentication is enabled already")


class DoesNotExist(HostingError):
    """It does not exist."""


class NoSuchAttachment(DoesNotExist):
    """There is no such attached file."""


class NoSuchChatBackup(DoesNotExist):
    """There is no such chat backup, or it is not shared with the actor."""

    def __init__(self) -> None:
        super().__init__("there is no such chat backup")


class NoSuchPasskey(DoesNotExist):
    """The user has no such passkey."""

    def __init__(self) -> None:
        super().__init__("there is no such passkey")


class NoSuchRelease(DoesNotExist):
    """The repository has no such release."""


class GoneMeanwhile(DoesNotExist):
    """It was deleted in the meantime."""


class NoSuchComment(DoesNotExist):
    """The repository has no such comment."""


class NoSuchDelivery(DoesNotExist):
    """The webhook has no such delivery."""


class NoSuchHook(DoesNotExist):
    """The owner has no such webhook."""


class NoSuchDependency(DoesNotExist):
    """The issue has no such dependency."""


class NoSuchIssue(DoesNotExist):
    """The repository has no such issue."""


class NoSuchLabel(DoesNotExist):
    """There is no such label."""


class NoSuchMigration(DoesNotExist):
    """The repository was not migrated from another service."""


class NoSuchNotification(DoesNotExist):
    """The user has no such notification, or may no longer read its subject."""


class NoSuchPushMirror(DoesNotExist):
    """The repository has no such push mirror."""


class NoSuchMilestone(DoesNotExist):
    """The repository has no such milestone."""


class NoSuchLock(DoesNotExist):
    """There is no such lock."""


class NoSuchSshKey(DoesNotExist):
    """The user or the repository has no such SSH key."""

    def __init__(self, number: int) -> None:
        super().__init__(f"public key does not exist [id: {number}]")


class NoSuchOrganization(DoesNotExist):
    """No organization has that name."""

    def __init__(self) -> None:
        super().__init__("not found")


class NoSuchEmail(DoesNotExist):
    """The user has no such secondary e-mail address."""


class NoSuchTransfer(DoesNotExist):
    """The repository has no pending transfer."""


class NoSuchProtection(DoesNotExist):
    """The repository has no such rule."""


class NoSuchRepository(DoesNotExist):
    """There is no such repository."""


class NoSuchReview(DoesNotExist):
    """There is no such review of the pull request."""

    def __init__(self, number: int) -> None:
        super().__init__(f"review does not exist [id: {number}]")
        self.number = number


class NoSuchScheduledMerge(DoesNotExist):
    """A pull request is not scheduled to be merged."""


class NoSuchSession(DoesNotExist):
    """The user has no such session."""


class NoSuchTeam(DoesNotExist):
    """There is no such team."""


class NoSuchToken(DoesNotExist):
    """The user has no such token."""


class NoSuchTemplate(DoesNotExist):
    """There is no license, .gitignore template or label set `name`."""

    def __init__(self, name: str) -> None:
        super().__init__(f"there is no template {name[:100]}")
        self.name = name


class NoSuchTopic(DoesNotExist):
    """The repository has no such topic."""


class NoSuchUser(DoesNotExist):
    """There is no such user."""


class NoSuchAccount(NoSuchUser):
    """There is no user or organization `name` that the actor may see."""

    def __init__(self, name: str) -> None:
        super().__init__(f"user does not exist [uid: 0, name: {name}]")
        self.name = name


class RepositoryEmpty(DoesNotExist):
    """The repository has no commits."""

    def __init__(self) -> None:
        super().__init__("repository is empty")


class LfsError(HostingError):
    """An operation of the LFS object store failed."""


class LfsMismatch(LfsError):
    """An object has another size or hash than announced, and was not stored."""


class LfsUnavailable(LfsError):
    """The LFS object store is not reachable or not writable."""


class NoSuchLfsObject(LfsError):
    """The LFS object store has no such object."""


class SnapshotError(HostingError):
    """A backup of the service cannot be created or restored; the message says why."""


class SnapshotDamaged(SnapshotError):
    """A backup of the service is damaged, truncated, or not a backup."""


class SnapshotRefused(SnapshotError):
    """The target of a backup or restore is invalid."""
