"""Runs the `git` program with a fixed environment and configuration.

The environment is built from scratch: no variable of the service, no system or user configuration and no hook of a
repository is used. Callers add what a command needs explicitly.
"""

import os
import re
import resource
import shutil
import signal
import subprocess
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Final

from holdfast.hosting import traces
from holdfast.hosting.errors import GitFailed, GitMissing, GitTimedOut
from holdfast.hosting.git.corruption import report_failure
from holdfast.hosting.git.folders import in_use
from holdfast.hosting.metrics import count_git_command

__all__ = ["OLDEST", "environment", "find_git", "git_version", "limit_memory", "run", "stderr_tail"]

OLDEST: Final = (2, 36)
SECONDS: Final = 60.0
STDERR_KEPT: Final = 4096
NOWHERE: Final = "/nonexistent"

# The configuration of every repository, here instead of in each one's file.
CONFIGURATION: Final = (
    ("safe.directory", "*"),
    ("core.hooksPath", "/dev/null"),
    # Repositories on disk are copies of the database and the object store: no data is lost with them.
    ("core.fsync", "none"),
    # Garbage collection is a scheduled task, never part of a push.
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("receive.autogc", "false"),
    ("receive.fsckObjects", "true"),
    # Harmless fsck findings in old histories, which must stay importable.
    ("receive.fsck.badTimezone", "ignore"),
    ("receive.fsck.missingSpaceBeforeDate", "ignore"),
    ("receive.fsck.zeroPaddedFilemode", "ignore"),
    ("receive.advertiseAtomic", "true"),
    ("receive.advertisePushOptions", "true"),
    ("transfer.hideRefs", "refs/holdfast"),
    ("uploadpack.allowFilter", "true"),
    ("uploadpack.allowReachableSHA1InWant", "true"),
    ("uploadarchive.allowUnreachable", "false"),
    # `git gc` writes both; they make clones fast.
    ("repack.writeBitmaps", "true"),
    ("gc.writeCommitGraph", "true"),
)


@lru_cache(maxsize=1)
def find_git() -> str:
    """Return the path of `git`, cached; raise `GitMissing` if it is not installed or too old."""
    path = shutil.which("git")
    if path is None:
        raise GitMissing("the git program is not installed, or not in PATH")
    version = re.match(rb"git version (\d+)\.(\d+)", ask_version(path))
    required = ".".join(map(str, OLDEST))
    if version is None:
        raise GitMissing(f"{path} is not the git program; version {required} or newer is needed")
    if (int(version[1]), int(version[2])) < OLDEST:
        had = version[0].decode().removeprefix("git version ")
        raise GitMissing(f"{path} is git {had}; version {required} or newer is needed")
    return path


@lru_cache(maxsize=1)
def git_version() -> str:
    """Return the version string of the program, cached."""
    return ask_version(find_git()).decode(errors="replace").strip()


def ask_version(program: str) -> bytes:
    """Run `git version`."""
    return subprocess.run(  # noqa: S603  # found in the service's own PATH
        [program, "version"], capture_output=True, check=False, env=environment(), timeout=SECONDS
    ).stdout


def environment(
    variables: Mapping[str, str] | None = None, configuration: Iterable[tuple[str, str]] = ()
) -> dict[str, str]:
    """Return the complete environment of a command."""
    variables_of_command = {
        "PATH": os.defpath,
        "HOME": NOWHERE,
        "XDG_CONFIG_HOME": NOWHERE,
        "LC_ALL": "C",
        "TZ": "UTC",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_LITERAL_PATHSPECS": "1",
        **(variables or {}),
    }
    settings = (*CONFIGURATION, *configuration)
    variables_of_command["GIT_CONFIG_COUNT"] = str(len(settings))
    for number, (key, value) in enumerate(settings):
        variables_of_command[f"GIT_CONFIG_KEY_{number}"] = key
        variables_of_command[f"GIT_CONFIG_VALUE_{number}"] = value
    return variables_of_command


def run(
    folder: Path | None,
    *arguments: str,
    input: bytes = b"",  # noqa: A002  # the name used by subprocess
    timeout: float = SECONDS,
    memory: int | None = None,
    variables: Mapping[str, str] | None = None,
    configuration: Iterable[tuple[str, str]] = (),
) -> bytes:
    """Run a git command in a bare repository and return its output; `memory` is its limit in bytes."""
    count_git_command(arguments[0])
    process_environment = environment(variables, configuration)
    if folder is not None:
        process_environment["GIT_DIR"] = str(folder)
    with (
        traces.span(f"git {arguments[0]}") as span,
        in_use(folder),
        subprocess.Popen(  # noqa: S603  # an argument list, without a shell
            [find_git(), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=process_environment,
            cwd=folder,
            process_group=0,  # so that child processes are killed with it
        ) as process,
    ):
        if memory is not None:
            limit_memory(process.pid, memory)
        try:
            output, complaint = process.communicate(input, timeout=timeout)
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)
            if isinstance(error, subprocess.TimeoutExpired):
                raise GitTimedOut(arguments[0], f"timed out after {timeout:g} seconds") from None
            raise
        span.set("process.exit.code", process.returncode)
    if process.returncode:
        code = process.returncode
        if memory is not None and b"out of memory" in complaint.lower():
            raise GitTimedOut(arguments[0], f"needs more than {memory >> 20} MiB of memory")
        stderr = stderr_tail(complaint)
        report_failure(folder, arguments[0], stderr)
        raise GitFailed(arguments[0], f"failed with exit code {code}", stderr, code, output)
    return output


def limit_memory(process_id: int, size: int) -> None:
    """Limit the memory that a process may allocate, which excludes mapped packs; only Linux can."""
    if hasattr(resource, "prlimit"):
        with suppress(ProcessLookupError):
            resource.prlimit(process_id, resource.RLIMIT_DATA, (size, size))


def stderr_tail(complaint: bytes) -> str:
    """Return the end of standard error; it may contain client data, so it is never logged."""
    return complaint[-STDERR_KEPT:].decode(errors="replace")
