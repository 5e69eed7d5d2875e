"""`holdfast backup push` and `pull`: snapshots in a git repository, stored with Git LFS, one commit each."""

import base64
import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, BinaryIO, Final
from urllib.parse import quote

import msgspec
import typer

from holdfast import backup
from holdfast.backup import BackupError, KeyMaterial, archives
from holdfast.backup.archives import is_archive, passphrases
from holdfast.backup.archives.shared_file import read_head
from holdfast.backup.compare import Difference, diff
from holdfast.backup.container.atomic_write import write_atomically
from holdfast.backup.container.chunks import CHUNK
from holdfast.backup.errors import KeyIncomplete, UnreadableBackup, WrongKey
from holdfast.cli.api_client import (
    LFS_TYPE,
    LONGEST_MESSAGE,
    OWN_HEADERS,
    MalformedResponse,
    Remote,
    RemoteRefused,
)
from holdfast.cli.keys import AccountOption, KeyFileOption, KeyOption, gather_keys, read_file
from holdfast.cli.output import JsonOption, byte_progress, console, print_json, print_note, printable
from holdfast.cli.outputs import ForceOption, check_target
from holdfast.cli.summary import human_size
from holdfast.counts import count_of
from holdfast.errors import HoldfastError
from holdfast.hosting.lfs.pointer import MOST_BYTES, LfsPointer
from holdfast.secret import Secret

__all__ = ["pull_backup", "push_backup"]

TOKEN: Final = "HOLDFAST_TOKEN"  # noqa: S105  # the name of a variable
SERVER: Final = "HOLDFAST_SERVER"
ATTRIBUTES: Final = ".gitattributes"
LARGEST_ATTRIBUTES: Final = 1 << 20
WHERE: Final = "The repository, as owner/name, or owner/name:path for another name in it."

ServerOption = Annotated[
    str | None, typer.Option("--server", help=f"The URL of the host; also {SERVER}.", show_default=False)
]
TokenFileOption = Annotated[
    Path | None, typer.Option("--token-file", help=f"A file with an access token; also {TOKEN}.")
]
TokenOption = Annotated[
    str | None,
    typer.Option("--token", help="The token itself. Others can see it in the list of processes."),
]
BranchOption = Annotated[str | None, typer.Option("--branch", help="The branch. Default: the default branch.")]


class PublicRepository(HoldfastError):
    """An unencrypted backup would become public."""


class RepositoryFacts(msgspec.Struct):
    """The used fields of a repository in the API."""

    default_branch: str
    empty: bool = False
    private: bool = False


class FileFacts(msgspec.Struct):
    """The used fields of a file in the API."""

    sha: str
    type: str = "file"


class CommitFacts(msgspec.Struct):
    """A created commit."""

    sha: str = ""
    html_url: str = ""


class SnapshotCommitResponse(msgspec.Struct):
    """The response to a change of files."""

    commit: CommitFacts


class Action(msgspec.Struct):
    """An action of the Git LFS batch API: a URL and headers."""

    href: str
    header: dict[str, str] | None = None

    def headers(self, **own: str) -> dict[str, str]:
        """Return the headers to send: those of the action, without connection headers, then `own`."""
        requested = {name: value for name, value in (self.header or {}).items() if name.lower() not in OWN_HEADERS}
        names = {name.lower() for name in requested}
        return requested | {name: value for name, value in own.items() if name.lower() not in names}


class ItemError(msgspec.Struct):
    """The error of an object in a batch response."""

    message: str = ""


class Item(msgspec.Struct):
    """An object of a batch response."""

    oid: str
    actions: dict[str, Action] | None = None
    error: ItemError | None = None


class Batch(msgspec.Struct):
    """The response of the Git LFS batch API."""

    objects: list[Item]


class PushOutput(msgspec.Struct, frozen=True):
    """The JSON output of `backup push`."""

    repository: str
    path: str
    branch: str
    bytes: int
    changed: bool
    commit: str
    message: str


@dataclass(frozen=True, slots=True)
class Target:
    """A file in a repository of a host."""

    remote: Remote
    path: str
    branch: str

    def address(self, kind: str, path: str | None = None) -> str:
        """Return the URL of the file, or of another file on the branch."""
        return f"{self.remote.api}/{kind}/{quote(path or self.path)}?ref={quote(self.branch, safe='')}"


