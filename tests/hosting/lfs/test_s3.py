"""Large files in a bucket."""

import asyncio
import sys

import httpx
import pytest

from holdfast.hosting.errors import LfsUnavailable
from holdfast.hosting.lfs.s3 import S3LfsStore
from holdfast.secret import Secret
from tests.hosting.lfs.bucket import ACCESS_KEY, Bucket, serve_bucket
from tests.hosting.lfs.objects import name, pieces


def store(bucket: Bucket, key: str = ACCESS_KEY) -> S3LfsStore:
    """Open the store in a bucket."""
    secret = Secret("hunter2")
    return S3LfsStore("bucket", region="x", endpoint=bucket.url, access_key=Secret(key), secret_key=secret)


def test_a_client_fetches_from_a_signed_address() -> None:
    """It needs no key of its own, and the address does not hold ours."""

    async def play(bucket: Bucket) -> None:
        await store(bucket).write(name(b"hello"), 5, pieces(b"hello"))
        url = await store(bucket).signed_url(name(b"hello"), 60)
        assert url is not None
        assert "hunter2" not in url
        async with httpx.AsyncClient() as client:
            assert (await client.get(url)).content == b"hello"

    with serve_bucket() as bucket:
        asyncio.run(play(bucket))


def test_a_large_object_goes_in_parts() -> None:
    """Above the size of one part it is uploaded in several, and is whole in the bucket."""
    content = bytes(range(256)) * 80_000

    async def play(bucket: Bucket) -> None:
        await store(bucket).write(name(content), len(content), pieces(content))

    with serve_bucket() as bucket:
        asyncio.run(play(bucket))
        assert bucket.parts == 3
        assert list(bucket.objects.values()) == [content]


def test_a_bucket_that_refuses_is_said_without_secrets() -> None:
    """Full, or for someone else: the error names the bucket and the object, and no key."""

    async def play(refused: S3LfsStore) -> None:
        with pytest.raises(LfsUnavailable, match="the bucket bucket cannot be used") as caught:
            await refused.write(name(b"hello"), 5, pieces(b"hello"))
        assert "hunter2" not in repr(caught.value)

    with serve_bucket() as bucket:
        asyncio.run(play(store(bucket, "STRANGER")))
        bucket.full = True
        asyncio.run(play(store(bucket)))
        assert not bucket.objects


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library is loaded only when a bucket is asked for."""
    monkeypatch.setitem(sys.modules, "obstore.store", None)
    with pytest.raises(LfsUnavailable, match=r"pip install 'holdfast\[s3\]'"):
        S3LfsStore("bucket", region="x", access_key=Secret("a"), secret_key=Secret("b"))
