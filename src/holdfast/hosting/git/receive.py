"""Smart HTTP for those who write: a push, judged before any reference moves, and never lost once one has.

The client's part of a push is to send it. From then on it does not matter whether the client is still there: a
push runs in a task of its own, and what came of it is reported to `landed` in any case.
"""

import asyncio
import os
import resource
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import ExitStack, suppress
from io import FileIO
from pathlib import Path
from typing import Final

import structlog

from holdfast.hosting.errors import BodyTooLarge, GitTimedOut
from holdfast.hosting.faults import is_outage, translate
from holdfast.hosting.git import hook
from holdfast.hosting.git.process import CHUNK, PATIENCE, Process, Watchdog, pipe, reading, start
from holdfast.hosting.git.program import run
from holdfast.hosting.git.push import Push, Refusal, outside
from holdfast.hosting.git.repository import moving_refs
from holdfast.hosting.git.smart import protocol_variables
from holdfast.hosting.store.updates import Move

__all__ = ["Judge", "Landed", "finish", "receive_pack"]

Judge = Callable[[Push], Sequence[Refusal]]
Landed = Callable[[tuple[Move, ...]], None]

# The commands of a push come before its pack, and git keeps them in memory.
MOST_COMMANDS: Final = 8 * 1024 * 1024
# A client that is told early why its pack is refused listens only once it has sent the rest.
MOST_IGNORED: Final = 1024**3
# A small pack can ask for a large memory: objects made of copies of copies.
MOST_MEMORY: Final = 2 * 1024**3
MOST_CPU_SECONDS: Final = 3600
AHEAD: Final = 8
KEEPALIVE: Final = b"0005\x01"

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
    landed: Landed,
    protocol: str | None = None,
    max_bytes: int | None = None,
    patience: float = PATIENCE,
) -> AsyncGenerator[bytes, None]:
    """Take a push and yield git's answer, none of it before the whole body has been read.

    `judge` is called in a thread once everything pushed lies in quarantine; any refusal refuses the whole push.
    `landed` is called in a thread with the changes that have really happened, before the answer ends.
    """
    reception = Reception(folder, body, judge=judge, landed=landed, patience=patience)
    task = asyncio.create_task(reception.run(hooks, protocol_variables(protocol), max_bytes))
    running.add(task)
    task.add_done_callback(over)
    try:
        await reception.fed.wait()
        if reception.trouble is not None:
            raise reception.trouble
        while (chunk := await reception.answer.get()) is not None:
            yield chunk
        await asyncio.shield(task)
    finally:
        reception.leave()


def over(task: asyncio.Task[None]) -> None:
    """Forget a push; what went wrong has been told to its client, if that was still there."""
    running.discard(task)
    if not task.cancelled():
        task.exception()


class Commands:
    """Watches the first part of a push, which tells what goes where, for its size."""

    def __init__(self) -> None:
        self._size = 0
        self._held = b""
        self._skip = 0
        self._over = False

    def check(self, chunk: bytes) -> None:
        """Look at the next piece of the body, and refuse commands without end."""
        if self._over:
            return
        self._size += len(chunk)
        data = self._held + chunk
        place = self._skip
        while place + 4 <= len(data):
            try:
                length = int(data[place : place + 4], 16)
            except ValueError:
                length = 0  # git says what is wrong with it
            if length < 4:
                self._over = True
                return
            place += length
        self._held, self._skip = data[place:], max(place - len(data), 0)
        if self._size > MOST_COMMANDS:
            raise BodyTooLarge(
                f"the commands of a push may have {MOST_COMMANDS} bytes; push fewer references at once"
            )


