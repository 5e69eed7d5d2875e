"""Helpers that commit files and open issues through the services."""

from typing import Any

from holdfast.hosting.app import App
from holdfast.hosting.git.commits import Signature
from holdfast.hosting.services.file_changes import FileChange
from holdfast.hosting.services.file_commits import CommitRequest, commit_files
from holdfast.hosting.services.file_contents import FileContent
from holdfast.hosting.store import accounts, issues
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.issues import Issue, NewIssue
from holdfast.hosting.store.repositories import Repository

__all__ = ["AUTHOR", "COMMIT_TIME", "commit_as", "commit_request", "file_change", "is_closed", "open_issues"]

COMMIT_TIME = 1_700_000_000
AUTHOR = Signature("Ada", "ada@example.org", COMMIT_TIME)


def file_change(path: str, content: bytes = b"", operation: Any = "upload", **more: Any) -> FileChange:
    """Return a change that uploads a file, or that makes another change if the operation says so."""
    return FileChange(operation=operation, path=path, content=FileContent(content), **more)


def commit_request(app: App, repository: Repository, *changes: FileChange, **more: Any) -> CommitRequest:
    """Return a request of the administrator to commit changes."""
    admin = accounts.find_user(app.database, "admin")
    return CommitRequest(
        repository=repository, actor=admin, changes=changes, author=AUTHOR, committer=AUTHOR, **more
    )


def commit_as(app: App, repository: Repository, actor: Account, message: str, **more: Any) -> str:
    """Commit a file with a message as the API does, and return the id of the commit."""
    who = Signature(actor.name, "who@example.org", COMMIT_TIME)
    change = FileChange(operation="upload", path="a.txt", content=FileContent(message.encode()))
    request = CommitRequest(
        repository=repository, actor=actor, changes=[change], author=who, committer=who, message=message, **more
    )
    return commit_files(app, request).commit.id


def open_issues(app: App, repository: Repository, count: int = 1) -> list[Issue]:
    """Open issues as the owner of a repository."""
    new = NewIssue(title="It leaks")
    return [issues.open_issue(app.database, repository, repository.owner, new) for _ in range(count)]


def is_closed(app: App, repository: Repository, number: int = 1) -> bool:
    """Tell whether an issue is closed."""
    return issues.find_issue(app.database, repository, number).is_closed
