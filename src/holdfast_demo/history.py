"""Writes a commit history for `git fast-import`: branches, merges and tags with their dates."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from holdfast_demo.people import DemoUser

__all__ = ["EXECUTABLE", "LINK", "SUBMODULE", "DemoBranch", "DemoFile", "DemoHistory", "text"]

EXECUTABLE: Final = "100755"
LINK: Final = "120000"
SUBMODULE: Final = "160000"


@dataclass(frozen=True, slots=True)
class DemoFile:
    """A tree entry: file content, link target, or submodule commit."""

    content: bytes
    mode: str = "100644"


def text(words: str, mode: str = "100644") -> DemoFile:
    """Return a file with this text."""
    return DemoFile(words.encode(), mode)


@dataclass(slots=True)
class DemoBranch:
    """A branch: its tip, its files, and the paths changed since it was created."""

    name: str
    tip: int = 0
    files: dict[str, DemoFile] = field(default_factory=dict)
    changed: set[str] = field(default_factory=set)


class DemoHistory:
    """Builds a `git fast-import` stream; commits are referred to by marks."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._count = 0

    @property
    def commits(self) -> int:
        """The number of commits."""
        return self._count

    def commit(
        self,
        branch: DemoBranch,
        person: DemoUser,
        when: int,
        message: str,
        files: Mapping[str, DemoFile],
        *,
        merged: int = 0,
    ) -> None:
        """Commit files to a branch."""
        self._count += 1
        signature = signed(person, when)
        head = f"commit refs/heads/{branch.name}\nmark :{self._count}\nauthor {signature}\ncommitter {signature}\n"
        self._pieces += [head.encode(), data(message.encode())]
        if branch.tip:
            self._pieces.append(b"from :%d\n" % branch.tip)
        if merged:
            self._pieces.append(b"merge :%d\n" % merged)
        for path, file in files.items():
            if file.mode == SUBMODULE:
                self._pieces.append(f"M {file.mode} {file.content.decode()} {path}\n".encode())
            else:
                self._pieces += [f"M {file.mode} inline {path}\n".encode(), data(file.content)]
        branch.tip = self._count
        branch.files.update(files)
        branch.changed.update(files)

    def fork(self, branch: DemoBranch, name: str) -> DemoBranch:
        """Create a branch at the tip of another."""
        return DemoBranch(name, branch.tip, dict(branch.files))

    def merge(self, branch: DemoBranch, other: DemoBranch, person: DemoUser, when: int, message: str) -> None:
        """Merge a branch into another, which must not have changed the same files."""
        files = {path: other.files[path] for path in sorted(other.changed)}
        self.commit(branch, person, when, message, files, merged=other.tip)

    def tag(self, name: str, branch: DemoBranch, person: DemoUser, when: int, message: str) -> None:
        """Tag the tip of a branch; the tag is annotated if there is a message."""
        if message:
            head = f"tag {name}\nfrom :{branch.tip}\ntagger {signed(person, when)}\n"
            self._pieces += [head.encode(), data(message.encode())]
        else:
            self._pieces.append(f"reset refs/tags/{name}\nfrom :{branch.tip}\n\n".encode())

    def stream(self) -> bytes:
        """Return the stream for `git fast-import`."""
        return b"".join([*self._pieces, b"done\n"])


def signed(person: DemoUser, when: int) -> str:
    """Format an author or committer line."""
    return f"{person.full_name} <{person.email}> {when} {person.zone}"


def data(content: bytes) -> bytes:
    """Format a data command."""
    return b"data %d\n%s\n" % (len(content), content)
