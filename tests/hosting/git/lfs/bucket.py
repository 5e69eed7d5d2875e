"""A bucket on loopback: enough of S3's protocol to keep objects, in parts too, and to refuse strangers."""

import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from xml.etree import ElementTree as ET

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.conftest import wait_for

__all__ = ["ACCESS_KEY", "Bucket", "serve_bucket"]

ACCESS_KEY = "AKIDEXAMPLE"


@dataclass
class Bucket:
    """The objects of one bucket, and the uploads that are not finished."""

    url: str = ""
    objects: dict[str, bytes] = field(default_factory=dict)
    uploads: dict[str, dict[int, bytes]] = field(default_factory=dict)
    parts: int = 0
    full: bool = False

    async def answer(self, request: Request) -> Response:
        """Do what a request asks for."""
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
            case "PUT":
                self.objects[key] = await request.body()
                return Response(headers={"etag": '"whole"'})
            case "POST" if "uploads" in query:
                upload = uuid.uuid4().hex
                self.uploads[upload] = {}
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
            case "DELETE":
                self.uploads.pop(query.get("uploadId", ""), None)
                self.objects.pop(key, None)
                return Response(status_code=204)
        if key not in self.objects:
            return Response("<Error><Code>NoSuchKey</Code></Error>", 404)
        return self.content(self.objects[key], request.headers.get("range"))

    def content(self, content: bytes, wanted: str | None) -> Response:
        """Send an object or the range of it that is wanted."""
        headers = {"etag": '"e"', "last-modified": "Wed, 21 Oct 2026 07:28:00 GMT", "accept-ranges": "bytes"}
        if wanted is None:
            return Response(content, headers=headers)
        first, _, last = wanted.removeprefix("bytes=").partition("-")
        start, end = int(first), min(int(last), len(content) - 1)
        headers["content-range"] = f"bytes {start}-{end}/{len(content)}"
        return Response(content[start : end + 1], 206, headers)


def elements(body: bytes, name: str) -> list[str]:
    """Return the texts of all elements of a name, whatever namespace they are in."""
    return [item.text or "" for item in ET.fromstring(body).iter() if item.tag.rpartition("}")[2] == name]


def xml(name: str, **values: str) -> Response:
    """Write an answer of S3."""
    root = ET.Element(name)
    for key, value in values.items():
        ET.SubElement(root, key).text = value
    return Response(ET.tostring(root), media_type="application/xml")


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
