"""Pushes with real git over HTTP: ref updates, refusals, limits and disconnected clients."""

import asyncio
import contextlib
import hashlib
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import zlib
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path

import httpx
import pytest

from holdfast.hosting.errors import BodyTooLarge, GitFailed
from holdfast.hosting.git.program import run
from holdfast.hosting.git.quarantine import Push, PushRejection
from holdfast.hosting.git_server import receive_pack
from holdfast.hosting.store.ref_updates import RefUpdate
from tests.conftest import wait_for
from tests.hosting.git.oracle import new_repository
from tests.hosting.git.serving import Client, Served, pkt, serve

ZERO = "0" * 40


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """Serve one empty repository; at the end, check that no process and no temporary file is left."""
    with serve(tmp_path / "data") as running:
        new_repository(running.folders.path(1))
        yield running
        wait_for(lambda: not running.processes())
        assert running.left_over() == []
        assert not receive_pack.running


@pytest.fixture
def ada(tmp_path: Path) -> Client:
    """Return a git client with an empty folder."""
    (tmp_path / "ada").mkdir()
    return Client(tmp_path / "ada")


@pytest.fixture
def work(ada: Client, served: Served) -> Client:
    """Clone the empty repository and push a first commit."""
    ada.git("clone", "--quiet", served.address(1), "work")
    mine = ada.within("work")
    mine.commit()
    mine.git("push", "--quiet", "origin", "main")
    served.history.clear()
    return mine


def refs(served: Served) -> dict[str, str]:
    """Return all refs and their object ids."""
    lines = run(served.folders.path(1), "for-each-ref", "--format=%(refname) %(objectname)").decode().splitlines()
    return dict(line.split() for line in lines)


def test_the_applied_updates_are_reported_exactly(work: Client, served: Served) -> None:
    """One push that creates, updates and deletes refs is recorded with the old and new id of each."""
    first = work.head()
    work.git("push", "--quiet", "origin", "main:old")
    served.history.clear()
    second = work.commit(content="second\n")
    work.git("tag", "--annotate", "--message", "one", "v1")
    work.git("push", "--quiet", "origin", "main", "main:side", "v1", ":old")
    assert {
        RefUpdate("refs/heads/main", first, second),
        RefUpdate("refs/heads/side", ZERO, second),
        RefUpdate("refs/tags/v1", ZERO, work.head("v1")),
        RefUpdate("refs/heads/old", first, ZERO),
    } == set(served.history[0])
    assert len(served.history) == 1
    assert refs(served) == {
        "refs/heads/main": second,
        "refs/heads/side": second,
        "refs/tags/v1": work.head("v1"),
    }


def test_the_objects_of_a_push_are_one_pack(work: Client, served: Served) -> None:
    """The few objects of a push are one recorded pack, and a push without new objects has no pack."""
    work.commit(content="second\n")
    work.git("push", "--quiet", "origin", "main")
    ((pack_name,),) = served.packs[-1:]
    packs = served.folders.path(1) / "objects" / "pack"
    listed = run(served.folders.path(1), "show-index", input=(packs / pack_name).with_suffix(".idx").read_bytes())
    assert {line.split()[1].decode() for line in listed.splitlines()} == {
        work.head(name) for name in ("main", "main^{tree}", "main:file.txt")
    }
    work.git("push", "--quiet", "origin", "main:side")
    work.git("push", "--quiet", "origin", ":side")
    assert [changes[0].ref for changes in served.history[-2:]] == ["refs/heads/side"] * 2
    assert served.packs[-2:] == [(), ()]


def test_notes_can_be_pushed_and_force_works(work: Client, served: Served) -> None:
    """Notes are pushed, and a rewritten branch is refused by the git client unless the push is forced."""
    work.git("notes", "add", "--message", "seen")
    work.git("push", "--quiet", "origin", "refs/notes/commits")
    work.git("commit", "--quiet", "--amend", "--message", "rewritten")
    work.git("push", "origin", "main", fails=True)
    work.git("push", "--quiet", "--force", "origin", "main")
    assert refs(served)["refs/heads/main"] == work.head()


def test_an_empty_push_changes_nothing(work: Client, served: Served) -> None:
    """An up-to-date branch and the empty probe request of a client before a large push change nothing."""
    work.git("push", "--quiet", "origin", "main")
    response = httpx.post(f"{served.address(1)}/git-receive-pack", content=b"0000")
    assert (response.status_code, response.content) == (200, b"")
    assert served.history == []


