"""The hooks that git runs during a push: short shell scripts that forward to the service.

Git passes its hooks two pipes created by the service, as descriptors 3 and 4. The service holds the other ends: if
it dies, a hook reads the end of its pipe instead of a response, and no ref is updated. The hooks are in one folder
for all repositories; a repository has none.

    pre-receive to service     pre-receive, the two object folders of the quarantine, old new ref ..., a full stop
    service to pre-receive     0 or 1, lines for the client, a full stop
    proc-receive to service    proc-receive, then git's pkt-lines: commands and push options
    service to proc-receive    pkt-lines for git: which refs were updated, and why others were not

Git leaves all refs to `proc-receive` (`receive.procReceiveRefs`), so the service updates them itself: in one
transaction, with a result for each.
"""

import asyncio
import os
import secrets
import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from holdfast.hosting.errors import GitError
from holdfast.hosting.git.quarantine import PushRejection
from holdfast.hosting.store.ref_updates import RefUpdate

__all__ = ["install", "read_changes", "read_commands", "read_quarantine", "report", "verdict"]

MOST_SAID: Final = 8192
MOST_REASON: Final = 500
QUARANTINE: Final = ("GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES")

BEFORE: Final = """\
#!/bin/sh
{
    printf '%s\\n' pre-receive "$GIT_OBJECT_DIRECTORY" "$GIT_ALTERNATE_OBJECT_DIRECTORIES"
    cat
    echo .
} >&4 || exit 1
IFS= read -r word <&3 || { echo "the service is gone" >&2; exit 1; }
while IFS= read -r line <&3; do
    [ "$line" = . ] && exit "$word"
    printf '%s\\n' "$line" >&2
done
exit 1
"""

# Git waits for the version before it sends the commands, and keeps its end open until it has read the results.
MOVE: Final = """\
#!/bin/sh
printf '001aversion=1\\000push-options0000'
exec 6<&0
{
    echo proc-receive
    cat <&6
} >&4 &
exec cat <&3
"""
HOOKS: Final = {"pre-receive": BEFORE, "proc-receive": MOVE}
FORMER: Final = ("post-receive",)


def install(folder: Path) -> None:
    """Write the hooks to a folder, unless they exist; git silently skips a hook that it cannot run."""
    for name in FORMER:
        (folder / name).unlink(missing_ok=True)
    for name, text in HOOKS.items():
        place = folder / name
        with suppress(OSError):
            if place.read_text() == text and os.access(place, os.X_OK):
                continue
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = folder / f".{name}-{secrets.token_hex(8)}"
        temporary.write_text(text)
        temporary.chmod(0o700)
        temporary.rename(place)
        if not os.access(place, os.X_OK):
            raise GitError(
                f"no program can run in {folder}, but git must run its hooks there; it is mounted noexec"
            )


async def read_quarantine(pipe: asyncio.StreamReader) -> dict[str, str]:
    """Read the object folders of the quarantine; a push that only deletes has none."""
    values = [await read_line(pipe) for _ in QUARANTINE]
    return {name: value for name, value in zip(QUARANTINE, values, strict=True) if value}


async def read_changes(pipe: asyncio.StreamReader) -> tuple[RefUpdate, ...]:
    """Read the ref updates up to the full stop."""
    changes: list[RefUpdate] = []
    while (line := await read_line(pipe)) != ".":
        old, new, ref = line.split(" ", 2)
        changes.append(RefUpdate(ref, old, new))
    return tuple(changes)


async def read_commands(pipe: asyncio.StreamReader) -> tuple[tuple[RefUpdate, ...], tuple[str, ...]]:
    """Read the commands that git leaves to the service, and their push options."""
    await read_packets(pipe)  # the version; there is only one
    changes = []
    for packet in await read_packets(pipe):
        old, new, ref = packet.split(" ", 2)
        changes.append(RefUpdate(ref, old, new))
    return tuple(changes), tuple(await read_packets(pipe))


async def read_packets(pipe: asyncio.StreamReader) -> list[str]:
    """Read pkt-lines up to a flush packet."""
    packets = []
    try:
        while length := int(await pipe.readexactly(4), 16):
            packets.append(os.fsdecode((await pipe.readexactly(length - 4)).removesuffix(b"\n")))
    except (asyncio.IncompleteReadError, ValueError) as error:
        raise GitError("git ended in the middle of telling what was pushed") from error
    return packets


def report(changes: Sequence[RefUpdate], refusals: Sequence[PushRejection]) -> bytes:
    """Return the result of each command as pkt-lines for git."""
    reasons: dict[str, str] = {}
    for refusal in refusals:
        reasons.setdefault(refusal.ref, plain(refusal.reason)[:MOST_REASON])
    lines = []
    for change in changes:
        reason = reasons.get(change.ref)
        ref = os.fsencode(change.ref)
        lines.append(b"ok " + ref if reason is None else b"ng %s %s" % (ref, reason.encode(errors="replace")))
    return b"".join(b"%04x%s" % (len(line) + 4, line) for line in lines) + b"0000"


async def read_line(pipe: asyncio.StreamReader) -> str:
    """Read one complete line."""
    line = await pipe.readline()
    if not line.endswith(b"\n"):
        raise GitError("git ended in the middle of telling what was pushed")
    return os.fsdecode(line[:-1])


def verdict(refusals: Sequence[PushRejection]) -> bytes:
    """Return the service's response to pre-receive."""
    message = "".join(f"{plain(refusal.ref)}: {plain(refusal.reason)}\n" for refusal in refusals)
    text = message.encode(errors="replace")
    if len(text) > MOST_SAID:
        text = text[:MOST_SAID].rpartition(b"\n")[0] + b"\n...\n"
    return (b"1\n" if refusals else b"0\n") + text + b".\n"


def plain(text: str) -> str:
    """Remove control characters, which could move the cursor of a terminal or begin a new line."""
    return "".join(" " if unicodedata.category(letter).startswith("C") else letter for letter in text)
