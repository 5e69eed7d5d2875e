"""What can go wrong in the repository host.

HostingError
├── DatabaseError            the database cannot be used
│   ├── DatabaseTooNew       it was written by a newer Holdfast
│   └── DatabaseUnavailable  it does not answer, is locked or has no connection to spare; it may later
├── StorageError             the disk cannot be used
│   ├── StorageFull          it has no space left
│   ├── StorageReadOnly      it cannot be written to
│   └── StorageUnavailable   it cannot be read, or the data folder is not there
├── AccessDenied             the actor may not do this
│   ├── LoginRequired        nobody is logged in
│   ├── Forbidden            the actor lacks a permission
│   ├── IssueLocked          only people with write access may comment on a locked issue
│   ├── RepositoryReadOnly   files of an archived repository or a mirror cannot be changed
│   ├── RepositoryArchived   an archived repository cannot be changed
│   ├── PasswordRequired     no password came with the request
│   ├── SessionRequired      a token is not enough
│   ├── WebhooksDisabled     the settings switch webhooks off
│   └── WrongPassword        that is not the user's password
├── NoData                   there is no data to look after
├── WrongDataFolder          the data folder and the database do not belong together
├── SealError                a secret at rest cannot be sealed or opened
│   ├── KeyMissing           there is no key
│   ├── KeyUnusable          the key cannot be made, read or used
│   └── SealBroken           it was sealed with another key
├── CrossRepositoryDependency an issue cannot depend on one of another repository here
├── DependencyCycle          issues would wait for each other in a circle
├── Outdated                 what was to be changed has changed meanwhile
├── StillBlocked             an issue cannot be closed while it waits for others
├── GitError                 git cannot do what it was asked to
│   ├── BodyDamaged          the body of a git client's request cannot be read
│   ├── BodyTooLarge         it is larger than is allowed
│   ├── GitFailed            a git command failed
│   │   └── GitTimedOut      it took too long and was ended
│   ├── GitMissing           the git program is not there, or too old
│   ├── NoSuchFolder         no repository of that id is on disk
│   ├── FolderExists         a repository of that id is on disk already
│   ├── GitDamaged           an object or a ref cannot be read
│   ├── GitUnsupported       a repository is of a kind that cannot be read here
│   ├── NoSuchObject         a repository has no object of that id, or it is of another kind
│   ├── NotFastForward       a branch would lose commits
│   ├── NoSuchRef            a repository has no branch or tag of that name
│   │   ├── NoSuchBranch     a repository has no branch of that name
│   │   └── NoSuchTag        a repository has no tag of that name
│   ├── NoSuchRevision       no branch, tag or id of a repository names a commit
│   ├── PathRefused          a file cannot lie at that path
│   ├── RefBusy              something else holds a ref, and does not let go of it
│   ├── RefExists            there is a branch or tag of that name already
│   │   ├── BranchExists     there is a branch of that name already
│   │   └── TagExists        there is a tag of that name already
│   ├── RefMoved             a ref is not where the caller last saw it
│   └── RefRefused           a branch or tag cannot have that name
│       └── RenameRefused    a branch cannot be renamed to one that exists
├── Refused                  what was asked for breaks a rule; the message says which
│   ├── InvalidField         a field is missing, too long, too short or out of range
│   ├── InvalidReference     a field names something that does not exist
│   ├── InvalidValue         the value of a field breaks a rule of its own
│   ├── UnknownName          a list names a user or a team that does not exist
│   ├── VisibilityRefused    only the owner of a repository may make it public or private
│   ├── InvalidWebhookOption an option of a webhook's type is missing or invalid
│   │   └── SlackChannelRequired  a webhook for Slack has no channel
│   ├── ColorRefused         that is no colour
│   ├── EmailRefused         that is no e-mail address
│   ├── EventRefused         no hook can be told of that
│   ├── InvalidScope         an access token cannot have that scope
│   ├── LastAdmin            nobody would be left to look after the service
│   ├── LastOwner            nobody would be left to look after an organization
│   ├── NameRefused          a name breaks a rule
│   ├── NotWaiting           a delivery has ended already
│   ├── OwnerIsNoCollaborator  the owner of a repository needs no access to it
│   ├── OwnAccount           administrators cannot delete their own account
│   ├── OwnersStay           the team of an organization's owners stays as it is
│   │   └── OwnersTeamRequired  it cannot be deleted
│   ├── PatternRefused       a pattern cannot be understood
│   ├── PasswordRefused      a password is too short to protect anything
│   ├── TooManyAtOnce        one request asks for too much
│   ├── WebhookInactive      nothing is sent to an inactive webhook
│   ├── StillInUse           what was to be removed holds something, or belongs somewhere
│   │   └── OrganizationInUse  an organization owns repositories
│   ├── UnknownState         an issue is either open or closed
│   └── FileRefused          a file cannot be changed as was asked
│       ├── ConditionFailed  it is not as the caller asked it to be
│       ├── FileExists       there is a file already
│       ├── FileTooLarge     it has more bytes than is allowed
│       └── ShaMismatch      it is not the one the caller last saw
├── DeliveryFailed           a receiver of webhooks could not be told, and may be told later
│   └── DeliveryHopeless     it can never be told so
│       ├── AddressRefused   its address is not one that may be called
│       └── UrlRefused       nothing can be sent to such an address
├── PushRefused              the rules of a branch forbid the change
│   └── DefaultBranchRefused the default branch cannot be changed so
├── TooManyGuesses           too many wrong passwords were given
├── HashingBusy              too many passwords are being checked at once
├── Taken                    what was to be made exists already
│   ├── DependencyTaken      the issue waits for that one already
│   ├── EmailTaken           somebody has that e-mail address
│   ├── NameTaken            somebody has that name
│   ├── PullTaken            an open pull request is for the same branches
│   ├── LockTaken            somebody has locked that path
│   ├── ProtectionTaken      the repository has a rule of that name
│   ├── RepositoryTaken      the owner has a repository of that name
│   ├── TeamTaken            the organization has a team of that name
│   └── TokenNameTaken       the user has a token of that name
├── Missing                  what was asked for does not exist
│   ├── GoneMeanwhile        it was there a moment ago
│   ├── NoSuchComment        the repository has no such comment
│   ├── NoSuchDelivery       the hook has no such delivery
│   ├── NoSuchHook           there is no such hook here
│   ├── NoSuchDependency     the issue does not wait for that one
│   ├── NoSuchIssue          the repository has no issue of that number
│   ├── NoSuchLabel          there is no such label
│   ├── NoSuchMilestone      the repository has no such milestone
│   ├── NoSuchLock           nobody has locked that
│   ├── NoSuchOrganization   no organization has that name
│   ├── NoSuchProtection     the repository has no rule of that name
│   ├── NoSuchRepository     no repository has that name
│   ├── NoSuchSession        the user has no such session
│   ├── NoSuchTeam           no team has that number
│   ├── NoSuchToken          the user has no such token
│   ├── NoSuchTopic          the repository does not have that topic
│   ├── NoSuchUser           no user has that name
│   │   └── NoSuchAccount    no user or organization has that name
│   └── RepositoryEmpty      a repository has no commits
├── LfsError                 the store of large files cannot do what it was asked to
│   ├── LfsMismatch          an object is not what it was announced to be
│   ├── LfsUnavailable       the store cannot be reached or written to
│   └── NoSuchLfsObject      no object of that name is in the store
└── SnapshotError            a backup of the service cannot be made or restored
    ├── SnapshotDamaged      it is damaged, cut off, or none
    └── SnapshotRefused      it cannot be written there, or not restored there
"""

