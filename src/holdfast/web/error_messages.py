"""User-facing error messages: one sentence for each type of error, with the data of the error."""

import re
from typing import Final

from holdfast.hosting import errors
from holdfast.hosting.error_responses import refusal_for
from holdfast.hosting.errors import HostingError, Permission, Violation
from holdfast.hosting.http.errors import REQUIRED, TOO_LONG, TOO_SHORT, ApiError, FieldError
from holdfast.hosting.schemas.organizations import URL_PATTERN

__all__ = ["message_for", "status_for"]

# The start of a word in a field name such as BranchFilter.
WORD_START: Final = re.compile(r"(?<=[a-z])[A-Z](?=[a-z])")
# Labels of fields on pages that differ from their names in the API.
FIELD_LABELS: Final = {"DueOn": "Due date", "UserName": "Name"}
# Messages of fields that a decoder rejects with these constants.
FIELD_PROBLEMS: Final = {REQUIRED: "is required", TOO_LONG: "is too long", TOO_SHORT: "is too short"}

FORBIDDEN: Final = {
    Permission.READ: "You do not have read access to this part of the repository.",
    Permission.WRITE: "You need write access to this repository.",
    Permission.ADMIN: "You need admin access to this repository.",
    Permission.OWNER: "Only the owner of this repository can do this.",
    Permission.AUTHOR: "Only the author and people with write access can change this.",
    Permission.SITE_ADMIN: "Only site administrators can do this.",
    Permission.ORGANIZATION_MEMBER: "Only members of this organization can do this.",
    Permission.ORGANIZATION_OWNER: "Only owners of this organization can do this.",
    Permission.WRITE_BRANCH: "You need permission to push to this branch.",
    Permission.OWN_PERMISSION: "You can see only your own permission in this repository.",
    Permission.CREATE_REPOSITORIES: "You cannot create repositories in this organization.",
    Permission.ACCEPT_TRANSFER: "Only the new owner can accept or reject this transfer.",
    Permission.NEW_OWNER: "You can transfer a repository only to an owner you can create repositories for.",
    Permission.SELF: "Only the user can do this.",
    Permission.OWN_MEMBERSHIP: "Only members can change who sees their membership.",
    Permission.CREATE_ORGANIZATIONS: "You cannot create organizations; ask a site administrator.",
    Permission.TEAM_MEMBER: "Only members of this team can do this.",
    Permission.TEAM_REPOSITORIES: "Only owners of the organization can choose the repositories of a team.",
    Permission.TOKENS: "Only the user and site administrators can see these tokens.",
}

# The rate-limited attempts, by type of error; any other type is wrong passwords.
TOO_MANY: Final[dict[type[errors.TooManyGuesses], str]] = {
    errors.TooManyChallenges: "requests to use a passkey",
    errors.TooManyCodes: "wrong authentication codes",
}

WEBHOOK_OPTIONS: Final = {
    "type": "Type",
    "url": "URL",
    "content_type": "Content type",
    "channel": "Channel",
    "is_system_webhook": "System webhook",
}


