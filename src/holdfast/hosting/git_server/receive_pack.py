"""Pushes over smart HTTP and SSH: checked in quarantine before any ref is updated, and always recorded afterwards.

git receives and checks the pack; the service updates the refs. After the request body has been received, the push
runs in its own task, so that it is completed and recorded even if the client or git disconnects.

Over HTTP a push is one request, answered when its body has been read. Over SSH it is bidirectional: git sends the
refs first, and a push that only deletes has no end of input, so it ends when git exits.
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
from holdfast.hosting.git.process import CHUNK, IDLE_TIMEOUT, GitProcess, Watchdog, make_pipe, open_reader, start
from holdfast.hosting.git.quarantine import AcceptedPush, Push, PushRejection, refused_names
from holdfast.hosting.git_server.upload_pack import protocol_variables
from holdfast.hosting.store.faults import translate
from holdfast.hosting.store.ref_updates import RefUpdate

__all__ = ["Judge", "Updater", "finish", "receive_pack"]


# The commands precede the pack, and git holds them in memory.
MOST_COMMANDS: Final = 8 * 1024 * 1024
# A client whose pack is refused reads the response only after it has sent the rest.
MOST_IGNORED: Final = 1024**3
# A small pack can require a lot of memory: deltas of deltas.
MOST_MEMORY: Final = 2 * 1024**3
MOST_CPU_SECONDS: Final = 3600
# Every event of a push stores its options.
MOST_OPTIONS: Final = 4096
AHEAD: Final = 8
KEEPALIVE: Final = b"0005\x01"
NO_OBJECT: Final = b"0" * 40
# How long a client may take to close its input after git has exited; not every client closes it.
LINGER_SECONDS: Final = 0.3


Judge = Callable[[Push], Sequence[PushRejection]]
Updater = Callable[[AcceptedPush], Sequence[PushRejection]]
log = structlog.get_logger(__name__)
running: set[asyncio.Task[None]] = set()


async def finish() -> None:
    """Wait for all running pushes; called at shutdown."""
    while running:
        await asyncio.wait(running)


async def receive_pack(
    folder: Path,
    body: AsyncIterator[bytes],
    *,
    hooks: Path,
    judge: Judge,
    update: Updater,
    protocol: str | None = None,
    max_bytes: int | None = None,
    idle_timeout: float = IDLE_TIMEOUT,
    stateless: bool = True,
) -> AsyncGenerator[bytes, None]:
    """Run a push and yield git's response, after the whole body has been read unless it is bidirectional (SSH).

    `judge` is called in a thread when all objects are in quarantine. A rejection rejects the whole push, unless it
    is limited to its ref and the push is not atomic. `move` is called in a thread with the accepted updates; it
    performs and records them, and returns the failed ones.
    """
    reception = PushTask(folder, body, judge=judge, update=update, idle_timeout=idle_timeout, stateless=stateless)
    task = asyncio.create_task(reception.run(hooks, protocol_variables(protocol), max_bytes))
    running.add(task)
    task.add_done_callback(over)
    try:
        if stateless:
            await reception.fed.wait()
        if isinstance(reception.trouble, GitUnsupported):
            yield error_packet(str(reception.trouble))
            return
        if reception.trouble is not None:
            raise reception.trouble
        while (chunk := await reception.answer.get()) is not None:
            yield chunk
        await asyncio.shield(task)
        if not stateless and reception.trouble is not None:
            raise reception.trouble
    finally:
        reception.leave()


def error_packet(text: str) -> bytes:
    """Return the pkt-line that git clients show as a remote error."""
    line = f"ERR {text}".encode()
    return b"%04x%s" % (len(line) + 4, line)


def over(task: asyncio.Task[None]) -> None:
    """Remove a finished push; its error has been reported to the client."""
    running.discard(task)
    if not task.cancelled():
        task.exception()


class Commands:
    """Parses the commands at the beginning of a push, and limits their size."""

    def __init__(self) -> None:
        self.count = 0
        self.has_pack = False
        """Whether a command needs objects, so that a pack follows."""
        self.capabilities: frozenset[str] = frozenset()
        self._size = 0
        self._held = b""
        self._over = False

    @property
    def atomic(self) -> bool:
        """Whether the push is atomic."""
        return "atomic" in self.capabilities

    def check(self, chunk: bytes) -> None:
        """Parse the next chunk; raise `BodyTooLarge` beyond the limit."""
        if self._over:
            return
        self._size += len(chunk)
        data = self._held + chunk
        place = 0
        while place + 4 <= len(data):
            try:
                length = int(data[place : place + 4], 16)
            except ValueError:
                length = 0  # git reports the error
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
        self.has_pack = self.has_pack or not line[41:].startswith(NO_OBJECT)
        if self.count == 1:
            self.capabilities = frozenset(line.partition(b"\0")[2].decode(errors="replace").split())
            formats = {name for name in self.capabilities if name.startswith("object-format=")}
            if formats - {"object-format=sha1"}:
                raise GitUnsupported(
                    "repositories here have SHA-1 ids; a repository with SHA-256 ids cannot be pushed"
                )


class PushTask:
    """One push."""

    def __init__(
        self,
        folder: Path,
        body: AsyncIterator[bytes],
        *,
        judge: Judge,
        update: Updater,
        idle_timeout: float,
        stateless: bool = True,
    ) -> None:
        self.folder = folder
        self.body = body
        self.judge = judge
        self.update = update
        self.idle_timeout = idle_timeout
        self.stateless = stateless
        self.fed = asyncio.Event()
        self.trouble: Exception | None = None
        self.answer: asyncio.Queue[bytes | None] = asyncio.Queue(AHEAD)
        self._left = False
        self._answered = False
        self._feeding: asyncio.Task[None] | None = None
        self._ignores = False
        self._commands = Commands()
        self._accepted: frozenset[RefUpdate] = frozenset()
        self._packs: tuple[str, ...] = ()
        self._refused: list[PushRejection] = []
        self._updating: asyncio.Future[Sequence[PushRejection]] | None = None

    def leave(self) -> None:
        """Record that the client has disconnected; an incomplete push is aborted."""
        self._left = True
        while not self.answer.empty():
            self.answer.get_nowait()
        if self._feeding is not None:
            self._feeding.cancel()

    async def run(self, hooks: Path, variables: dict[str, str], max_bytes: int | None) -> None:
        """Run the push."""
        try:
            await asyncio.to_thread(receive_hooks.install, hooks)
            # All refs are handled by the hook `proc-receive`, which delegates to this process.
            configuration = [
                ("core.hooksPath", str(hooks)),
                ("receive.procReceiveRefs", "refs"),
                # The objects of every push are kept as one pack, which the log records.
                ("receive.unpackLimit", "1"),
            ]
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
            with ExitStack() as theirs:
                asking, to_ask = make_pipe(theirs)
                to_hear, answering = make_pipe(theirs)
                questions, transport = await open_reader(asking)
                ours.callback(transport.close)
                mouth = ours.enter_context(os.fdopen(os.dup(answering), "wb", buffering=0))
                process = await start(
                    self.folder,
                    "receive-pack",
                    *(["--stateless-rpc"] if self.stateless else []),
                    str(self.folder),
                    feed=True,
                    descriptors=(to_hear, to_ask),
                    variables=variables,
                    configuration=configuration,
                    limits={resource.RLIMIT_DATA: MOST_MEMORY, resource.RLIMIT_CPU: MOST_CPU_SECONDS},
                )
            watchdog = Watchdog(self.idle_timeout, lambda: self._give_up(process, conversation))
            self._feeding = asyncio.create_task(self._feed(process, watchdog))
            # A task that is cancelled before it has started does not run, and git would wait for its input.
            self._feeding.add_done_callback(lambda _: self._end_input(process))
            if self._left:
                self._feeding.cancel()
            conversation = asyncio.create_task(self._converse(questions, mouth))
            try:
                await self._pass_on(process, watchdog)
                if not self.stateless:
                    await self._end_feeding(self._feeding)
                await asyncio.wait([self._feeding])
                await process.wait()
            except BaseException:
                self._give_up(process, conversation)
                raise
            finally:
                code = await process.wait()
                watchdog.cancel()
                await asyncio.wait([self._feeding, conversation])
                if self._updating is not None:
                    await asyncio.wait([self._updating])
                process.end()
                if not conversation.cancelled() and (error := conversation.exception()):
                    log.warning("git hook connection lost", reason=str(error))
        if watchdog.expired:
            raise GitTimedOut(
                process.command, f"made no progress for {self.idle_timeout:g} seconds", process.stderr, code
            )
        if code and not self._answered:
            raise process.failure(code)

    async def _end_feeding(self, feeding: asyncio.Task[None]) -> None:
        """End the input over SSH: the client waits until git exits, unless it still sends its pack."""
        if self._commands.has_pack:
            await asyncio.wait([feeding], timeout=LINGER_SECONDS)
            if self._ignores:
                await asyncio.wait([feeding])
        feeding.cancel()

    def _give_up(self, process: GitProcess, conversation: asyncio.Task[None]) -> None:
        # When its pipes are closed, git fails on a truncated pack or its hook, and cleans up.
        self.leave()
        conversation.cancel()
        process.end_soon()

    async def _feed(self, process: GitProcess, watchdog: Watchdog) -> None:
        stdin = process.stdin
        assert stdin is not None  # noqa: S101  # started with a pipe
        ignored: int | None = None
        try:
            async for chunk in self.body:
                watchdog.touch()
                if ignored is None:
                    self._commands.check(chunk)
                    stdin.write(chunk)
                    try:
                        await stdin.drain()
                    except ConnectionError:  # git closed its input, and reports why in its output
                        ignored = 0
                        self._ignores = True
                else:
                    ignored += len(chunk)
                    if ignored > MOST_IGNORED:
                        break
        except Exception as error:  # noqa: BLE001  # every error is reported to the client
            self.trouble = error

    def _end_input(self, process: GitProcess) -> None:
        if process.stdin is not None:
            process.stdin.close()
        self.fed.set()

    async def _pass_on(self, process: GitProcess, watchdog: Watchdog) -> None:
        while chunk := await process.stdout.read(CHUNK):
            if chunk != KEEPALIVE:
                watchdog.touch()
            self._answered = True
            if not self._left:
                await self.answer.put(chunk)

    async def _converse(self, questions: asyncio.StreamReader, mouth: FileIO) -> None:
        # The pipe is always closed: a hook that waits for a response then rejects the push.
        with mouth:
            while kind := await questions.readline():
                if kind == b"pre-receive\n":
                    quarantine = await receive_hooks.read_quarantine(questions)
                    requested = await receive_hooks.read_changes(questions)
                    verdict = await self._verdict(Push(self.folder, requested, quarantine, self._commands.atomic))
                elif kind == b"proc-receive\n":
                    changes, options = await receive_hooks.read_commands(questions)
                    verdict = receive_hooks.report(changes, await self._move(changes, options))
                else:
                    return
                with suppress(BrokenPipeError):
                    await asyncio.to_thread(write_all, mouth, verdict)
                if kind == b"proc-receive\n":
                    return

    async def _verdict(self, push: Push) -> bytes:
        """Check a push; it continues if any ref may be updated, or all of them if it is atomic."""
        self._refused = list(await self._refusals(push))
        refused = {refusal.ref for refusal in self._refused}
        ref_updates = push.changes if all(refusal.alone for refusal in self._refused) else ()
        self._accepted = frozenset(change for change in ref_updates if change.ref not in refused)
        # Refs that git has rejected itself are not among these.
        all_accepted = len(self._accepted) == self._commands.count
        if self._accepted and (all_accepted or not push.atomic):
            self._packs = await asyncio.to_thread(push.packs)
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
        ref_updates = tuple(change for change in push.changes if change.ref not in refused)
        if not ref_updates or (names and push.atomic):
            return names
        try:
            return [*names, *await asyncio.to_thread(self.judge, replace(push, changes=ref_updates))]
        except Exception as error:  # noqa: BLE001  # a push that could not be checked is rejected
            reason = self._failed(error, "check", "the service could not check this push")
            return [*names, *(PushRejection(change.ref, reason) for change in ref_updates)]

    async def _move(self, changes: tuple[RefUpdate, ...], options: tuple[str, ...]) -> Sequence[PushRejection]:
        """Update the accepted refs, even if the client has disconnected."""
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
        pushed = AcceptedPush(allowed, tuple(map(well_formed, options)), self._commands.atomic, self._packs)
        self._updating = asyncio.ensure_future(asyncio.to_thread(self.update, pushed))
        try:
            return [*refusals, *await asyncio.shield(self._updating)]
        except Exception as error:  # noqa: BLE001  # reported to the client
            reason = self._failed(error, "ref update", "the service could not update this ref")
            return [*refusals, *(PushRejection(change.ref, reason) for change in allowed)]

    def _failed(self, error: Exception, step: str, message: str) -> str:
        """Log an error, and return the message for the client."""
        fault = translate(error)
        if fault is None:
            log.error("push failed", step=step, repository=self.folder.name, exc_info=error)
            return f"{message}; try again later"
        log.warning("push failed", step=step, repository=self.folder.name, fault=type(fault).__name__)
        return str(fault)


def write_all(file: FileIO, content: bytes) -> None:
    """Write everything to a pipe."""
    left = memoryview(content)
    while left:
        left = left[file.write(left) or 0 :]
