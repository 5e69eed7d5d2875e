"""Merges of branches: merge commits, squash commits and rebases, built as objects in memory.

Every function adds its objects to a draft and returns the new tip of the base branch. The trees are the same as
git's for the same merge; `tree_merges` decides when git has to be run.
"""

import time
from functools import lru_cache
from pathlib import Path
from typing import Final

import msgspec

from holdfast.hosting.errors import (
    GitTimedOut,
    MergeConflict,
    MergeRefused,
    MergeTooLarge,
    NothingToMerge,
    UnrelatedHistories,
)
from holdfast.hosting.git.command_output import git_output
from holdfast.hosting.git.commits import (
    Signature,
    decode_text,
    first_headers,
    read_commit,
    signature_line,
    split_headers,
)
from holdfast.hosting.git.history import linear_commits
from holdfast.hosting.git.merge_bases import merge_bases
from holdfast.hosting.git.repository import Repo, open_repository
from holdfast.hosting.git.tree_merges import TreeMerger, open_merger
from holdfast.hosting.git.tree_writer import Draft

__all__ = [
    "MergeCheck",
    "add_merge_commit",
    "add_rebase",
    "add_rebase_merge",
    "add_squash",
    "check_merge",
    "is_ancestor",
]

CHECK_SECONDS: Final = 5.0
KEPT: Final = 4096
MOST_REPLAYED: Final = 1000
REPLAY_SECONDS: Final = 30.0


class MergeCheck(msgspec.Struct, frozen=True):
    """Whether a head branch merges into its base, and the files with conflicts."""

    is_clean: bool
    conflicts: tuple[str, ...] = ()


def check_merge(repo: Repo, base: str, head: str) -> MergeCheck:
    """Return whether `head` merges into `base`, without writing; raise `GitTimedOut` after a few seconds."""
    repo.require(base, "commit")
    repo.require(head, "commit")
    return cached_check(repo.folder, base, head)


@lru_cache(maxsize=KEPT)
def cached_check(folder: Path, base: str, head: str) -> MergeCheck:
    """Try a merge; cached, as the result for given commits never changes."""
    repo = open_repository(folder)
    bases = merge_bases(repo, base, head)
    if base in bases or head in bases:
        return MergeCheck(is_clean=True)
    if not bases:
        return MergeCheck(is_clean=False)
    try:
        with open_merger(Draft(repo), timeout=CHECK_SECONDS) as merger:
            merger.merge(bases, base, head)
    except MergeConflict as error:
        return MergeCheck(is_clean=False, conflicts=error.files)
    except MergeRefused:
        return MergeCheck(is_clean=False)
    return MergeCheck(is_clean=True)


def is_ancestor(repo: Repo, older: str, newer: str) -> bool:
    """Return whether a commit is reachable from, or equal to, another one."""
    return merge_bases(repo, older, newer) == (older,)


def required_bases(repo: Repo, base: str, head: str) -> tuple[str, ...]:
    """Return the merge bases of two branches; raise an error if there is none or nothing to merge."""
    bases = merge_bases(repo, base, head)
    if not bases:
        raise UnrelatedHistories
    if bases == (head,):
        raise NothingToMerge
    return bases


def merged_tree(draft: Draft, base: str, head: str) -> str:
    """Add the tree of a merge, and return its id; raise `MergeConflict`."""
    bases = required_bases(draft.repo, base, head)
    with open_merger(draft) as merger:
        return draft.tree(merger.merge(bases, base, head))


def add_merge_commit(
    draft: Draft, base: str, head: str, *, author: Signature, committer: Signature, message: str
) -> str:
    """Add a merge commit with both branches as parents, even if a fast-forward is possible."""
    tree = merged_tree(draft, base, head)
    return draft.commit(tree, (base, head), author=author, committer=committer, message=message)


def add_squash(
    draft: Draft, base: str, head: str, *, author: Signature, committer: Signature, message: str
) -> str:
    """Add one commit on the base branch with all changes of the head branch."""
    tree = merged_tree(draft, base, head)
    return draft.commit(tree, (base,), author=author, committer=committer, message=message)


