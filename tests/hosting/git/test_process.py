"""Asynchronous git processes: streamed output, timeouts, cancellation and file descriptors."""

import asyncio
import os
import resource
import socket
from contextlib import aclosing
from pathlib import Path

import pytest
import uvloop

from holdfast.hosting.errors import GitFailed, GitTimedOut
from holdfast.hosting.git.process import duplicate_descriptor, start, stream
from holdfast.hosting.git.program import run
from tests.conftest import wait_for

LOOPS = pytest.mark.parametrize("loop", [asyncio.new_event_loop, uvloop.new_event_loop])


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """Make an empty bare repository."""
    folder = tmp_path / "repository.git"
    run(None, "init", "--quiet", "--bare", str(folder))
    return folder


def shell(script: str) -> tuple[str, str, str]:
    """Make git run a shell script."""
    return "-c", f"alias.try=!{script};:", "try"


def alive(pid: int) -> bool:
    """Return whether a process runs or is a zombie."""
    return Path(f"/proc/{pid}").exists()


def count_descriptors() -> int:
    """Count the descriptors this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))


@LOOPS
def test_output_is_streamed(bare: Path, loop: type[asyncio.AbstractEventLoop]) -> None:
    """Output arrives while the command runs, and closing the stream ends the command and its children."""

    async def play() -> None:
        output = stream(bare, *shell("echo $$; sleep 600 & echo $!; wait"))
        async with aclosing(output) as chunks:
            posted_output = b""
            while posted_output.count(b"\n") < 2:
                posted_output += await anext(chunks)
            pids = [int(pid) for pid in posted_output.split()]
            assert all(map(alive, pids))
        await asyncio.to_thread(wait_for, lambda: not any(map(alive, pids)))

    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(play())


@LOOPS
def test_a_failure_comes_after_the_output(bare: Path, loop: type[asyncio.AbstractEventLoop]) -> None:
    """The error of a failed command follows its output and has its exit code and the end of its stderr."""

    async def play() -> None:
        got = []
        script = (
            "echo out; i=0; while [ $i -lt 3000 ]; do echo grumble; i=$((i+1)); done >&2; echo end >&2; exit 3"
        )
        with pytest.raises(GitFailed, match="exit code 3") as excinfo:
            async for chunk in stream(bare, *shell(script)):
                got.append(chunk)  # noqa: PERF401  # what arrived before the failure counts
        assert b"".join(got) == b"out\n"
        assert excinfo.value.stderr.endswith("grumble\nend\n")
        assert len(excinfo.value.stderr) <= 4096

    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(play())


def test_a_command_without_progress_is_ended(bare: Path) -> None:
    """The idle timeout starts with the last output, and the command does not run on."""

    async def play() -> None:
        output = b""
        with pytest.raises(GitTimedOut, match=r"made no progress for 0\.3 seconds"):
            async for chunk in stream(bare, *shell("echo $$; sleep 600"), idle_timeout=0.3):
                output += chunk
        await asyncio.to_thread(wait_for, lambda: not alive(int(output)))

    asyncio.run(play())


def test_cancelling_ends_the_command(bare: Path) -> None:
    """A task that is cancelled while it waits for output leaves nothing running."""
    marker = bare / "pid"

    async def listen() -> None:
        async for _ in stream(bare, *shell(f"echo $$ > {marker}; sleep 600")):
            pass

    async def play() -> None:
        task = asyncio.create_task(listen())
        await asyncio.to_thread(wait_for, lambda: marker.exists() and marker.read_text().endswith("\n"))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        pid = int(marker.read_text())
        await asyncio.to_thread(wait_for, lambda: not alive(pid))

    asyncio.run(play())


@LOOPS
def test_a_command_gets_its_descriptors_and_no_others(bare: Path, loop: type[asyncio.AbstractEventLoop]) -> None:
    """Passed descriptors are numbered from 3, and an inheritable socket of the service is not inherited."""

    async def play() -> None:
        with (bare / "HEAD").open("rb") as head, socket.socket() as listening:
            listening.set_inheritable(True)
            process = await start(bare, *shell("cat <&3; ls /proc/self/fd"), descriptors=(head.fileno(),))
            output = await process.stdout.read(100_000)
            while more := await process.stdout.read(100_000):
                output += more
            assert await process.wait() == 0
            process.end()
        assert output.startswith((bare / "HEAD").read_bytes())
        # 4 is the folder `ls` itself has open.
        assert output.split()[2:] == [b"0", b"1", b"2", b"3", b"4"]

    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(play())


def test_a_limit_is_set_before_input_is_written(bare: Path) -> None:
    """The resource limit is set before the command can read input and start other processes."""

    async def play() -> None:
        limits = {resource.RLIMIT_CPU: 77}
        process = await start(bare, "cat-file", "--batch", feed=True, limits=limits)
        assert resource.prlimit(process.pid, resource.RLIMIT_CPU) == (77, 77)
        assert process.stdin is not None
        process.stdin.close()
        assert await process.wait() == 0
        process.end()

    asyncio.run(play())


def test_no_file_descriptor_leaks(bare: Path) -> None:
    """The process has no more open file descriptors after 20 commands than after the first."""

    async def play() -> None:
        async for _ in stream(bare, "version"):
            pass
        await asyncio.sleep(0)
        before = count_descriptors()
        for _ in range(20):
            async for _ in stream(bare, "version"):
                pass
        await asyncio.to_thread(wait_for, lambda: count_descriptors() <= before)

    asyncio.run(play())


@LOOPS
def test_a_file_descriptor_is_closed_once(loop: type[asyncio.AbstractEventLoop]) -> None:
    """A second close could close a descriptor of another thread that has the same number."""

    async def play() -> None:
        reads, writes = os.pipe()
        file = duplicate_descriptor(reads, "rb")
        number = file.fileno()
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(asyncio.Protocol, file)
        assert file.closefd is (loop is not uvloop.new_event_loop)
        transport.close()
        await asyncio.sleep(0.05)
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(number)
        os.close(reads)
        os.close(writes)

    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(play())
