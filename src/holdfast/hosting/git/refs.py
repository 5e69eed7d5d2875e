"""Branches, tags, HEAD, and resolution of ref names."""

import os
import re
from collections.abc import Container
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal

import msgspec
import pygit2

from holdfast.hosting.errors import GitDamaged, GitFailed, RefRefused
from holdfast.hosting.git.encoding import argument, display_name, is_id, raw
from holdfast.hosting.git.program import run
from holdfast.hosting.git.repository import Repo

__all__ = [
    "Ref",
    "RefPath",
    "ResolvedRef",
    "branch",
    "check_new_branch",
    "check_new_tag",
    "check_ref_name",
    "commit_of",
    "head",
    "is_ref_name",
    "resolve",
    "rev_parse",
    "split_ref_path",
    "tag",
    "target",
]

BRANCHES: Final = b"refs/heads/"
TAGS: Final = b"refs/tags/"
LONGEST: Final = 1024
TAGS_DEEP: Final = 32
REFUSED: Final = re.compile(r"[\x00-\x20\x7f\\~^:?*\[]|^[/.]|/\.|\.lock(?:/|\Z)|\.\.|//|@\{|[/.]\Z|^@\Z")


class Ref(msgspec.Struct, frozen=True):
    """A branch or a tag: its name as bytes, and the id it points to."""

    raw_name: bytes
    id: str

    @property
    def name(self) -> str:
        """The name, decoded."""
        return display_name(self.raw_name)


class ResolvedRef(msgspec.Struct, frozen=True):
    """A resolved name: branch, tag or commit, and the commit it points to."""

    kind: Literal["branch", "tag", "commit"]
    name: str
    commit: str


@dataclass(frozen=True, slots=True)
class RefPath:
    """A ref and a path split from one string; `commit` is None if the ref points to no commit."""

    kind: Literal["branch", "tag", "commit", "renamed"]
    name: str
    commit: str | None
    path: str
    is_fallback: bool = field(default=False, compare=False)
    """Whether no ref was found and it is the default branch."""


def is_ref_name(name: str) -> bool:
    """Return whether a name is valid for a branch or tag."""
    if not name or REFUSED.search(name):
        return False
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def check_ref_name(name: str) -> None:
    """Raise `RefRefused` for an invalid name."""
    if not is_ref_name(name):
        raise RefRefused("invalid branch or tag name")


def check_new_branch(name: str) -> None:
    """Raise `RefRefused` for a name that git refuses for branches: an option, or HEAD."""
    check_ref_name(name)
    if name.startswith("-") or name == "HEAD":
        raise RefRefused(f"invalid branch name [name: {name}]")


def check_new_tag(name: str) -> None:
    """Raise `RefRefused` for a name that `git tag` refuses: an option, or HEAD."""
    check_ref_name(name)
    if name.startswith("-") or name == "HEAD":
        raise RefRefused(f"invalid tag name [name: {name}]")


def target(repo: Repo, ref: str | bytes) -> str | None:
    """Return the id a full ref name points to, or None."""
    full = ref if isinstance(ref, str) and ref.isascii() else raw(ref)
    name = full if isinstance(full, str) else argument(full)
    if "\0" in name or len(full) > LONGEST:
        return None
    try:
        reference = repo.git.lookup_reference(name)
        if not isinstance(reference.raw_target, pygit2.Oid):
            reference = reference.resolve()
    except (KeyError, ValueError):
        return None
    except (pygit2.GitError, OSError) as error:
        # `refs/heads/a/b` below a branch `a` is a path below a file: no such ref.
        if "directory" in str(error):
            return None
        raise GitDamaged(f"the ref {display_name(raw(ref))} cannot be read") from error
    return str(reference.target)


def branch(repo: Repo, name: str | bytes) -> Ref | None:
    """Return a branch by short name."""
    oid = target(repo, BRANCHES + raw(name))
    return None if oid is None else Ref(raw(name), oid)


