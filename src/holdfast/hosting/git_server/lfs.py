"""The Git LFS API: batch requests, object transfer, and file locks."""

import re
from collections.abc import AsyncIterator, Callable
from typing import Annotated, Any, Final

import msgspec
from anyio import to_thread
from msgspec import UNSET, Meta, UnsetType
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.types import Receive

from holdfast.hosting.access import Unit
from holdfast.hosting.app import App
from holdfast.hosting.errors import BodyTooLarge, LfsMismatch, LockTaken, NoSuchLock
from holdfast.hosting.git_server.session import GitSession, body_of
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.lfs.pointer import is_oid
from holdfast.hosting.metrics import count_lfs_bytes
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.times import Time, moment
from holdfast.hosting.services.lfs_objects import add_object
from holdfast.hosting.store import lfs as store

__all__ = ["respond", "writes"]

MEDIA_TYPE: Final = "application/vnd.git-lfs+json"
LARGEST_REQUEST: Final = 4 * 2**20
MOST_OBJECTS: Final = 1000
LOCKS_PER_PAGE: Final = 100
SIGNED_SECONDS: Final = 3600
OBJECT: Final = re.compile(r"objects/(?P<oid>[^/]+)(?:/(?P<size>[^/]+))?")
UNLOCK: Final = re.compile(r"locks/(?P<id>[0-9]{1,18})/unlock")


class LfsObject(msgspec.Struct, frozen=True):
    """The id and size of an object."""

    oid: str = ""
    size: Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)] = -1


class LfsBatchRequest(msgspec.Struct, frozen=True):
    """The objects a client wants to upload or download."""

    operation: str = ""
    transfers: list[str] = []
    objects: list[LfsObject] = []
    hash_algo: str = "sha256"


class LfsAction(msgspec.Struct, frozen=True):
    """A URL for an object, with the headers to send."""

    href: str
    header: dict[str, str] | UnsetType = UNSET
    expires_in: int | UnsetType = UNSET


class LfsObjectError(msgspec.Struct, frozen=True):
    """The error of an object."""

    code: int
    message: str


class LfsObjectResponse(msgspec.Struct, frozen=True):
    """The actions for an object; none if it exists already."""

    oid: str
    size: int
    authenticated: bool
    actions: dict[str, LfsAction] | UnsetType = UNSET
    error: LfsObjectError | UnsetType = UNSET


class LfsBatchResponse(msgspec.Struct, frozen=True):
    """The actions for each object."""

    transfer: str
    objects: list[LfsObjectResponse]
    hash_algo: str


class LockOwner(msgspec.Struct, frozen=True):
    """The owner of a lock."""

    name: str


class LockSchema(msgspec.Struct, frozen=True):
    """A lock."""

    id: str
    path: str
    locked_at: Time
    owner: LockOwner


class LockRequest(msgspec.Struct, frozen=True):
    """The path to lock."""

    path: str = ""


class UnlockRequest(msgspec.Struct, frozen=True):
    """Whether to remove the lock of another user."""

    force: bool = False


class VerifyLocksRequest(msgspec.Struct, frozen=True):
    """Filters of locks."""

    cursor: str = ""
    limit: int = 0


class OneLock(msgspec.Struct, frozen=True):
    """A lock that was created or removed, or that conflicts."""

    lock: LockSchema
    message: str | UnsetType = UNSET


class Locks(msgspec.Struct, frozen=True):
    """A page of locks."""

    locks: list[LockSchema]
    next_cursor: str | UnsetType = UNSET


class VerifiedLocks(msgspec.Struct, frozen=True):
    """A page of locks, split into the user's own and those of others."""

    ours: list[LockSchema]
    theirs: list[LockSchema]
    next_cursor: str | UnsetType = UNSET


def writes(method: str, resource: str, body: bytes) -> bool:
    """Return whether a request requires write access; for a batch this depends on its body."""
    if resource == "objects/batch":
        return bool(decode_request(LfsBatchRequest, body).operation == "upload")
    return method == "PUT" or resource == "verify" or (method == "POST" and resource.startswith("locks"))


def check_accept(request: RequestContext) -> None:
    """Raise an error unless the client accepts the LFS media type."""
    accepted = request.headers.get("accept", "")
    if MEDIA_TYPE not in accepted and "*/*" not in accepted:
        raise ApiError(415, f"the answer is {MEDIA_TYPE}")


def answer(value: object, status: int = 200) -> Response:
    """Return a response with the LFS media type."""
    return Response(msgspec.json.encode(value), status, media_type=MEDIA_TYPE)


def decode_request(kind: type[Any], body: bytes) -> Any:
    """Decode a request."""
    try:
        return msgspec.json.decode(body or b"{}", type=kind)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ApiError(400, f"invalid request: {error}") from None


