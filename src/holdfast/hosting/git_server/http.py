"""Smart HTTP and LFS under `/{owner}/{repo}.git`, for `git` and `git-lfs`."""

import re
from collections.abc import AsyncIterator
from contextlib import aclosing
from functools import partial
from pathlib import Path
from typing import Any, Final

import structlog
from anyio import to_thread
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from holdfast.hosting.app import App
from holdfast.hosting.authentication import Authenticator
from holdfast.hosting.errors import GitFailed, GitTimedOut
from holdfast.hosting.failures import error_response
from holdfast.hosting.file_responses.archives import limits_of
from holdfast.hosting.git_server import lfs, lfs_tokens, receive_pack, upload_pack
from holdfast.hosting.git_server.fetch_cache import FetchCache
from holdfast.hosting.git_server.request_body import inflate
from holdfast.hosting.git_server.session import GitSession, body_of, challenge, open_session
from holdfast.hosting.http.body import read_body
from holdfast.hosting.http.context import PasswordNeeded
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services.pushes import RepositoryPush
from holdfast.hosting.store.faults import is_outage

__all__ = ["GitHttp"]

PATH: Final = re.compile(
    r"/(?P<owner>[^/]+)/(?P<repo>[^/]+?)(?:\.git)?/"
    r"(?P<what>info/refs|git-upload-pack|git-receive-pack|git-upload-archive|info/lfs/.+)"
)
SERVICES: Final = frozenset({"info/refs", "git-upload-pack", "git-receive-pack", "git-upload-archive"})
# The scope key of the repository of a request.
REPOSITORY: Final = "holdfast.repository"
FRESH: Final = {"Cache-Control": "no-cache, max-age=0, must-revalidate"}
log = structlog.get_logger(__name__)


class GitHttp:
    """The ASGI application for git clients."""

    def __init__(self, app: App, authenticator: Authenticator) -> None:
        self._host = app
        self._authenticator = authenticator

    @staticmethod
    def matches(path: str) -> bool:
        """Return whether a path belongs to git clients."""
        return PATH.fullmatch(path) is not None

    async def __call__(self, scope: Scope, receive_message: Receive, send: Send) -> None:
        """Serve one request."""
        try:
            response = await self._respond(scope, receive_message)
        except ApiError as refusal:
            response = refused(refusal)
        except Exception as error:  # noqa: BLE001  # unknown errors are logged
            response = refused(await self._explained(scope, error))
        await response(scope, receive_message, send)

    async def _explained(self, scope: Scope, error: Exception) -> ApiError:
        """Return the error response for a failed request."""
        refusal = await error_response(self._host, error, scope.get(REPOSITORY))
        if refusal is None:
            log.error("git HTTP request failed", exc_info=error)
            refusal = ApiError(500, f"internal error; request {scope.get('holdfast.request', '')}")
        return refusal

    async def _respond(self, scope: Scope, receive_message: Receive) -> Response:
        match = PATH.fullmatch(scope["path"])
        if match is None:
            raise ApiError(404)
        resource = match["what"]
        scope["holdfast.route"] = f"/{{owner}}/{{repo}}.git/{resource if resource in SERVICES else 'info/lfs'}"
        path = {"owner": match["owner"], "repo": match["repo"]}
        request = RequestContext(self._host, scope, receive_message, path)
        if resource.startswith("info/lfs/"):
            return await self._large_files(
                request, resource.removeprefix("info/lfs/").rstrip("/"), receive_message
            )
        service = called_service(request, resource)
        writing = service == "git-receive-pack"
        session = await self._open_session(request, writing=writing)
        scope[REPOSITORY] = session.repository
        # The copy may have to be updated or built first.
        folder = await to_thread.run_sync(self._host.copies.path, session.repository)
        protocol = request.headers.get("git-protocol")
        cache = None if writing else FetchCache(self._host, session.repository)
        if resource == "info/refs":
            answer = upload_pack.advertise(folder, service, protocol=protocol, cache=cache)
            return await streamed(folder, answer, f"application/x-{service}-advertisement")
        body = body_of(request, receive_message)
        if request.headers.get("content-encoding", "").lower() in {"gzip", "x-gzip"}:
            body = inflate(body, most=self._host.settings.max_push_mb * 2**20)
        if writing:
            user = session.call.user
            pushing = RepositoryPush(self._host, session.repository, user, only_branches=session.only_branches)
            answer = receive_pack.receive_pack(
                folder,
                body,
                hooks=self._host.folders.hooks,
                judge=pushing.judge,
                update=pushing.update,
                protocol=protocol,
                max_bytes=self._host.settings.max_push_mb * 2**20,
            )
        elif service == "git-upload-archive":
            answer = upload_pack.upload_archive(folder, body, limits=limits_of(self._host.settings))
        else:
            answer = upload_pack.upload_pack(folder, body, protocol=protocol, cache=cache)
        return await streamed(folder, answer, f"application/x-{service}-result")

    async def _open_session(self, request: RequestContext, *, writing: bool) -> GitSession:
        """Authenticate in a thread; passwords are checked in their own thread pool."""
        start_session = partial(open_session, self._authenticator, request, writing=writing)
        try:
            try:
                return await to_thread.run_sync(start_session)
            except PasswordNeeded:
                await self._authenticator.check_password(request)
            return await to_thread.run_sync(start_session)
        except ApiError as refusal:
            counted = await self._authenticator.count_failure(request, refusal)
            raise challenge(counted) if counted.status == 401 and not counted.headers else counted from None

    async def _large_files(self, request: RequestContext, resource: str, receive_message: Receive) -> Response:
        """Respond to git-lfs; its errors are JSON."""
        try:
            uploads = request.method == "PUT"
            if request.method == "POST":
                lfs.check_accept(request)
            body = b"" if uploads else await read_body(request, lfs.LARGEST_REQUEST)
            writing = lfs.writes(request.method, resource, body)
            token = lfs_tokens.token_of(request)
            if token is None:
                session = await self._open_session(request, writing=writing)
            else:
                opened = partial(lfs_tokens.open_token_session, self._host, request, token, writing=writing)
                session = await to_thread.run_sync(opened)
            request.scope[REPOSITORY] = session.repository
            return await lfs.respond(self._host, session, resource, body, receive_message)
        except ApiError as refusal:
            return lfs_refused(request, refusal)
        except Exception as error:  # noqa: BLE001  # unknown errors are logged
            return lfs_refused(request, await self._explained(request.scope, error))


