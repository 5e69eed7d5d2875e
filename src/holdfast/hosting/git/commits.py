"""Parses and writes commit and tag objects."""

import codecs
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import msgspec

from holdfast.hosting.errors import GitDamaged, NoSuchObject, PathRefused
from holdfast.hosting.git.encoding import is_id, raw
from holdfast.hosting.git.refs import check_ref_name
from holdfast.hosting.git.repository import Kind, Repo

__all__ = [
    "AddObject",
    "Commit",
    "Signature",
    "TagObject",
    "build_tree",
    "commit_content",
    "find_commit",
    "parse_commit",
    "read_commit",
    "read_tag",
    "tag_content",
]

LATEST: Final = 253_402_300_799
SHORT: Final = 256
# Characters that would end a line or an address; Python codecs that are not text encodings, or too slow.
NOT_IN_A_NAME: Final = str.maketrans("", "", "<>\n\0")
NOT_AROUND_IT: Final = " .,:;\"'\\\r\t"
NOT_TEXT: Final = frozenset(["idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7"])
ARMOUR: Final = (
    b"-----BEGIN PGP SIGNATURE-----",
    b"-----BEGIN SSH SIGNATURE-----",
    b"-----BEGIN SIGNED MESSAGE-----",
)
DIRECTORY_MODE: Final = b"40000"
FILE_MODE: Final = b"100644"

AddObject = Callable[[Kind, bytes], str]
"""Adds an object and returns its id."""


class Signature(msgspec.Struct, frozen=True):
    """An author, committer or tagger: name, e-mail, Unix time, and UTC offset in minutes."""

    name: str
    email: str
    time: int
    offset: int = 0


class Commit(msgspec.Struct, frozen=True):
    """A commit; a signed one has its `signature` and the signed `payload`."""

    id: str
    tree: str
    parents: tuple[str, ...]
    author: Signature
    committer: Signature
    message: str
    signature: str = ""
    payload: str = ""


@dataclass(frozen=True, slots=True)
class TagObject:
    """An annotated tag; very old ones have no tagger."""

    id: str
    target: str
    kind: str
    name: str
    tagger: Signature | None
    message: str
    signature: str = ""
    payload: str = ""


Headers = list[tuple[bytes, bytes]]


def find_commit(repo: Repo, commit: str) -> Commit | None:
    """Return a commit by full id; raise `NoSuchObject` if it does not exist."""
    git_object = repo.find(commit)
    return parse_commit(commit, git_object[1]) if git_object is not None and git_object[0] == "commit" else None


def read_commit(repo: Repo, commit: str) -> Commit:
    """Return a commit that must exist; raise `GitDamaged` if it does not."""
    return parse_commit(commit, repo.read(commit, "commit"))


def read_tag(repo: Repo, tag: str) -> TagObject:
    """Return an annotated tag by the id of its object."""
    git_object = repo.find(tag)
    if git_object is None or git_object[0] != "tag":
        raise NoSuchObject(f"there is no tag {tag}")
    return parse_tag(tag, git_object[1])


def split_headers(content: bytes) -> tuple[Headers, bytes]:
    """Split an object into its headers, with folded lines joined, and its message."""
    head, _, message = content.partition(b"\n\n")
    # An object without a message ends after its headers.
    head = head.removesuffix(b"\n")
    headers: Headers = []
    for line in head.split(b"\n"):
        if line.startswith(b" ") and headers:
            key, value = headers[-1]
            headers[-1] = key, value + b"\n" + line[1:]
        else:
            key, _, value = line.partition(b" ")
            headers.append((key, value))
    return headers, message


def first_headers(headers: Headers) -> dict[bytes, bytes]:
    """Return the first header of each name."""
    return dict(reversed(headers))


def id_header(owner: str, headers: Mapping[bytes, bytes], key: bytes) -> str:
    """Return the object id in a header; raise `GitDamaged` if it is missing."""
    value = headers.get(key, b"").decode(errors="replace")
    if not is_id(value):
        raise GitDamaged(f"the object {owner} has no {key.decode()}")
    return value


def decode_text(content: bytes, encoding: bytes | None) -> str:
    """Decode a text with its declared encoding; invalid bytes are replaced."""
    if encoding:
        try:
            codec = codecs.lookup(encoding.decode("ascii"))
            if codec.name.replace("_", "-") not in NOT_TEXT:
                return content.decode(codec.name, errors="replace").encode(errors="replace").decode()
        except (LookupError, ValueError):
            pass
    return content.decode(errors="replace")


def parse_signature(line: bytes | None, encoding: bytes | None) -> Signature:
    """Parse a signature as leniently as git."""
    if line is not None and len(line) <= SHORT:
        return cached_signature(line, encoding)
    return uncached_signature(line or b"", encoding)


@lru_cache(maxsize=1024)
def cached_signature(line: bytes, encoding: bytes | None) -> Signature:
    """Parse a signature, cached: a few people write most of a history."""
    return uncached_signature(line, encoding)


