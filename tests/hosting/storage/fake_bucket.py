"""An S3 server on loopback: objects, multipart uploads, lists and a check of the access key."""

import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import formatdate
from pathlib import Path
from xml.etree import ElementTree as ET

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from holdfast.secret import Secret
from holdfast.settings import Settings
from tests.conftest import wait_for

__all__ = ["ACCESS_KEY", "Bucket", "bucket_settings", "serve_bucket"]

ACCESS_KEY = "AKIDEXAMPLE"


@dataclass
class Bucket:
    """The objects of one bucket, and the uploads that are not finished."""

    url: str = ""
    objects: dict[str, bytes] = field(default_factory=dict)
    written: dict[str, float] = field(default_factory=dict)
    """When objects were written, as far as that is not now."""
    uploads: dict[str, dict[int, bytes]] = field(default_factory=dict)
    begun: dict[str, tuple[str, float]] = field(default_factory=dict)
    """What the uploads that were ever begun are for, and when that was."""
    page: int = 1000
    """How much a list holds at most."""
    has_marks: bool = True
    """Whether an incomplete list of uploads says how to go on."""
    lists: int = 0
    """How often uploads were listed."""
    parts: int = 0
    full: bool = False
    overwrites: bool = False
    """Whether a create-only PUT overwrites, as in a store without conditional PUT."""

    async def answer(self, request: Request) -> Response:
        """Answer a request."""
        signed = request.headers.get("authorization", "") + request.url.query
        if ACCESS_KEY not in signed:
            return Response(status_code=403)
        if self.full and request.method in {"PUT", "POST"}:
            return Response("<Error><Code>QuotaExceeded</Code></Error>", 403)
        key, query = request.path_params["key"].lstrip("/"), request.query_params
        match request.method:
            case "PUT" if "partNumber" in query:
                self.parts += 1
                self.uploads[query["uploadId"]][int(query["partNumber"])] = await request.body()
                return Response(headers={"etag": f'"{query["partNumber"]}"'})
            case "PUT" if (
                key in self.objects and request.headers.get("if-none-match") == "*" and not self.overwrites
            ):
                return Response("<Error><Code>PreconditionFailed</Code></Error>", 412)
            case "PUT":
                self.written.pop(key, None)
                self.objects[key] = await request.body()
                return Response(headers={"etag": '"whole"'})
            case "POST" if "uploads" in query:
                upload = uuid.uuid4().hex
                self.uploads[upload] = {}
                self.begun[upload] = (key, time.time())
                return xml("InitiateMultipartUploadResult", Bucket="bucket", Key=key, UploadId=upload)
            case "POST" if "delete" in query:
                gone = elements(await request.body(), "Key")
                for name in gone:
                    self.objects.pop(name, None)
                listed = "".join(f"<Deleted><Key>{name}</Key></Deleted>" for name in gone)
                return Response(f"<DeleteResult>{listed}</DeleteResult>", media_type="application/xml")
            case "POST":
                parts = self.uploads.pop(query["uploadId"])
                numbers = elements(await request.body(), "PartNumber")
                self.objects[key] = b"".join(parts[int(number)] for number in numbers)
                return xml("CompleteMultipartUploadResult", Bucket="bucket", Key=key, ETag='"parts"')
            case "DELETE" if "uploadId" in query:
                if self.uploads.pop(query["uploadId"], None) is None:
                    return Response("<Error><Code>NoSuchUpload</Code></Error>", 404)
                return Response(status_code=204)
            case "DELETE":
                self.objects.pop(key, None)
                return Response(status_code=204)
            case "GET" if "list-type" in query:
                return self.listed(query.get("prefix", ""), query.get("continuation-token", ""))
            case "GET" if "uploads" in query:
                return self.listed_uploads(query["prefix"], query.get("upload-id-marker", ""))
        if key not in self.objects:
            return Response("<Error><Code>NoSuchKey</Code></Error>", 404)
        return self.content(key, request.headers.get("range"))

    def listed(self, prefix: str, after: str) -> Response:
        """List objects by their keys."""
        root = ET.Element("ListBucketResult")
        results = sorted(key for key in self.objects if key.startswith(prefix) and key > after)
        for key in results[: self.page]:
            size, when = len(self.objects[key]), stamp(self.written.get(key, time.time()))
            add(root, "Contents", Key=key, Size=str(size), LastModified=when, ETag='"e"')
        return page_of(
            root, more=len(results) > self.page, NextContinuationToken=results[: self.page][-1] if results else ""
        )

    def listed_uploads(self, prefix: str, after: str) -> Response:
        """List uploads that are not finished."""
        self.lists += 1
        root = ET.Element("ListMultipartUploadsResult", xmlns="http://s3.amazonaws.com/doc/2006-03-01/")
        results = sorted(name for name in self.uploads if self.begun[name][0].startswith(prefix) and name > after)
        for name in results[: self.page]:
            add(root, "Upload", Key=self.begun[name][0], UploadId=name, Initiated=stamp(self.begun[name][1]))
        last = results[: self.page][-1] if results else ""
        marks = {"NextKeyMarker": "x", "NextUploadIdMarker": last} if self.has_marks else {}
        return page_of(root, more=len(results) > self.page, **marks)

    def content(self, key: str, wanted: str | None) -> Response:
        """Return an object or the requested range of it."""
        content, when = self.objects[key], self.written.get(key, time.time())
        headers = {"etag": '"e"', "last-modified": formatdate(when, usegmt=True), "accept-ranges": "bytes"}
        if wanted is None:
            return Response(content, headers=headers)
        first, _, last = wanted.removeprefix("bytes=").partition("-")
        start, end = int(first), min(int(last), len(content) - 1)
        headers["content-range"] = f"bytes {start}-{end}/{len(content)}"
        return Response(content[start : end + 1], 206, headers)