def refused(refusal: ApiError) -> Response:
    """Return the error response for a git client."""
    return PlainTextResponse(refusal.message + "\n", refusal.status, {**FRESH, **refusal.headers})


def lfs_refused(request: RequestContext, refusal: ApiError) -> Response:
    """Return the error response for git-lfs."""
    failed = {"message": refusal.message, "request_id": request.scope.get("holdfast.request", "")}
    response = lfs.answer(failed, refusal.status)
    response.headers.update(refusal.headers)
    return response


def called_service(request: RequestContext, resource: str) -> Any:
    """Return the service of a request, from its query or its path."""
    if resource == "info/refs":
        service = request.query("service")
        if request.method != "GET":
            raise ApiError(405, "Method not allowed.", headers={"Allow": "GET"})
        if service not in {"git-upload-pack", "git-receive-pack"}:
            raise ApiError(403, "this server speaks smart HTTP only; use git 1.6.6 or later")
        return service
    if request.method != "POST":
        raise ApiError(405, "Method not allowed.", headers={"Allow": "POST"})
    content_type = f"application/x-{resource}-request"
    if request.headers.get("content-type", "").partition(";")[0].strip() != content_type:
        raise ApiError(415, f"the content type must be {content_type}")
    return resource


async def streamed(folder: Path, answer: Any, media_type: str) -> Response:
    """Stream git's output; an error before its first chunk becomes an error response."""
    try:
        first = await anext(answer, b"")
    except GitFailed as error:
        if isinstance(error, GitTimedOut) or is_outage(error) or not await to_thread.run_sync(folder.is_dir):
            raise
        log.warning("git command failed", command=error.command)
        raise ApiError(400, "git cannot answer this request") from None

    async def pieces() -> AsyncIterator[bytes]:
        async with aclosing(answer):
            yield first
            async for piece in answer:
                yield piece

    return StreamingResponse(pieces(), media_type=media_type, headers=FRESH)
