"""The quarantine of a push: its objects are on disk, and no ref has been updated."""

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
# What nobody pushes to, and why. Every other folder of refs is open to who may write.
RESERVED: Final = {
    "refs/pull/": "refs/pull/ belongs to the pull requests of this service; push a branch instead",
    "refs/for/": "pushing to refs/for/ opens no pull request here; push a branch instead",
    "refs/holdfast/": "refs/holdfast/ belongs to this service",
    "refs/bisect/": WORKING_COPY,
    "refs/worktree/": WORKING_COPY,
    "refs/rewritten/": WORKING_COPY,
}
# What `git check-ref-format` refuses.
MALFORMED: Final = re.compile(r"[\x00-\x20\x7f\\~^:?*\[]|/\.|\.lock(?:/|\Z)|\.\.|//|@\{|[/.]\Z")
# A ref is a file, and its lock has five letters more; no file system has names above 255 bytes.
LONGEST: Final = 1024
LONGEST_PART: Final = 250


@dataclass(frozen=True, slots=True)
class PushRejection:
    """Why a change may not be; whoever pushes reads it."""

    ref: str
    reason: str
    alone: bool = False
    """Whether the other changes of the push may be, unless it is atomic."""


@dataclass(frozen=True, slots=True)
class AcceptedPush:
    """The ref updates of a push that were accepted; their objects have left the quarantine."""

    changes: tuple[RefUpdate, ...]
    options: tuple[str, ...] = ()
    atomic: bool = False
    packs: tuple[str, ...] = ()
    """The names of the files with its objects; git has indexed them."""


@dataclass(frozen=True, slots=True)
class Push:
    """What someone wants to push, to be looked at before it happens.

    `variables` let git see the objects in quarantine next to those of the repository. All methods run git, so they
    block: call them in a thread.
    """

    folder: Path
    changes: tuple[RefUpdate, ...]
    variables: Mapping[str, str]
    atomic: bool = False

    def packs(self) -> tuple[str, ...]:
        """Return the names of the packs in quarantine; they keep them when they leave it."""
        folder = self.variables.get("GIT_OBJECT_DIRECTORY")
        return () if folder is None else tuple(path.name for path in Path(folder, "pack").glob("*.pack"))

    def git(self, *arguments: str, stdin: bytes = b"") -> bytes:
        """Run a git command that sees what was pushed."""
        return run(self.folder, *arguments, input=stdin, variables=self.variables)

    def is_fast_forward(self, change: RefUpdate) -> bool:
        """Return whether a change keeps all history there was: what is new does, what is deleted does not."""
        if change.creates or change.deletes:
            return change.creates
        try:
            self.git("merge-base", "--is-ancestor", change.old, change.new)
        except GitFailed as error:
            # 128: one of them is no commit, such as a tag of a file; replacing it loses the old one.
            if error.code not in {1, 128}:
                raise
            return False
        return True

    def changed_paths(self, change: RefUpdate, *, base: str | None = None) -> set[str]:
        """Return the paths that differ between the old and the new state.

        A new branch is compared with where it left `base`, or with nothing when it shares no history with it.
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
        """Return the commits a change adds, the newest first; for a new reference, those no other one had."""
        if change.deletes or self.commit(change.new) is None:
            return []
        limit = () if most is None else (f"--max-count={most}",)
        before = ("--all",) if change.creates or self.commit(change.old) is None else (change.old,)
        return self.git("rev-list", *limit, change.new, "--not", *before).decode().split()

    def commit(self, name: str) -> str | None:
        """Return the commit a name stands for, through tags; None when it is none."""
        try:
            return (
                self.git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
                .decode()
                .strip()
            )
        except GitFailed:
            return None

    def merge_base(self, left: str, right: str) -> str | None:
        """Return where two histories part, or None when they have nothing in common."""
        try:
            return self.git("merge-base", left, right).decode().strip()
        except GitFailed as error:
            if error.code != 1:
                raise
            return None


def refused_names(changes: Iterable[RefUpdate]) -> list[PushRejection]:
    """Refuse refs whose names are the service's own, belong to one working copy, or would be taken for another."""
    reasons = ((change.ref, refused_name(change.ref, deletes=change.deletes)) for change in changes)
    return [PushRejection(ref, reason, alone=True) for ref, reason in reasons if reason is not None]


def refused_name(ref: str, *, deletes: bool) -> str | None:
    """Return why nobody can push to a ref of that name; what is there already can be deleted."""
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
