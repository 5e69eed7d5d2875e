"""The hooks of `git receive-pack`: their files, requests and reports."""

import asyncio
from pathlib import Path

import pytest

from holdfast.hosting.errors import GitError
from holdfast.hosting.git import receive_hooks
from holdfast.hosting.git.quarantine import PushRejection
from holdfast.hosting.store.ref_updates import RefUpdate


def test_changed_hooks_are_written_again(tmp_path: Path) -> None:
    """A missing, changed or non-executable hook is written again, and unknown hooks are deleted."""
    folder = tmp_path / "hooks"
    receive_hooks.install(folder)
    before = folder / "pre-receive"
    (folder / "post-receive").write_text("a hook of an earlier version")
    text = before.read_text()
    for spoil in (before.unlink, lambda: before.write_text("exit 0"), lambda: before.chmod(0o600)):
        spoil()
        receive_hooks.install(folder)
        assert before.read_text() == text
        assert before.stat().st_mode & 0o777 == 0o700
    assert sorted(path.name for path in folder.iterdir()) == ["pre-receive", "proc-receive"]


def test_a_rejection_message_cannot_end_the_report() -> None:
    """Line breaks and control characters in a ref or a reason are removed from the report."""
    verdict = receive_hooks.verdict([PushRejection("refs/heads/a\n.\n0", "no\r\x1b[31m")])
    assert verdict.startswith(b"1\n")
    assert verdict.endswith(b"\n.\n")
    assert verdict.count(b"\n") == 3
    assert b"\x1b" not in verdict
    assert receive_hooks.verdict([]) == b"0\n.\n"


def pipe_with(content: bytes) -> asyncio.StreamReader:
    """Return a reader that has some content and then the end of the stream."""
    reader = asyncio.StreamReader()
    reader.feed_data(content)
    reader.feed_eof()
    return reader


def test_the_request_of_the_hook_is_parsed() -> None:
    """Changes are read up to the full stop, and empty quarantine folders are left out."""

    async def play() -> None:
        assert await receive_hooks.read_changes(pipe_with(b"a b refs/heads/x\n.\n")) == (
            RefUpdate("refs/heads/x", "a", "b"),
        )
        assert await receive_hooks.read_quarantine(pipe_with(b"\n\n")) == {}
        assert await receive_hooks.read_quarantine(pipe_with(b"/q\n/o\n")) == {
            "GIT_OBJECT_DIRECTORY": "/q",
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": "/o",
        }

    asyncio.run(play())


@pytest.mark.parametrize("content", [b"", b"a b refs/heads/x\n", b"a b refs/he"])
def test_a_truncated_report_is_an_error(content: bytes) -> None:
    """A list of changes without its final full stop is refused, because changes may be missing."""

    async def play() -> None:
        with pytest.raises(GitError, match="in the middle"):
            await receive_hooks.read_changes(pipe_with(content))

    asyncio.run(play())


def test_commands_and_options_are_read_from_packets() -> None:
    """Ref names may have any bytes; packets that end in the middle are an error."""
    output = b"000eversion=1\x000000" + b"0016a b refs/heads/\xe9x\n" + b"0000" + b"000bci.skip" + b"0000"

    async def play() -> None:
        changes, options = await receive_hooks.read_commands(pipe_with(output))
        assert (changes, options) == ((RefUpdate("refs/heads/\udce9x", "a", "b"),), ("ci.skip",))
        for end in (5, 20, 40, len(output) - 1):
            with pytest.raises(GitError, match="in the middle"):
                await receive_hooks.read_commands(pipe_with(output[:end]))

    asyncio.run(play())


def test_a_report_has_the_status_of_each_ref() -> None:
    """A ref is `ok` or `ng` with its first reason, on one line of limited length."""
    changes = [RefUpdate("refs/heads/a", "1", "2"), RefUpdate("refs/heads/\udce9", "1", "2")]
    refusals = [PushRejection("refs/heads/a", "no\nok refs/heads/a"), PushRejection("refs/heads/a", "later")]
    report = receive_hooks.report(changes, refusals)
    assert b"ng refs/heads/a no ok refs/heads/a" in report
    assert b"ok refs/heads/\xe9" in report
    assert b"\n" not in report
    assert len(receive_hooks.report(changes, [PushRejection("refs/heads/a", "x" * 9999)])) < 700
