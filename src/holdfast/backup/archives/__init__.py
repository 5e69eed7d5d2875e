"""Archives: SQLite databases that any number of backups are imported into, and that all reading commands use.

>>> import holdfast.backup as hb
>>> with hb.archive("chats.db") as opened:
...     for chat in opened.chats():
...         print(chat.name, chat.messages)

Each name is imported when it is first used: the worker processes of a dataset build use few of the modules.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from holdfast.backup.archives.archive_file import Archive, archive, archive_keys, open  # noqa: A004  # archives.open() is what people look for
    from holdfast.backup.archives.file_paths import is_archive
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

# The module that defines each name, in this package.
_MODULES: Final = {
    "Archive": "archive_file",
    "Chat": "model",
    "Filters": "query",
    "Hit": "search",
    "Hits": "search",
    "ImportResult": "imports",
    "Message": "model",
    "Page": "model",
    "Person": "model",
    "Position": "model",
    "RemovalResult": "removal",
    "Statistics": "statistics",
    "archive": "archive_file",
    "archive_keys": "archive_file",
    "is_archive": "file_paths",
    "open": "archive_file",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used."""
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value
