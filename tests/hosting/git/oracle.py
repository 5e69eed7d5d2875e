"""Repositories for tests, written by git, and the output of git to compare results with."""

import subprocess
import zlib
from collections.abc import Mapping
from pathlib import Path

from holdfast.hosting.git.program import environment, run

ADA = "Ada Byron <ada@example.org>"


def new_repository(folder: Path) -> Path:
    """Create an empty bare repository whose default branch is main."""
    run(None, "init", "--quiet", "--bare", "--template=", "--initial-branch=main", str(folder))
    return folder


def git(folder: Path, *arguments: str | bytes, input: bytes = b"") -> bytes:  # noqa: A002  # as in `subprocess.run`
    """Run git and return its output; arguments may be bytes."""
    given = environment({"GIT_DIR": str(folder), "GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.org"})
    given |= {"GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@example.org"}
    completed = subprocess.run(["git", *arguments], input=input, env=given, capture_output=True, check=True)
    return completed.stdout


def line(folder: Path, *arguments: str) -> str:
    """Run git and return one line of output."""
    return git(folder, *arguments).decode().strip()


def quoted(path: bytes) -> bytes:
    """Write a path for fast-import."""
    return b'"' + b"".join(b"\\%03o" % byte for byte in path) + b'"'


def commit(
    folder: Path,
    files: Mapping[bytes, bytes | None],
    *,
    branch: str = "main",
    message: bytes = b"a change\n",
    when: int = 1_700_000_000,
    parents: list[str] | None = None,
    modes: dict[bytes, bytes] | None = None,
) -> str:
    """Commit files on a branch through fast-import; nothing as content removes a file."""
    ref = f"refs/heads/{branch}"
    commit_id = line(folder, "for-each-ref", "--format=%(objectname)", ref)
    if parents is None:
        parents = [commit_id] if commit_id else []
    stream = [b"commit %s\n" % ref.encode()]
    stream.append(b"author %s %d +0130\n" % (ADA.encode(), when - 60))
    stream.append(b"committer %s %d -0800\n" % (ADA.encode(), when))
    stream.append(b"data %d\n%s\n" % (len(message), message))
    for number, parent in enumerate(parents):
        stream.append(b"%s %s\n" % (b"merge" if number else b"from", parent.encode()))
    if not parents:
        stream[0] = b"reset %s\n" % ref.encode() + stream[0]
    for path, content in files.items():
        mode = (modes or {}).get(path, b"100644")
        if content is None:
            stream.append(b"D %s\n" % quoted(path))
        elif mode == b"160000":
            stream.append(b"M 160000 %s %s\n" % (content, quoted(path)))
        else:
            stream.append(b"M %s inline %s\ndata %d\n%s\n" % (mode, quoted(path), len(content), content))
    git(folder, "fast-import", "--quiet", "--force", input=b"".join(stream) + b"\n")
    return line(folder, "rev-parse", ref)


def unpack(folder: Path) -> None:
    """Turn every pack into loose objects."""
    packs = list((folder / "objects" / "pack").glob("*.pack"))
    data = [pack.read_bytes() for pack in packs]
    for file in (folder / "objects" / "pack").iterdir():
        file.unlink()
    for content in data:
        git(folder, "unpack-objects", "-q", input=content)


def loose(folder: Path, object_id: str) -> Path:
    """Return the file of a loose object, made writable so that a test can damage it."""
    path = folder / "objects" / object_id[:2] / object_id[2:]
    path.chmod(0o644)
    return path


def write_object(folder: Path, kind: str, content: bytes) -> str:
    """Write any object, valid or not."""
    return git(folder, "hash-object", "-w", "--literally", "-t", kind, "--stdin", input=content).decode().strip()


def deflated(kind: bytes, content: bytes) -> bytes:
    """Return the file of a loose object."""
    return zlib.compress(b"%s %d\0%s" % (kind, len(content), content))