def message_for(error: HostingError | ApiError) -> str:
    """Return the message a page shows for an error."""
    match error:
        case FieldError():
            return field_error_message(error)
        case ApiError():
            return sentence(error.message)
        case errors.InvalidField():
            return invalid_field(error)
        case errors.InvalidReference():
            return sentence(error.problem)
        case errors.ColorRefused():
            return "The color must be 3 or 6 hexadecimal digits."
        case errors.NoSuchBranch() | errors.UnknownDefaultBranch():
            return f"There is no branch named {error.name}."
        case errors.InvalidValue():
            return f"{field_label(error.field)}: {error.reason}."
        case errors.RepositoryTaken():
            return "The owner already has a repository with this name."
        case errors.ForkExists():
            return f"There is already a fork of {error.parent}: {error.fork}."
        case errors.ProtectionTaken():
            return "There is already a rule with this name."
        case errors.FileExists():
            return f"There is already a file named {error.path}."
        case errors.FilePathRefused():
            return sentence(f"{error.problem}: {error.path}")
        case errors.UnknownName():
            return f"There is no {error.kind} named {error.name}."
        case errors.NoSuchAccount():
            return f"There is no user or organization named {error.name}."
        case errors.BranchExists() | errors.NewBranchExists():
            return f"There is already a branch named {error.name}."
        case errors.TagExists():
            return f"There is already a tag named {error.name}."
        case errors.ReleaseTaken():
            return "There is already a release for this tag."
        case errors.AttachmentTaken():
            return "There is already a file with this name."
        case errors.NoSuchRevision():
            return f"There is no branch, tag or commit named {error.revision}."
        case errors.InvalidWebhookOption():
            return f"{WEBHOOK_OPTIONS.get(error.option, error.option)}: {error.reason}."
        case errors.InvalidScope():
            return "Select at least one scope." if error.scope is None else f"There is no scope {error.scope}."
        case errors.TooManyGuesses():
            minutes = -(-error.seconds // 60)
            attempts = TOO_MANY.get(type(error), "wrong passwords")
            return f"Too many {attempts}. Try again in {minutes} minute{'s' if minutes > 1 else ''}."
        case errors.WebhooksDisabled():
            return "Webhooks are disabled on this service."
        case errors.NotWaiting():
            return "Only a pending delivery can be cancelled."
        case errors.WebhookInactive():
            return "The webhook is not active; activate it first."
        case errors.RepositoryEmpty():
            return "The repository has no commits yet."
        case errors.NameTaken():
            return f"The name {error.name} is already taken."
        case errors.TeamTaken():
            return f"There is already a team named {error.name}."
        case errors.EmailTaken():
            return "That e-mail address is already in use."
        case errors.AccountClosed():
            return "This account may not sign in at the moment. Ask a site administrator."
        case errors.SignUpDisabled():
            return "Sign-up is disabled on this service."
        case errors.LoginRequired():
            return "You must be signed in to do this."
        case errors.Forbidden():
            return FORBIDDEN[error.permission]
        case errors.RepositoryReadOnly():
            return "The files of an archived repository or a mirror cannot be changed."
        case errors.RepositoryArchived():
            return "This repository is archived and cannot be changed."
        case errors.IssueLocked():
            return "This issue is locked: only people with write access can comment."
        case errors.CrossRepositoryDependency():
            return "Dependencies on issues of other repositories are disabled on this server."
        case errors.DependencyCycle():
            cycle = " → ".join(error.names)
            return f"That would be a circular dependency, and none of these could ever be closed: {cycle}."
        case errors.DependencyTaken():
            return "This dependency already exists."
        case errors.ChatStorageFull():
            limit, used = (f"{size / 2**20:,.0f} MB" for size in (error.limit, error.used))
            return f"Your chat backups may have {limit} in total, and have {used} already. Delete some first."
        case errors.StillBlocked():
            return "This issue cannot be closed while issues that block it are open."
        case _:
            # Every other type has a message for users, except for details that belong in the log only.
            return sentence((refusal_for(error) or ApiError(500, "internal error")).message)


def status_for(error: HostingError | ApiError) -> int:
    """Return the HTTP status of the page that shows an error; re-raise the error if it is a bug."""
    if isinstance(error, ApiError):
        return error.status
    api_error = refusal_for(error)
    if api_error is None:
        raise error
    return api_error.status


def field_label(field: str) -> str:
    """Return the label of a field, or else its API name as words: `BranchFilter` is "Branch filter"."""
    return FIELD_LABELS.get(field) or WORD_START.sub(lambda match: f" {match[0].lower()}", field)


def invalid_field(error: errors.InvalidField) -> str:
    """Return the message of an invalid field: its label, and the rule that it breaks."""
    label, limit = field_label(error.field), error.limit
    match error.violation:
        case Violation.REQUIRED:
            return f"{label} is required."
        case Violation.TOO_LONG:
            return f"{label} is too long{'' if limit is None else f' (maximum is {limit})'}."
        case Violation.TOO_SHORT:
            return f"{label} is too short{'' if limit is None else f' (minimum is {limit})'}."
        case Violation.REF_NAME:
            return f"{label} is not a valid branch or tag name."
        case Violation.INVALID_DATE | Violation.DATE_OUT_OF_RANGE:
            return f"{label} {error.violation}."


def field_error_message(error: FieldError) -> str:
    """Return the message of a field that a decoder rejected: its label and the reason."""
    if not error.field:
        return sentence(error.reason)
    label = field_label(error.field)
    if error.reason in FIELD_PROBLEMS:
        return f"{label} {FIELD_PROBLEMS[error.reason]}."
    if error.pattern == URL_PATTERN:
        return f"{label} must begin with https:// or http://."
    return f"{label} has an invalid format." if error.pattern else f"{label}: {error.reason}."


def sentence(text: str) -> str:
    """Return a message of the API as a sentence."""
    text = text.strip() or "the request was refused"
    return f"{text[:1].upper()}{text[1:]}{'' if text[-1] in '.!?' else '.'}"