def push_backup(
    file: Annotated[Path, typer.Argument(help="The backup or archive, a file.", show_default=False)],
    where: Annotated[str, typer.Argument(help=WHERE, show_default=False)],
    *,
    server: ServerOption = None,
    token_file: TokenFileOption = None,
    token: TokenOption = None,
    branch: BranchOption = None,
    message: Annotated[
        str | None, typer.Option("--message", "-m", help="The commit message. Default: a summary of the changes.")
    ] = None,
    allow_public: Annotated[
        bool,
        typer.Option(
            "--allow-public",
            "--yes",
            help="Do not ask before storing an unencrypted backup in a public repository.",
        ),
    ] = False,
    key_file: KeyFileOption = None,
    key: KeyOption = None,
    account_id: AccountOption = None,
    json: JsonOption = False,
) -> None:
    """Store a backup in a repository with Git LFS, in one commit that lists the changes since the last."""
    if not file.is_file():
        raise UnreadableBackup(f"{file} is a folder; convert it with `holdfast backup convert` first")
    keys = gather_keys(os.environ, key=key, key_file=key_file, account_id=account_id)
    target, facts = resolve_target(where, file.name, server, token, token_file, branch)
    pointer = pointer_of(file)
    before = None if facts.empty else target.remote.bytes_at(target.address("raw"), MOST_BYTES)
    old = LfsPointer.parse(before) if before is not None and len(before) <= MOST_BYTES else None
    if old == pointer:
        output = PushOutput(target.remote.repository, target.path, target.branch, pointer.size, False, "", "")
    else:
        if not facts.private and not is_encrypted(file):
            confirm_public(target, file, allowed=allow_public)
        upload(target.remote, file, pointer)
        text = message or commit_message(target, file, pointer, old, keys)
        commit = commit_pointer(target, facts, pointer, text, exists=before is not None)
        output = PushOutput(
            target.remote.repository, target.path, target.branch, pointer.size, True, commit.sha, text
        )
    if json:
        print_json(output)
    elif not output.changed:
        console().print(f"{output.repository}:{output.path} is up to date; nothing was changed")
    else:
        out = console()
        branch = printable(output.branch)
        out.print(f"{output.repository}:{output.path} on {branch}, {human_size(output.bytes)}")
        out.print(output.message)


def pull_backup(
    where: Annotated[str, typer.Argument(help="What to fetch, as owner/name:path.", show_default=False)],
    target_file: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write.", show_default=False)],
    *,
    server: ServerOption = None,
    token_file: TokenFileOption = None,
    token: TokenOption = None,
    branch: Annotated[
        str | None, typer.Option("--ref", help="A branch, tag or commit. Default: the default branch.")
    ] = None,
    force: ForceOption = False,
) -> None:
    """Download a backup from a repository; it is verified before it is written."""
    check_target(target_file, [token_file], force=force)
    target, _ = resolve_target(where, target_file.name, server, token, token_file, branch)
    small = target.remote.bytes_at(target.address("raw"), MOST_BYTES)
    if small is None:
        raise RemoteRefused(f"there is no {target.path} in {target.remote.repository} on {target.branch}")
    stored = LfsPointer.parse(small) if len(small) <= MOST_BYTES else None
    fetch(target, stored, target_file, replace=force)
    console().print(f"{target_file}: {human_size(target_file.stat().st_size)}")


def resolve_target(  # noqa: PLR0917  # the arguments of a command line
    where: str, name: str, server: str | None, token: str | None, token_file: Path | None, branch: str | None
) -> tuple[Target, RepositoryFacts]:
    """Return the target given on the command line."""
    repository, _, path = where.partition(":")
    path = path.strip("/") or name
    if repository.count("/") != 1 or not all(repository.split("/")):
        raise typer.BadParameter(f"{where} is not owner/name or owner/name:path", param_hint="WHERE")
    if any(part in {"", ".", "..", ".git"} for part in path.split("/")):
        raise typer.BadParameter(f"{path} is not a valid path", param_hint="WHERE")
    address = server or os.environ.get(SERVER)
    if not address:
        raise typer.BadParameter(f"give the URL of the host, or set {SERVER}", param_hint="--server")
    remote = Remote(address, token_of(token, token_file), repository)
    facts = remote.json("GET", remote.api, RepositoryFacts)
    return Target(remote, path, branch or facts.default_branch), facts


def token_of(token: str | None, token_file: Path | None) -> Secret | None:
    """Return the token from the option, the file, the environment or a prompt, in this order."""
    if token is not None:
        return Secret(token)
    if token_file is not None:
        return Secret(read_file(token_file).strip())
    if os.environ.get(TOKEN):
        return Secret(os.environ[TOKEN])
    if sys.stdin.isatty() and sys.stderr.isatty():
        typed = typer.prompt("Token", hide_input=True, err=True, default="", show_default=False)
        return Secret(typed) if typed else None
    return None


def pointer_of(file: Path) -> LfsPointer:
    """Return the Git LFS pointer of a file."""
    try:
        with file.open("rb") as source:
            return LfsPointer(hashlib.file_digest(source, "sha256").hexdigest(), file.stat().st_size)
    except OSError as error:
        raise UnreadableBackup(f"{file} cannot be read: {error.strerror}") from error