async def respond(app: App, session: GitSession, resource: str, body: bytes, receive: Receive) -> Response:
    """Respond to an LFS request; `body` is complete unless it is an object."""
    method = session.call.method
    routes: dict[tuple[str, str], Callable[[], Response]] = {
        ("GET", "locks"): lambda: list_locks(app, session),
        ("POST", "locks"): lambda: create_lock(app, session, decode_request(LockRequest, body)),
        ("POST", "locks/verify"): lambda: verify_locks(app, session, decode_request(VerifyLocksRequest, body)),
    }
    if resource == "objects/batch" and method == "POST":
        return await batch(app, session, decode_request(LfsBatchRequest, body))
    if resource == "verify" and method == "POST":
        return await verify(app, session, decode_request(LfsObject, body))
    if (method, resource) in routes:
        return await to_thread.run_sync(routes[method, resource])
    unlocked = UNLOCK.fullmatch(resource)
    if unlocked and method == "POST":
        wanted = decode_request(UnlockRequest, body)
        return await to_thread.run_sync(unlock, app, session, int(unlocked["id"]), wanted)
    place = OBJECT.fullmatch(resource)
    if place and is_oid(place["oid"]):
        if method == "PUT" and (place["size"] or "").isdigit() and len(place["size"]) < 19:
            return await upload(app, session, place["oid"], int(place["size"]), receive)
        if method == "GET" and place["size"] is None:
            return await download(app, session, place["oid"])
    raise ApiError(404, "not found")


async def batch(app: App, session: GitSession, request: LfsBatchRequest) -> Response:
    """Return the actions for the objects of a batch."""
    if request.operation not in {"upload", "download"}:
        raise ApiError(400, f"unknown operation: {request.operation}")
    if request.hash_algo != "sha256":
        raise ApiError(409, "only sha256 is supported")
    if len(request.objects) > MOST_OBJECTS:
        raise ApiError(413, f"a batch has at most {MOST_OBJECTS} objects")
    if request.transfers and "basic" not in request.transfers:
        raise ApiError(422, "only the basic transfer is supported")
    oids = [item.oid for item in request.objects if is_oid(item.oid)]
    linked = await to_thread.run_sync(store.linked_sizes, app.database, session.repository, oids)
    answers = [await object_actions(app, session, request.operation, item, linked) for item in request.objects]
    return answer(LfsBatchResponse("basic", answers, "sha256"))


async def object_actions(
    app: App, session: GitSession, operation: str, item: LfsObject, linked: dict[str, int]
) -> LfsObjectResponse:
    """Return the actions for one object."""
    largest = app.settings.max_lfs_mb * 2**20

    def refuse(code: int, message: str) -> LfsObjectResponse:
        return LfsObjectResponse(item.oid, item.size, True, error=LfsObjectError(code, message))

    if not is_oid(item.oid) or item.size < 0:
        return refuse(422, "oid or size are invalid")
    linked_size = linked.get(item.oid)
    if linked_size is not None and linked_size != item.size:
        return refuse(422, f"object {item.oid} is not {item.size} bytes")
    if operation == "download":
        if linked_size is None or await app.lfs.size(item.oid) is None:
            return refuse(404, "object does not exist")
        href = await app.lfs.signed_url(item.oid, SIGNED_SECONDS)
        action = (
            LfsAction(href, expires_in=SIGNED_SECONDS) if href else local_action(session, f"objects/{item.oid}")
        )
        return LfsObjectResponse(item.oid, item.size, True, actions={"download": action})
    # An object that is missing or truncated is uploaded again.
    if linked_size is not None and await app.lfs.size(item.oid) == item.size:
        return LfsObjectResponse(item.oid, item.size, True)
    if item.size > largest:
        return refuse(422, f"objects may have at most {largest} bytes")
    actions = {
        "upload": local_action(session, f"objects/{item.oid}/{item.size}"),
        "verify": local_action(session, "verify"),
    }
    return LfsObjectResponse(item.oid, item.size, True, actions=actions)


def local_action(session: GitSession, resource: str) -> LfsAction:
    """Return the action for another URL of this service, with the client's credentials."""
    repository = session.repository
    href = f"{session.call.root}/{repository.owner.name}/{repository.name}.git/info/lfs/{resource}"
    credentials = session.call.headers.get("authorization")
    header: dict[str, str] = {} if credentials is None else {"Authorization": credentials}
    if resource.startswith("objects/"):
        header["Accept"] = "*/*" if "/" in resource.removeprefix("objects/") else MEDIA_TYPE
    return LfsAction(href, header)


async def upload(app: App, session: GitSession, oid: str, size: int, receive: Receive) -> Response:
    """Store an object after verifying its hash."""
    if size > app.settings.max_lfs_mb * 2**20:
        raise ApiError(413, f"objects may have at most {app.settings.max_lfs_mb} MB")
    try:
        # Also for an object that another repository has: knowing its id must not give access to its content.
        await add_object(app, oid, size, body_of(session.call, receive))
    except (LfsMismatch, BodyTooLarge) as error:
        raise ApiError(422, str(error)) from None
    await to_thread.run_sync(store.link, app.database, session.repository, oid, size)
    count_lfs_bytes("up", size)
    return Response(status_code=200)


