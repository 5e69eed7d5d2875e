"""Fetches from and pushes to remote repositories, over http and https.

git does not resolve names itself: it is given the address, which was checked before. It follows no redirect, uses
no proxy, prompts for no password, and supports no other protocol. Credentials are in its environment, never in its
arguments or in a file.
"""

import os
import re
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from holdfast.hosting import traces
from holdfast.hosting.errors import GitMissing, RemoteFailed
from holdfast.hosting.git.folders import in_use
from holdfast.hosting.git.program import environment, find_git, run
from holdfast.hosting.git.quarantine import refused_name
from holdfast.hosting.metrics import count_git_command
from holdfast.redacted_repr import redacted

__all__ = ["GitRemote", "RemoteLimits", "RemoteRefs", "fetch", "list_refs", "push"]

# The first version with `http.curloptResolve`, without which git would resolve names itself.
OLDEST: Final = (2, 37)
# The interval at which the size of the received data is checked.
CHECK_SECONDS: Final = 0.5
MOST_REFS: Final = 50_000
# Branches, tags and notes are fetched; pull requests are refs of the other service.
REFSPECS: Final = tuple(f"+refs/{kind}/*:refs/{kind}/*" for kind in ("heads", "tags", "notes"))
PATTERNS: Final = ("HEAD", "refs/heads/*", "refs/tags/*", "refs/notes/*")
CONFIGURATION: Final = (
    ("protocol.allow", "never"),
    ("protocol.http.allow", "always"),
    ("protocol.https.allow", "always"),
    # It also prevents git from using the alternates of a repository on a plain web server.
    ("http.followRedirects", "false"),
    ("http.proxy", ""),
    ("http.sslVerify", "true"),
    ("http.lowSpeedLimit", "1"),
    ("http.lowSpeedTime", "60"),
    ("credential.helper", ""),
    ("core.askPass", ""),
    ("transfer.bundleURI", "false"),
    ("fetch.unpackLimit", "1"),
    ("fetch.fsckObjects", "true"),
    ("fetch.fsck.badTimezone", "ignore"),
    ("fetch.fsck.missingSpaceBeforeDate", "ignore"),
    ("fetch.fsck.zeroPaddedFilemode", "ignore"),
)


@redacted
@dataclass(frozen=True, slots=True)
class GitRemote:
    """A remote repository, and the checked addresses of its host."""

    url: str
    """The URL, without credentials."""
    host: str
    port: int
    addresses: tuple[str, ...]
    authorization: str = ""
    """The value of the Authorization header."""


@dataclass(frozen=True, slots=True)
class RemoteLimits:
    """The limits of a command."""

    seconds: float
    most_bytes: int


@dataclass(frozen=True, slots=True)
class RemoteRefs:
    """The refs of a remote repository."""

    targets: dict[str, str]
    default_branch: str
    """The branch HEAD points to; empty if there is none."""


def list_refs(folder: Path, remote: GitRemote, limits: RemoteLimits) -> RemoteRefs:
    """Return the branches, tags and notes of a remote repository."""
    output = run_remote(folder, remote, limits, "ls-remote", "--quiet", "--symref", remote.url, *PATTERNS)
    targets: dict[str, str] = {}
    head = ""
    for line in os.fsdecode(output).splitlines():
        target, _, name = line.partition("\t")
        if target.startswith("ref: refs/heads/") and name == "HEAD":
            head = target.removeprefix("ref: refs/heads/")
        # The commit of an annotated tag (`^{}`) is listed beside the tag.
        elif name.startswith("refs/") and not name.endswith("^{}") and refused_name(name, deletes=False) is None:
            targets[name] = target
    if len(targets) > MOST_REFS:
        raise RemoteFailed(f"the remote repository has more than {MOST_REFS} branches and tags")
    return RemoteRefs(targets, head)


def fetch(folder: Path, remote: GitRemote, limits: RemoteLimits) -> None:
    """Fetch the branches, tags and notes of a remote repository into a new bare repository."""
    options = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules")
    run_remote(folder, remote, limits, "fetch", *options, remote.url, *REFSPECS)


