"""Changes of a pull request: its commits, its files, and the diff or patch."""

from collections.abc import Iterator, Sequence
from typing import Final, Literal

import msgspec

from holdfast.hosting import access
from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.app import App
from holdfast.hosting.errors import NoSuchIssue, NoSuchObject
from holdfast.hosting.git import changes as tree_changes
from holdfast.hosting.git import history
from holdfast.hosting.git.commits import Commit, read_commit
from holdfast.hosting.git.patches import FileDiff, Whitespace, diff_trees
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.services.revisions import open_latest
from holdfast.hosting.store import pulls
from holdfast.hosting.store.issues import Issue

__all__ = ["PullSpan", "changed_files", "commits", "open_span", "text", "text_of"]

TextFormat = Literal["diff", "patch"]
# Maximum commits of a patch: each is a separate diff.
MOST_PATCHES: Final = 1000


class PullSpan(msgspec.Struct, frozen=True):
    """The commit range of a pull request: those of its head that its base does not have."""

    repo: Repo
    head: str
    base: str
    merge_base: str


def open_span(app: App, target: RepositoryAccess, issue: Issue) -> PullSpan:
    """Return the commit range of a pull request; of a closed one, as it was when closed."""
    access.require_read(target, Unit.CODE)
    pull = pulls.find_pull(app.database, issue)
    repo = open_latest(app, target)
    base = issue.base_sha if issue.is_closed else pull.base_tip or issue.base_sha
    if not issue.head_sha or not base:
        raise NoSuchObject(f"pull request #{issue.number} has no commits")
    merge_base = pull.merge_base if issue.is_closed else history.merge_base(repo, base, issue.head_sha)
    return PullSpan(repo, issue.head_sha, base, merge_base or base)


def commits(span: PullSpan, *, skip: int, limit: int) -> tuple[list[Commit], int]:
    """Return one page of the commits of a pull request, newest first, and the total."""
    commit_range = history.commit_range(span.repo, span.head, exclude=[span.base])
    return history.commits(span.repo, commit_range, skip=skip, limit=limit), history.count(span.repo, commit_range)


def changed_files(span: PullSpan, *, whitespace: Whitespace = "show-all", skip_to: str = "") -> Sequence[FileDiff]:
    """Return the changed files of a pull request, starting at `skip_to` if given."""
    files = diff_trees(span.repo, *trees(span), whitespace=whitespace).files
    first = next((index for index, file in enumerate(files) if file.path == skip_to), 0) if skip_to else 0
    return files[first:]


def text(span: PullSpan, form: TextFormat, *, binary: bool = False) -> Iterator[bytes]:
    """Yield the changes as one diff, or as one patch mail per commit."""
    if form == "diff":
        return tree_changes.diff_text(span.repo, *trees(span), binary=binary)
    return tree_changes.patches_text(span.repo, span.base, span.head, most=MOST_PATCHES, binary=binary)


def text_of(
    app: App, target: RepositoryAccess, issue: Issue, form: str, *, binary: bool = False
) -> Iterator[bytes]:
    """Yield the changes of a pull request in the form `diff` or `patch`; raise `NoSuchIssue` for another form."""
    if form not in {"diff", "patch"} or not target.permissions.may_read(Unit.CODE):
        raise NoSuchIssue(f"pull request does not exist [index: {issue.number}.{form}]")
    return text(open_span(app, target, issue), "diff" if form == "diff" else "patch", binary=binary)


def trees(span: PullSpan) -> tuple[str, str]:
    """Return the trees of the merge base and the head."""
    return read_commit(span.repo, span.merge_base).tree, read_commit(span.repo, span.head).tree