from enum import StrEnum

from holdfast.errors import HoldfastError

__all__ = [
    "AccessDenied",
    "AddressRefused",
    "BodyDamaged",
    "BodyTooLarge",
    "BranchExists",
    "ColorRefused",
    "ConditionFailed",
    "CrossRepositoryDependency",
    "DatabaseError",
    "DatabaseTooNew",
    "DatabaseUnavailable",
    "DefaultBranchRefused",
    "DeliveryFailed",
    "DeliveryHopeless",
    "DependencyCycle",
    "DependencyTaken",
    "EmailRefused",
    "EmailTaken",
    "EventRefused",
    "FileExists",
    "FileRefused",
    "FileTooLarge",
    "FolderExists",
    "Forbidden",
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
    "Missing",
    "NameRefused",
    "NameTaken",
    "NoData",
    "NoSuchAccount",
    "NoSuchBranch",
    "NoSuchComment",
    "NoSuchDelivery",
    "NoSuchDependency",
    "NoSuchFolder",
    "NoSuchHook",
    "NoSuchIssue",
    "NoSuchLabel",
    "NoSuchLfsObject",
    "NoSuchLock",
    "NoSuchMilestone",
    "NoSuchObject",
    "NoSuchOrganization",
    "NoSuchProtection",
    "NoSuchRef",
    "NoSuchRepository",
    "NoSuchRevision",
    "NoSuchSession",
    "NoSuchTag",
    "NoSuchTeam",
    "NoSuchToken",
    "NoSuchTopic",
    "NoSuchUser",
    "NotFastForward",
    "NotWaiting",
    "OrganizationInUse",
    "Outdated",
    "OwnAccount",
    "OwnerIsNoCollaborator",
    "OwnersStay",
    "OwnersTeamRequired",
    "PasswordRefused",
    "PasswordRequired",
    "PathRefused",
    "PatternRefused",
    "Permission",
    "ProtectionTaken",
    "PullTaken",
    "PushRefused",
    "RefBusy",
    "RefExists",
    "RefMoved",
    "RefRefused",
    "Refused",
    "RenameRefused",
    "RepositoryArchived",
    "RepositoryEmpty",
    "RepositoryReadOnly",
    "RepositoryTaken",
    "SealBroken",
    "SealError",
    "SessionRequired",
    "ShaMismatch",
    "SlackChannelRequired",
    "SnapshotDamaged",
    "SnapshotError",
    "SnapshotRefused",
    "StillBlocked",
    "StillInUse",
    "StorageError",
    "StorageFull",
    "StorageReadOnly",
    "StorageUnavailable",
    "TagExists",
    "Taken",
    "TeamTaken",
    "TokenNameTaken",
    "TooManyAtOnce",
    "TooManyGuesses",
    "UnknownName",
    "UnknownState",
    "UrlRefused",
    "Violation",
    "VisibilityRefused",
    "WebhookInactive",
    "WebhooksDisabled",
    "WrongDataFolder",
    "WrongPassword",
]


