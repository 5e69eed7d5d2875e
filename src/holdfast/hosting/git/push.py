"""A push that has arrived and is not yet true: its objects are in quarantine, no reference has moved."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from holdfast.hosting.errors import GitFailed
from holdfast.hosting.git.program import run
from holdfast.hosting.store.updates import Move

__all__ = ["NAMESPACES", "Push", "Refusal", "outside"]

# Everything else is ours, or would be found by nobody.
NAMESPACES: Final = ("refs/heads/", "refs/tags/", "refs/notes/")


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a change may not be; whoever pushes reads it."""

    ref: str
    reason: str


@dataclass(frozen=True, slots=True)
class Push:
    """What someone wants to push, to be looked at before it happens.

    `variables` let git see the objects in quarantine next to those of the repository. All methods run git, so they
    block: call them in a thread.
    """

    folder: Path
    changes: tuple[Move, ...]
    variables: Mapping[str, str]

    def git(self, *arguments: str, given: bytes = b"") -> bytes:
        """Run a git command that sees what was pushed."""
        return run(self.folder, *arguments, input=given, variables=self.variables)

    def is_fast_forward(self, change: Move) -> bool:
        """Tell whether a change keeps all history there was: what is new does, what is deleted does not."""
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

    def changed_paths(self, change: Move, *, base: str | None = None) -> set[str]:
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
            listed = self.git("ls-tree", "-r", "-z", "--name-only", "--full-tree", new)
        else:
            listed = self.git("diff-tree", "-r", "-z", "--name-only", "--no-renames", old, new)
        return {path.decode(errors="surrogateescape") for path in listed.split(b"\0") if path}

    def commits(self, change: Move, *, most: int | None = None) -> list[str]:
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

    def merge_base(self, one: str, other: str) -> str | None:
        """Return where two histories part, or None when they have nothing in common."""
        try:
            return self.git("merge-base", one, other).decode().strip()
        except GitFailed as error:
            if error.code != 1:
                raise
            return None


def outside(changes: tuple[Move, ...]) -> list[Refusal]:
    """Refuse references where people have nothing to push to."""
    allowed = ", ".join(f"{name}*" for name in NAMESPACES)
    refusals = []
    for change in changes:
        if not change.ref.startswith(NAMESPACES):
            refusals.append(Refusal(change.ref, f"only {allowed} can be pushed to"))
        elif change.ref == "refs/heads/HEAD" and not change.deletes:
            refusals.append(Refusal(change.ref, "HEAD is no name for a branch"))
    return refusals