def add_rebase(draft: Draft, base: str, head: str, *, committer: Signature) -> str:
    """Replay the commits of the head branch on the base branch, like `git rebase`, and return the last of them.

    Merge commits are dropped, as are commits whose change is already in the base branch and those that become
    empty. Commits that are already on top of the base branch stay as they are. Raises `MergeConflict` for the
    first commit that cannot be applied.
    """
    bases = required_bases(draft.repo, base, head)
    commits = commits_to_replay(draft.repo, bases, base, head)
    deadline = time.monotonic() + REPLAY_SECONDS
    tip = base
    with open_merger(draft) as merger:
        for commit in commits:
            if time.monotonic() > deadline:
                raise GitTimedOut("rebase", f"timed out after {REPLAY_SECONDS:g} seconds")
            tip = replay(merger, commit, tip, committer)
    return tip


def add_rebase_merge(
    draft: Draft, base: str, head: str, *, author: Signature, committer: Signature, message: str
) -> str:
    """Replay the head branch on the base branch, then add a merge commit of the two."""
    tip = add_rebase(draft, base, head, committer=committer)
    if tip == base:
        raise NothingToMerge
    tree = draft.tree(draft.root(tip))
    return draft.commit(tree, (base, tip), author=author, committer=committer, message=message)


def commits_to_replay(repo: Repo, bases: tuple[str, ...], base: str, head: str) -> tuple[str, ...]:
    """Return the commits that `git rebase` would pick, oldest first."""
    if bases == (base,):
        line = linear_commits(repo, base, head)
        if line is not None:
            return line[::-1]
    arguments = ("--reverse", "--topo-order", "--no-merges", "--cherry-mark", "--right-only", f"{base}...{head}")
    marked = git_output(repo.folder, "rev-list", *arguments, "--").decode().split()
    # Commits without changes are equal to each other by patch id, and are kept.
    oids = tuple(marked_oid[1:] for marked_oid in marked if marked_oid[0] != "=" or is_empty(repo, marked_oid[1:]))
    if len(oids) > MOST_REPLAYED:
        raise MergeTooLarge(f"more than {MOST_REPLAYED} commits cannot be rebased; merge or squash them")
    return oids


def is_empty(repo: Repo, commit: str) -> bool:
    """Return whether a commit has no changes."""
    commit_object = read_commit(repo, commit)
    return bool(commit_object.parents) and read_commit(repo, commit_object.parents[0]).tree == commit_object.tree


def replay(merger: TreeMerger, commit: str, tip: str, committer: Signature) -> str:
    """Apply a commit to a tip, like `git cherry-pick`, and return the new tip."""
    draft = merger.draft
    content = draft.read(commit, "commit")
    headers, message = split_headers(content)
    parents = [value.decode() for name, value in headers if name == b"parent"]
    if parents == [tip]:
        return commit
    before = draft.root(parents[0]) if parents else draft.empty()
    after, ours = draft.root(commit), draft.root(tip)
    tree = draft.tree(merger.apply(before, ours, after))
    was_empty = draft.tree(before) == draft.tree(after)
    if tree == draft.tree(ours) and not was_empty:
        return tip
    return draft.add("commit", replayed_content(first_headers(headers), message, tree, tip, committer))


def replayed_content(
    headers: dict[bytes, bytes], message: bytes, tree: str, parent: str, committer: Signature
) -> bytes:
    """Return a commit with another tree, parent and committer, without its signature, which would be invalid."""
    author, encoding = headers.get(b"author", b""), headers.get(b"encoding")
    if encoding is not None:
        author, message = decode_text(author, encoding).encode(), decode_text(message, encoding).encode()
    return b"tree %s\nparent %s\nauthor %s\ncommitter %s\n\n%s" % (
        tree.encode(),
        parent.encode(),
        author,
        signature_line(committer),
        message,
    )