class HostingError(HoldfastError):
    """The host cannot do what it was asked to."""


class DatabaseError(HostingError):
    """The database cannot be used."""


class DatabaseTooNew(DatabaseError):
    """The database was written by a newer Holdfast than this one."""


class DatabaseUnavailable(DatabaseError):
    """The database does not answer, is locked, or has no connection to spare; the same may work later."""


class StorageError(HostingError):
    """The disk the data folder is on cannot be used."""


class StorageFull(StorageError):
    """There is no space left on the disk, or the quota is used up."""


class StorageReadOnly(StorageError):
    """The disk or the database is read-only, or the service has no permission to write to it."""


class StorageUnavailable(StorageError):
    """The disk cannot be read, or the data folder is not there."""


class Permission(StrEnum):
    """A permission that an actor can lack."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"
    OWNER = "owner"
    AUTHOR = "author"
    """For what its author, and people with write access, may change."""
    SITE_ADMIN = "site admin"
    ORGANIZATION_MEMBER = "organization member"
    ORGANIZATION_OWNER = "organization owner"
    WRITE_BRANCH = "write branch"
    """For committing files to a branch."""
    OWN_PERMISSION = "own permission"
    """For reading the permissions of others in a repository."""
    CREATE_REPOSITORIES = "create repositories"
    """For making repositories in an organization."""
    NEW_OWNER = "new owner"
    """For giving a repository to an owner one may create repositories for."""
    SELF = "self"
    """For what users change of their own account only."""
    OWN_MEMBERSHIP = "own membership"
    CREATE_ORGANIZATIONS = "create organizations"
    TEAM_MEMBER = "team member"
    TEAM_REPOSITORIES = "team repositories"
    """For deciding which teams have a repository."""
    TOKENS = "tokens"
    """For the access tokens of a user."""


class AccessDenied(HostingError):
    """The actor may not do this."""


class LoginRequired(AccessDenied):
    """This needs somebody who is logged in."""

    def __init__(self) -> None:
        super().__init__("token is required")


class Forbidden(AccessDenied):
    """The actor lacks `permission`."""

    def __init__(self, permission: Permission) -> None:
        super().__init__(f"this needs the permission: {permission}")
        self.permission = permission


class IssueLocked(AccessDenied):
    """Only people with write access may comment on a locked issue."""

    def __init__(self) -> None:
        super().__init__("this issue is locked: only people with write access may comment")


class RepositoryArchived(AccessDenied):
    """An archived repository cannot be changed."""

    def __init__(self) -> None:
        super().__init__("repo is archived")


class RepositoryReadOnly(AccessDenied):
    """Files of an archived repository or of a mirror cannot be changed."""

    def __init__(self) -> None:
        super().__init__("repo is not allowed to edit")


class PasswordRequired(AccessDenied):
    """No password came with the request."""

    def __init__(self) -> None:
        super().__init__("auth required")


class SessionRequired(AccessDenied):
    """This needs somebody who is signed in on the website; a token is not enough."""

    def __init__(self) -> None:
        super().__init__("log in on the website for this; a token is not enough")


class WrongPassword(AccessDenied):
    """That is not the password of the user who acts."""

    def __init__(self) -> None:
        super().__init__("that is not your password")


class WebhooksDisabled(AccessDenied):
    """The settings of the service switch webhooks off."""

    def __init__(self) -> None:
        super().__init__("webhooks disabled by administrator")


class NoData(HostingError):
    """There is no data to look after in the folder or the database; the message names them."""


class WrongDataFolder(HostingError):
    """The data folder and the database do not belong together; the message says what to do."""


class SealError(HostingError):
    """A secret at rest cannot be sealed or opened; the message says why, and never what it is."""


class KeyMissing(SealError):
    """There is no key for the secrets in the database."""


class KeyUnusable(SealError):
    """The key for the secrets in the database cannot be made, read or used."""


class SealBroken(SealError):
    """A secret was sealed with another key, or is damaged."""


class CrossRepositoryDependency(HostingError):
    """Dependencies on issues of other repositories are disabled in the settings."""

    def __init__(self) -> None:
        super().__init__("CrossRepositoryDependencies not enabled")


class DependencyCycle(HostingError):
    """Issues would wait for each other in a circle; `path` are their ids, the first again at the end.

    `names` are the issues as the actor may see them, once that is known.
    """

    def __init__(self, path: tuple[int, ...], names: tuple[str, ...] = ()) -> None:
        super().__init__(f"circular dependency: {' -> '.join(names or map(str, path))}")
        self.path = path
        self.names = names


class Outdated(HostingError):
    """What was to be changed has changed meanwhile; read it again first."""


class StillBlocked(HostingError):
    """An issue cannot be closed while one it depends on is open."""


class GitError(HostingError):
    """A repository on disk cannot be used the way it was asked."""


class BodyDamaged(GitError):
    """The body of a git client's request cannot be read."""


