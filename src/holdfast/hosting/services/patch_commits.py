"""Commits of patches: the result of `git apply` on a branch, committed as file changes."""

import msgspec

from holdfast.hosting import access
from holdfast.hosting.access import Actor, RepositoryAccess, Unit
from holdfast.hosting.app import App
from holdfast.hosting.errors import FileRefused, NoSuchBranch
from holdfast.hosting.git.commits import read_commit
from holdfast.hosting.git.patch_application import PatchedFile, apply_patch
from holdfast.hosting.services import file_commits, maintainer_edits
from holdfast.hosting.services.file_changes import FileChange
from holdfast.hosting.services.file_commits import CommitResult, FileCommit
from holdfast.hosting.services.file_contents import FileContent
from holdfast.hosting.services.ref_updates import BRANCHES
from holdfast.hosting.services.revisions import open_latest
from holdfast.hosting.store import repository_log

__all__ = ["commit_patch"]


def commit_patch(
    app: App, actor: Actor, target: RepositoryAccess, patch: str, file_commit: FileCommit
) -> CommitResult:
    """Apply a patch to a branch for an actor, and commit the changed files with `file_commits.commit`.

    The blob ids the patch was applied to are preconditions: a concurrent change of one of the files is refused.
    """
    access.require_read(target, Unit.CODE)
    access.require_editable(target)
    access.require_login(actor)
    maintainer_edits.require_branch_write(
        app, actor, target, file_commit.new_branch or file_commit.branch or target.repository.default_branch
    )
    repo = open_latest(app, target)
    branch = file_commit.branch or target.repository.default_branch
    head = repository_log.find_ref(app.database, target.repository.id, BRANCHES + branch)
    if head is None and repository_log.has_refs(app.database, target.repository.id):
        raise NoSuchBranch(target.repository.id, branch)
    tree = None if head is None else read_commit(repo, head).tree
    content = patch.encode(errors="surrogatepass")
    files = apply_patch(repo, tree, content, most_bytes=app.settings.max_file_mb * 2**20)
    if not files:
        raise FileRefused("the patch changes no file")
    changes = [change_of(file) for file in files]
    return file_commits.commit(app, actor, target, msgspec.structs.replace(file_commit, changes=changes))


def change_of(file: PatchedFile) -> FileChange:
    """Return the change of a file, with the blob that the patch was applied to as its precondition."""
    if file.content is None:
        return FileChange(operation="delete", path=file.path, sha=file.old or "")
    content = FileContent(file.content)
    if file.old is None:
        return FileChange(operation="create", path=file.path, content=content, mode=file.mode)
    return FileChange(operation="update", path=file.path, content=content, sha=file.old, mode=file.mode)
