"""Archives: SQLite databases that any number of backups are imported into, and that all reading commands use.

>>> import holdfast.backup as hb
>>> with hb.archive("chats.db") as opened:
...     for chat in opened.chats():
...         print(chat.name, chat.messages)
"""

from holdfast.backup.archives.archive_file import Archive, archive, archive_keys, is_archive, open  # noqa: A004  # archives.open() is what people look for
from holdfast.backup.archives.imports import ImportResult
from holdfast.backup.archives.model import Chat, Message, Page, Person, Position
from holdfast.backup.archives.query import Filters
from holdfast.backup.archives.removal import RemovalResult
from holdfast.backup.archives.search import Hit, Hits
from holdfast.backup.archives.statistics import Statistics

__all__ = [
    "Archive",
    "Chat",
    "Filters",
    "Hit",
    "Hits",
    "ImportResult",
    "Message",
    "Page",
    "Person",
    "Position",
    "RemovalResult",
    "Statistics",
    "archive",
    "archive_keys",
    "is_archive",
    "open",
]
