"""The last commit that changed a path, for one path or for every entry of a directory.

At a merge, git follows the first parent in which the path is the same (history simplification); so each path has a
linear history, and its last commit is the first on it that differs from all its parents. A directory is computed
in one walk for all its entries. Results for a commit never change: they are cached in memory and on disk, and a
commit on top of a known one costs only its changes.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final

import msgspec

from holdfast.hosting.errors import GitDamaged, GitFailed
from holdfast.hosting.git import history, history_cache
from holdfast.hosting.git.command_output import split_output, stream_output
from holdfast.hosting.git.commits import Commit, read_commit
from holdfast.hosting.git.encoding import argument
from holdfast.hosting.git.repository import Repo, open_repository
from holdfast.hosting.git.trees import MissingPath, children, find

__all__ = ["cached_answer", "knows_directory", "knows_path", "of_directory", "of_path"]

KEPT_PATHS: Final = 65_536
KEPT_ENTRIES: Final = 400_000
KEPT_COMMITS: Final = 8192
# How many commits are searched in this process for a cached result, before git walks the history.
NEAR: Final = 48
# After this many commits, the remaining entries of the root are passed to git by name; a few are looked up one by
# one, where changed-path filters help.
FAR: Final = 100
FEW: Final = 4
CONTENTS_KEPT: Final = 256

# The entries of a directory by name, with mode and id; and the last commit of each entry.
Content = dict[bytes, tuple[int, str]]
Answers = dict[bytes, str]
Key = tuple[Path, bytes]
encoder = msgspec.msgpack.Encoder()
decoder = msgspec.msgpack.Decoder(list[tuple[bytes, str]])


class LastCommitCache:
    """The in-process LRU cache of results, by directory or path, for the last few commits."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._size = 0
        self._lock = threading.Lock()
        self._kept: OrderedDict[Key, OrderedDict[str, Answers]] = OrderedDict()

    def get(self, key: Key, start: str) -> Answers | None:
        """Return the results for a commit."""
        answers_by_commit = self._kept.get(key)
        return None if answers_by_commit is None else answers_by_commit.get(start)

    def around(self, key: Key) -> dict[str, Answers]:
        """Return all results for a directory or path."""
        with self._lock:
            return dict(self._kept.get(key, ()))

    def put(self, key: Key, start: str, answers: Answers) -> None:
        """Store results, evicting the oldest."""
        with self._lock:
            answers_by_commit = self._kept.setdefault(key, OrderedDict())
            self._kept.move_to_end(key)
            if start not in answers_by_commit:
                self._size += len(answers) + 1
            answers_by_commit[start] = answers
            if len(answers_by_commit) > history_cache.KEPT_PER_PATH:
                self._size -= len(answers_by_commit.popitem(last=False)[1]) + 1
            while self._size > self._most and len(self._kept) > 1:
                _, gone = self._kept.popitem(last=False)
                self._size -= sum(len(old) + 1 for old in gone.values())


directories = LastCommitCache(KEPT_ENTRIES)
paths = LastCommitCache(KEPT_PATHS)


def split(path: bytes) -> tuple[bytes, bytes]:
    """Return the directory and the name of a path."""
    directory, _, name = path.rpartition(b"/")
    return directory, name


def in_memory(folder: Path, start: str, path: bytes) -> str | None:
    """Return the result for a path if it is cached in memory."""
    directory, name = split(path)
    answers = directories.get((folder, directory), start) or paths.get((folder, path), start)
    return None if answers is None else answers.get(name)


def knows_path(repo: Repo, start: str, path: bytes) -> bool:
    """Return whether the result for a path is cached."""
    return in_memory(repo.folder, start, path) is not None


def knows_directory(repo: Repo, start: str, path: bytes) -> bool:
    """Return whether the results for a directory are cached."""
    return directories.get((repo.folder, path), start) is not None


@lru_cache(maxsize=KEPT_COMMITS)
def cached_commit(folder: Path, commit: str) -> Commit:
    """Return a commit, cached, as results repeat the same ones."""
    return read_commit(open_repository(folder), commit)


def cached_answer(repo: Repo, start: str, path: bytes) -> Commit | None:
    """Return the result for a path if it is cached."""
    oid = in_memory(repo.folder, start, path)
    return None if oid is None else cached_commit(repo.folder, oid)


def of_path(repo: Repo, start: str, path: bytes) -> Commit | None:
    """Return the last commit that is reachable from `start` and changed a path; None if there is none.

    The empty path is the root, which every commit changes.
    """
    if not path:
        return cached_commit(repo.folder, start)
    oid = in_memory(repo.folder, start, path)
    if oid is None:
        oid = path_answer(repo, start, path)
    return None if oid is None else cached_commit(repo.folder, oid)


