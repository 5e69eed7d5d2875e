"""The render process: reads requests from standard input and writes HTML to standard output."""

import os
import resource
import signal
import sys
from typing import Any, BinaryIO

import msgspec

from holdfast.hosting.renderer import highlight, issue_links, markdown, outside_code

__all__ = ["main"]


def main() -> None:
    """Render requests until standard input ends."""
    cpu_seconds, memory = float(sys.argv[2]), int(sys.argv[3])
    # Output printed by accident must not be read as a response.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    os.nice(5)
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for ignored in (signal.SIGINT, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    # The parent stops it by closing the pipe; the default action of SIGPROF kills it when its CPU time is used up.
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    write_response(answers, (True, None))
    while request := read_request(sys.stdin.buffer):
        signal.setitimer(signal.ITIMER_PROF, cpu_seconds)
        try:
            answer = True, render(*msgspec.msgpack.decode(request))
        except Exception:  # noqa: BLE001  # the text is then shown plain
            answer = False, None
        signal.setitimer(signal.ITIMER_PROF, 0)
        write_response(answers, answer)


def render(kind: str, arguments: list[Any]) -> Any:
    """Render one text."""
    if kind == "markdown":
        text, around = arguments
        return markdown.render(text, msgspec.convert(around, markdown.MarkdownContext))
    if kind == "issue_links":
        return issue_links.links_in(*arguments)
    if kind == "text_blocks":
        return outside_code.text_blocks(*arguments)
    if kind == "highlight_texts":
        return highlight.colour_texts(*arguments)
    if kind == "highlight_blocks":
        return highlight.colour_blocks(*arguments)
    name, text = arguments
    return highlight.colour(name, text)


def read_request(pipe: BinaryIO) -> bytes:
    """Read one request; empty at the end of input."""
    size = pipe.read(4)
    return pipe.read(int.from_bytes(size, "big")) if len(size) == 4 else b""


def write_response(pipe: BinaryIO, answer: tuple[bool, Any]) -> None:
    """Write one response."""
    encoded = msgspec.msgpack.encode(answer)
    pipe.write(len(encoded).to_bytes(4, "big") + encoded)
    pipe.flush()