def push(folder: Path, remote: GitRemote, limits: RemoteLimits, *, aside: Path) -> None:
    """Push branches, tags and notes to a remote repository; others that exist there are deleted (`--prune`)."""
    options = ("--quiet", "--prune", "--no-verify", "--no-recurse-submodules")
    run_remote(folder, remote, limits, "push", *options, remote.url, *REFSPECS, aside=aside)


def run_remote(
    folder: Path, remote: GitRemote, limits: RemoteLimits, *arguments: str, aside: Path | None = None
) -> bytes:
    """Run a git command that connects to a remote repository; raise `RemoteFailed`.

    Its output is written to the folder `aside`, whose size is limited; the default is the parent of the
    repository.
    """
    require_resolve()
    count_git_command(arguments[0])
    variables = environment({"GIT_DIR": str(folder)}, (*CONFIGURATION, *configuration_for(remote)))
    aside = aside or folder.parent
    output, complaint = aside / "output", aside / "complaint"
    deadline = time.monotonic() + limits.seconds
    with (
        traces.span(f"git {arguments[0]}") as span,
        in_use(folder),
        output.open("wb") as written,
        complaint.open("wb") as stderr,
        subprocess.Popen(  # noqa: S603  # an argument list, without a shell
            [find_git(), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=written,
            stderr=stderr,
            env=variables,
            cwd=folder,
            process_group=0,  # so that child processes are killed with it
        ) as process,
    ):
        try:
            wait(process, aside, limits, deadline)
        except BaseException:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            raise
        span.set("process.exit.code", process.returncode)
    if process.returncode:
        with complaint.open("rb") as read:
            raise RemoteFailed(reason_of(read.read(64 * 1024), arguments[0]))
    return output.read_bytes()


def wait(process: "subprocess.Popen[bytes]", folder: Path, limits: RemoteLimits, deadline: float) -> None:
    """Wait for a command; raise `RemoteFailed` if it exceeds the time or size limit."""
    while True:
        is_done = False
        with suppress(subprocess.TimeoutExpired):
            process.wait(CHECK_SECONDS)
            is_done = True
        # A folder that is not used for some time is removed.
        os.utime(folder)
        if folder_size(folder) > limits.most_bytes:
            most = limits.most_bytes // (1024 * 1024)
            raise RemoteFailed(f"the remote repository is larger than {most} MiB (the setting migration_max_mb)")
        if is_done:
            return
        if time.monotonic() > deadline:
            raise RemoteFailed(f"it took longer than {limits.seconds:g} seconds (the setting migration_timeout)")


def folder_size(folder: Path) -> int:
    """Return the total size of the files below a folder; files that vanish meanwhile are not counted."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(parent, name)).st_size  # noqa: PTH116,PTH118  # there may be many files
            except FileNotFoundError:
                continue
    return total


def configuration_for(remote: GitRemote) -> list[tuple[str, str]]:
    """Return the configuration for one remote: the address to connect to, and the credentials."""
    written = [f"[{address}]" if ":" in address else address for address in remote.addresses]
    configuration = []
    if remote.host not in remote.addresses:
        configuration.append(("http.curloptResolve", f"{remote.host}:{remote.port}:{','.join(written)}"))
    if remote.authorization:
        configuration.append(("http.extraHeader", f"Authorization: {remote.authorization}"))
    return configuration


@lru_cache(maxsize=1)
def require_resolve() -> None:
    """Raise `GitMissing` if git is too old for `http.curloptResolve`."""
    version = re.match(rb"git version (\d+)\.(\d+)", run(None, "version"))
    if version is None or (int(version[1]), int(version[2])) < OLDEST:
        raise GitMissing(f"migrations and mirrors need git {'.'.join(map(str, OLDEST))} or newer")


def reason_of(complaint: bytes, command: str) -> str:
    """Return why a command failed, in our own words: git's output may quote paths of this machine."""
    message = complaint.decode(errors="replace").lower()
    for sign, reason in (
        ("authentication failed", "the remote repository needs other credentials"),
        ("could not read username", "the remote repository needs credentials"),
        ("error: 401", "the remote repository needs other credentials"),
        ("error: 403", "the remote repository may not be accessed with these credentials"),
        ("not found", "there is no repository at this address"),
        ("fsck error", "the remote repository has damaged objects"),
        ("unable to access", "the remote repository cannot be reached"),
        ("rejected", "the remote repository refused the update"),
    ):
        if sign in message:
            return reason
    return f"git {command} failed"
