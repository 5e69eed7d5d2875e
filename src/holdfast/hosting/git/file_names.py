"""The cached list of paths of a commit, for searching files by name."""

from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Final

from holdfast.hosting.git.commits import read_commit
from holdfast.hosting.git.encoding import display_name
from holdfast.hosting.git.repository import Repo, open_repository
from holdfast.hosting.git.trees import DIRECTORY, walk

__all__ = ["FileNames", "file_names"]

MOST: Final = 20_000
KEPT: Final = 32


@dataclass(frozen=True, slots=True)
class FileNames:
    """The paths of a commit as bytes, and case-folded; `is_cut` if the limit was reached."""

    paths: tuple[bytes, ...]
    folded: tuple[str, ...]
    is_cut: bool

    def holding(self, words: list[str]) -> list[bytes]:
        """Return the paths that contain all words; those with a match in the file name come first."""
        ranked_paths = [
            (not any(word in folded.rpartition("/")[2] for word in words), len(folded), folded, path)
            for path, folded in zip(self.paths, self.folded, strict=True)
            if all(word in folded for word in words)
        ]
        return [path for *_, path in sorted(ranked_paths)]


def file_names(repo: Repo, commit: str) -> FileNames:
    """Return the paths in a commit; cached, as they never change."""
    return list_file_names(repo.folder, commit)


@lru_cache(maxsize=KEPT)
def list_file_names(folder: Path, commit: str) -> FileNames:
    """List the paths of a commit, up to the limit."""
    repo = open_repository(folder)
    nodes = list(islice(walk(repo, read_commit(repo, commit).tree), MOST + 1))
    paths = tuple(path for mode, path, _ in nodes[:MOST] if mode != DIRECTORY)
    return FileNames(paths, tuple(display_name(path).casefold() for path in paths), len(nodes) > MOST)
