"""Archives: one SQLite file that any number of backups are imported into, and that everything else is read from.

>>> from holdfast.backup import archive
>>> with archive.open("chats.db") as opened:
...     for chat in opened.chats():
...         print(chat.name, chat.messages)
"""

from holdfast.backup.archive.importing import Imported
from holdfast.backup.archive.model import Chat, Message, Page, Person, Position
from holdfast.backup.archive.opening import Archive, open  # noqa: A004  # archive.open() is what people look for
from holdfast.backup.archive.query import Filters
from holdfast.backup.archive.searching import Hit, Hits
from holdfast.backup.archive.statistics import Statistics

__all__ = [
    "Archive",
    "Chat",
    "Filters",
    "Hit",
    "Hits",
    "Imported",
    "Message",
    "Page",
    "Person",
    "Position",
    "Statistics",
    "open",
]