def test_updates_are_checked_before_any_ref_moves(work: Client, served: Served) -> None:
    """The check can read and compare the new objects in quarantine while the refs are still the old ones."""
    seen: list[object] = []
    first = work.head()

    def look(push: Push) -> Sequence[PushRejection]:
        change = push.changes[0]
        seen.extend(
            [change, refs(served), push.is_fast_forward(change), push.changed_paths(change), push.commits(change)]
        )
        return ()

    served.judge = look
    second = work.commit("folder/new.txt")
    third = work.commit("naïve.txt")
    work.git("push", "--quiet", "origin", "main")
    assert seen == [
        RefUpdate("refs/heads/main", first, third),
        {"refs/heads/main": first},
        True,
        {"folder/new.txt", "naïve.txt"},
        [third, second],
    ]


def test_a_refused_push_moves_nothing_and_says_why(work: Client, served: Served) -> None:
    """One refusal refuses all of it; the pusher reads the reason; no object stays."""
    served.judge = lambda _push: [PushRejection("refs/heads/main", "main is protected;\x1b[2J ask Grace\n.")]
    before, size = refs(served), served.folders.size(1)
    work.commit(content="second\n")
    for arguments in (["main", "main:side"], ["--atomic", "main", "main:side"]):
        output = work.git("push", "origin", *arguments, fails=True)
        assert "remote: refs/heads/main: main is protected; [2J ask Grace ." in output
        assert "pre-receive hook declined" in output
        assert (refs(served), served.folders.size(1)) == (before, size)
        assert served.history == []


def test_one_refused_ref_leaves_the_others(work: Client, served: Served) -> None:
    """A refusal with `alone` rejects its ref with the reason, and the other refs of the push are updated."""
    served.judge = lambda _push: [
        PushRejection("refs/heads/main", "main is protected;\x1b[2J ask Grace\n.", alone=True)
    ]
    before = refs(served)
    commit_id = work.commit(content="second\n")
    output = work.git("push", "origin", "main", "main:side", "main:refs/pull/1/head", fails=True)
    assert "[remote rejected] main -> main (main is protected; [2J ask Grace .)" in output
    assert "main -> refs/pull/1/head (refs/pull/ belongs to the pull requests" in output
    assert refs(served) == {**before, "refs/heads/side": commit_id}
    assert [change.ref for change in served.history[0]] == ["refs/heads/side"]


def test_a_mirror_is_pushed_but_for_the_refs_of_the_service(work: Client, served: Served) -> None:
    """A mirror push stores changes, notes, remotes and replacements, and rejects reserved refs."""
    at = work.head()
    stored = [
        "refs/changes/01/1/1",
        "refs/notes/commits",
        "refs/remotes/origin/main",
        "refs/remotes/up/main",
        "refs/replace/" + "1" * 40,
    ]
    for ref in [*stored, "refs/pull/7/head", "refs/heads/refs/heads/main", "refs/tags/HEAD"]:
        work.git("update-ref", ref, at)
    output = work.git("push", "--mirror", "origin", fails=True)
    assert output.count("[remote rejected]") == 3
    assert set(refs(served)) == {"refs/heads/main", *stored}
    work.git("push", "--mirror", "--atomic", "origin", fails=True)
    assert set(refs(served)) == {"refs/heads/main", *stored}


def test_an_atomic_push_with_a_hidden_ref_moves_nothing(work: Client, served: Served) -> None:
    """A hidden ref is refused, and with `--atomic` all other refs of the push are refused as well."""
    before = refs(served)
    work.git("push", "--atomic", "origin", "main:refs/holdfast/x", "main:side", fails=True)
    assert refs(served) == before
    work.git("push", "origin", "main:refs/holdfast/x", "main:side", fails=True)
    assert set(refs(served)) == {"refs/heads/main", "refs/heads/side"}


def test_push_options_are_handed_on(work: Client, served: Served) -> None:
    """Push options arrive unchanged and in order; a push with more than 4096 bytes of them is refused."""
    work.git("push", "--quiet", "-o", "ci.skip", "-o", "naïve=1", "origin", "main:side")
    assert served.options[-1] == ("ci.skip", "naïve=1")
    output = work.git("push", "-o", "x" * 5000, "origin", "main:other", fails=True)
    assert "push options may have 4096 bytes" in output
    assert "refs/heads/other" not in refs(served)


