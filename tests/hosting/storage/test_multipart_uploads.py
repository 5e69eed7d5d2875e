"""Deletion of unfinished multipart uploads in a bucket."""

from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import obstore
import pytest
from obstore.store import S3Store

from holdfast.hosting.errors import StorageUnavailable
from holdfast.hosting.storage import multipart_uploads
from holdfast.hosting.storage.multipart_uploads import MultipartUpload, MultipartUploads, sign
from holdfast.secret import Secret
from tests.hosting.storage.fake_bucket import ACCESS_KEY, Bucket, serve_bucket

SECRET = Secret("hunter2/+=")


def uploads(bucket: Bucket, key: str = ACCESS_KEY) -> MultipartUploads:
    """Open the uploads of a bucket."""
    return MultipartUploads("bucket", region="x", endpoint=bucket.url, access_key=Secret(key), secret_key=SECRET)


def test_signatures_equal_those_of_the_s3_library() -> None:
    """The signed URL of a request equals that of obstore for the same request at the same time."""
    endpoint = "http://127.0.0.1:9"
    store = S3Store(
        "bucket",
        region="eu-north-1",
        endpoint=endpoint,
        access_key_id="AKID",
        secret_access_key=SECRET.reveal(),
        client_options={"allow_http": True},
    )
    url = obstore.sign(store, "DELETE", "lfs/aa/x", timedelta(seconds=multipart_uploads.SECONDS))
    (when,) = parse_qs(urlsplit(url).query)["X-Amz-Date"]
    ours = sign(
        "DELETE",
        f"{endpoint}/bucket/lfs/aa/x",
        {},
        region="eu-north-1",
        access_key="AKID",
        secret_key=SECRET,
        now=datetime.strptime(when, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC),
    )
    assert parse_qs(urlsplit(ours).query) == parse_qs(urlsplit(url).query)


def test_all_pages_are_read_and_aborted_uploads_are_deleted() -> None:
    """Uploads below the prefix are listed from all pages, and an upload can be aborted twice."""
    with serve_bucket() as bucket:
        bucket.page = 2
        for number in range(5):
            bucket.uploads[f"u{number}"] = {}
            bucket.begun[f"u{number}"] = (f"lfs/{number}", 1000.5 + number)
        bucket.uploads["other"] = {}
        bucket.begun["other"] = ("elsewhere/1", 1.0)
        found_multipart_uploads = list(uploads(bucket).unfinished("lfs/"))
        assert found_multipart_uploads == [
            MultipartUpload(f"lfs/{number}", f"u{number}", 1000.5 + number) for number in range(5)
        ]
        for _ in range(2):
            uploads(bucket).abort(found_multipart_uploads[0])
        assert sorted(bucket.uploads) == ["other", "u1", "u2", "u3", "u4"]


def test_a_list_that_does_not_say_how_to_go_on_ends() -> None:
    """A truncated list without a marker for the next page ends, instead of repeating the same page."""
    with serve_bucket() as bucket:
        bucket.page, bucket.has_marks = 1, False
        for name in ("u1", "u2"):
            bucket.uploads[name] = {}
            bucket.begun[name] = (f"lfs/{name}", 1.0)
        assert [upload.id for upload in uploads(bucket).unfinished("lfs/")] == ["u1"]
        assert bucket.lists == 1


def test_an_error_of_a_bucket_is_reported_without_secrets() -> None:
    """The error names the bucket and the status, and neither a key nor a signature."""
    with serve_bucket() as bucket:
        with pytest.raises(
            StorageUnavailable, match="the bucket bucket returned 403 for multipart uploads"
        ) as excinfo:
            list(uploads(bucket, "STRANGER").unfinished("lfs/"))
        assert excinfo.value.__cause__ is None
        assert not any(text in str(excinfo.value) for text in (SECRET.reveal(), "STRANGER", "Signature"))
    with pytest.raises(
        StorageUnavailable, match="the bucket bucket cannot be reached for multipart uploads"
    ) as excinfo:
        list(uploads(bucket).unfinished("lfs/"))
    assert not any(text in str(excinfo.value) for text in (SECRET.reveal(), ACCESS_KEY, "Signature"))
    with serve_bucket() as strange:
        strange.objects["?"] = b""
        strange.uploads["u"] = {}
        strange.begun["u"] = ("lfs/1\0", 1.0)
        with pytest.raises(StorageUnavailable, match="an invalid list of uploads"):
            list(uploads(strange).unfinished("lfs/"))
