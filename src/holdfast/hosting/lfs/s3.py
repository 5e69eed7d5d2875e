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
    """An LFS store in a bucket, under `prefix`; the file `owner` holds the id that marks the bucket.

    Uploads are verified on the local disk first, so the bucket only gets valid objects.
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
        """Return the size of an object, or None."""
        import obstore  # noqa: PLC0415  # an extra

        key = self._key(oid)
        try:
            with self._troubles(oid):
                return (await obstore.head_async(self._store, key))["size"]
        except NoSuchLfsObject:
            return None

    async def write(self, oid: str, size: int, chunks: AsyncIterator[bytes]) -> None:
        """Store an object atomically, after verifying its size and hash."""
        import obstore  # noqa: PLC0415  # an extra

        key = self._key(oid)
        folder = await asyncio.to_thread(tempfile.TemporaryDirectory, prefix="holdfast-lfs-", dir=self.incoming)
        with folder as name:
            path = Path(name) / oid
            try:
                await write_verified(path, oid, size, chunks)
            except OSError as error:
                raise LfsUnavailable(f"object {oid} cannot be stored: {error.strerror}") from error
            with self._troubles(oid):
                await obstore.put_async(self._store, key, path, chunk_size=PART, max_concurrency=AT_ONCE)

    async def read(self, oid: str, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """Yield an object's bytes from `start` up to `end`."""
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
        """Delete an object; a missing one is no error."""
        import obstore  # noqa: PLC0415  # an extra

        key = self._key(oid)
        try:
            with self._troubles(oid):
                await obstore.delete_async(self._store, key)
        except NoSuchLfsObject:
            return

    async def stored(self) -> AsyncIterator[StoredLfsObject]:
        """Yield all objects."""
        import obstore  # noqa: PLC0415  # an extra

        with self._troubles("of all names"):
            async for page in obstore.list(self._store, f"{self.prefix}/", chunk_size=PAGE):
                for one in page:
                    if self._is_ours(one["path"]):
                        oid = one["path"].rpartition("/")[2]
                        yield StoredLfsObject(oid, one["size"], one["last_modified"].timestamp())

    async def may_be_cleared(self, before: float) -> bool:
        """Return whether the bucket has had our mark since before a time; an unmarked one gets it.

        A bucket may be shared by mistake, or with a copy of this service: unknown objects may be theirs.
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
            log.warning("LFS garbage collection skipped: bucket of another service", bucket=self.bucket, mark=MARK)
            return False
        return found.meta["last_modified"].timestamp() < before

    async def drop_unfinished(self, before: float) -> int:
        """Delete incomplete writes that began before a time; return their number."""
        return await asyncio.to_thread(self._give_up, before)

    def _give_up(self, before: float) -> int:
        begun = self._uploads.unfinished(f"{self.prefix}/")
        old = [upload for upload in begun if upload.begun_at < before and self._is_ours(upload.key)]
        for upload in old:
            self._uploads.give_up(upload)
        return len(old)

    async def signed_url(self, oid: str, seconds: int) -> str | None:
        """Return a presigned URL for an object."""
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
            # The library's messages may quote the request with its signature.
            raise LfsUnavailable(f"the bucket {self.bucket} cannot be used for object {oid}") from None


def own_name(path: Path) -> bytes:
    """Return the id that marks this service's bucket; generated once and stored in the data folder."""
    try:
        with suppress(FileExistsError), path.open("x") as file:
            file.write(f"holdfast {secrets.token_hex(16)}\n")
        return path.read_bytes()
    except OSError as error:
        raise LfsUnavailable(f"{path.name} in the data folder cannot be used: {error.strerror}") from error
