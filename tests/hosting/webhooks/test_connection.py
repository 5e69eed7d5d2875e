"""One connection: whatever a receiver answers, what is read of it has an end."""

import asyncio
import socket
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from holdfast.hosting.errors import DeliveryFailed
from holdfast.hosting.webhooks.connection import KEPT_BYTES, Answer, Exchange
from tests.hosting.webhooks.receivers import Receiver, Seen, receiving

ASK = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\n"


def asked(receiver: Receiver) -> Answer:
    """Ask once, over a new connection, for at most five seconds."""

    async def ask() -> Answer:
        _, exchange = await asyncio.get_running_loop().create_connection(Exchange, "127.0.0.1", receiver.port)
        try:
            async with asyncio.timeout(5):
                return await exchange.ask(ASK)
        finally:
            exchange.close()

    return asyncio.run(ask())


def saying(*pieces: bytes, keep: bool = False) -> Callable[[Seen, socket.socket], bool]:
    """Make a receiver send some bytes."""

    def say(_seen: Seen, end: socket.socket) -> bool:
        for piece in pieces:
            end.sendall(piece)
        return keep

    return say


def endless(piece: bytes, start: bytes = HEAD) -> Callable[[Seen, socket.socket], bool]:
    """Make a receiver that never stops talking."""

    def talk(_seen: Seen, end: socket.socket) -> bool:
        end.sendall(start)
        while True:
            end.sendall(piece)

    return talk


@pytest.mark.parametrize(
    ("said", "body"),
    [
        (HEAD + b"Content-Length: 5\r\n\r\nhello", b"hello"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\nTrailer: x\r\n\r\n", b"hello"),
        (HEAD + b"\r\nhello", b"hello"),
        (b"HTTP/1.0 200 OK\r\n\r\nhello", b"hello"),
        (
            b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: y\r\n\r\n" + HEAD + b"X: y\r\n\r\n",
            b"",
        ),
        (b"HTTP/1.1 204 No Content\r\n\r\n", b""),
    ],
)
def test_answers_end_in_many_ways(said: bytes, body: bytes) -> None:
    """By a length, by a last chunk, with the connection; announcements are not the answer."""
    with receiving(saying(said)) as receiver:
        answer = asked(receiver)
    assert (answer.status // 100, answer.body, answer.cut) == (2, body, "")
    assert "Link" not in dict(answer.headers)


def test_an_answer_that_breaks_off_is_kept_as_far_as_it_came() -> None:
    """Its status counts: the receiver has spoken."""
    with receiving(saying(HEAD + b"Content-Length: 50\r\n\r\nhello")) as receiver:
        answer = asked(receiver)
    assert (answer.status, answer.body) == (200, b"hello")
    assert answer.cut == "the connection ended before the answer did"


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        (b"", "closed the connection without an answer"),
        (b"SSH-2.0-OpenSSH\r\n", "not HTTP"),
        (b"\x00\xff\x17\x03", "not HTTP"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", "not HTTP"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", "not HTTP"),
        (b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n\x01", "another protocol"),
        (b"HTTP/1.1 100 Continue\r\n\r\n" * 20, "announces an answer again and again"),
        (b"HTTP/1.1 200 OK\r\nX: ", "closed the connection without an answer"),
    ],
)
def test_garbage_is_a_failure_with_a_reason(said: bytes, problem: str) -> None:
    """And never a traceback."""
    with receiving(saying(said)) as receiver, pytest.raises(DeliveryFailed, match=problem):
        asked(receiver)


def test_headers_without_end_are_not_read_for_ever() -> None:
    """Neither many of them nor one that is long."""
    for piece in (b"X-A: b\r\n" * 100, b"x" * 1000):
        with receiving(endless(piece)) as receiver, pytest.raises(DeliveryFailed, match="larger than 64 KB"):
            asked(receiver)


@pytest.mark.parametrize(
    ("start", "piece"),
    [
        (HEAD + b"Content-Length: 99999999999\r\n\r\n", b"y" * 5000),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1000\r\n" + b"y" * 0x1000 + b"\r\n"),
        (HEAD + b"Content-Encoding: gzip\r\n\r\n", b"y" * 5000),
    ],
)
def test_a_huge_answer_is_kept_in_part(start: bytes, piece: bytes) -> None:
    """The first 64 KB, and the rest is not waited for; nothing is decompressed."""
    with receiving(endless(piece, start)) as receiver:
        began = time.monotonic()
        answer = asked(receiver)
    assert (answer.status, answer.body) == (200, b"y" * KEPT_BYTES)
    assert "larger than 64 KB" in answer.cut
    assert time.monotonic() - began < 4


def test_chunks_that_carry_nothing_are_not_read_for_ever() -> None:
    """Not their extensions, and not what comes after the last one."""
    chunked = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
    for start, piece in ((chunked, b"1;" + b"e" * 9000 + b"\r\ny\r\n"), (chunked + b"0\r\n", b"T: x\r\n" * 100)):
        with receiving(endless(piece, start)) as receiver:
            assert "larger than 64 KB" in asked(receiver).cut


@given(st.binary(max_size=300))
@hypothesis_settings(max_examples=60)
def test_no_answer_is_too_strange(said: bytes) -> None:
    """There is an answer or a reason, for any bytes."""
    with receiving(saying(b"HTTP/1.1 200 OK\r\n" + said)) as receiver:
        try:
            answer = asked(receiver)
        except DeliveryFailed:
            return
    assert answer.status == 200
