"""Routes a path inside a conversation to its page; errors of the archive become an error page."""

import sqlite3
from collections.abc import Callable, Mapping
from typing import Final

from holdfast.backup.errors import BackupError, NotInArchive, PassphraseMissing
from holdfast.web.chats.about import show_about, show_findings, show_frame
from holdfast.web.chats.chat_list import show_list
from holdfast.web.chats.chat_page import go_to_message, show_chat, show_months
from holdfast.web.chats.media import (
    show_attachment,
    show_attachment_thumbnail,
    show_file,
    show_file_thumbnail,
)
from holdfast.web.chats.media_page import show_media
from holdfast.web.chats.message_page import show_message
from holdfast.web.chats.open_archive import QUERY_TIMEOUT_S, OpenArchive
from holdfast.web.chats.people_page import show_people
from holdfast.web.chats.search_page import show_search
from holdfast.web.chats.statistics_page import show_figures
from holdfast.web.chats.view import Answer, ConversationRequest, PageNotFound, TemplateResult

__all__ = ["respond"]

PLAIN: Final[Mapping[str, Callable[[ConversationRequest], Answer]]] = {
    "": show_list,
    "search": show_search,
    "media": show_media,
    "people": show_people,
    "statistics": show_figures,
    "about": show_about,
    "findings": show_findings,
}
NAMED: Final[Mapping[tuple[str, str], Callable[[ConversationRequest, str], Answer]]] = {
    ("chat", ""): show_chat,
    ("chat", "dates"): show_months,
    ("to", ""): go_to_message,
    ("message", ""): show_message,
    ("media", ""): show_file,
    ("media", "thumbnail"): show_file_thumbnail,
    ("attachment", ""): show_attachment,
    ("attachment", "thumbnail"): show_attachment_thumbnail,
    ("frame", ""): show_frame,
}


def respond(opened: OpenArchive, base: str, inner: str, query: Mapping[str, str]) -> Answer:
    """Handle one request; `inner` is the path inside the conversation. Raises `PageNotFound`."""
    try:
        with opened.reading() as archive:
            return dispatch(ConversationRequest(opened, archive, base, query), inner)
    except NotInArchive:
        raise PageNotFound from None
    except sqlite3.Error as error:
        # Error messages of SQLite may quote content of the archive.
        if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
            return error_page(
                f"What was asked took longer than {QUERY_TIMEOUT_S:.0f} seconds and was ended. Ask for less."
            )
        return error_page("The archive is damaged.")
    except PassphraseMissing:
        return error_page(
            f"{opened.name} is encrypted, and this website does not ask for its passphrase: "
            "`holdfast archive serve` shows it on the machine it lies on."
        )
    except BackupError as error:
        message = str(error).replace(opened.place, opened.name) if opened.place else str(error)
        return error_page(f"{message[:1].upper()}{message[1:]}.")


def error_page(problem: str) -> TemplateResult:
    """Return the error page of an archive that cannot be read."""
    return TemplateResult("chats/error.html", "This archive cannot be read", {"problem": problem}, 503)


def dispatch(view: ConversationRequest, inner: str) -> Answer:
    """Call the handler of a path."""
    parts = inner.strip("/").split("/")
    if len(parts) == 1:
        plain = PLAIN.get(parts[0])
        if plain is None:
            raise PageNotFound
        return plain(view)
    if len(parts) > 3:
        raise PageNotFound
    named = NAMED.get((parts[0], "".join(parts[2:])))
    if named is None:
        raise PageNotFound
    return named(view, parts[1])