class BodyTooLarge(GitError):
    """The body of a git client's request is larger than is allowed."""


class GitFailed(GitError):
    """A git command failed; `stderr` keeps the end of what it complained of, and belongs in no log."""

    def __init__(self, command: str, problem: str, stderr: str = "", code: int | None = None) -> None:
        super().__init__(f"git {command} {problem}")
        self.command = command
        self.code = code
        self.stderr = stderr


class GitTimedOut(GitFailed):
    """A git command took too long and was ended."""


class GitMissing(GitError):
    """The git program is not there, or too old."""


class NoSuchFolder(GitError):
    """No repository of that id is on disk."""


class FolderExists(GitError):
    """A repository of that id is on disk already."""


class GitDamaged(GitError):
    """An object or a ref of a repository is missing or cannot be read; `holdfast admin doctor` says more."""


class GitUnsupported(GitError):
    """A repository is of a kind that cannot be read here."""


class NoSuchObject(GitError):
    """A repository has no object of that id, or it is of another kind."""


class NoSuchRef(GitError):
    """A repository has no branch or tag of that name."""


class NoSuchBranch(NoSuchRef):
    """The repository has no branch called `name`."""

    def __init__(self, repository_id: int, name: str) -> None:
        super().__init__(f"branch does not exist [repo_id: {repository_id} name: {name}]")
        self.name = name


