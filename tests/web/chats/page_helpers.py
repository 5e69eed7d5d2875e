"""Helpers for tests of chat pages: forms without fields, and the attachments that pages serve."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import httpx
import pytest

__all__ = ["EMPTY_FORM", "check_first_picture", "stored_media"]

# The header that a browser sends with a form without fields.
EMPTY_FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def stored_media(archive: Path) -> list[tuple[str, str]]:
    """List the files stored beside an archive: the SHA-256 of each, and the media type its sender gave."""
    with closing(sqlite3.connect(archive)) as connection, connection:
        return connection.execute(
            "SELECT d.sha256, min(a.content_type) FROM media d JOIN attachment a ON a.media_name = d.media_name "
            "GROUP BY 1"
        ).fetchall()


def check_first_picture(client: httpx.Client, address: str) -> None:
    """Check that a picture of an encrypted folder is served whole and in ranges, inert, and not to visitors."""
    result = client.get(f"{address}/search?has=media").text
    for message in re.findall(rf'{address}/to/(\d+)"', result):
        page = client.get(f"{address}/message/{message}").text
        if picture := re.search(r'<img src="([^"]*/attachment/[0-9a-f]{64})"', page):
            break
    else:
        pytest.fail("there is no picture")
    whole = client.get(picture[1])
    assert whole.status_code == 200
    assert whole.headers["content-type"].startswith("image/")
    assert whole.headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert whole.headers["x-content-type-options"] == "nosniff"
    assert whole.headers["cache-control"] == "no-store"
    part = client.get(picture[1], headers={"Range": "bytes=20-40"})
    assert part.status_code == 206
    assert part.content == whole.content[20:41]
    with httpx.Client(base_url=client.base_url, headers={"accept": "text/html"}) as stranger:
        assert stranger.get(picture[1]).status_code == 303
