"""The file finder: fuzzy search for file paths of a branch, tag or commit."""

from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.git.commits import read_commit
from holdfast.hosting.git.encoding import display_name
from holdfast.hosting.git.repository import open_repository
from holdfast.hosting.git.trees import DIRECTORY, SUBMODULE, walk
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.request_context import RequestContext
from holdfast.web.code.location import READING, location_at
from holdfast.web.code.switcher import switcher
from holdfast.web.repository_frame import CODE, show_in

__all__ = ["FoundFile", "best_matches", "page_file_finder"]

# The number of files that are searched; the rest of a larger repository is not found here.
MOST_FILES: Final = 50_000
TREES_KEPT: Final = 8
SHOWN: Final = 50
LONGEST: Final = 200


class FileFinderQuery(msgspec.Struct, frozen=True):
    """The search text."""

    q: str = ""


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file that was found."""

    path: str
    address: str


@lru_cache(maxsize=TREES_KEPT)
def files_of(folder: Path, tree: str) -> tuple[bytes, ...]:
    """Return the paths of the files of a tree; cached."""
    nodes = islice(walk(open_repository(folder), tree), MOST_FILES)
    return tuple(path for mode, path, _ in nodes if mode not in {DIRECTORY, SUBMODULE})


def rank(path: str, words: list[str]) -> tuple[int, int, str] | None:
    """Return how well a path matches, smaller is better; None if it does not.

    Every word must occur in the path, at least as a subsequence. File names rank before folders.
    """
    folded = path.casefold()
    name = folded.rpartition("/")[2]
    score = 0
    for word in words:
        if name.startswith(word):
            continue
        if word in name:
            score += 1
        elif word in folded:
            score += 2
        elif has_letters(folded, word):
            score += 5
        else:
            return None
    return score, len(path), path


def has_letters(text: str, word: str) -> bool:
    """Return whether a word is a subsequence of a text."""
    at = -1
    for letter in word:
        at = text.find(letter, at + 1)
        if at < 0:
            return False
    return True


def best_matches(paths: tuple[bytes, ...], typed: str) -> list[bytes]:
    """Return the paths that match best; the first ones if nothing is typed."""
    words = typed.casefold().split()
    if not words:
        return list(paths[:SHOWN])
    ranked = [(score, path) for path in paths if (score := rank(display_name(path), words)) is not None]
    return [path for _, path in sorted(ranked)[:SHOWN]]


@endpoint("GET /{owner}/{repo}/find/{kind}/{filepath...}", scope="repository", guards=READING, slow=True)
def page_file_finder(
    request: RequestContext,
    target: RepositoryAccess,
    kind: str,
    filepath: str,  # noqa: ARG001  # named in the path
    query: FileFinderQuery,  # named in the path
) -> RawResponse:
    """Find files by name."""
    location = location_at(request, target, kind)
    typed = query.q.strip()[:LONGEST]
    paths = files_of(location.repo.folder, read_commit(location.repo, location.commit).tree)
    return show_in(
        request,
        target,
        "code/file_finder.html",
        tab=CODE,
        title=f"Find files · {target.repository.full_name}",
        location=location,
        switch=switcher(request.app, target.repository, location, "find"),
        typed=typed,
        files=[
            FoundFile(display_name(path), location.address("src", path)) for path in best_matches(paths, typed)
        ],
        total=len(paths),
    )