def path_answer(repo: Repo, start: str, path: bytes) -> str | None:
    """Return the result for a path: from the cache, from a nearby commit, or from git."""
    directory, name = split(path)
    key = (repo.folder, path)
    cached_answers = paths.around(key) | directories.around((repo.folder, directory))
    stored = {commit: {name: answer.decode()} for commit, answer in history_cache.load(repo.folder, path).items()}
    cached_answers = stored | cached_answers
    oid = search_nearby(repo, start, directory, {name}, cached_answers).get(name)
    if oid is None:
        oid = history.last_commit(repo, start, path)
    if oid is not None:
        paths.put(key, start, {name: oid})
        if start not in stored:
            history_cache.save(repo.folder, path, start, oid.encode())
    return oid


def of_directory(repo: Repo, start: str, path: bytes) -> dict[bytes, Commit]:
    """Return the last commit of each entry of a directory, by the entry's path."""
    key = (repo.folder, path)
    answers = directories.get(key, start)
    if answers is None:
        answers = directory_answers(repo, start, path)
        directories.put(key, start, answers)
    prefix = path + b"/" if path else b""
    return {prefix + name: cached_commit(repo.folder, commit) for name, commit in answers.items()}


def directory_answers(repo: Repo, start: str, path: bytes) -> Answers:
    """Return the results for a directory: from the cache, from a nearby commit, or from git."""
    key = path + b"/"
    stored: dict[str, Answers] = {}
    for commit, cached in history_cache.load(repo.folder, key).items():
        try:
            stored[commit] = dict(decoder.decode(cached))
        except msgspec.DecodeError:
            continue
    if start in stored:
        return stored[start]
    cached_answers = stored | directories.around((repo.folder, path))
    names = set(content_at(repo, start, path))
    answers = search_nearby(repo, start, path, names, cached_answers)
    if len(answers) < len(names):
        answers = walk_history(repo, start, path, names) if path else walk_root_history(repo, start, names)
    history_cache.save(repo.folder, key, start, encoder.encode(list(answers.items())))
    return answers


def content_at(repo: Repo, commit: str, path: bytes) -> Content:
    """Return the entries of a directory in a commit; None if it does not exist."""
    return content_of(repo, read_commit(repo, commit).tree, path)


def content_of(repo: Repo, tree: str, path: bytes) -> Content:
    """Return the entries of a directory below a tree."""
    entry = find(repo, tree, path)
    if isinstance(entry, MissingPath) or entry.type != "dir":
        return {}
    return {name: (mode, at) for mode, name, at in children(repo, entry.id)}


class PendingEntries:
    """The entries whose last commit is not found yet, by the next commit to examine."""

    def __init__(self, start: str, names: set[bytes]) -> None:
        self.waiting: dict[str, set[bytes]] = {start: names} if names else {}
        self.answers: Answers = {}

    def resolve(self, commit: str, changed: list[tuple[str, set[bytes] | None]]) -> None:
        """Resolve the entries at a commit, or pass each on to the first parent that has the same entry.

        `changed` has the entries that differ from each parent; None means all.
        """
        for name in self.waiting.pop(commit, ()):
            onward = next((parent for parent, names in changed if names is not None and name not in names), None)
            if onward is None:
                self.answers[name] = commit
            else:
                self.waiting.setdefault(onward, set()).add(name)


def search_nearby(
    repo: Repo, start: str, path: bytes, names: set[bytes], cached_answers: dict[str, Answers]
) -> Answers:
    """Walk a few commits back to ones with cached results; return the results found."""
    if not cached_answers:
        return {}
    lines = PendingEntries(start, set(names))
    for _ in range(NEAR):
        if not lines.waiting:
            break
        commit = next(iter(lines.waiting))
        answers = cached_answers.get(commit)
        if answers is not None and lines.waiting[commit] <= answers.keys():
            for name in lines.waiting.pop(commit):
                lines.answers[name] = answers[name]
            continue
        current = read_commit(repo, commit)
        lines.resolve(commit, changed_entries(repo, current, path))
    return lines.answers


def changed_entries(repo: Repo, commit: Commit, path: bytes) -> list[tuple[str, set[bytes] | None]]:
    """Return in which entries of a directory a commit differs from each of its parents."""
    entries = content_of(repo, commit.tree, path)
    changes_by_parent: list[tuple[str, set[bytes] | None]] = []
    for parent in commit.parents:
        before = content_at(repo, parent, path)
        changes_by_parent.append((parent, {name for name, entry in entries.items() if before.get(name) != entry}))
    return changes_by_parent


