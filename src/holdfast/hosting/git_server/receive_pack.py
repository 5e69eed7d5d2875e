"""Smart HTTP for those who write: a push, judged before any reference moves, and never lost once one has.

Git takes the pack and checks it; the service moves the references. The client's part of a push is to send it. From
then on it does not matter whether the client or git is still there: a push runs in a task of its own, and what is
moved is recorded in any case.
"""

import asyncio
import os
import resource
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from io import FileIO
from pathlib import Path
from typing import Final

import structlog

from holdfast.hosting.errors import BodyTooLarge, GitTimedOut, GitUnsupported
from holdfast.hosting.git import receive_hooks
from holdfast.hosting.git.encoding import well_formed
from holdfast.hosting.git.process import CHUNK, PATIENCE, GitProcess, Watchdog, make_pipe, open_reader, start
from holdfast.hosting.git.quarantine import AcceptedPush, Push, PushRejection, refused_names
from holdfast.hosting.git.repository import moving_refs
from holdfast.hosting.git_server.upload_pack import protocol_variables
from holdfast.hosting.store.faults import translate
from holdfast.hosting.store.pending_ref_updates import Move

__all__ = ["Judge", "Mover", "finish", "receive_pack"]


# The commands of a push come before its pack, and git keeps them in memory.
MOST_COMMANDS: Final = 8 * 1024 * 1024
# A client that is told early why its pack is refused listens only once it has sent the rest.
MOST_IGNORED: Final = 1024**3
# A small pack can ask for a large memory: objects made of copies of copies.
MOST_MEMORY: Final = 2 * 1024**3
MOST_CPU_SECONDS: Final = 3600
# Every event of a push keeps its options.
MOST_OPTIONS: Final = 4096
AHEAD: Final = 8
KEEPALIVE: Final = b"0005\x01"


Judge = Callable[[Push], Sequence[PushRejection]]
Mover = Callable[[AcceptedPush], Sequence[PushRejection]]
log = structlog.get_logger(__name__)
running: set[asyncio.Task[None]] = set()


async def finish() -> None:
    """Wait for all pushes that are under way; a service that stops does this last."""
    while running:
        await asyncio.wait(running)


async def receive_pack(
    folder: Path,
    body: AsyncIterator[bytes],
    *,
    hooks: Path,
    judge: Judge,
    move: Mover,
    protocol: str | None = None,
    max_bytes: int | None = None,
    patience: float = PATIENCE,
) -> AsyncGenerator[bytes, None]:
    """Take a push and yield git's answer, none of it before the whole body has been read.

    `judge` is called in a thread once everything pushed lies in quarantine. Any refusal refuses the whole push,
    unless it is one that stands alone and the push is not atomic. `move` is called in a thread with the changes
    that were not refused, moves and records them, and says which it could not move.
    """
    reception = Reception(folder, body, judge=judge, move=move, patience=patience)
    task = asyncio.create_task(reception.run(hooks, protocol_variables(protocol), max_bytes))
    running.add(task)
    task.add_done_callback(over)
    try:
        await reception.fed.wait()
        if isinstance(reception.trouble, GitUnsupported):
            yield error_packet(str(reception.trouble))
            return
        if reception.trouble is not None:
            raise reception.trouble
        while (chunk := await reception.answer.get()) is not None:
            yield chunk
        await asyncio.shield(task)
    finally:
        reception.leave()


def error_packet(text: str) -> bytes:
    """Write the packet line that git clients show as an error of the remote, and end with."""
    line = f"ERR {text}".encode()
    return b"%04x%s" % (len(line) + 4, line)


def over(task: asyncio.Task[None]) -> None:
    """Forget a push; what went wrong has been told to its client, if that was still there."""
    running.discard(task)
    if not task.cancelled():
        task.exception()


class Commands:
    """Reads the first part of a push, which tells what goes where, and watches its size."""

    def __init__(self) -> None:
        self.count = 0
        self.capabilities: frozenset[str] = frozenset()
        self._size = 0
        self._held = b""
        self._over = False

    @property
    def atomic(self) -> bool:
        """Whether the client wants all of it or nothing."""
        return "atomic" in self.capabilities

    def check(self, chunk: bytes) -> None:
        """Look at the next piece of the body, and refuse commands without end."""
        if self._over:
            return
        self._size += len(chunk)
        data = self._held + chunk
        place = 0
        while place + 4 <= len(data):
            try:
                length = int(data[place : place + 4], 16)
            except ValueError:
                length = 0  # git says what is wrong with it
            if length < 4:
                self._over = True
                self._held = b""
                return
            if place + length > len(data):
                break
            self._read(data[place + 4 : place + length])
            place += length
        self._held = data[place:]
        if self._size > MOST_COMMANDS:
            raise BodyTooLarge(
                f"the commands of a push may have {MOST_COMMANDS} bytes; push fewer references at once"
            )

    def _read(self, line: bytes) -> None:
        if line.startswith(b"shallow "):
            return
        self.count += 1
        if self.count == 1:
            self.capabilities = frozenset(line.partition(b"\0")[2].decode(errors="replace").split())
            formats = {name for name in self.capabilities if name.startswith("object-format=")}
            if formats - {"object-format=sha1"}:
                raise GitUnsupported(
                    "repositories here have SHA-1 ids; a repository with SHA-256 ids cannot be pushed"
                )