def upload(remote: Remote, file: Path, pointer: LfsPointer) -> None:
    """Upload a file with Git LFS, unless the host has it."""
    batch_request = {
        "operation": "upload",
        "transfers": ["basic"],
        "objects": [{"oid": pointer.oid, "size": pointer.size}],
    }
    batch = remote.json("POST", f"{remote.lfs}/objects/batch", Batch, batch_request, lfs=True)
    item = next((candidate for candidate in batch.objects if candidate.oid == pointer.oid), None)
    if item is None:
        raise MalformedResponse(f"{remote.server} did not respond about the requested file")
    if item.error is not None:
        message = item.error.message[:LONGEST_MESSAGE]
        raise RemoteRefused(f"{remote.server} rejected this file{f': {message}' if message else ''}")
    actions = item.actions or {}
    put = actions.get("upload")
    if put is not None:
        with opened_source(file) as source, byte_progress(file.name, pointer.size) as progress:
            headers = put.headers(**{"Content-Type": "application/octet-stream"})
            headers["Content-Length"] = str(pointer.size)
            remote.open("PUT", put.href, headers, counted(source, pointer.size, progress)).close()
    verify = actions.get("verify")
    if verify is not None:
        body = msgspec.json.encode({"oid": pointer.oid, "size": pointer.size})
        headers = verify.headers(Accept=LFS_TYPE, **{"Content-Type": LFS_TYPE})
        remote.open("POST", verify.href, headers, body).close()


def is_encrypted(file: Path) -> bool:
    """Return whether a file is an encrypted backup or archive."""
    if is_archive(file):
        return passphrases.is_encrypted(read_head(file, passphrases.SALT))
    try:
        with backup.open(file):
            return False
    except (KeyIncomplete, WrongKey):
        return True
    except BackupError:
        return False


def confirm_public(target: Target, file: Path, *, allowed: bool) -> None:
    """Ask for confirmation before an unencrypted backup is stored in a public repository."""
    repository = target.remote.repository
    print_note(f"warning: {repository} is public and {file.name} is not encrypted: anyone could read its messages")
    if allowed:
        return
    if sys.stdin.isatty() and sys.stderr.isatty() and typer.confirm("Store it there all the same?", err=True):
        return
    raise PublicRepository(
        f"nothing was stored in {repository}; make it private, encrypt the file with "
        "`holdfast backup convert --to container`, or give --allow-public"
    )


@contextmanager
def opened_source(file: Path) -> Iterator[BinaryIO]:
    """Open the file to upload."""
    try:
        source = file.open("rb")
    except OSError as error:
        raise UnreadableBackup(f"{file} cannot be read: {error.strerror}") from error
    with source:
        yield source


def counted(source: BinaryIO, size: int, progress: Callable[[int], None] | None) -> Iterator[bytes]:
    """Yield `size` bytes of a file in chunks, and report progress."""
    completed = 0
    while completed < size:
        try:
            piece = source.read(min(CHUNK, size - completed))
        except OSError as error:
            raise UnreadableBackup(f"{source.name} cannot be read: {error.strerror}") from error
        if not piece:
            raise UnreadableBackup(f"{source.name} was truncated during the upload; try again")
        yield piece
        completed += len(piece)
        if progress is not None:
            progress(completed)


def fetch(target: Target, stored: LfsPointer | None, to: Path, *, replace: bool = False) -> None:
    """Write a file of a repository to the disk after it is verified.

    An LFS object is checked against the size and hash of its pointer. For any other file the response must have a
    `Content-Length` or be chunked, so that a truncated body is detected.
    """
    digest = hashlib.sha256()
    size = 0
    server = target.remote.server
    mismatch = f"{server} sent other content than was stored; nothing was written"
    with (
        target.remote.open("GET", target.address("media"), {}) as reply,
        byte_progress(to.name, reply.length if stored is None else stored.size) as progress,
        write_atomically(to, replace=replace) as out,
    ):
        if stored is None and reply.length is None and not reply.chunked:
            raise MalformedResponse(f"{server} did not send a length; nothing was written")
        if stored is not None and reply.length not in {None, stored.size}:
            raise MalformedResponse(mismatch)
        while piece := reply.read(CHUNK):
            size += len(piece)
            if stored is not None and size > stored.size:
                raise MalformedResponse(mismatch)
            out.write(piece)
            digest.update(piece)
            if progress is not None:
                progress(size)
        if stored is not None and (digest.hexdigest(), size) != (stored.oid, stored.size):
            raise MalformedResponse(mismatch)