def test_a_ref_that_is_named_twice_does_not_move(work: Client, served: Served) -> None:
    """A push with two commands for one ref is refused for that ref, because they are ambiguous."""
    at = work.head()
    lines = pkt(f"{ZERO} {at} refs/heads/twice\0report-status".encode()) + pkt(
        f"{ZERO} {at} refs/heads/twice".encode()
    )
    empty = pack([])
    response = httpx.post(f"{served.address(1)}/git-receive-pack", content=lines + b"0000" + empty)
    assert b"ng refs/heads/twice" in response.content
    assert "refs/heads/twice" not in refs(served)


def test_many_rejections_are_truncated(work: Client, served: Served) -> None:
    """The client sees the first rejections and `...` for the rest."""
    served.judge = lambda _push: [PushRejection(f"refs/heads/{number}", "no" * 50) for number in range(5000)]
    work.commit(content="second\n")
    output = work.git("push", "origin", "main", fails=True)
    assert "remote: refs/heads/1: nono" in output
    assert "remote: ..." in output


def test_a_failing_check_rejects_the_push(
    work: Client, served: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    """An exception in the check rejects the push, and the client does not see its message."""

    def fail(push: Push) -> Sequence[PushRejection]:
        raise RuntimeError("password=hunter2")

    served.judge = fail
    before = refs(served)
    work.commit(content="second\n")
    output = work.git("push", "origin", "main", fails=True)
    assert "could not check this push" in output
    assert "hunter2" not in output
    assert refs(served) == before


def test_refs_that_cannot_be_moved_are_refused(
    work: Client, served: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    """If recording a push fails, the client gets a general message, and the failure is logged."""

    def fail(changes: tuple[RefUpdate, ...]) -> None:
        raise RuntimeError("password=hunter2")

    served.landed = fail
    work.commit(content="second\n")
    output = work.git("push", "origin", "main", fails=True)
    assert "could not update this ref" in output
    assert "hunter2" not in output
    assert "push failed" in capsys.readouterr().out


@pytest.mark.parametrize(
    "ref", ["refs/holdfast/x", "refs/pull/1/head", "refs/for/main", "refs/bisect/bad", "refs/heads/@"]
)
def test_some_references_cannot_be_pushed(work: Client, served: Served, ref: str) -> None:
    """Refs of the service, of a working copy and with ambiguous names are refused with a reason."""
    before = refs(served)
    output = work.git("push", "origin", f"main:{ref}", fails=True)
    assert f"remote: {ref}: " in output or "hidden ref" in output
    assert refs(served) == before
    assert served.history == []


def test_head_stays_where_it_is(work: Client, served: Served) -> None:
    """A push to HEAD is refused and does not change HEAD."""
    assert "HEAD cannot be the name of a branch" in work.git("push", "origin", "main:HEAD", fails=True)
    assert (served.folders.path(1) / "HEAD").read_text() == "ref: refs/heads/main\n"
    assert served.history == []


def test_of_two_racing_pushes_one_lands(work: Client, served: Served, ada: Client) -> None:
    """Two pushes pass the check at once, and only the first to update the branch succeeds and is recorded."""
    both = threading.Barrier(2)

    def meet(push: Push) -> Sequence[PushRejection]:
        both.wait(20)
        return ()

    served.judge = meet
    ada.git("clone", "--quiet", served.address(1), "other")
    other = ada.within("other")
    mine, theirs = work.commit("mine.txt"), other.commit("theirs.txt")
    codes: dict[str, int] = {}

    def push(client: Client, name: str) -> None:
        arguments = ["git", "push", "--quiet", "origin", "main"]
        ran = subprocess.run(
            arguments, cwd=client.folder, env=client.environment, capture_output=True, check=False
        )
        codes[name] = ran.returncode

    threads = [threading.Thread(target=push, args=pair) for pair in ((work, mine), (other, theirs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    winner = next(name for name, code in codes.items() if code == 0)
    assert sorted(codes.values()) == [0, 1]
    assert refs(served)["refs/heads/main"] == winner
    assert [change.new for changes in served.history for change in changes] == [winner]


def test_a_large_push_is_streamed(work: Client, served: Served) -> None:
    """A push of 10 MB with chunked encoding succeeds."""
    (work.folder / "large").write_bytes(os.urandom(10_000_000))
    work.git("add", "large")
    work.git("commit", "--quiet", "--message", "large")
    work.git("-c", "http.postBuffer=65536", "push", "--quiet", "origin", "main")
    assert refs(served)["refs/heads/main"] == work.head()


def test_a_push_above_the_limit_is_refused_with_the_message_of_git(work: Client, served: Served) -> None:
    """The client gets the message of git although it has not sent the whole pack."""
    served.max_bytes = 1_000_000
    (work.folder / "large").write_bytes(os.urandom(10_000_000))
    work.git("add", "large")
    work.git("commit", "--quiet", "--message", "large")
    before = refs(served)
    output = work.git("push", "origin", "main", fails=True)
    assert "pack exceeds maximum allowed size" in output
    assert refs(served) == before


def command(old: str, new: str, ref: str = "refs/heads/evil") -> bytes:
    """Encode the command of a push that updates one ref."""
    return pkt(f"{old} {new} {ref}\0report-status side-band-64k".encode()) + b"0000"


def pack(objects: Sequence[bytes]) -> bytes:
    """Write a pack of objects that are encoded already."""
    content = b"PACK" + struct.pack(">II", 2, len(objects)) + b"".join(objects)
    return content + hashlib.sha1(content).digest()


def length(value: int, kind: int) -> bytes:
    """Encode the header of an object in a pack."""
    head = [(kind << 4) | (value & 15)]
    value >>= 4
    while value:
        head[-1] |= 0x80
        head.append(value & 0x7F)
        value >>= 7
    return bytes(head)


def varint(value: int) -> bytes:
    """Encode a size as in a delta."""
    out = []
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def bomb() -> bytes:
    """Write a pack of a few kilobytes with an object of sixteen gigabytes."""
    base = bytes(0xFFFF)
    copy = bytes([0x80 | 0x10 | 0x20, 0xFF, 0xFF])
    times = 250_000
    delta = varint(len(base)) + varint(len(base) * times) + copy * times
    oid = hashlib.sha1(b"blob %d\0" % len(base) + base).digest()
    return pack(
        [length(len(base), 3) + zlib.compress(base), length(len(delta), 7) + oid + zlib.compress(delta, 9)]
    )


@pytest.mark.parametrize(
    "body",
    [
        command(ZERO, "1" * 40) + b"PACK" + struct.pack(">II", 2, 5),
        command(ZERO, "1" * 40) + pack([length(5, 3) + zlib.compress(b"hello")])[:-1] + b"x",
        command(ZERO, "1" * 40) + pack([length(5, 3) + b"not zlib at all"]),
        command(ZERO, "1" * 40) + pack([length(5, 3) + zlib.compress(b"hello")]),
        command(ZERO, "1" * 40) + pack([length(7, 2) + zlib.compress(b"no tree")]),
        command(ZERO, "1" * 40) + b"NOPE",
        command(ZERO, "1" * 40),
        command(ZERO, "1" * 40) + bomb(),
        command(ZERO, "1" * 40, "refs/heads/../../config") + pack([length(5, 3) + zlib.compress(b"hello")]),
        pkt(b"nonsense"),
        b"nonsense",
        b"",
        b"ffff" * 1000,
    ],
    ids=[
        "cut short", "wrong checksum", "not compressed", "object missing", "not a tree", "no pack",
        "nothing follows", "bomb", "bad name", "nonsense line", "nonsense", "empty", "endless line",
    ],
)  # fmt: skip
def test_a_bad_pack_is_a_clean_refusal(work: Client, served: Served, body: bytes) -> None:
    """An invalid pack or command gets 400 or `ng`, changes nothing, and the next push works."""
    before = refs(served)
    response = httpx.post(f"{served.address(1)}/git-receive-pack", content=body, timeout=60)
    assert response.status_code == 400 or b"ng refs/heads" in response.content
    assert refs(served) == before
    assert served.history == []
    work.commit(content="second\n")
    work.git("push", "--quiet", "origin", "main")


def test_the_number_of_commands_is_limited(work: Client, served: Served) -> None:
    """Too many commands get 413, because git would keep them all in memory."""
    line = pkt(f"{ZERO} {'1' * 40} refs/heads/{'x' * 900}".encode())
    response = httpx.post(f"{served.address(1)}/git-receive-pack", content=line * 9000)
    assert response.status_code == 413
    assert served.history == []


@pytest.mark.parametrize("size", [1, 3, 4, 7, 100, 10_000])
def test_commands_are_counted_across_chunks(size: int) -> None:
    """The limit applies to commands, wherever the body is split, and not to the pack after them."""
    body = b"".join(pkt(b"x" * number) for number in range(50)) + b"0000" + bytes(9 * 1024 * 1024)
    commands = receive_pack.Commands()
    for start in range(0, 20_000, size):
        commands.check(body[start : start + size])
    commands.check(body[20_000:])
    endless = receive_pack.Commands()
    with pytest.raises(BodyTooLarge):
        for _ in range(9000):
            endless.check(pkt(b"x" * 1000))


def push_process(client: Client) -> subprocess.Popen[bytes]:
    """Start a push and do not wait for it."""
    return subprocess.Popen(
        ["git", "push", "origin", "main"],
        cwd=client.folder,
        env=client.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def test_a_push_is_applied_and_recorded_if_its_client_dies_during_the_check(work: Client, served: Served) -> None:
    """A push that was received completely is applied even if its client is killed."""
    judging, gone = threading.Event(), threading.Event()

    def wait(push: Push) -> Sequence[PushRejection]:
        judging.set()
        gone.wait(20)
        return ()

    served.judge = wait
    commit_id = work.commit(content="second\n")
    with push_process(work) as process:
        assert judging.wait(20)
        os.killpg(process.pid, signal.SIGKILL)
    gone.set()
    wait_for(lambda: bool(served.history))
    assert served.history[0][0].new == commit_id
    assert refs(served)["refs/heads/main"] == commit_id


def test_a_push_whose_client_dies_while_sending_leaves_no_files(work: Client, served: Served) -> None:
    """A partial push ends the git process and changes no ref."""
    before = refs(served)
    host, _, port = served.url.removeprefix("http://").partition(":")
    body = command(ZERO, "1" * 40) + b"PACK" + struct.pack(">II", 2, 5000) + length(5, 3) + zlib.compress(b"hello")
    with socket.create_connection((host, int(port))) as connection:
        head = "POST /1.git/git-receive-pack HTTP/1.1\r\nHost: x\r\nContent-Length: 999999\r\n\r\n"
        connection.sendall(head.encode() + body)
        wait_for(lambda: any("index-pack" in name or "git" in name for name in served.processes()))
    wait_for(lambda: not served.processes())
    assert refs(served) == before
    assert served.history == []


def test_a_client_that_stops_sending_times_out(work: Client, served: Served) -> None:
    """The git process is ended after the idle timeout even if the connection stays open."""
    served.idle_timeout = 0.5
    host, _, port = served.url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port))) as connection:
        head = "POST /1.git/git-receive-pack HTTP/1.1\r\nHost: x\r\nContent-Length: 999999\r\n\r\n"
        connection.sendall(head.encode() + command(ZERO, "1" * 40) + b"PACK" + struct.pack(">II", 2, 5000))
        wait_for(lambda: bool(served.failures))
        wait_for(lambda: not served.processes())
    assert "made no progress" in str(served.failures[0])


SERVICE = """
import sys, threading
from pathlib import Path
from tests.hosting.git.oracle import new_repository
from tests.hosting.git.serving import serve

def judge(push):
    print("judging", flush=True)
    threading.Event().wait()

with serve(Path(sys.argv[1])) as served:
    served.judge = judge
    print(served.address(1), flush=True)
    threading.Event().wait()
"""


def test_a_push_is_rejected_if_the_service_is_killed_during_the_check(work: Client, served: Served) -> None:
    """No ref changes, the git process ends, and `git prune` removes the quarantine."""
    before = refs(served)
    work.commit(content="second\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    root = served.folders.root.parent
    with subprocess.Popen(
        [sys.executable, "-c", SERVICE, str(root)], stdout=subprocess.PIPE, env=environment
    ) as service:
        assert service.stdout is not None
        address = service.stdout.readline().decode().strip()
        work.git("remote", "set-url", "origin", address)
        with push_process(work) as client:
            assert service.stdout.readline() == b"judging\n"
            service.kill()
            assert client.wait(20) != 0
    wait_for(lambda: not served.processes())
    assert refs(served) == before
    run(served.folders.path(1), "prune", "--expire=now")
    assert served.left_over() == []


def test_a_hook_without_its_service_rejects(work: Client, served: Served, tmp_path: Path) -> None:
    """The hook exits with 1 if its pipe is closed before it has an answer."""
    hook = str(served.folders.hooks / "pre-receive")
    said = tmp_path / "said"
    with contextlib.ExitStack() as ends:
        silence = ends.enter_context(Path(os.devnull).open("rb"))
        stderr = ends.enter_context(said.open("wb"))
        sink = ends.enter_context(Path(os.devnull).open("wb"))
        given = ((silence, 0), (stderr, 2), (silence, 3), (sink, 4))
        actions = [(os.POSIX_SPAWN_DUP2, file.fileno(), number) for file, number in given]
        pid = os.posix_spawn(hook, [hook], {"PATH": os.defpath}, file_actions=actions)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert (code, said.read_text()) == (1, "the service is gone\n")


def test_a_push_is_recorded_if_git_is_killed_while_refs_move(work: Client, served: Served) -> None:
    """The service updates the refs itself, so that the push is applied without git."""
    commit_id = work.commit(content="second\n")

    def kill_git(changes: tuple[RefUpdate, ...]) -> None:
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                command = (folder / "cmdline").read_bytes()
                if command.startswith(b"git\0receive-pack") and str(served.folders.root).encode() in command:
                    os.kill(int(folder.name), signal.SIGKILL)

    served.landed = kill_git
    work.git("push", "--quiet", "origin", "main", fails=True)
    wait_for(lambda: bool(served.history))
    assert served.history[0][0].new == commit_id
    assert refs(served)["refs/heads/main"] == commit_id


def test_missing_hooks_are_written_again(work: Client, served: Served) -> None:
    """Hooks are checked before each push, because git would accept a push without them."""
    for path in served.folders.hooks.iterdir():
        path.unlink()
    served.judge = lambda push: [PushRejection(push.changes[0].ref, "no")]
    work.commit(content="second\n")
    assert "refs/heads/main: no" in work.git("push", "origin", "main", fails=True)


def test_a_push_with_sha256_ids_is_refused_with_a_message(work: Client, served: Served) -> None:
    """The git client refuses a SHA-256 push; the service answers such a request with an `ERR` line."""
    work.git("init", "--quiet", "--initial-branch=main", "--object-format=sha256", "long")
    long = work.within("long")
    long.commit()
    output = long.git("push", served.address(1), "main:other", fails=True)
    assert "does not support this repository's hash algorithm" in output
    line = f"{'0' * 64} {'1' * 64} refs/heads/x\0report-status object-format=sha256"
    response = httpx.post(f"{served.address(1)}/git-receive-pack", content=pkt(line.encode()) + b"0000" + pack([]))
    assert response.status_code == 200
    assert response.content[4:].startswith(b"ERR repositories here have SHA-1 ids")
    assert served.history == []


def test_an_error_of_git_names_its_command(served: Served) -> None:
    """The error of a failed command has its name and exit code, and not the data of the client."""
    httpx.post(f"{served.address(1)}/git-receive-pack", content=b"hunter2")
    assert isinstance(served.failures[0], GitFailed)
    assert str(served.failures[0]).startswith("git receive-pack failed with exit code")
    assert "hunter2" not in str(served.failures[0])


@pytest.mark.parametrize("turns", [0, 1, 5, 50, 500])
def test_git_does_not_wait_for_a_client_that_left_at_the_beginning(served: Served, turns: int) -> None:
    """The git process ends if the client disconnects before it has started or before its first byte of input."""

    async def silence() -> AsyncIterator[bytes]:
        await asyncio.Event().wait()
        yield b""

    async def attempt() -> None:
        push = receive_pack.receive_pack(
            served.folders.path(1),
            silence(),
            hooks=served.folders.hooks,
            judge=lambda _: [],
            update=lambda _: [],
            stateless=False,
        )
        reading = asyncio.ensure_future(anext(push))
        for _ in range(turns + 1):
            await asyncio.sleep(0.0001 if turns > 5 else 0)
        reading.cancel()
        await asyncio.wait([reading])
        await push.aclose()
        await asyncio.wait_for(receive_pack.finish(), 20)

    asyncio.run(attempt())