def walk_history(repo: Repo, start: str, path: bytes, names: set[bytes]) -> Answers:
    """Walk the history of a directory with `git log`, until every entry is resolved.

    git omits commits that change nothing there and rewrites parents; merges are compared here, each with all its
    parents.
    """
    visited: dict[str, tuple[tuple[str, ...], set[bytes]]] = {}
    lines: PendingEntries | None = None
    for commit, parents, changed in log_changes(repo, start, path, names):
        if lines is None:
            # The first commit printed replaces the start, if that changed nothing itself.
            lines = PendingEntries(commit, set(names))
        visited[commit] = parents, changed
        step = commit
        # With skewed clocks a parent can be printed before its child, and was visited already.
        while step in lines.waiting and step in visited:
            behind, touched = visited[step]
            if len(behind) > 1:
                entries = content_at(repo, step, path)
                contents = [(parent, content_at(repo, parent, path)) for parent in behind]
                differing: list[tuple[str, set[bytes] | None]] = [
                    (parent, {name for name, entry in entries.items() if before.get(name) != entry})
                    for parent, before in contents
                ]
                lines.resolve(step, differing)
            else:
                lines.resolve(step, [(parent, touched) for parent in behind])
            step = next((ready for ready in lines.waiting if ready in visited), step)
        if not lines.waiting:
            break
    return {} if lines is None else lines.answers


def walk_root_history(repo: Repo, start: str, names: set[bytes]) -> Answers:
    """Walk the history of the root directory, which nearly every commit changes.

    All commits are listed with their trees, from the commit-graph; comparing those here is faster than letting git
    compare everything below. Entries unchanged for long are looked up by name.
    """
    parents_of: dict[str, tuple[str, list[str]]] = {}
    contents: OrderedDict[str, Content] = OrderedDict()

    def content(commit: str) -> Content:
        tree = parents_of[commit][0]
        root_entries = contents.get(tree)
        if root_entries is None:
            root_entries = contents[tree] = content_of(repo, tree, b"")
            if len(contents) > CONTENTS_KEPT:
                contents.popitem(last=False)
        return root_entries

    lines = PendingEntries(start, set(names))
    steps = 0
    for token in split_log(stream_output(repo.folder, "log", "--format=%H %T %P", start, "--"), b"\n"):
        commit, tree, *parents = token.decode().split()
        parents_of[commit] = tree, parents
        while (
            ready := next((oid for oid in lines.waiting if has_known_parents(parents_of, oid)), None)
        ) is not None:
            entries, behind = content(ready), [(parent, content(parent)) for parent in parents_of[ready][1]]
            differing: list[tuple[str, set[bytes] | None]] = [
                (parent, {name for name in lines.waiting[ready] if before.get(name) != entries.get(name)})
                for parent, before in behind
            ]
            lines.resolve(ready, differing)
            steps += 1
        left = sum(map(len, lines.waiting.values()))
        if not left or steps > FAR:
            break
    rest = names - lines.answers.keys()
    more = last_commit_of_each(repo, start, rest) if len(rest) <= FEW else walk_history(repo, start, b"", rest)
    return lines.answers | more


def has_known_parents(parents_of: dict[str, tuple[str, list[str]]], commit: str) -> bool:
    """Return whether a commit can be compared with all its parents."""
    return commit in parents_of and all(parent in parents_of for parent in parents_of[commit][1])


def last_commit_of_each(repo: Repo, start: str, names: set[bytes]) -> Answers:
    """Run git for each of these paths."""
    commits_by_name = {name: history.last_commit(repo, start, name) for name in names}
    return {name: commit for name, commit in commits_by_name.items() if commit is not None}


def split_log(output: Iterator[bytes], separator: bytes) -> Iterator[bytes]:
    """Split the output of `git log`; raise `GitDamaged` if it fails."""
    try:
        yield from split_output(output, separator)
    except GitFailed as error:
        raise GitDamaged("git log cannot read all it needs") from error


def log_changes(
    repo: Repo, start: str, path: bytes, names: set[bytes]
) -> Iterator[tuple[str, tuple[str, ...], set[bytes]]]:
    """Yield the commits that changed a directory, or some entries of the root.

    With each come its parents, and the entries it changed.
    """
    how = ("--full-history", "--parents", "--raw", "--no-renames", "--no-abbrev", "-z", "--diff-merges=off")
    limits = [path] if path else sorted(names)
    command = ("-c", "log.showRoot=false", "log", *how, "--format=%H %P", start, "--", *map(argument, limits))
    skipped = len(path) + 1 if path else 0
    commit, parents, changed = "", (), set[bytes]()
    for token, named in tokens(stream_output(repo.folder, *command)):
        if named is not None:
            changed.add(named[skipped:].partition(b"/")[0])
            continue
        if commit:
            yield commit, parents, changed
        commit, *behind = token.decode().split()
        parents, changed = tuple(behind), set()  # type: ignore[assignment]  # mypy does not infer the empty set here
    if commit:
        yield commit, parents, changed


def tokens(output: Iterator[bytes]) -> Iterator[tuple[bytes, bytes | None]]:
    """Yield the NUL-separated tokens of the output: a commit, or a change with its path."""
    change = None
    for token in split_log(output, b"\0"):
        text = token.strip(b"\n")
        if change is not None:
            yield change, token
            change = None
        elif text.startswith(b":"):
            change = text
        elif text:
            yield text, None