class NoSuchTag(NoSuchRef):
    """The repository has no tag called `name`."""

    def __init__(self, name: str) -> None:
        super().__init__(f"tag does not exist [name: {name}]")
        self.name = name


class NotFastForward(GitError):
    """A branch would lose commits if it moved there without force."""

    def __init__(self) -> None:
        super().__init__("the new commit does not follow the branch; force is needed")


class NoSuchRevision(GitError):
    """No branch, tag or id of the repository names the commit `revision`."""

    def __init__(self, revision: str) -> None:
        super().__init__(f"object does not exist [id: {revision}, rel_path: ]")
        self.revision = revision


class PathRefused(GitError):
    """A file cannot lie at that path; the message says which."""


class RefBusy(GitError):
    """Something else holds a ref, and does not let go of it; nothing has changed."""


class RefExists(GitError):
    """There is a branch or tag of that name already."""


class BranchExists(RefExists):
    """There is a branch called `name` already."""

    def __init__(self, name: str) -> None:
        super().__init__(f"branch already exists [name: {name}]")
        self.name = name


class TagExists(RefExists):
    """There is a tag called `name` already; the message is Gitea's."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


class RefMoved(GitError):
    """A ref is not where the caller last saw it; read it again, and decide again."""


class RefRefused(GitError):
    """A branch or tag cannot have that name; the message says why."""


class RenameRefused(RefRefused):
    """A branch cannot be renamed to one that exists, itself included."""

    def __init__(self) -> None:
        super().__init__("Cannot rename a branch using the same name or rename to a branch that already exists.")


class Refused(HostingError):
    """What was asked for breaks a rule; the message says which."""


class Violation(StrEnum):
    """How the value of a field breaks its rule, by the names clients of Gitea know."""

    REQUIRED = "Required"
    TOO_LONG = "MaxSize"
    TOO_SHORT = "MinSize"
    REF_NAME = "GitRefName"
    INVALID_DATE = "must be a date"
    DATE_OUT_OF_RANGE = "must be between 1970 and 9999"


class InvalidField(Refused):
    """A field breaks its rule: `field` is its name in the API, and `limit` the length it may have."""

    def __init__(self, field: str, violation: Violation, limit: int | None = None) -> None:
        super().__init__(f"[{field}]: {violation}")
        self.field = field
        self.violation = violation
        self.limit = limit


class InvalidReference(Refused):
    """A field names something that does not exist; `problem` says what, as a clause."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"[{field}]: {problem}")
        self.field = field
        self.problem = problem


