"""A small git server over HTTP, and a client with its own environment."""

import os
import subprocess
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from holdfast.hosting.errors import BodyDamaged, BodyTooLarge, GitError, GitFailed
from holdfast.hosting.git.archives import ArchiveLimits
from holdfast.hosting.git.encoding import raw
from holdfast.hosting.git.folders import Folders
from holdfast.hosting.git.program import run
from holdfast.hosting.git.quarantine import AcceptedPush, Push, PushRejection
from holdfast.hosting.git_server import receive_pack, upload_pack
from holdfast.hosting.git_server.request_body import inflate
from holdfast.hosting.store.ref_updates import RefUpdate
from tests.conftest import wait_for

__all__ = ["Client", "Served", "pkt", "running", "serve"]


def pkt(line: bytes) -> bytes:
    """Encode a line as a pkt-line."""
    return b"%04x%s" % (len(line) + 4, line)


@dataclass
class Served:
    """A running server, and the pushes it accepted."""

    folders: Folders
    url: str = ""
    judge: Callable[[Push], Sequence[PushRejection]] = lambda _push: ()
    landed: Callable[[tuple[RefUpdate, ...]], None] = lambda _changes: None
    options: list[tuple[str, ...]] = field(default_factory=list)
    history: list[tuple[RefUpdate, ...]] = field(default_factory=list)
    packs: list[tuple[str, ...]] = field(default_factory=list)
    failures: list[Exception] = field(default_factory=list)
    max_bytes: int | None = None
    idle_timeout: float = 60.0

    def address(self, repository_id: int) -> str:
        """Return the URL of a repository."""
        return f"{self.url}/{repository_id}.git"

    def processes(self) -> list[str]:
        """Name the processes of this service's git commands: running, orphaned or not waited for."""
        results = []
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                name, _, rest = (folder / "stat").read_text().partition(" (")[2].rpartition(") ")
                ours = int(rest.split()[1]) == os.getpid() and name == "git"
                if ours or f"GIT_DIR={self.folders.root}".encode() in (folder / "environ").read_bytes():
                    results.append(f"{name} {rest[:1]}")
        return results

    def left_over(self) -> list[Path]:
        """List the files that a failed push would leave: quarantines, locks, unfinished packs."""
        return [
            path for path in self.folders.root.rglob("*") if path.name.startswith("tmp_") or path.suffix == ".lock"
        ]

    def update(self, folder: Path, pushed: AcceptedPush) -> Sequence[PushRejection]:
        """Update the refs of a push, and record the accepted updates."""
        updated: list[RefUpdate] = []
        rejected: list[PushRejection] = []
        for some in [pushed.changes] if pushed.atomic else [(change,) for change in pushed.changes]:
            lines = [
                b"update %s\0%s\0%s\0" % (raw(item.ref), item.new.encode(), item.old.encode()) for item in some
            ]
            try:
                run(folder, "update-ref", "--no-deref", "-z", "--stdin", input=b"".join(lines))
            except GitFailed:
                rejected += [PushRejection(item.ref, "it was updated by another request") for item in some]
            else:
                updated += some
        if updated:
            self.history.append(tuple(updated))
            self.options.append(pushed.options)
            self.packs.append(pushed.packs)
            self.landed(tuple(updated))
        return rejected

    async def refs(self, request: Request) -> Response:
        """Answer `info/refs`."""
        folder = self.folders.existing(request.path_params["id"])
        service = request.query_params["service"]
        assert service in {"git-upload-pack", "git-receive-pack"}
        protocol = request.headers.get("git-protocol")
        response = upload_pack.advertise(folder, service, protocol=protocol)  # type: ignore[arg-type]  # checked above
        return await self.streamed(response, f"application/x-{service}-advertisement")

    async def rpc(self, request: Request) -> Response:
        """Answer the request that follows `info/refs`: fetch, archive or push."""
        folder = self.folders.existing(request.path_params["id"])
        body: AsyncIterator[bytes] = aiter(request.stream())
        if request.headers.get("content-encoding") == "gzip":
            body = inflate(body)
        protocol = request.headers.get("git-protocol")
        service = request.path_params["service"]
        if service == "git-upload-pack":
            response = upload_pack.upload_pack(folder, body, protocol=protocol, idle_timeout=self.idle_timeout)
        elif service == "git-upload-archive":
            response = upload_pack.upload_archive(folder, body, limits=ArchiveLimits(1000, 2**20))
        else:
            response = receive_pack.receive_pack(
                folder,
                body,
                protocol=protocol,
                hooks=self.folders.hooks,
                judge=self.judge,
                update=partial(self.update, folder),
                max_bytes=self.max_bytes,
                idle_timeout=self.idle_timeout,
            )
        return await self.streamed(response, f"application/x-{service}-result")

    async def streamed(self, chunks: AsyncGenerator[bytes, None], media_type: str) -> Response:
        """Wait for the first chunk, which decides the status, and stream the response."""
        try:
            first = await anext(chunks, b"")
        except BodyTooLarge as error:
            return PlainTextResponse(str(error), 413)
        except BodyDamaged as error:
            return PlainTextResponse(str(error), 400)
        except (GitError, ClientDisconnect) as error:
            self.failures.append(error)
            return PlainTextResponse(str(error), 400)

        async def all_of_it() -> AsyncIterator[bytes]:
            async with aclosing(chunks):
                yield first
                async for chunk in chunks:
                    yield chunk

        return StreamingResponse(all_of_it(), media_type=media_type)


@contextmanager
def serve(root: Path) -> Iterator[Served]:
    """Serve repositories on a free port of loopback."""
    root.mkdir(exist_ok=True)
    served = Served(Folders(root / "repositories"))
    with running(served):
        yield served


@contextmanager
def running(served: Served) -> Iterator[None]:
    """Listen on a free port of loopback, and stop in the end."""

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        await receive_pack.finish()

    routes = [
        Route("/{id:int}.git/info/refs", served.refs),
        Route("/{id:int}.git/{service}", served.rpc, methods=["POST"]),
    ]
    app = Starlette(routes=routes, lifespan=lifespan)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, access_log=False, loop="uvloop"))
    thread = threading.Thread(target=server.run)
    thread.start()
    wait_for(lambda: server.started)
    served.url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    yield
    server.should_exit = True
    thread.join(20)
    assert not thread.is_alive()


@dataclass(frozen=True)
class Client:
    """A git client with a working folder."""

    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables of git."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "LC_ALL": "C",
            **{f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in PERSON},
        }

    def git(self, *arguments: str, fails: bool = False, given: bytes = b"") -> str:
        """Run git and return its output; it must succeed unless a failure is expected."""
        ran = subprocess.run(
            ["git", *arguments],
            cwd=self.folder,
            env=self.environment,
            input=given,
            capture_output=True,
            check=False,
        )
        output = (ran.stdout + ran.stderr).decode(errors="replace")
        assert bool(ran.returncode) == fails, output
        return output

    def within(self, name: str) -> "Client":
        """Return a client that works in a folder."""
        return Client(self.folder / name)

    def commit(self, path: str = "file.txt", content: str = "hello\n") -> str:
        """Commit a file and return the commit."""
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content)
        self.git("add", path)
        self.git("commit", "--quiet", "--message", f"change {path}")
        return self.head()

    def head(self, name: str = "HEAD") -> str:
        """Return the object id of a revision."""
        return self.git("rev-parse", name).strip()


PERSON = (("NAME", "Ada"), ("EMAIL", "ada@example.org"), ("DATE", "2026-01-01T00:00:00Z"))
