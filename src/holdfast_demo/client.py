"""The service's own API, git and LFS endpoints, as the demo content is made through them."""

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

__all__ = ["DemoClient", "DemoRequestFailed", "basic", "pointer_to"]

SECONDS: Final = 60.0
CHUNK: Final = 1 << 20
LFS_TYPE: Final = "application/vnd.git-lfs+json"


class DemoRequestFailed(HoldfastError):
    """A request of the demo failed."""


def basic(name: str, password: str) -> str:
    """Write a name and a password as the value of an Authorization header."""
    return "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()


def pointer_to(content: bytes) -> LfsPointer:
    """Return the pointer that stands for a large file."""
    return LfsPointer(hashlib.sha256(content).hexdigest(), len(content))


@dataclass(frozen=True, slots=True)
class DemoClient:
    """An API client with administrator credentials, optionally acting as another user."""

    host: str
    port: int
    authorization: Secret

    @property
    def root(self) -> str:
        """The address of the service."""
        return f"http://[{self.host}]:{self.port}" if ":" in self.host else f"http://{self.host}:{self.port}"

    def ask(self, method: str, path: str, body: object = None, *, person: str = "") -> Any:
        """Send a request to the API, for a person if one is named, and return the decoded answer."""
        headers = {"Content-Type": "application/json"}
        if person:
            headers["Sudo"] = person
        sent = b"" if body is None else json.dumps(body).encode()
        return decoded(self._send(method, f"/api/v1{path}", sent, headers))

    def upload(self, repository: str, content: bytes) -> None:
        """Give a repository a large file, as git-lfs does before it pushes."""
        pointer = pointer_to(content)
        wanted = {"oid": pointer.oid, "size": pointer.size}
        headers = {"Accept": LFS_TYPE, "Content-Type": LFS_TYPE}
        batch = {"operation": "upload", "transfers": ["basic"], "objects": [wanted]}
        answer = decoded(
            self._send("POST", f"/{repository}.git/info/lfs/objects/batch", json.dumps(batch).encode(), headers)
        )
        actions = answer["objects"][0].get("actions", {})
        if "upload" in actions:
            octets = {"Content-Type": "application/octet-stream"}
            self._send("PUT", path_of(actions["upload"]["href"]), content, octets)
            self._send("POST", path_of(actions["verify"]["href"]), json.dumps(wanted).encode(), headers)

    def push(self, folder: Path, repository: str, refs: list[str], *, person: str) -> None:
        """Push references of a local repository with git, for a person."""
        # By the environment, not on the command line, which every user of the machine can read.
        headers = (f"Authorization: {self.authorization.reveal()}", f"Sudo: {person}")
        program.run(
            folder,
            *("push", "--quiet", f"{self.root}/{repository}.git", *refs),
            configuration=[("http.extraHeader", header) for header in headers],
        )

    def _send(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> bytes:
        """Send one request and return the body of its answer."""
        given = {**headers, "Authorization": self.authorization.reveal()}
        content = bytearray()
        try:
            request = HttpRequest(method, HttpUrl.parse(f"{self.root}{path}"), given, body)
            with sync.send(request, read_timeout=SECONDS) as answer:
                while piece := answer.read(CHUNK):
                    content += piece
        except HttpClientError as error:
            raise DemoRequestFailed(f"{method} {path} got no answer: {error}") from error
        if answer.status >= 300:
            reason = content[:300].decode(errors="replace").strip()
            raise DemoRequestFailed(f"{method} {path} was answered with {answer.status}: {reason}")
        return bytes(content)


def decoded(content: bytes) -> Any:
    """Read an answer; one without a body is None."""
    return json.loads(content) if content else None


def path_of(href: str) -> str:
    """Return the path of an address: its host is the one others know, which may not lead back to here."""
    return urlsplit(href).path
