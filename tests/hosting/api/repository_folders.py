"""Helpers for repositories: create one with files, run git in its local copy, and check error responses."""

import subprocess
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import httpx

from holdfast.hosting.app import App
from holdfast.hosting.services import ref_updates, repositories
from holdfast.hosting.services.repositories import NewRepository
from holdfast.hosting.store import accounts, repository_log
from holdfast.hosting.store.ref_updates import RefUpdate
from holdfast.hosting.store.repositories import Repository
from holdfast.settings import Settings
from tests.hosting.api_clients import ServiceClients

__all__ = ["RepositoryFolder", "assert_refused", "folder_of", "git_in", "make_files_repository", "object_at"]


def make_files_repository(
    clients: ServiceClients, files: dict[str, bytes] | None, name: str = "ship", owner: str = "ada"
) -> Repository:
    """Make a repository with a first commit of some files."""
    account = accounts.find_user(clients.database, owner)
    host = App.open(clients.service.settings)
    try:
        return repositories.create(host, account, account, NewRepository(name=name), files)
    finally:
        host.close()


@dataclass(frozen=True)
class RepositoryFolder:
    """The local copy of a repository, which is updated whenever its path is read."""

    settings: Settings
    repository: Repository

    def current(self) -> Path:
        """Return the copy as it is now."""
        with closing(App.open(self.settings)) as app:
            return app.copies.update(self.repository.id).folder

    def set_branch(self, name: str, commit: str) -> None:
        """Point a branch to a commit that was made in the copy."""
        with closing(App.open(self.settings)) as app:
            ref = f"refs/heads/{name}"
            old = repository_log.find_ref(app.database, self.repository.id, ref) or "0" * 40
            ref_updates.update_refs(app, self.repository, self.repository.owner, [RefUpdate(ref, old, commit)])


def folder_of(clients: ServiceClients, repository: Repository) -> RepositoryFolder:
    """Return the folder of a repository."""
    return RepositoryFolder(clients.service.settings, repository)


def git_in(repository_folder: RepositoryFolder, *arguments: str, given: bytes = b"") -> str:
    """Run git in a repository, which must succeed, and return its output."""
    command = ["git", "-C", str(repository_folder.current()), *arguments]
    return subprocess.run(command, input=given, check=True, capture_output=True).stdout.decode()


def object_at(repository_folder: RepositoryFolder, path: str, branch: str = "main") -> str:
    """Return the id of the object at a path of a branch."""
    return git_in(repository_folder, "rev-parse", f"{branch}:{path}").strip()


def assert_refused(response: httpx.Response, status: int, message: str) -> None:
    """Assert that a response is an error with a status and a message."""
    assert (response.status_code, response.json()["message"]) == (status, message)