class InvalidValue(Refused):
    """The value of a field breaks a rule of its own: `field` is its name in the API, and `reason` says how."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"[{field}]: {reason}")
        self.field = field
        self.reason = reason


class UnknownName(Refused):
    """A list names something that does not exist: `kind` is "user" or "team", and `name` what it was called."""

    def __init__(self, kind: str, name: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.name = name


class VisibilityRefused(Refused):
    """Only the owner of a repository may make it public or private."""

    def __init__(self) -> None:
        super().__init__("only the owner of a repository may change who can see it")


class InvalidWebhookOption(Refused):
    """An option of a webhook's type is missing or invalid: `reason` says how, and the message is Gitea's."""

    def __init__(self, option: str, reason: str, message: str) -> None:
        super().__init__(message)
        self.option = option
        self.reason = reason


class SlackChannelRequired(InvalidWebhookOption):
    """A webhook for Slack has no channel."""

    def __init__(self) -> None:
        super().__init__("channel", "is required", "Invalid slack channel name")


class InvalidScope(Refused):
    """An access token cannot have that scope; None stands for no scope at all."""

    def __init__(self, scope: str | None) -> None:
        super().__init__("access token must have a scope" if scope is None else f"unknown scope: {scope}")
        self.scope = scope


class ColorRefused(Refused):
    """That is no colour."""


class EmailRefused(Refused):
    """That is no e-mail address."""


class EventRefused(Refused):
    """No hook can be told of that; the message names what hooks can be told of."""


class LastAdmin(Refused):
    """Nobody would be left to look after the service."""


class LastOwner(Refused):
    """Nobody would be left to look after an organization."""


class NameRefused(Refused):
    """A name breaks a rule; the message says which."""


class NotWaiting(Refused):
    """A delivery has ended already."""


class OwnerIsNoCollaborator(Refused):
    """The owner of a repository cannot be added as its collaborator."""

    def __init__(self) -> None:
        super().__init__("the owner of a repository cannot be its collaborator")


class OwnAccount(Refused):
    """Administrators cannot delete their own account."""

    def __init__(self) -> None:
        super().__init__("administrators cannot delete themselves")


class OwnersStay(Refused):
    """The team of an organization's owners cannot be removed, renamed or given less."""


class OwnersTeamRequired(OwnersStay):
    """The team of an organization's owners cannot be deleted."""

    def __init__(self) -> None:
        super().__init__("the team of the owners cannot be deleted")


class PatternRefused(Refused):
    """A pattern cannot be understood; the message says why."""


class PasswordRefused(Refused):
    """A password is too short to protect anything."""


class WebhookInactive(Refused):
    """Nothing is sent to an inactive webhook."""


class StillInUse(Refused):
    """What was to be removed holds something, or belongs somewhere; the message says what."""


class UnknownState(Refused):
    """An issue is either open or closed; `state` is what it was to be."""

    def __init__(self, state: str) -> None:
        super().__init__(f"unknown state: {state}")
        self.state = state


class OrganizationInUse(StillInUse):
    """An organization owns repositories, and cannot be deleted."""


class TooManyAtOnce(Refused):
    """One request asks for more than is done at once."""


class FileRefused(Refused):
    """A file cannot be changed as was asked; the message says why."""


class ConditionFailed(FileRefused):
    """A file is not as the caller asked it to be; the message says how it is."""


class FileExists(FileRefused):
    """There is a file where a new one should be."""


class FileTooLarge(FileRefused):
    """A file has more bytes than is allowed."""


class ShaMismatch(FileRefused):
    """A file is not the one the caller last saw; the message says which it is."""


class DeliveryFailed(HostingError):
    """A receiver of webhooks could not be told what happened; it may be told later."""


class DeliveryHopeless(DeliveryFailed):
    """A receiver of webhooks can never be told in this way, however often it is tried."""


class AddressRefused(DeliveryHopeless):
    """The address of a receiver is not one that webhooks may be sent to."""


class UrlRefused(DeliveryHopeless):
    """A webhook's address is none that anything can be sent to."""


class PushRefused(HostingError):
    """The rules of a branch forbid the change; the message is the rule's."""