def commit_pointer(
    target: Target, facts: RepositoryFacts, pointer: LfsPointer, message: str, *, exists: bool
) -> CommitFacts:
    """Commit the pointer file, and the line of `.gitattributes` for its path."""
    remote = target.remote
    files = [changed(target, target.path, pointer.format(), exists=exists)]
    attributes = None if facts.empty else remote.bytes_at(target.address("raw", ATTRIBUTES), LARGEST_ATTRIBUTES)
    if attributes is not None and len(attributes) > LARGEST_ATTRIBUTES:
        raise RemoteRefused(f"{ATTRIBUTES} of {remote.repository} is too large to be changed")
    line = f"{pattern(target.path)} filter=lfs diff=lfs merge=lfs -text"
    existing_lines = (attributes or b"").decode(errors="replace").splitlines()
    if not any(is_for(target.path, existing) for existing in existing_lines):
        content = b"\n".join([*(attributes or b"").rstrip(b"\n").splitlines(), line.encode(), b""])
        files.append(changed(target, ATTRIBUTES, content, exists=attributes is not None))
    body: dict[str, object] = {"message": message, "files": files}
    if not facts.empty:
        body["branch"] = target.branch
    return remote.json("POST", f"{remote.api}/contents", SnapshotCommitResponse, body).commit


def changed(target: Target, path: str, content: bytes, *, exists: bool) -> dict[str, str]:
    """Return the change of one file, conditional on the version that was read."""
    entry = {"operation": "create", "path": path, "content": base64.b64encode(content).decode()}
    if exists:
        facts = target.remote.json("GET", target.address("contents", path), FileFacts)
        entry |= {"operation": "update", "sha": facts.sha}
    return entry


def pattern(path: str) -> str:
    """Return the `.gitattributes` pattern that matches only this path."""
    quoted = "".join(f"[{sign}]" if sign in "*?[" else sign for sign in f"/{path}")
    if any(sign in quoted for sign in ' "\\\t'):
        return '"' + quoted.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return quoted


def is_for(path: str, line: str) -> bool:
    """Return whether a line of `.gitattributes` applies to a path or its suffix."""
    ending = Path(path).suffix
    return "filter=lfs" in line and line.startswith((f"{pattern(path)} ", f"*{ending} " if ending else "\0"))


def commit_message(
    target: Target, file: Path, pointer: LfsPointer, old: LfsPointer | None, keys: KeyMaterial | None
) -> str:
    """Return the commit message: what changed since the last snapshot, if the keys allow it."""
    size = human_size(pointer.size)
    try:
        if is_archive(file):
            if passphrases.is_encrypted(read_head(file, passphrases.SALT)):
                return f"Encrypted archive\n\n{size}.\n"
            with archives.open(file) as opened:
                chats = opened.chats()
            messages = count_of(sum(chat.messages for chat in chats), "message")
            return f"Archive: {messages} in {count_of(len(chats), 'chat')}\n\n{size}.\n"
        info = backup.info(file, keys)
    except KeyIncomplete:
        print_note("note: it is encrypted, so the commit does not say what changed; --key-file lets it")
        return f"Snapshot {target.path} (encrypted, {size})"
    except BackupError as error:
        print_note(f"note: not readable as a backup ({error}); the commit does not list changes")
        return f"Snapshot {target.path} ({size})"
    counts = info.counts
    made_at = f"{info.header.made_at:%Y-%m-%d %H:%M} UTC" if info.header.made_at else "an unknown time"
    now = f"{count_of(counts['chatItem'], 'message')} in {count_of(counts['chat'], 'chat')}"
    facts = f"Made at {made_at}; {now}, {size}."
    if old is None:
        return f"First snapshot: {now}\n\n{facts}\n"
    difference = compared(target, file, old, keys)
    if difference is None:
        return f"Snapshot of {made_at}\n\n{facts}\n"
    return f"{summary_of(difference)}\n\n{facts}\n"


def compared(target: Target, file: Path, old: LfsPointer, keys: KeyMaterial | None) -> Difference | None:
    """Download the current snapshot and compare with it."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="holdfast-")))
        try:
            fetch(target, old, folder / "before")
            before = stack.enter_context(backup.open(folder / "before", keys))
            after = stack.enter_context(backup.open(file, keys))
            return diff(before, after)
        except (BackupError, RemoteRefused) as error:
            print_note(f"note: cannot compare with the previous snapshot: {error}")
            return None


def summary_of(difference: Difference) -> str:
    """Return a summary of a difference in one line."""
    added = sum(chat.added for chat in difference.chats)
    removed = sum(chat.removed for chat in difference.chats)
    edited = sum(chat.changed for chat in difference.chats)
    new = sum(1 for chat in difference.chats if chat.before == 0 and chat.added)
    parts = [
        count_of(added, "message") + " added" if added else "",
        count_of(edited, "message") + " changed" if edited else "",
        count_of(removed, "message") + " gone" if removed else "",
        count_of(new, "chat") + " new" if new else "",
        count_of(len(difference.records), "record") + " changed" if difference.records else "",
    ]
    changes = ", ".join(part for part in parts if part)
    return f"Snapshot: {changes}" if changes else "Snapshot: nothing new"
