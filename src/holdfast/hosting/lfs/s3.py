"""The LFS object store in an S3-compatible bucket."""

import asyncio
import secrets
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Final

import structlog

from holdfast.hosting.errors import LfsUnavailable, NoSuchLfsObject
from holdfast.hosting.lfs.pointer import is_oid
from holdfast.hosting.lfs.s3_uploads import MultipartUploads
from holdfast.hosting.lfs.store import StoredLfsObject, object_path, write_verified
from holdfast.secret import Secret

__all__ = ["S3LfsStore"]

CHUNK: Final = 1024 * 1024
PART: Final = 8 * 1024 * 1024
AT_ONCE: Final = 4
PAGE: Final = 1000
MARK: Final = "owner"
LONGEST_MARK: Final = 200
log = structlog.get_logger(__name__)


class S3LfsStore:
    """An LFS store in a bucket, under `prefix`; the file `owner` holds the id it marks the bucket with.

    What arrives is verified on the local disk first: the bucket never sees an object that is not what it says.
    """

    def __init__(
        self,
        bucket: str,
        *,
        region: str,
        access_key: Secret,
        secret_key: Secret,
        endpoint: str | None = None,
        prefix: str = "lfs",
        incoming: Path | None = None,
        owner: Path | None = None,
    ) -> None:
        try:
            from obstore.store import S3Store  # noqa: PLC0415  # an extra, loaded when it is asked for
        except ModuleNotFoundError as error:
            raise LfsUnavailable("S3 needs an extra: pip install 'holdfast[s3]'") from error
        self.bucket = bucket
        self.prefix = prefix
        self.incoming = incoming
        self.owner = owner
        place_of_bucket = {"endpoint": endpoint} if endpoint else {}
        self._store = S3Store(
            bucket,
            region=region,
            access_key_id=access_key.reveal(),
            secret_access_key=secret_key.reveal(),
            client_options={"allow_http": bool(endpoint and endpoint.startswith("http://"))},
            **place_of_bucket,  # type: ignore[arg-type]  # a configuration by name
        )
        self._uploads = MultipartUploads(
            bucket, region=region, access_key=access_key, secret_key=secret_key, endpoint=endpoint
        )

    async def size(self, oid: str) -> int | None:
        """Return how large an object is, or None when it is not there."""
        import obstore  # noqa: PLC0415  # an extra

        key = self._key(oid)
        try:
            with self._troubles(oid):
                return (await obstore.head_async(self._store, key))["size"]
        except NoSuchLfsObject:
            return None

    async def write(self, oid: str, size: int, chunks: AsyncIterator[bytes]) -> None:
        """Keep an object that is what it was announced to be; it appears whole or not at all."""
        import obstore  # noqa: PLC0415  # an extra

        key = self._key(oid)
        folder = await asyncio.to_thread(tempfile.TemporaryDirectory, prefix="holdfast-lfs-", dir=self.incoming)
        with folder as name:
            path = Path(name) / oid
            try:
                await write_verified(path, oid, size, chunks)
            except OSError as error:
                raise LfsUnavailable(f"object {oid} cannot be kept: {error.strerror}") from error
            with self._troubles(oid):
                await obstore.put_async(self._store, key, path, chunk_size=PART, max_concurrency=AT_ONCE)

    async def read(self, oid: str, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """Go through an object's bytes, from `start` up to but not including `end`."""
        import obstore  # noqa: PLC0415  # an extra

        key = self._key(oid)
        last = await self.size(oid)
        if last is None:
            raise NoSuchLfsObject(f"object {oid} is not in the store")
        stop = last if end is None else min(end, last)
        if start >= stop:
            return
        with self._troubles(oid):
            found = await obstore.get_async(self._store, key, options={"range": (start, stop)})
            async for chunk in found.stream(min_chunk_size=CHUNK):
                yield bytes(chunk)

    async def delete(self, oid: str) -> None:
        """Remove an object; one that is not there is no error."""
        import obstore  # noqa: PLC0415  # an extra

        key = self._key(oid)
        try:
            with self._troubles(oid):
                await obstore.delete_async(self._store, key)
        except NoSuchLfsObject:
            return

    async def stored(self) -> AsyncIterator[StoredLfsObject]:
        """Go through all objects."""
        import obstore  # noqa: PLC0415  # an extra

        with self._troubles("of all names"):
            async for page in obstore.list(self._store, f"{self.prefix}/", chunk_size=PAGE):
                for one in page:
                    if self._is_ours(one["path"]):
                        oid = one["path"].rpartition("/")[2]
                        yield StoredLfsObject(oid, one["size"], one["last_modified"].timestamp())

    async def may_be_cleared(self, before: float) -> bool:
        """Tell whether the bucket has had our mark since before a moment; without any mark it gets ours.

        A bucket may be shared by mistake, or with a copy of this service: what we do not know may be theirs.
        """
        import obstore  # noqa: PLC0415  # an extra
        from obstore.exceptions import AlreadyExistsError  # noqa: PLC0415  # an extra

        if self.owner is None:
            return False
        mine = await asyncio.to_thread(own_name, self.owner)
        with self._troubles(MARK):
            try:
                found = await obstore.get_async(self._store, f"{self.prefix}/{MARK}")
                mark = bytes(await found.bytes_async())[:LONGEST_MARK]
            except FileNotFoundError:
                with suppress(AlreadyExistsError):
                    await obstore.put_async(self._store, f"{self.prefix}/{MARK}", mine, mode="create")
                return False
        if mark != mine:
            log.warning("the bucket belongs to another service, and is not cleared", bucket=self.bucket, mark=MARK)
            return False
        return found.meta["last_modified"].timestamp() < before

    async def drop_unfinished(self, before: float) -> int:
        """Remove what is left of writing that began before a moment and never ended; return how much there was."""
        return await asyncio.to_thread(self._give_up, before)

    def _give_up(self, before: float) -> int:
        begun = self._uploads.unfinished(f"{self.prefix}/")
        old = [upload for upload in begun if upload.begun_at < before and self._is_ours(upload.key)]
        for upload in old:
            self._uploads.give_up(upload)
        return len(old)

    async def signed_url(self, oid: str, seconds: int) -> str | None:
        """Return an address a client can fetch the object from for a while."""
        import obstore  # noqa: PLC0415  # an extra

        key = self._key(oid)
        with self._troubles(oid):
            return await obstore.sign_async(self._store, "GET", key, timedelta(seconds=seconds))

    def _is_ours(self, key: str) -> bool:
        oid = key.rpartition("/")[2]
        return is_oid(oid) and key == self._key(oid)

    def _key(self, oid: str) -> str:
        return f"{self.prefix}/{object_path(oid)}"

    @contextmanager
    def _troubles(self, oid: str) -> Iterator[None]:
        from obstore.exceptions import BaseError  # noqa: PLC0415  # an extra

        try:
            yield
        except FileNotFoundError:
            raise NoSuchLfsObject(f"object {oid} is not in the store") from None
        except (BaseError, OSError):
            # What the library says may quote the request, signature included.
            raise LfsUnavailable(f"the bucket {self.bucket} cannot be used for object {oid}") from None


def own_name(path: Path) -> bytes:
    """Return the name this service marks its bucket with; it is made up once and kept in the data folder."""
    try:
        with suppress(FileExistsError), path.open("x") as file:
            file.write(f"holdfast {secrets.token_hex(16)}\n")
        return path.read_bytes()
    except OSError as error:
        raise LfsUnavailable(f"{path.name} in the data folder cannot be used: {error.strerror}") from error