def tag(repo: Repo, name: str | bytes) -> Ref | None:
    """Return a tag by short name; for an annotated one, with the id of the tag object."""
    oid = target(repo, TAGS + raw(name))
    return None if oid is None else Ref(raw(name), oid)


def all_refs(repo: Repo) -> list[bytes]:
    """Return the full name of every ref."""
    try:
        return repo.git.raw_listall_references()
    except (pygit2.GitError, OSError, ValueError) as error:
        raise GitDamaged(f"the refs of {repo.folder.name} cannot be read") from error


def head(repo: Repo) -> str | None:
    """Return the branch HEAD points to, whether or not it exists."""
    try:
        raw_target = repo.git.lookup_reference("HEAD").raw_target
    except (pygit2.GitError, KeyError, ValueError) as error:
        raise GitDamaged(f"the HEAD of {repo.folder.name} cannot be read") from error
    if isinstance(raw_target, bytes) and raw_target.startswith(BRANCHES):
        return display_name(raw_target.removeprefix(BRANCHES))
    return None


def commit_of(repo: Repo, object_id: str) -> str | None:
    """Peel tag objects to a commit; None if they point to another kind of object."""
    for _ in range(TAGS_DEEP):
        header = repo.header(object_id)
        if header is None:
            return None
        if header[0] == "commit":
            return object_id
        if header[0] != "tag":
            return None
        line = repo.read(object_id, "tag").partition(b"\n")[0]
        if not line.startswith(b"object "):
            raise GitDamaged(f"the tag {object_id} names no object")
        object_id = line.removeprefix(b"object ").decode(errors="replace")
    return None


def resolve(repo: Repo, name: str, default_branch: str) -> ResolvedRef | None:
    """Resolve a full ref, a tag, a branch or a commit id; empty is the default branch.

    A tag takes precedence over a branch of the same name. Other refs and abbreviated ids are not resolved.
    """
    if not name:
        return resolve_name(repo, "branch", default_branch)
    if name.startswith("refs/"):
        for kind, prefix in (("branch", "refs/heads/"), ("tag", "refs/tags/")):
            if name.startswith(prefix):
                return resolve_name(repo, "branch" if kind == "branch" else "tag", name.removeprefix(prefix))
        return None
    resolved = resolve_name(repo, "tag", name) or resolve_name(repo, "branch", name)
    if resolved is not None:
        return resolved
    return ResolvedRef("commit", name, name) if is_commit(repo, name) else None


def resolve_name(repo: Repo, kind: Literal["branch", "tag"], name: str) -> ResolvedRef | None:
    """Return a branch or tag that points to a commit."""
    ref = branch(repo, name) if kind == "branch" else tag(repo, name)
    commit = None if ref is None else commit_of(repo, ref.id)
    return None if commit is None else ResolvedRef(kind, name, commit)


def is_commit(repo: Repo, name: str) -> bool:
    """Return whether a name is the full id of an existing commit."""
    header = repo.header(name)
    return header is not None and header[0] == "commit"


def split_ref_path(
    repo: Repo, ref: str, path: str, default_branch: str, renamed: Container[str] = ()
) -> RefPath | None:
    """Split a joined ref and path at the shortest prefix that is a ref.

    Branches take precedence, then `HEAD`, former branch names, tags, and a full commit id. If none matches, the
    path is on the default branch; None is returned if that is missing too.
    """
    joined = f"{ref.strip()}/{path}" if ref.strip() else path
    cuts = split_points(joined)
    first, _, rest_of_first = joined.partition("/")
    maybe_branch, maybe_tag = possible_prefixes(repo, first)
    for name, rest in cuts if maybe_branch else ():
        git_ref = branch(repo, name)
        if git_ref is not None:
            return RefPath("branch", name, commit_of(repo, git_ref.id), rest)
    if first == "HEAD":
        git_ref = branch(repo, default_branch)
        commit = None if git_ref is None else commit_of(repo, git_ref.id)
        return RefPath("branch", default_branch, commit, rest_of_first)
    for name, tail in cuts:
        if name in renamed:
            return RefPath("renamed", name, None, tail)
    for name, tail in cuts if maybe_tag else ():
        git_ref = tag(repo, name)
        if git_ref is not None:
            return RefPath("tag", name, commit_of(repo, git_ref.id), tail)
    if is_id(first):
        return RefPath("commit", first, first if is_commit(repo, first) else None, rest_of_first)
    git_ref = branch(repo, default_branch)
    return None if git_ref is None else RefPath("branch", default_branch, commit_of(repo, git_ref.id), path, True)


