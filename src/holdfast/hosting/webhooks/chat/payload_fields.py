"""The payload fields that messages use; all are optional.

A payload may have been rendered by an older version, or after what it is about was deleted.
"""

import msgspec
from msgspec import field

__all__ = [
    "CommentFields",
    "CommitFields",
    "IssueFields",
    "PayloadFields",
    "RepositoryFields",
    "UserFields",
    "read",
]


class UserFields(msgspec.Struct, frozen=True):
    """A user."""

    login: str = ""
    name: str = ""
    username: str = ""
    html_url: str = ""
    avatar_url: str = ""


class RepositoryFields(msgspec.Struct, frozen=True):
    """A repository."""

    full_name: str = ""
    html_url: str = ""
    clone_url: str = ""


class NamedFields(msgspec.Struct, frozen=True):
    """A label or a milestone."""

    name: str = ""
    title: str = ""


class IssueFields(msgspec.Struct, frozen=True):
    """An issue or a pull request."""

    number: int = 0
    title: str = ""
    body: str = ""
    html_url: str = ""
    milestone: NamedFields | None = None
    assignees: list[UserFields] | None = None
    repository: RepositoryFields | None = None


class CommentFields(msgspec.Struct, frozen=True):
    """A comment."""

    body: str = ""
    html_url: str = ""


class CommitFields(msgspec.Struct, frozen=True):
    """A commit."""

    id: str = ""
    message: str = ""
    url: str = ""
    author: UserFields = UserFields()


class ReleaseFieldsShown(msgspec.Struct, frozen=True):
    """A release."""

    tag_name: str = ""
    name: str = ""
    body: str = ""
    html_url: str = ""


class PreviousValue(msgspec.Struct, frozen=True):
    """The former value of a field."""

    from_: str | bool | list[str] = field(name="from", default="")


class ChangedFields(msgspec.Struct, frozen=True):
    """The former values of changed fields."""

    name: PreviousValue | None = None
    owner: PreviousValue | None = None
    title: PreviousValue | None = None
    added_labels: list[NamedFields] = field(default_factory=list)
    removed_labels: list[NamedFields] = field(default_factory=list)


class PayloadFields(msgspec.Struct, frozen=True):
    """A payload of any kind."""

    action: str = ""
    number: int = 0
    ref: str = ""
    ref_type: str = ""
    compare_url: str = ""
    total_commits: int = 0
    commits: list[CommitFields] = field(default_factory=list)
    repository: RepositoryFields | None = None
    forkee: RepositoryFields | None = None
    sender: UserFields | None = None
    issue: IssueFields | None = None
    pull_request: IssueFields | None = None
    blocker: IssueFields | None = None
    comment: CommentFields | None = None
    is_pull: bool = False
    sha: str = ""
    state: str = ""
    context: str = ""
    description: str = ""
    target_url: str = ""
    commit: CommitFields | None = None
    release: ReleaseFieldsShown | None = None
    changes: ChangedFields | None = None


def read(payload: str) -> PayloadFields:
    """Decode a payload."""
    return msgspec.json.decode(payload, type=PayloadFields)
