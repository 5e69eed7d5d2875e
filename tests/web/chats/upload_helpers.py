"""Uploads a chat backup as the script of the page does, and zips folders to be uploaded."""

import io
import zipfile
from dataclasses import dataclass
from pathlib import Path

import httpx

__all__ = ["UPLOADS", "ScriptedUpload", "begin", "files_below", "log_in", "upload_all", "zip_archive"]

UPLOADS = "/-/conversation-uploads"


@dataclass(frozen=True)
class ScriptedUpload:
    """An upload in progress: its URL, and the received size of each file."""

    client: httpx.Client
    address: str
    chunk_bytes: int
    received: list[int]

    def send(self, position: int, offset: int | str, content: bytes) -> httpx.Response:
        """Send a chunk."""
        headers = {"Upload-Offset": str(offset), "Accept": "application/json"}
        return self.client.patch(f"{self.address}/{position}", content=content, headers=headers)

    def complete(self) -> httpx.Response:
        """Complete the upload."""
        return self.client.post(f"{self.address}/complete", headers={"Accept": "application/json"})


def log_in(client: httpx.Client, name: str, password: str = "long enough") -> None:
    """Log a user in."""
    client.headers["accept"] = "text/html"
    assert client.post("/login", data={"name": name, "password": password}).status_code == 303


def begin(client: httpx.Client, name: str, files: dict[str, bytes], *, is_folder: bool = False) -> ScriptedUpload:
    """Begin an upload, or resume it."""
    described = [{"path": path, "size": len(content), "modified": 7} for path, content in files.items()]
    response = client.post(UPLOADS, json={"name": name, "is_folder": is_folder, "files": described})
    assert response.status_code == 201, response.text
    result = response.json()
    return ScriptedUpload(client, result["address"], result["chunk_bytes"], result["received"])


def files_below(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder by the paths a browser sends, which begin with the folder's own name."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder.parent).as_posix(): path.read_bytes() for path in paths}


def upload_all(client: httpx.Client, name: str, files: dict[str, bytes], *, is_folder: bool = False) -> str:
    """Upload files in whole chunks, and return the URL of the conversation without a trailing slash."""
    begun = begin(client, name, files, is_folder=is_folder)
    for position, content in enumerate(files.values()):
        for offset in range(begun.received[position], len(content), begun.chunk_bytes):
            sent = begun.send(position, offset, content[offset : offset + begun.chunk_bytes])
            assert sent.status_code == 204, sent.text
    done = begun.complete()
    assert done.status_code == 200, done.text
    return str(done.json()["address"]).rstrip("/")


def zip_archive(files: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    """Return a ZIP archive of files, each compressed with a method of `zipfile`."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for path, content in files.items():
            archive.writestr(path, content)
    return out.getvalue()