def elements(body: bytes, name: str) -> list[str]:
    """Return the texts of all elements of a name, in any namespace."""
    return [item.text or "" for item in ET.fromstring(body).iter() if item.tag.rpartition("}")[2] == name]


def xml(name: str, **values: str) -> Response:
    """Return a response of S3."""
    root = ET.Element(name)
    for key, value in values.items():
        ET.SubElement(root, key).text = value
    return Response(ET.tostring(root), media_type="application/xml")


def add(root: ET.Element, name: str, **values: str) -> None:
    """Add an element to a list response of S3."""
    one = ET.SubElement(root, name)
    for key, value in values.items():
        ET.SubElement(one, key).text = value


def page_of(root: ET.Element, *, more: bool, **marks: str) -> Response:
    """Return a page of a list; the continuation markers are only in a truncated one."""
    ET.SubElement(root, "IsTruncated").text = "true" if more else "false"
    for key, value in marks.items() if more else ():
        ET.SubElement(root, key).text = value
    return Response(ET.tostring(root), media_type="application/xml")


def stamp(when: float) -> str:
    """Format a time as S3 does."""
    return datetime.fromtimestamp(when, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def bucket_settings(data: Path, bucket: Bucket, key: str = ACCESS_KEY) -> Settings:
    """Return settings of a bucket on loopback."""
    return Settings(
        data=data,
        s3_bucket="bucket",
        s3_endpoint=bucket.url,
        s3_access_key=Secret(key),
        s3_secret_key=Secret("hunter2"),
    )


@contextmanager
def serve_bucket() -> Iterator[Bucket]:
    """Serve an empty bucket on a free port of loopback."""
    bucket = Bucket()
    routes = [Route("/bucket{key:path}", bucket.answer, methods=["GET", "HEAD", "PUT", "POST", "DELETE"])]
    server = uvicorn.Server(uvicorn.Config(Starlette(routes=routes), port=0, log_config=None, access_log=False))
    thread = threading.Thread(target=server.run)
    thread.start()
    wait_for(lambda: server.started)
    bucket.url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    yield bucket
    server.should_exit = True
    thread.join(20)
    assert not thread.is_alive()