class DefaultBranchRefused(PushRefused):
    """The default branch of a repository cannot be changed so; the message says why."""


class HashingBusy(HostingError):
    """Too many passwords are being checked at once; after `seconds` somebody may try again."""

    def __init__(self, seconds: int = 2) -> None:
        super().__init__("too many passwords are being checked at once; try again in a moment")
        self.seconds = seconds


class TooManyGuesses(HostingError):
    """Too many wrong passwords were given; after `seconds` somebody may try again."""

    def __init__(self, seconds: int) -> None:
        super().__init__("too many wrong passwords; try again later")
        self.seconds = seconds


class Taken(HostingError):
    """What was to be made exists already."""


class DependencyTaken(Taken):
    """The issue depends on that one already."""


class EmailTaken(Taken):
    """Somebody has that e-mail address."""


class NameTaken(Taken):
    """A user or an organization has that name; names that differ only by case count as the same."""

    def __init__(self, name: str) -> None:
        super().__init__(f"a user named {name} exists already")
        self.name = name


class PullTaken(Taken):
    """An open pull request is for the same branches."""


class LockTaken(Taken):
    """Somebody has locked that path."""


class ProtectionTaken(Taken):
    """The repository has a rule of that name."""


class RepositoryTaken(Taken):
    """The owner has a repository of that name."""


class TeamTaken(Taken):
    """The organization has a team called `name`."""

    def __init__(self, name: str) -> None:
        super().__init__(f"team already exists [name: {name}]")
        self.name = name


class TokenNameTaken(Taken):
    """The user has a token of that name."""


class Missing(HostingError):
    """What was asked for does not exist."""


class GoneMeanwhile(Missing):
    """It was there a moment ago."""


class NoSuchComment(Missing):
    """The repository has no such comment."""


class NoSuchDelivery(Missing):
    """The hook has no such delivery."""


class NoSuchHook(Missing):
    """There is no such hook here."""


class NoSuchDependency(Missing):
    """The issue does not depend on that one."""


class NoSuchIssue(Missing):
    """The repository has no issue of that number."""


class NoSuchLabel(Missing):
    """There is no such label."""


class NoSuchMilestone(Missing):
    """The repository has no such milestone."""


class NoSuchLock(Missing):
    """Nobody has locked that."""


class NoSuchOrganization(Missing):
    """No organization has that name."""

    def __init__(self) -> None:
        super().__init__("not found")


class NoSuchProtection(Missing):
    """The repository has no rule of that name."""


class NoSuchRepository(Missing):
    """No repository has that name."""


class NoSuchSession(Missing):
    """The user has no such session."""


class NoSuchTeam(Missing):
    """No team has that number."""


class NoSuchToken(Missing):
    """The user has no such token."""


class NoSuchTopic(Missing):
    """The repository does not have that topic."""


class NoSuchUser(Missing):
    """No user has that name."""


class NoSuchAccount(NoSuchUser):
    """No user or organization is called `name`, as far as the actor may know."""

    def __init__(self, name: str) -> None:
        super().__init__(f"user does not exist [uid: 0, name: {name}]")
        self.name = name


class RepositoryEmpty(Missing):
    """A repository has no commits."""

    def __init__(self) -> None:
        super().__init__("repository is empty")


class LfsError(HostingError):
    """The store of large files cannot do what it was asked to."""


class LfsMismatch(LfsError):
    """An object is not what it was announced to be, and was not kept."""


class LfsUnavailable(LfsError):
    """The store of large files cannot be reached or written to."""


class NoSuchLfsObject(LfsError):
    """No object of that name is in the store."""


class SnapshotError(HostingError):
    """A backup of the service cannot be made or restored; the message says why."""


class SnapshotDamaged(SnapshotError):
    """A backup of the service is damaged, cut off, or something else altogether."""


class SnapshotRefused(SnapshotError):
    """A backup of the service cannot be written there, or not restored there."""