async def verify(app: App, session: GitSession, item: LfsObject) -> Response:
    """Confirm that an object was uploaded."""
    if not is_oid(item.oid):
        raise ApiError(422, "oid is invalid")
    linked = await to_thread.run_sync(store.linked_sizes, app.database, session.repository, [item.oid])
    size = await app.lfs.size(item.oid) if item.oid in linked else None
    if size is None:
        raise ApiError(404, "object does not exist")
    if size != item.size:
        raise ApiError(422, f"object {item.oid} is not {item.size} bytes")
    return answer({"oid": item.oid, "size": size})


async def download(app: App, session: GitSession, oid: str) -> Response:
    """Send an object, or a range of it."""
    linked = await to_thread.run_sync(store.linked_sizes, app.database, session.repository, [oid])
    size = await app.lfs.size(oid) if oid in linked else None
    if size is None:
        raise ApiError(404, "object does not exist")
    href = await app.lfs.signed_url(oid, SIGNED_SECONDS)
    if href is not None:
        return RedirectResponse(href, 307)
    start, status = 0, 200
    headers = {"Accept-Ranges": "bytes"}
    range_header = session.call.headers.get("range", "") if session.call.scope["method"] == "GET" else ""
    range_match = re.fullmatch(r"bytes=([0-9]{1,18})-", range_header)
    if range_match:
        start = int(range_match[1])
        if start >= size:
            raise ApiError(416, "range not satisfiable", headers={"Content-Range": f"bytes */{size}"})
        status = 206
        headers["Content-Range"] = f"bytes {start}-{size - 1}/{size}"
    headers["Content-Length"] = str(size - start)
    pieces: AsyncIterator[bytes] = app.lfs.read(oid, start)
    count_lfs_bytes("down", size - start)
    return StreamingResponse(pieces, status, headers, media_type="application/octet-stream")


def lock_shape(lock: store.Lock) -> LockSchema:
    """Encode a lock."""
    return LockSchema(str(lock.id), lock.path, moment(lock.locked_at), LockOwner(lock.owner))


def number(text: str | None) -> int:
    """Parse a number, leniently."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 19 else 0


def list_locks(app: App, session: GitSession) -> Response:
    """List the locks of a repository."""
    call = session.call
    limit = min(number(call.query("limit")) or LOCKS_PER_PAGE, LOCKS_PER_PAGE)
    lock_id = call.query("id")
    if lock_id and not number(lock_id):
        return answer(Locks([]))
    locks = store.locks_of(
        app.database,
        session.repository,
        path=call.query("path") or "",
        number=number(lock_id),
        after=number(call.query("cursor")),
        limit=limit + 1,
    )
    more: str | UnsetType = str(locks[limit - 1].id) if len(locks) > limit else UNSET
    return answer(Locks([lock_shape(lock) for lock in locks[:limit]], more))


def create_lock(app: App, session: GitSession, request: LockRequest) -> Response:
    """Lock a path."""
    path = request.path.strip("/")
    if not path or len(path) > 4096 or "\0" in path or ".." in path.split("/"):
        raise ApiError(400, "a lock needs a path")
    try:
        lock = store.add_lock(app.database, session.repository, path, session.call.user)
    except LockTaken as error:
        locks = store.locks_of(app.database, session.repository, path=path, limit=1)
        if not locks:
            raise ApiError(409, str(error)) from None
        return answer(OneLock(lock_shape(locks[0]), str(error)), 409)
    return answer(OneLock(lock_shape(lock)), 201)


def verify_locks(app: App, session: GitSession, request: VerifyLocksRequest) -> Response:
    """List the locks before a push: the user's own, and those of others."""
    limit = min(request.limit if request.limit > 0 else LOCKS_PER_PAGE, LOCKS_PER_PAGE)
    locks = store.locks_of(app.database, session.repository, after=number(request.cursor), limit=limit + 1)
    more: str | UnsetType = str(locks[limit - 1].id) if len(locks) > limit else UNSET
    me = session.call.actor.user
    ours = [lock_shape(lock) for lock in locks[:limit] if me is not None and lock.owner_id == me.id]
    theirs = [lock_shape(lock) for lock in locks[:limit] if me is None or lock.owner_id != me.id]
    return answer(VerifiedLocks(ours, theirs, more))


def unlock(app: App, session: GitSession, lock_id: int, request: UnlockRequest) -> Response:
    """Delete a lock; that of another user requires force and write access."""
    try:
        lock = store.find_lock(app.database, session.repository, lock_id)
    except NoSuchLock as error:
        raise ApiError(404, str(error)) from None
    is_owner = lock.owner_id == session.call.user.id
    if not is_owner and not (request.force and session.may.may_write(Unit.CODE)):
        raise ApiError(403, "the lock belongs to another user; use force")
    store.remove_lock(app.database, lock)
    return answer(OneLock(lock_shape(lock)))
