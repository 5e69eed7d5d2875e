"""Smart HTTP for those who read: what git clients are told when they clone, fetch and ask for an archive.

Each function yields the body of an answer. Nothing is yielded before the whole request has been read, so whoever
sends the answer may take its first piece before deciding on a status: an error before that piece is the client's
or ours and becomes one; after it, git itself has told the client what is wrong, in its own protocol.

Pushes are in `receive`.
"""

import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Final, Literal

from holdfast.hosting.errors import GitFailed, GitTimedOut
from holdfast.hosting.git.process import PATIENCE, stream
from holdfast.hosting.git_server.request_body import spool

__all__ = ["Service", "advertise", "protocol_variables", "upload_archive", "upload_pack"]

Service = Literal["git-upload-pack", "git-receive-pack"]
# What a client asks for when it fetches: names of objects, even for a hundred thousand branches a few megabytes.
MOST_ASKED: Final = 32 * 1024 * 1024
VERSION: Final = re.compile(r"version=([0-2])")


def protocol_variables(header: str | None) -> dict[str, str]:
    """Turn a `Git-Protocol` header into the variable git reads; only known versions get through."""
    versions = [match[1] for part in (header or "").split(":") if (match := VERSION.fullmatch(part))]
    return {"GIT_PROTOCOL": f"version={max(versions)}"} if versions else {}


async def advertise(
    folder: Path, service: Service, *, protocol: str | None = None, patience: float = PATIENCE
) -> AsyncGenerator[bytes, None]:
    """Tell what a repository offers: the answer to `info/refs?service=...`."""
    variables = protocol_variables(protocol)
    # Version 2 begins with its version instead; it exists only for reading.
    line = f"# service={service}\n"
    silent = service == "git-upload-pack" and variables.get("GIT_PROTOCOL") == "version=2"
    greeting = b"" if silent else f"{len(line) + 4:04x}{line}0000".encode()
    arguments = (service.removeprefix("git-"), "--stateless-rpc", "--advertise-refs", str(folder))
    async with aclosing(stream(folder, *arguments, patience=patience, variables=variables)) as chunks:
        async for chunk in chunks:
            yield greeting + chunk
            greeting = b""


def upload_pack(
    folder: Path, body: AsyncIterator[bytes], *, protocol: str | None = None, patience: float = PATIENCE
) -> AsyncGenerator[bytes, None]:
    """Answer one request of a clone or fetch."""
    arguments = ("upload-pack", "--stateless-rpc", str(folder))
    return answer(folder, arguments, body, variables=protocol_variables(protocol), patience=patience)


def upload_archive(
    folder: Path, body: AsyncIterator[bytes], *, patience: float = PATIENCE
) -> AsyncGenerator[bytes, None]:
    """Answer `git archive --remote`."""
    return answer(folder, ("upload-archive", str(folder)), body, variables={}, patience=patience)


async def answer(
    folder: Path,
    arguments: tuple[str, ...],
    body: AsyncIterator[bytes],
    *,
    variables: dict[str, str],
    patience: float,
) -> AsyncGenerator[bytes, None]:
    """Hand a whole request to git and yield its answer."""
    with await spool(body, most=MOST_ASKED) as request:
        output = stream(folder, *arguments, stdin=request.fileno(), patience=patience, variables=variables)
        answered = False
        async with aclosing(output) as chunks:
            try:
                async for chunk in chunks:
                    answered = True
                    yield chunk
            except GitFailed as error:
                # Once git has answered, its answer says what is wrong; cutting it short would hide that.
                if not answered or isinstance(error, GitTimedOut):
                    raise