def uncached_signature(line: bytes, encoding: bytes | None) -> Signature:
    """Parse a signature of any length."""
    name, _, rest = line.partition(b"<")
    email = rest.partition(b">")[0]
    when = line.rpartition(b">")[2].split()
    time = int(when[0]) if when and when[0].isdigit() and len(when[0]) < 13 else 0
    offset = 0
    if len(when) > 1 and when[1][:1] in (b"+", b"-") and when[1][1:].isdigit() and len(when[1]) < 7:
        hours, minutes = divmod(int(when[1][1:]), 100)
        offset = hours * 60 + minutes
        offset = 0 if offset >= 24 * 60 else -offset if when[1].startswith(b"-") else offset
    return Signature(
        decode_text(name.strip(), encoding), decode_text(email.strip(), encoding), time * (time <= LATEST), offset
    )


def parse_commit(commit: str, content: bytes) -> Commit:
    """Parse a commit."""
    every, message = split_headers(content)
    headers = first_headers(every)
    encoding = headers.get(b"encoding")
    parents = tuple([value.decode(errors="replace") for name, value in every if name == b"parent"])
    if not all(map(is_id, parents)):
        raise GitDamaged(f"the commit {commit} has an invalid parent")
    signed = headers.get(b"gpgsig")
    return Commit(
        commit,
        id_header(commit, headers, b"tree"),
        parents,
        parse_signature(headers.get(b"author"), encoding),
        parse_signature(headers.get(b"committer"), encoding),
        decode_text(message, encoding),
        "" if signed is None else decode_text(signed, None),
        "" if signed is None else decode_text(without_header(content, b"gpgsig"), encoding),
    )


def parse_tag(tag: str, content: bytes) -> TagObject:
    """Parse an annotated tag."""
    every, message = split_headers(content)
    headers = first_headers(every)
    tagger = headers.get(b"tagger")
    encoding = headers.get(b"encoding")
    starts = [start for armour in ARMOUR if (start := (b"\n" + message).find(b"\n" + armour)) >= 0]
    end = min(starts, default=len(message))
    signed = message[end:]
    return TagObject(
        tag,
        id_header(tag, headers, b"object"),
        decode_text(headers.get(b"type", b""), None),
        decode_text(headers.get(b"tag", b""), None),
        None if tagger is None else parse_signature(tagger, encoding),
        decode_text(message[:end], encoding),
        decode_text(signed, None),
        decode_text(content[: len(content) - len(signed)], encoding) if signed else "",
    )


def without_header(content: bytes, header: bytes) -> bytes:
    """Return an object without one of its headers, which is the signed payload."""
    head, blank, message = content.partition(b"\n\n")
    lines: list[bytes] = []
    dropping = False
    for line in head.split(b"\n"):
        dropping = line.startswith(header + b" ") or (dropping and line.startswith(b" "))
        if not dropping:
            lines.append(line)
    return b"\n".join(lines) + blank + message


def signature_line(who: Signature) -> bytes:
    """Format a signature; characters that would end a line or an address are dropped, as git does."""
    name = who.name.translate(NOT_IN_A_NAME).strip(NOT_AROUND_IT)
    email = who.email.translate(NOT_IN_A_NAME).strip(NOT_AROUND_IT)
    hours, minutes = divmod(abs(who.offset), 60)
    sign = "-" if who.offset < 0 else "+"
    line = f"{name or 'unknown'} <{email}> {max(who.time, 0)} {sign}{hours:02}{minutes:02}"
    return line.encode(errors="replace")


def build_tree(add: AddObject, files: Mapping[str, bytes]) -> str:
    """Add files and their directories, and return the root tree."""
    folders: dict[bytes, dict[str, bytes]] = {}
    entries: list[tuple[bytes, bytes, str]] = []
    for path, content in files.items():
        name, slash, rest = path.partition("/")
        if name.lower() in ("", ".", "..", ".git") or "\0" in name or (slash and not rest):
            raise PathRefused(f"invalid path {path!r}")
        if slash:
            folders.setdefault(raw(name), {})[rest] = content
        else:
            entries.append((raw(name), FILE_MODE, add("blob", content)))
    for folder, inside in folders.items():
        entries.append((folder, DIRECTORY_MODE, build_tree(add, inside)))
    if len({name for name, _, _ in entries}) != len(entries):
        raise PathRefused("a file and a directory cannot have the same name")
    # git sorts a directory as if its name ended with a slash.
    entries.sort(key=lambda entry: entry[0] + b"/" if entry[1] == DIRECTORY_MODE else entry[0])
    return add("tree", b"".join(b"%s %s\0%s" % (mode, name, bytes.fromhex(at)) for name, mode, at in entries))


def commit_content(
    tree: str, parents: tuple[str, ...], author: Signature, committer: Signature, message: str
) -> bytes:
    """Return the content of a commit object."""
    above = "".join([f"tree {tree}\n", *[f"parent {parent}\n" for parent in parents]])
    by = signature_line(author)
    then = by if committer is author else signature_line(committer)
    return b"%sauthor %s\ncommitter %s\n\n%s" % (above.encode(), by, then, message.encode(errors="replace"))


def tag_content(target: str, name: str, tagger: Signature, message: str) -> bytes:
    """Return the content of an annotated tag of a commit."""
    check_ref_name(name)
    lines = [
        f"object {target}".encode(),
        b"type commit",
        f"tag {name}".encode(),
        b"tagger " + signature_line(tagger),
    ]
    text = message.replace("\0", "").rstrip("\n").encode(errors="replace")
    return b"\n".join(lines) + b"\n\n" + text + b"\n"
