"""The client through which the demo content is created: the API, git over HTTP and Git LFS."""

import base64
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from holdfast.errors import HoldfastError
from holdfast.hosting.git import program
from holdfast.hosting.lfs.pointer import LfsPointer
from holdfast.http_client import sync
from holdfast.http_client.errors import HttpClientError
from holdfast.http_client.requests import HttpRequest
from holdfast.http_client.urls import HttpUrl
from holdfast.secret import Secret

__all__ = ["DemoClient", "DemoRequestFailed", "basic_authorization", "pointer_to"]

SECONDS: Final = 60.0
CHUNK: Final = 1 << 20
LFS_TYPE: Final = "application/vnd.git-lfs+json"


class DemoRequestFailed(HoldfastError):
    """A request failed while the demo content was created."""


def basic_authorization(name: str, password: str) -> str:
    """Return the Authorization header for basic authentication."""
    return "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()


def pointer_to(content: bytes) -> LfsPointer:
    """Return the Git LFS pointer of a file."""
    return LfsPointer(hashlib.sha256(content).hexdigest(), len(content))


@dataclass(frozen=True, slots=True)
class DemoClient:
    """An API client with administrator credentials, optionally acting as another user."""

    host: str
    port: int
    authorization: Secret

    @property
    def root(self) -> str:
        """The base URL of the service."""
        return f"http://[{self.host}]:{self.port}" if ":" in self.host else f"http://{self.host}:{self.port}"

    def request(self, method: str, path: str, body: object = None, *, person: str = "") -> Any:
        """Send an API request, on behalf of `person` if given, and return the decoded response."""
        headers = {"Content-Type": "application/json"}
        if person:
            headers["Sudo"] = person
        sent = b"" if body is None else json.dumps(body).encode()
        return decoded(self._send(method, f"/api/v1{path}", sent, headers))

    def upload(self, repository: str, content: bytes) -> None:
        """Upload a file to the Git LFS storage of a repository."""
        pointer = pointer_to(content)
        wanted = {"oid": pointer.oid, "size": pointer.size}
        headers = {"Accept": LFS_TYPE, "Content-Type": LFS_TYPE}
        batch = {"operation": "upload", "transfers": ["basic"], "objects": [wanted]}
        response = decoded(
            self._send("POST", f"/{repository}.git/info/lfs/objects/batch", json.dumps(batch).encode(), headers)
        )
        actions = response["objects"][0].get("actions", {})
        if "upload" in actions:
            octets = {"Content-Type": "application/octet-stream"}
            self._send("PUT", path_of(actions["upload"]["href"]), content, octets)
            self._send("POST", path_of(actions["verify"]["href"]), json.dumps(wanted).encode(), headers)

    def push(self, folder: Path, repository: str, refs: list[str], *, person: str) -> None:
        """Push refs of a local repository with git on behalf of a user."""
        # Not on the command line, which every user of the machine can read.
        headers = (f"Authorization: {self.authorization.reveal()}", f"Sudo: {person}")
        program.run(
            folder,
            *("push", "--quiet", f"{self.root}/{repository}.git", *refs),
            configuration=[("http.extraHeader", header) for header in headers],
        )

    def _send(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> bytes:
        """Send a request and return the body of the response."""
        sent_headers = {**headers, "Authorization": self.authorization.reveal()}
        content = bytearray()
        try:
            request = HttpRequest(method, HttpUrl.parse(f"{self.root}{path}"), sent_headers, body)
            with sync.send(request, read_timeout=SECONDS) as response:
                while piece := response.read(CHUNK):
                    content += piece
        except HttpClientError as error:
            raise DemoRequestFailed(f"{method} {path} failed: {error}") from error
        if response.status >= 300:
            reason = content[:300].decode(errors="replace").strip()
            raise DemoRequestFailed(f"{method} {path} returned {response.status}: {reason}")
        return bytes(content)


def decoded(content: bytes) -> Any:
    """Decode a JSON body; None if it is empty."""
    return json.loads(content) if content else None


def path_of(href: str) -> str:
    """Return the path of a URL; its host is the public one, which may not be reachable from this machine."""
    return urlsplit(href).path
