"""The list of chats: pinned first, chat folders as tabs, archived chats in a tab of their own."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final

from holdfast.backup.archives import Chat, Message, overview
from holdfast.backup.bidi import isolated
from holdfast.backup.exports.html.bubbles import color_of, initials
from holdfast.web.chats.view import (
    ConversationRequest,
    PageNotFound,
    TemplateResult,
    page_number,
    parse_id,
    to_datetime,
    truncate,
)

__all__ = ["PANE_ROWS", "chat_pane", "insert_mentions", "preview_line", "show_list"]

ROWS: Final = 100
# The number of rows in the pane beside an open chat; it links to the full list.
PANE_ROWS: Final = 40
MOST_TABS: Final = 50
LINE: Final = 140
# The placeholder of a mention in a text (U+FFFC, object replacement character).
PLACE: Final = "\ufffc"
KINDS: Final = {
    "message": "Message",
    "sticker": "Sticker",
    "view_once": "View-once media",
    "poll": "Poll",
    "contact": "Contact",
    "story_reply": "Reply to a story",
}


@dataclass(frozen=True, slots=True)
class ChatRow:
    """A chat in the list."""

    chat: Chat
    address: str
    initials: str
    color: int
    line: str
    who: str
    latest: datetime | None
    unread: int | None
    """The number of unread messages; 0 if the chat was marked as unread, None if it is read."""


@dataclass(frozen=True, slots=True)
class ChatListTab:
    """A tab of the list: all chats, a chat folder, or archived chats."""

    name: str
    address: str
    current: bool
    count: int


def show_list(view: ConversationRequest) -> TemplateResult:
    """Show the chats of one account, all or those of a folder."""
    owners = view.opened.cached("accounts", lambda: overview.accounts(view.archive))
    if not owners:
        return TemplateResult(
            "chats/list.html", view.opened.name, {"rows": [], "folders": [], "accounts": [], "total": 0, "page": 1}
        )
    account = parse_id(view.query["account"]) if "account" in view.query else owners[0][0]
    if account not in {number for number, _ in owners}:
        raise PageNotFound
    account_chats = [chat for chat in view.chats().values() if chat.account_id == account]
    extra = account if account != owners[0][0] else None
    tabs, chosen = split_into_tabs(view, account, account_chats, extra)
    number = page_number(view)
    part = chosen[(number - 1) * ROWS : number * ROWS]
    latest = overview.latest_messages(view.archive, [chat.id for chat in part])
    accounts = [
        ChatListTab(truncate(name, 60) or f"Account {n}", view.address("", account=i), i == account, 0)
        for n, (i, name) in enumerate(owners[:MOST_TABS], 1)
    ]
    here = view.address("", account=extra, folder=view.query.get("folder"), archived=view.query.get("archived"))
    return TemplateResult(
        "chats/list.html",
        view.opened.name,
        {
            "rows": [make_row(view, chat, latest.get(chat.id)) for chat in part],
            "folders": tabs if len(tabs) > 1 else [],
            "accounts": accounts if len(accounts) > 1 else [],
            "total": len(chosen),
            "size": ROWS,
            "page": number,
            "pages_address": f"{here}{'&' if '?' in here else '?'}page=",
        },
    )


def split_into_tabs(
    view: ConversationRequest, account: int, account_chats: list[Chat], extra: int | None
) -> tuple[list[ChatListTab], list[Chat]]:
    """Group the chats (all, by folder, archived); return the tabs and the chats of the selected tab."""
    folders = view.opened.cached(("folders", account), lambda: overview.folders(view.archive, account))
    wanted = view.query.get("folder"), "archived" in view.query
    parts: list[tuple[str, dict[str, object], bool, Callable[[Chat], bool]]] = [
        ("Chats", {}, wanted == (None, False), lambda chat: not chat.archived)
    ]
    parts += [
        (
            truncate(folder.name, 60),
            {"folder": folder.n},
            wanted == (str(folder.n), False),
            partial(folder_contains, folder, unread_of(view)),
        )
        for folder in folders[:MOST_TABS]
    ]
    if any(chat.archived for chat in account_chats):
        parts.append(("Archived", {"archived": 1}, wanted[1], lambda chat: chat.archived))
    tabs: list[ChatListTab] = []
    chosen: list[Chat] | None = None
    for name, query, current, takes in parts:
        chats = [chat for chat in account_chats if takes(chat)]
        tabs.append(ChatListTab(name, view.address("", account=extra, **query), current, len(chats)))
        if current:
            chosen = chats
    if chosen is None:
        raise PageNotFound
    return tabs, chosen


def folder_contains(folder: overview.ChatFolder, unread: Mapping[int, int], chat: Chat) -> bool:
    """Return whether a folder contains a chat; archived chats are separate."""
    return not chat.archived and folder.includes(chat, unread=chat.id in unread)


def unread_of(view: ConversationRequest) -> Mapping[int, int]:
    """Return the unread chats, with the number of unread messages of each."""
    return view.opened.cached("unread", lambda: overview.unread_counts(view.archive))


def chat_pane(view: ConversationRequest, current: Chat) -> list[ChatRow]:
    """Return the rows of the pane beside an open chat: the first chats of its account, including the open one."""
    chats = [
        chat
        for chat in view.chats().values()
        if chat.account_id == current.account_id and chat.archived == current.archived
    ]
    part = chats[:PANE_ROWS]
    if current not in part:
        part = [current, *part[:-1]]
    latest = overview.latest_messages(view.archive, [chat.id for chat in part])
    return [make_row(view, chat, latest.get(chat.id)) for chat in part]


def make_row(view: ConversationRequest, chat: Chat, latest: Message | None) -> ChatRow:
    """Return the row of a chat."""
    who = ""
    if latest is not None and latest.kind != "update":
        who = (
            "You"
            if latest.direction == "outgoing"
            else truncate(latest.author, 60)
            if chat.kind == "group"
            else ""
        )
    return ChatRow(
        chat,
        f"{view.address(f'chat/{chat.id}')}#latest",
        initials(chat.name),
        color_of(chat.id),
        preview_line(latest) if latest is not None else "",
        who,
        to_datetime(chat.latest_ms),
        unread_of(view).get(chat.id),
    )


def insert_mentions(text: str, message: Message) -> str:
    """Replace the placeholders of mentions in a text by names; right-to-left ones are enclosed in isolates."""
    for mention in sorted(message.ranges, key=lambda text_range: text_range.start):
        if mention.mention is not None:
            text = text.replace(PLACE, isolated(f"@{mention.mention}"), 1)
    return text.replace(PLACE, "@")


def preview_line(message: Message) -> str:
    """Return a message as one line."""
    text = message.text or message.sentence or ""
    if message.poll is not None:
        text = f"Poll: {message.poll.question}"
    if not text:
        files = [attachment for attachment in message.attachments if attachment.role == "attachment"]
        if files:
            kind = (files[0].content_type or "").partition("/")[0]
            text = {"image": "Photo", "video": "Video", "audio": "Voice message"}.get(kind, "File")
            text = f"{len(files)} files" if len(files) > 1 else text
    text = insert_mentions(" ".join((text or KINDS.get(message.kind, "")).split()), message)
    return text if len(text) <= LINE else f"{text[:LINE]}…"
