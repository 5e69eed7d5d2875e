"""The quarantine of a push: its objects are on disk, and no ref has been updated yet."""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from holdfast.hosting.errors import GitFailed
from holdfast.hosting.git.program import run
from holdfast.hosting.store.ref_updates import RefUpdate

__all__ = ["AcceptedPush", "Push", "PushRejection", "refused_names"]

KINDS: Final = {"refs/heads/": "branch", "refs/tags/": "tag"}
WORKING_COPY: Final = "git keeps refs of that name for one working copy; they cannot be pushed"
# Namespaces that cannot be pushed to, with the reason. All other refs are open to users with write access.
RESERVED: Final = {
    "refs/pull/": "refs/pull/ belongs to the pull requests of this service; push a branch instead",
    "refs/for/": "pushing to refs/for/ opens no pull request here; push a branch instead",
    "refs/holdfast/": "refs/holdfast/ belongs to this service",
    "refs/bisect/": WORKING_COPY,
    "refs/worktree/": WORKING_COPY,
    "refs/rewritten/": WORKING_COPY,
}
# Names that `git check-ref-format` rejects.
MALFORMED: Final = re.compile(r"[\x00-\x20\x7f\\~^:?*\[]|/\.|\.lock(?:/|\Z)|\.\.|//|@\{|[/.]\Z")
# A ref is a file, and its lock file has five more characters; file names are limited to 255 bytes.
LONGEST: Final = 1024
LONGEST_PART: Final = 250


@dataclass(frozen=True, slots=True)
class PushRejection:
    """The reason why a ref update is rejected, shown to the client."""

    ref: str
    reason: str
    alone: bool = False
    """Whether only this update is rejected, and not the others of the push, unless it is atomic."""


@dataclass(frozen=True, slots=True)
class AcceptedPush:
    """The accepted ref updates of a push, whose objects have left the quarantine."""

    changes: tuple[RefUpdate, ...]
    options: tuple[str, ...] = ()
    atomic: bool = False
    packs: tuple[str, ...] = ()
    """The names of the packs with its objects; git has indexed them."""


@dataclass(frozen=True, slots=True)
class Push:
    """A push that is checked before its refs are updated.

    With `variables`, git sees the objects in quarantine in addition to those of the repository. All methods run
    git, so they block: call them in a thread.
    """

    folder: Path
    changes: tuple[RefUpdate, ...]
    variables: Mapping[str, str]
    atomic: bool = False

    def packs(self) -> tuple[str, ...]:
        """Return the names of the packs in quarantine; they do not change when they leave it."""
        folder = self.variables.get("GIT_OBJECT_DIRECTORY")
        return () if folder is None else tuple(path.name for path in Path(folder, "pack").glob("*.pack"))

    def git(self, *arguments: str, stdin: bytes = b"") -> bytes:
        """Run a git command that sees the pushed objects."""
        return run(self.folder, *arguments, input=stdin, variables=self.variables)

    def is_fast_forward(self, change: RefUpdate) -> bool:
        """Return whether an update is a fast-forward; a creation is, a deletion is not."""
        if change.creates or change.deletes:
            return change.creates
        try:
            self.git("merge-base", "--is-ancestor", change.old, change.new)
        except GitFailed as error:
            # 128: one of them is not a commit, such as a tag of a blob; replacing it loses the old one.
            if error.code not in {1, 128}:
                raise
            return False
        return True

    def changed_paths(self, change: RefUpdate, *, base: str | None = None) -> set[str]:
        """Return the paths that differ between the old and the new state.

        A new branch is compared with its merge base with `base`, or with the empty tree if there is none.
        """
        new = self.commit(change.new)
        if change.deletes or new is None:
            return set()
        old = self.commit(base) if change.creates and base else self.commit(change.old)
        if change.creates and old is not None:
            old = self.merge_base(old, new)
        if old is None:
            output = self.git("ls-tree", "-r", "-z", "--name-only", "--full-tree", new)
        else:
            output = self.git("diff-tree", "-r", "-z", "--name-only", "--no-renames", old, new)
        return {path.decode(errors="surrogateescape") for path in output.split(b"\0") if path}

    def commits(self, change: RefUpdate, *, most: int | None = None) -> list[str]:
        """Return the commits an update adds, newest first; for a new ref, those reachable from no other ref."""
        if change.deletes or self.commit(change.new) is None:
            return []
        limit = () if most is None else (f"--max-count={most}",)
        before = ("--all",) if change.creates or self.commit(change.old) is None else (change.old,)
        return self.git("rev-list", *limit, change.new, "--not", *before).decode().split()

    def commit(self, name: str) -> str | None:
        """Return the commit of a name, with tags peeled; None if there is none."""
        try:
            return (
                self.git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
                .decode()
                .strip()
            )
        except GitFailed:
            return None

    def merge_base(self, left: str, right: str) -> str | None:
        """Return the merge base of two commits; None if there is none."""
        try:
            return self.git("merge-base", left, right).decode().strip()
        except GitFailed as error:
            if error.code != 1:
                raise
            return None


def refused_names(changes: Iterable[RefUpdate]) -> list[PushRejection]:
    """Reject refs whose names are reserved by the service, local to one working copy, or ambiguous."""
    reasons = ((change.ref, refused_name(change.ref, deletes=change.deletes)) for change in changes)
    return [PushRejection(ref, reason, alone=True) for ref, reason in reasons if reason is not None]


def refused_name(ref: str, *, deletes: bool) -> str | None:
    """Return why a ref name cannot be pushed to; existing refs can be deleted."""
    namespace = next((name for name in RESERVED if f"{ref}/".startswith(name)), None)
    if namespace is not None:
        return RESERVED[namespace]
    if not ref.startswith("refs/") or MALFORMED.search(ref):
        return "git allows no ref of that name"
    if len(os.fsencode(ref)) > LONGEST or any(len(os.fsencode(part)) > LONGEST_PART for part in ref.split("/")):
        return f"the name is too long: {LONGEST} bytes, and {LONGEST_PART} between slashes, are the most"
    if ref.count("/") < 2 and ref != "refs/stash":
        return "a ref needs a name below refs/heads/, refs/tags/ or another folder of refs"
    kind = next((kind for prefix, kind in KINDS.items() if ref.startswith(prefix)), None)
    if kind is None or deletes:
        return None
    short = ref.split("/", 2)[2]
    if short in {"HEAD", "@"}:
        return f"{short} cannot be the name of a {kind}: git takes it for the current branch"
    if short.startswith("refs/"):
        return f"the name of a {kind} cannot begin with refs/; push to {short} if that is what you mean"
    if short.startswith("-"):
        return f"the name of a {kind} cannot begin with a hyphen: git takes it for an option"
    return None