def possible_prefixes(repo: Repo, part: str) -> tuple[bool, bool]:
    """Return whether any branch, and any tag, can begin with a path component: mostly none does.

    A ref is a file or in a folder of that name, or packed. Packed refs are checked second: git packs a ref before
    it removes its file.
    """
    first = raw(part)
    if b"\0" in first or len(first) > LONGEST:
        return False, False
    folder = os.fsencode(repo.folder)
    branch_there = os.path.lexists(b"%s/%s%s" % (folder, BRANCHES, first))
    tag_there = os.path.lexists(b"%s/%s%s" % (folder, TAGS, first))
    try:
        status = os.stat(folder + b"/packed-refs")  # noqa: PTH116  # on every read of a file
    except OSError:
        return branch_there, tag_there
    prefixes = packed_prefixes(repo.folder, (status.st_ino, status.st_mtime_ns, status.st_size))
    return branch_there or BRANCHES + first in prefixes, tag_there or TAGS + first in prefixes


@lru_cache(maxsize=64)
def packed_prefixes(folder: Path, version: tuple[int, int, int]) -> frozenset[bytes]:  # noqa: ARG001  # part of the cache key
    """Return the first components of packed branch and tag names; cached by the file's version."""
    with (folder / "packed-refs").open("rb") as file:
        names = (line.split(b" ", 1)[-1].rstrip(b"\n") for line in file if line[:1] not in b"#^")
        return frozenset(b"/".join(name.split(b"/", 3)[:3]) for name in names)


@lru_cache(maxsize=1024)
def split_points(joined: str) -> tuple[tuple[str, str], ...]:
    """Return each split of a text at a slash, shortest first, up to the maximum length of a ref."""
    parts = joined.split("/")
    points = []
    name = ""
    for count, part in enumerate(parts, 1):
        name = f"{name}/{part}" if count > 1 else part
        if len(name) > LONGEST or not is_ref_name(name):
            # A longer prefix may be valid again (`a` after `a.`), but never once these are inside it.
            if len(name) > LONGEST or ".." in name or "//" in name or "/." in name or name[:1] in ("", ".", "/"):
                break
            continue
        points.append((name, "/".join(parts[count:])))
    return tuple(points)


def rev_parse(repo: Repo, expression: str) -> str | None:
    """Return the commit of a `git rev-parse` expression, including abbreviated ids.

    Message searches (`:/text`, `^{/text}`) would walk a whole history, and paths are not commits: both return
    None.
    """
    if not expression or len(expression) > LONGEST or re.search(r"[:\x00-\x1f]|\^\{/|^-", expression):
        return None
    commit_id = commit_of(repo, expression) if is_id(expression) else None
    if commit_id is not None:
        return commit_id
    for prefix in (TAGS, BRANCHES):
        oid = target(repo, prefix + raw(expression)) if is_ref_name(expression) else None
        if oid is not None:
            return commit_of(repo, oid)
    revision = argument(raw(f"{expression}^{{commit}}"))
    try:
        answer = run(repo.folder, "rev-parse", "--verify", "--quiet", "--end-of-options", revision)
    except GitFailed:
        return None
    # git echoes the marker if it precedes an argument that is not a revision.
    commit = answer.decode().split()[-1]
    return commit if is_commit(repo, commit) else None
