"""The addresses files have on the website: their bytes, and plain pages of files, directories and commits."""

import re
from datetime import datetime
from typing import Final
from urllib.parse import quote

from holdfast.hosting.access import Unit
from holdfast.hosting.api.call import Call
from holdfast.hosting.api.declare import Raw, endpoint
from holdfast.hosting.api.guards import Place, in_repository, reads
from holdfast.hosting.api.opening import git_of
from holdfast.hosting.api.raw import found_in, media, raw
from holdfast.hosting.api.refusal import Refusal
from holdfast.hosting.api.sniffing import TEXT, media_type
from holdfast.hosting.errors import PathRefused
from holdfast.hosting.git import refs, trees
from holdfast.hosting.git.changes import changed_files
from holdfast.hosting.git.commits import find_commit, read_commit
from holdfast.hosting.git.looking import cleaned
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.git.trees import Entry
from holdfast.hosting.shapes.git import git_time
from holdfast.web.pages import page

__all__ = ["page_commit", "page_media", "page_raw", "page_source"]

READING: Final = (in_repository, reads(Unit.CODE))
LARGEST_SHOWN: Final = 512 * 1024


def commit_at(repo: Repo, kind: str, path: str) -> tuple[str, str, str]:
    """Return the ref a path begins with, its commit, and the rest of the path."""
    if kind == "commit":
        name, _, rest = path.partition("/")
        commit = refs.rev_parse(repo, name) if re.fullmatch(r"[0-9a-f]{4,40}", name) else None
        if commit is not None:
            return name, commit, rest
    elif kind in {"branch", "tag"}:
        for name, rest in refs.beginnings(path):
            found = refs.branch(repo, name) if kind == "branch" else refs.tag(repo, name)
            commit = None if found is None else refs.commit_of(repo, found.id)
            if commit is not None:
                return name, commit, rest
    raise Refusal(404)


@endpoint("GET /{owner}/{repo}/raw/{kind}/{filepath...}", scope="repository", guards=READING)
def page_raw(call: Call, place: Place, kind: str, filepath: str) -> Raw:
    """Return the bytes of a file."""
    repo = git_of(call, place)
    _, commit, path = commit_at(repo, kind, filepath)
    return raw(found_in(call, place, repo, commit, path))


@endpoint("GET /{owner}/{repo}/media/{kind}/{filepath...}", scope="repository", guards=READING)
def page_media(call: Call, place: Place, kind: str, filepath: str) -> Raw:
    """Return the bytes of a file, and of a large one those its pointer stands for."""
    repo = git_of(call, place)
    _, commit, path = commit_at(repo, kind, filepath)
    return media(found_in(call, place, repo, commit, path))


@endpoint("GET /{owner}/{repo}/src/{kind}/{filepath...}", scope="repository", guards=READING, slow=True)
def page_source(call: Call, place: Place, kind: str, filepath: str) -> Raw:
    """Show a file or a directory."""
    return source(call, place, kind, filepath)


@endpoint("GET /{owner}/{repo}/commit/{sha}", scope="repository", guards=READING, slow=True)
def page_commit(call: Call, place: Place, sha: str) -> Raw:
    """Show a commit."""
    return commit_page(call, place, sha)


def source(call: Call, place: Place, kind: str, filepath: str) -> Raw:
    """Show what lies at a path: the text of a file, or the entries of a directory."""
    repo = git_of(call, place)
    ref, commit, rest = commit_at(repo, kind, filepath)
    try:
        path = cleaned(rest)
    except PathRefused:
        raise Refusal(404) from None
    entry = trees.find(repo, read_commit(repo, commit).tree, path)
    if not isinstance(entry, Entry) or entry.type == "submodule":
        raise Refusal(404)
    root = f"{call.root}/{quote(place.repository.full_name)}"
    below = f"{kind}/{quote(ref)}"
    entries: list[tuple[str, str]] = []
    text: str | None = None
    if entry.type == "dir":
        for one in trees.directory(repo, entry.id, entry.raw_path):
            address = "" if one.type == "submodule" else f"{root}/src/{below}/{quote(one.raw_path)}"
            entries.append((one.name + ("/" if one.type == "dir" else ""), address))
    elif entry.size <= LARGEST_SHOWN:
        content = trees.read_blob(repo, entry.id)
        if media_type(content).startswith(TEXT):
            text = content.decode(errors="replace")
    return page(
        call,
        "source.html",
        title=f"{place.repository.full_name}/{path}" if path else place.repository.full_name,
        ref=ref,
        is_directory=entry.type == "dir",
        entries=entries,
        text=text,
        size=entry.size,
        raw_url=f"{root}/raw/{below}/{quote(entry.raw_path)}",
        commit_url=f"{root}/commit/{commit}",
        commit=commit,
    )


def commit_page(call: Call, place: Place, sha: str) -> Raw:
    """Show who made a commit, what they said, and which files it changed."""
    repo = git_of(call, place)
    at = refs.rev_parse(repo, sha) if re.fullmatch(r"[0-9a-f]{4,40}", sha) else None
    commit = None if at is None else find_commit(repo, at)
    if commit is None:
        raise Refusal(404)
    root = f"{call.root}/{quote(place.repository.full_name)}"
    return page(
        call,
        "commit.html",
        title=f"{place.repository.full_name} {commit.id[:10]}",
        commit=commit,
        when=datetime.fromisoformat(git_time(commit.author.time, commit.author.offset)),
        root=root,
        files=[(change.status, change.path) for change in changed_files(repo, commit).files],
    )