class Reception:
    """One push, from its first byte to the last word about it."""

    def __init__(
        self, folder: Path, body: AsyncIterator[bytes], *, judge: Judge, move: Mover, patience: float
    ) -> None:
        self.folder = folder
        self.body = body
        self.judge = judge
        self.move = move
        self.patience = patience
        self.fed = asyncio.Event()
        self.trouble: Exception | None = None
        self.answer: asyncio.Queue[bytes | None] = asyncio.Queue(AHEAD)
        self._left = False
        self._answered = False
        self._feeding: asyncio.Task[None] | None = None
        self._commands = Commands()
        self._accepted: frozenset[Move] = frozenset()
        self._refused: list[PushRejection] = []
        self._moving: asyncio.Future[Sequence[PushRejection]] | None = None

    def leave(self) -> None:
        """Note that nobody listens any more; a push that has not wholly arrived ends here."""
        self._left = True
        while not self.answer.empty():
            self.answer.get_nowait()
        if self._feeding is not None:
            self._feeding.cancel()

    async def run(self, hooks: Path, variables: dict[str, str], max_bytes: int | None) -> None:
        """See the push through."""
        try:
            await asyncio.to_thread(receive_hooks.install, hooks)
            # All references are left to the hook `proc-receive`, which leaves them to us.
            configuration = [("core.hooksPath", str(hooks)), ("receive.procReceiveRefs", "refs")]
            if max_bytes is not None:
                configuration.append(("receive.maxInputSize", str(max_bytes)))
            await self._receive(variables, configuration)
        finally:
            self.fed.set()
            if self._left:
                self.leave()
                self.answer.put_nowait(None)
            else:
                await self.answer.put(None)

    async def _receive(self, variables: dict[str, str], configuration: list[tuple[str, str]]) -> None:
        with ExitStack() as ours:
            ours.enter_context(moving_refs(self.folder))
            with ExitStack() as theirs:
                asking, to_ask = make_pipe(theirs)
                to_hear, answering = make_pipe(theirs)
                questions, transport = await open_reader(asking)
                ours.callback(transport.close)
                mouth = ours.enter_context(os.fdopen(os.dup(answering), "wb", buffering=0))
                process = await start(
                    self.folder,
                    "receive-pack",
                    "--stateless-rpc",
                    str(self.folder),
                    feed=True,
                    descriptors=(to_hear, to_ask),
                    variables=variables,
                    configuration=configuration,
                    limits={resource.RLIMIT_DATA: MOST_MEMORY, resource.RLIMIT_CPU: MOST_CPU_SECONDS},
                )
            dog = Watchdog(self.patience, lambda: self._give_up(process, conversation))
            self._feeding = asyncio.create_task(self._feed(process, dog))
            conversation = asyncio.create_task(self._converse(questions, mouth))
            try:
                await self._pass_on(process, dog)
                await asyncio.wait([self._feeding])
                await process.wait()
            except BaseException:
                self._give_up(process, conversation)
                raise
            finally:
                code = await process.wait()
                dog.cancel()
                await asyncio.wait([self._feeding, conversation])
                if self._moving is not None:
                    await asyncio.wait([self._moving])
                process.end()
                if not conversation.cancelled() and (error := conversation.exception()):
                    log.warning("git and the service lost each other", reason=str(error))
        if dog.barked:
            raise GitTimedOut(process.command, f"stood still for {self.patience:g} seconds", process.stderr, code)
        if code and not self._answered:
            raise process.failure(code)

    def _give_up(self, process: GitProcess, conversation: asyncio.Task[None]) -> None:
        # With its pipes closed, git finds its pack cut short or its hook refusing, and clears up itself.
        self.leave()
        conversation.cancel()
        process.end_soon()

    async def _feed(self, process: GitProcess, dog: Watchdog) -> None:
        stdin = process.stdin
        assert stdin is not None  # noqa: S101  # it was started to be fed
        ignored: int | None = None
        try:
            async for chunk in self.body:
                dog.touch()
                if ignored is None:
                    self._commands.check(chunk)
                    stdin.write(chunk)
                    try:
                        await stdin.drain()
                    except ConnectionError:  # git has heard enough, and its answer says why
                        ignored = 0
                else:
                    ignored += len(chunk)
                    if ignored > MOST_IGNORED:
                        break
        except Exception as error:  # noqa: BLE001  # whatever it is, the one who asked is told
            self.trouble = error
        finally:
            stdin.close()
            self.fed.set()

    async def _pass_on(self, process: GitProcess, dog: Watchdog) -> None:
        while chunk := await process.stdout.read(CHUNK):
            if chunk != KEEPALIVE:
                dog.touch()
            self._answered = True
            if not self._left:
                await self.answer.put(chunk)

    async def _converse(self, questions: asyncio.StreamReader, mouth: FileIO) -> None:
        # However this ends, the pipe is closed: a hook that still waits for an answer moves nothing.
        with mouth:
            while kind := await questions.readline():
                if kind == b"pre-receive\n":
                    quarantine = await receive_hooks.read_quarantine(questions)
                    wanted = await receive_hooks.read_changes(questions)
                    said = await self._verdict(Push(self.folder, wanted, quarantine, self._commands.atomic))
                elif kind == b"proc-receive\n":
                    changes, options = await receive_hooks.read_commands(questions)
                    said = receive_hooks.report(changes, await self._move(changes, options))
                else:
                    return
                with suppress(BrokenPipeError):
                    await asyncio.to_thread(write_all, mouth, said)
                if kind == b"proc-receive\n":
                    return

    async def _verdict(self, push: Push) -> bytes:
        """Judge a push; it goes on when any reference may move, or all of them if it is atomic."""
        self._refused = list(await self._refusals(push))
        refused = {refusal.ref for refusal in self._refused}
        left = push.changes if all(refusal.alone for refusal in self._refused) else ()
        self._accepted = frozenset(change for change in left if change.ref not in refused)
        # Of what git itself has refused by now, nothing is heard here.
        whole = len(self._accepted) == self._commands.count
        if self._accepted and (whole or not push.atomic):
            return receive_hooks.verdict([])
        self._accepted = frozenset()
        others = PushRejection("atomic push", "nothing is pushed, because not all of it can be")
        return receive_hooks.verdict(self._refused or [others])

    async def _refusals(self, push: Push) -> Sequence[PushRejection]:
        times = Counter(change.ref for change in push.changes)
        names = [
            PushRejection(ref, "it is named more than once", alone=True)
            for ref, count in times.items()
            if count > 1
        ]
        names += refused_names(push.changes)
        refused = {refusal.ref for refusal in names}
        left = tuple(change for change in push.changes if change.ref not in refused)
        if not left or (names and push.atomic):
            return names
        try:
            return [*names, *await asyncio.to_thread(self.judge, replace(push, changes=left))]
        except Exception as error:  # noqa: BLE001  # a push nobody could judge is refused
            reason = self._failed(error, "a push could not be judged", "the service could not check this push")
            return [*names, *(PushRejection(change.ref, reason) for change in left)]

    async def _move(self, changes: tuple[Move, ...], options: tuple[str, ...]) -> Sequence[PushRejection]:
        """Have the accepted references moved, whoever is still there to hear of it."""
        allowed = tuple(change for change in changes if change in self._accepted)
        refusals = [*self._refused]
        refusals += [
            PushRejection(change.ref, "it was not judged") for change in changes if change not in self._accepted
        ]
        if sum(map(len, options)) > MOST_OPTIONS:
            reason = f"push options may have {MOST_OPTIONS} bytes in total"
            return [*refusals, *(PushRejection(change.ref, reason) for change in allowed)]
        if not allowed:
            return refusals
        pushed = AcceptedPush(allowed, tuple(map(well_formed, options)), self._commands.atomic)
        self._moving = asyncio.ensure_future(asyncio.to_thread(self.move, pushed))
        try:
            return [*refusals, *await asyncio.shield(self._moving)]
        except Exception as error:  # noqa: BLE001  # whoever pushes is told
            happened = "the references of a push could not be moved"
            reason = self._failed(error, happened, "the service could not move this reference")
            return [*refusals, *(PushRejection(change.ref, reason) for change in allowed)]

    def _failed(self, error: Exception, happened: str, told: str) -> str:
        """Log what went wrong, and return what whoever pushes is told of it."""
        fault = translate(error)
        if fault is None:
            log.error(happened, repository=self.folder.name, exc_info=error)
            return f"{told}; try again later"
        log.warning(happened, repository=self.folder.name, fault=type(fault).__name__)
        return str(fault)


def write_all(file: FileIO, content: bytes) -> None:
    """Write all of something to a pipe, however little it takes at once."""
    left = memoryview(content)
    while left:
        left = left[file.write(left) or 0 :]
