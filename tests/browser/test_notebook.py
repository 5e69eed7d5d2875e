"""A Jupyter notebook in a browser, at both sizes and in both themes."""

import base64
import json
import struct
import zlib
from collections.abc import Callable

import httpx
from playwright.sync_api import Page, expect

from tests.conftest import ADMIN_PASSWORD, Service

Keep = Callable[[Page, str], None]


def png(width: int, height: int) -> bytes:
    """Make an image of one colour."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    rows = (b"\0" + b"\x14\x60\x5a" * width) * height
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    )


TABLE = "<table><thead><tr><th>hour</th><th>level</th></tr></thead><tr><td>3</td><td>0.4</td></tr></table>"
NOTEBOOK = {
    "nbformat": 4,
    "nbformat_minor": 5,
    "metadata": {"language_info": {"file_extension": ".py"}},
    "cells": [
        {"cell_type": "markdown", "source": "# Tides\n\nThe level is $h(t) = \\sin t$.\n\n- low\n- high\n"},
        {
            "cell_type": "code",
            "execution_count": 1,
            "source": ["def level(hour: int) -> float:\n", "    return hour / 2  # " + "rising " * 20],
            "outputs": [],
        },
        {
            "cell_type": "code",
            "execution_count": 2,
            "source": "plot(table)",
            "outputs": [
                {"output_type": "stream", "name": "stdout", "text": "three rows\n"},
                {"output_type": "execute_result", "data": {"text/html": TABLE, "text/plain": "hour"}},
                {
                    "output_type": "display_data",
                    "data": {"image/png": base64.b64encode(png(700, 200)).decode(), "text/plain": "<Figure>"},
                },
            ],
        },
        {
            "cell_type": "code",
            "execution_count": None,
            "source": "1 / 0",
            "outputs": [
                {
                    "output_type": "error",
                    "ename": "ZeroDivisionError",
                    "evalue": "division by zero",
                    "traceback": ["\x1b[0;31mZeroDivisionError\x1b[0m: division by zero"],
                }
            ],
        },
        {"cell_type": "markdown", "source": "<img src=x alt=tide onerror=alert(1)><script>alert(2)</script>"},
    ],
}


def test_a_notebook_is_shown_with_its_outputs(site: Service, page: Page, keep: Keep) -> None:
    """Text, code, tables, images and tracebacks are shown, and scripts of the notebook are removed."""
    with httpx.Client(base_url=f"{site.url}/api/v1", auth=("admin", ADMIN_PASSWORD), timeout=60) as api:
        assert api.post("/user/repos", json={"name": "tides"}).status_code == 201
        body = {"content": base64.b64encode(json.dumps(NOTEBOOK).encode()).decode(), "message": "Write"}
        assert api.post("/repos/admin/tides/contents/lab.ipynb", json=body).status_code == 201
    page.route("**/media/**/x", lambda route: route.fulfill(body=png(1, 1), content_type="image/png"))
    page.goto(f"{site.url}/admin/tides/src/branch/main/lab.ipynb")
    expect(page.get_by_role("heading", name="Tides", exact=True)).to_be_visible()
    expect(page.locator("pre.code .k").first).to_have_text("def")
    expect(page.get_by_role("cell", name="0.4")).to_be_visible()
    expect(page.get_by_role("img", name="<Figure>")).to_be_visible()
    expect(page.locator("pre.error")).to_have_text("ZeroDivisionError: division by zero")
    assert page.locator(".notebook :is(script, [onerror])").count() == 0
    keep(page, "notebook")
    page.get_by_role("link", name="Source", exact=True).click()
    expect(page.locator("pre.code")).to_contain_text('"nbformat": 4')
