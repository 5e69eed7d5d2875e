"""Conversations inside the host: what is shown while one is read, when it needs a key, and when it is there."""

import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

import msgspec
from starlette.requests import cookie_parser

from holdfast.backup import read_keys
from holdfast.backup.errors import KeyRefused
from holdfast.hosting.api.call import Call
from holdfast.hosting.api.declare import Raw
from holdfast.hosting.api.file_serving import Served, disposition, not_modified, serve
from holdfast.hosting.api.refusal import Refusal
from holdfast.secret import Secret
from holdfast.web.chats import media
from holdfast.web.chats.cache import Cache, Failed, NeedsKey, Source, Working, cache_of
from holdfast.web.chats.conversation import answer
from holdfast.web.chats.recognising import Kind
from holdfast.web.chats.room import Room
from holdfast.web.chats.view import Elsewhere, Kept, NotHere, Shown
from holdfast.web.pages import go

__all__ = ["Frame", "KeyForm", "act_on", "show_room", "show_source"]

COOKIE: Final = "holdfast_chats"
CHUNK: Final = 256 * 1024
SECRET_BYTES: Final = 32
LONGEST_KEY: Final = 4096


class KeyForm(msgspec.Struct, frozen=True):
    """The key of an encrypted backup, as a form brings it."""

    key: str = ""
    account: str = ""


class Draw(Protocol):
    """Makes a page inside the frame that a conversation is shown in."""

    def __call__(self, template: str, title: str, status: int, values: Mapping[str, object]) -> Raw:
        """Make it."""


@dataclass(frozen=True, slots=True)
class Frame:
    """Where a conversation is shown: `base` is its address, `draw` makes its pages."""

    call: Call
    base: str
    draw: Draw

    def page(self, shown: Shown, **more: object) -> Raw:
        """Make a page."""
        return self.draw(shown.template, shown.title, shown.status, {**shown.values, **more, "base": self.base})


def show_source(frame: Frame, source: Source, inner: str) -> Raw:
    """Show a page of a conversation, or how far it is."""
    call = frame.call
    secret = secret_of(call)
    state = cache_of(call.host.settings.data).look(source, secret)
    title = source.name
    if isinstance(state, NeedsKey):
        shown = Shown("chats/key.html", title, {"problem": state.problem, "typed": ""})
        return frame.page(shown, room_name=source.name, sealed=False)
    if isinstance(state, Failed):
        return frame.page(
            Shown("chats/failed.html", title, {"problem": state.problem}), room_name=source.name, sealed=False
        )
    if isinstance(state, Working):
        shown = Shown("chats/working.html", title, {"progress": state.progress})
        return frame.page(shown, room_name=source.name, sealed=False)
    return show_room(frame, state.room, inner, sealed=source.kind is Kind.SEALED)


def show_room(frame: Frame, room: Room, inner: str, *, sealed: bool = False) -> Raw:
    """Show a page of a conversation that is there."""
    try:
        found = answer(room, frame.base, inner, dict(frame.call.pairs()))
    except NotHere:
        raise Refusal(404) from None
    if isinstance(found, Elsewhere):
        return go(found.address)
    if isinstance(found, Kept):
        return serve_file(frame.call, found)
    return frame.page(found, room_name=room.name, sealed=sealed)


def serve_file(call: Call, kept: Kept) -> Raw:
    """Serve a file of a message, or the parts of it that are asked for."""
    status = kept.path.stat()
    modified = int(status.st_mtime)
    # Files are named by their content.
    etag = kept.path.stem
    known = not_modified(call, etag, lambda: modified, is_public=False)
    if known is not None:
        return known
    served = serve(
        call,
        Served(
            kept.name,
            kept.media_type,
            status.st_size,
            etag,
            modified,
            False,
            lambda start, stop: pieces(kept.path, start, stop),
        ),
    )
    if served.status in {200, 206}:
        served.headers["Content-Security-Policy"] = media.POLICY
        served.headers["Content-Disposition"] = disposition(kept.name, "inline" if kept.inline else "attachment")
    return served


def pieces(path: Path, start: int, stop: int) -> Iterator[bytes]:
    """Yield a stretch of a file."""
    with path.open("rb") as file:
        file.seek(start)
        while start < stop and (piece := file.read(min(CHUNK, stop - start))):
            start += len(piece)
            yield piece


def act_on(frame: Frame, source: Source, inner: str, form: KeyForm) -> Raw:
    """Take a key, forget one, or try again."""
    call = frame.call
    cache: Cache = cache_of(call.host.settings.data)
    secret = secret_of(call)
    if inner == "-again":
        cache.forget(source, secret)
        return go(f"{frame.base}/")
    if inner == "-forget":
        cache.forget(source, secret)
        return go(f"{frame.base}/")
    if inner != "-key" or source.kind is not Kind.SEALED:
        raise Refusal(404)
    key, account = form.key.strip(), form.account.strip()
    # The account's id may stand among the keys already; what was typed is taken as it is, each on a line.
    keys = Secret(f"{key}\naccount-id = {account}" if account else key)
    problem = "" if key and len(key) <= LONGEST_KEY else "Type the key of the backup."
    try:
        if not problem:
            read_keys(keys.reveal())
    except KeyRefused as error:
        problem = f"{str(error)[:1].upper()}{str(error)[1:]}."
    if problem:
        shown = Shown("chats/key.html", source.name, {"problem": problem, "typed": account[:100]}, 422)
        return frame.page(shown, room_name=source.name, sealed=False)
    answered = go(f"{frame.base}/")
    if secret is None:
        secret = Secret(secrets.token_urlsafe(SECRET_BYTES))
        secure = "; Secure" if call.root.startswith("https:") else ""
        # Without an end it is gone with the browser's session.
        answered.headers["Set-Cookie"] = f"{COOKIE}={secret.reveal()}; Path=/; HttpOnly; SameSite=Strict{secure}"
    cache.begin(source, secret, keys)
    return answered


def secret_of(call: Call) -> Secret | None:
    """Return the secret this browser's keys are kept under."""
    value = cookie_parser(call.headers.get("cookie", "")).get(COOKIE, "")
    return Secret(value) if len(value) >= SECRET_BYTES and value.isascii() else None