class Reception:
    """One push, from its first byte to the last word about it."""

    def __init__(
        self, folder: Path, body: AsyncIterator[bytes], *, judge: Judge, landed: Landed, patience: float
    ) -> None:
        self.folder = folder
        self.body = body
        self.judge = judge
        self.landed = landed
        self.patience = patience
        self.fed = asyncio.Event()
        self.trouble: Exception | None = None
        self.answer: asyncio.Queue[bytes | None] = asyncio.Queue(AHEAD)
        self._left = False
        self._answered = False
        self._feeding: asyncio.Task[None] | None = None
        self._wanted: tuple[Move, ...] = ()
        self._accepted = False
        self._done: tuple[Move, ...] | None = None

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
            await asyncio.to_thread(hook.install, hooks)
            configuration = [("core.hooksPath", str(hooks))]
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
            showing = ours.enter_context(moving_refs(self.folder))
            with ExitStack() as theirs:
                asking, to_ask = pipe(theirs)
                to_hear, answering = pipe(theirs)
                questions, transport = await reading(asking)
                ours.callback(transport.close)
                mouth = ours.enter_context(os.fdopen(os.dup(answering), "wb", buffering=0))
                process = await start(
                    self.folder,
                    "receive-pack",
                    "--stateless-rpc",
                    str(self.folder),
                    feed=True,
                    descriptors=(to_hear, to_ask, showing),
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
                process.end()
                if not conversation.cancelled() and (error := conversation.exception()):
                    log.warning("git and the service lost each other", reason=str(error))
                await self._report(code)
        if dog.barked:
            raise GitTimedOut(process.command, f"stood still for {self.patience:g} seconds", process.stderr, code)
        if code and not self._answered:
            raise process.failure(code)

    def _give_up(self, process: Process, conversation: asyncio.Task[None]) -> None:
        # With its pipes closed, git finds its pack cut short or its hook refusing, and clears up itself.
        self.leave()
        conversation.cancel()
        process.end_soon()

    async def _feed(self, process: Process, dog: Watchdog) -> None:
        stdin = process.stdin
        assert stdin is not None  # noqa: S101  # it was started to be fed
        commands = Commands()
        ignored: int | None = None
        try:
            async for chunk in self.body:
                dog.touch()
                if ignored is None:
                    commands.check(chunk)
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

    async def _pass_on(self, process: Process, dog: Watchdog) -> None:
        while chunk := await process.stdout.read(CHUNK):
            if chunk != KEEPALIVE:
                dog.touch()
            self._answered = True
            if not self._left:
                await self.answer.put(chunk)

    async def _converse(self, questions: asyncio.StreamReader, mouth: FileIO) -> None:
        # However this ends, the pipe is closed: a hook that still waits for a word refuses.
        with mouth:
            while (kind := await questions.readline()) == b"pre-receive\n":
                quarantine = await hook.read_quarantine(questions)
                self._wanted = await hook.read_changes(questions)
                refusals = await self._refusals(Push(self.folder, self._wanted, quarantine))
                self._accepted = not refusals
                with suppress(BrokenPipeError):
                    mouth.write(hook.verdict(refusals))
            if kind == b"post-receive\n":
                self._done = await hook.read_changes(questions)

    async def _refusals(self, push: Push) -> Sequence[Refusal]:
        try:
            return outside(push.changes) or await asyncio.to_thread(self.judge, push)
        except Exception as error:  # a push nobody could judge is refused
            fault = translate(error)
            if fault is None:
                log.exception("a push could not be judged", repository=self.folder.name)
                return [Refusal(push.changes[0].ref, "the service could not check this push; try again later")]
            log.warning("a push could not be judged", repository=self.folder.name, fault=type(fault).__name__)
            return [Refusal(push.changes[0].ref, str(fault))]

    async def _report(self, code: int) -> None:
        # Git tells what it did unless it was ended in the middle; then the references themselves do.
        changes = self._done
        if changes is None:
            changes = await asyncio.to_thread(self._moved) if self._accepted and code else ()
        if changes:
            try:
                await asyncio.to_thread(self.landed, changes)
            except Exception as error:  # the references have moved; no error can take that back
                log.warning(
                    "a push landed and could not be recorded",
                    repository=self.folder.name,
                    exc_info=None if is_outage(error) else error,
                    error=type(error).__name__,
                )

    def _moved(self) -> tuple[Move, ...]:
        lines = run(self.folder, "for-each-ref", "--format=%(objectname) %(refname)").decode(
            errors="surrogateescape"
        )
        now = {ref: oid for oid, _, ref in (line.partition(" ") for line in lines.splitlines())}
        return tuple(
            change
            for change in self._wanted
            if (change.ref not in now if change.deletes else now.get(change.ref) == change.new)
        )
