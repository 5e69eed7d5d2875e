"""Lists and aborts incomplete multipart uploads of a bucket.

A bucket stores, and bills for, the parts of an abandoned upload until it is aborted. The S3 library in use has no
function for that, so these two requests are made here.
"""

import hashlib
import hmac
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote, urlsplit
from xml.etree import ElementTree as ET

from holdfast.hosting.errors import StorageUnavailable
from holdfast.secret import Secret

__all__ = ["MultipartUpload", "MultipartUploads", "sign"]

ALGORITHM: Final = "AWS4-HMAC-SHA256"
SECONDS: Final = 300
TIMEOUT: Final = 30.0
LARGEST_RESPONSE: Final = 16 * 2**20
# The maximum number of pages, for a bucket whose listing never ends.
MOST_PAGES: Final = 1000


@dataclass(frozen=True, slots=True)
class MultipartUpload:
    """An incomplete multipart upload: its key, id and start time."""

    key: str
    id: str
    begun_at: float


def sign(
    method: str,
    url: str,
    parameters: Mapping[str, str],
    *,
    region: str,
    access_key: str,
    secret_key: Secret,
    now: datetime,
) -> str:
    """Return a presigned URL for one request (Signature Version 4), valid for a few minutes."""
    place = urlsplit(url)
    scope = f"{now:%Y%m%d}/{region}/s3/aws4_request"
    named = {
        **parameters,
        "X-Amz-Algorithm": ALGORITHM,
        "X-Amz-Credential": f"{access_key}/{scope}",
        "X-Amz-Date": f"{now:%Y%m%dT%H%M%SZ}",
        "X-Amz-Expires": str(SECONDS),
        "X-Amz-SignedHeaders": "host",
    }
    query = "&".join(f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in sorted(named.items()))
    canonical_request = f"{method}\n{place.path}\n{query}\nhost:{place.netloc}\n\nhost\nUNSIGNED-PAYLOAD"
    digest = hashlib.sha256(canonical_request.encode()).hexdigest()
    text = f"{ALGORITHM}\n{now:%Y%m%dT%H%M%SZ}\n{scope}\n{digest}"
    key = f"AWS4{secret_key.reveal()}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    return f"{url}?{query}&X-Amz-Signature={hmac.digest(key, text.encode(), 'sha256').hex()}"


class MultipartUploads:
    """The incomplete multipart uploads of one bucket."""

    def __init__(
        self, bucket: str, *, region: str, access_key: Secret, secret_key: Secret, endpoint: str | None = None
    ) -> None:
        self.bucket = bucket
        self._root = f"{(endpoint or f'https://s3.{region}.amazonaws.com').rstrip('/')}/{bucket}"
        self._region = region
        self._access_key = access_key
        self._secret_key = secret_key

    def unfinished(self, prefix: str) -> Iterator[MultipartUpload]:
        """Yield the uploads under a prefix."""
        marks = {"key-marker": "", "upload-id-marker": ""}
        for _ in range(MOST_PAGES):
            markers = {name: mark for name, mark in marks.items() if mark}
            try:
                page = ET.fromstring(self._request("GET", "", {"uploads": "", "prefix": prefix, **markers}))  # noqa: S314  # our own bucket's response, limited in size
                yield from map(parse_upload, child_elements(page, "Upload"))
            except (ET.ParseError, ValueError):
                raise StorageUnavailable(f"the bucket {self.bucket} returned an invalid list of uploads") from None
            marks = {
                "key-marker": element_text(page, "NextKeyMarker"),
                "upload-id-marker": element_text(page, "NextUploadIdMarker"),
            }
            if element_text(page, "IsTruncated") != "true" or not any(marks.values()):
                return

    def abort(self, upload: MultipartUpload) -> None:
        """Abort an upload; an unknown one is no error."""
        self._request("DELETE", f"/{upload.key}", {"uploadId": upload.id}, fine=404)

    def _request(self, method: str, path: str, parameters: Mapping[str, str], *, fine: int = 0) -> bytes:
        url = sign(
            method,
            self._root + quote(path),
            parameters,
            region=self._region,
            access_key=self._access_key.reveal(),
            secret_key=self._secret_key,
            now=datetime.now(UTC),
        )
        try:
            request = urllib.request.Request(url, method=method)  # noqa: S310  # the URL from the settings
            with urllib.request.urlopen(request, timeout=TIMEOUT) as response:  # noqa: S310  # likewise
                content: bytes = response.read(LARGEST_RESPONSE)
                return content
        except urllib.error.HTTPError as error:
            with error:
                if error.code == fine:
                    return b""
            raise StorageUnavailable(
                f"the bucket {self.bucket} returned {error.code} for multipart uploads"
            ) from None
        except (OSError, ValueError):
            # The error may quote the request with its signature.
            raise StorageUnavailable(f"the bucket {self.bucket} cannot be reached for multipart uploads") from None


def child_elements(element: ET.Element, name: str) -> Iterator[ET.Element]:
    """Yield the child elements with a name, in any namespace."""
    return (child for child in element if child.tag.rpartition("}")[2] == name)


def element_text(element: ET.Element, name: str) -> str:
    """Return the text of the first element with a name; empty if there is none."""
    return next(((child.text or "").strip() for child in child_elements(element, name)), "")


def parse_upload(element: ET.Element) -> MultipartUpload:
    """Parse one upload of a list."""
    initiated = datetime.fromisoformat(element_text(element, "Initiated"))
    return MultipartUpload(
        element_text(element, "Key"), element_text(element, "UploadId"), initiated.astimezone(UTC).timestamp()
    )
