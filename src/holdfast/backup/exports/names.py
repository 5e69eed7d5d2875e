"""Safe names of files and folders, derived from the names of chats and attachments."""

import re
from typing import Final

from holdfast.backup.media import safe_name

__all__ = ["base36", "chat_name", "file_name"]

DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
# Maximum length of a name in bytes; with id and extension it is far below the limit of any file system.
MAX_BYTES: Final = 60
# Extensions of files that can be opened without executing anything; all others become `.bin`.
SAFE_EXTENSIONS: Final = re.compile(
    "7z|aac|amr|avi|avif|bmp|bz2|csv|docx?|epub|flac|gif|gpx|gz|hei[cf]|ics|jpe?g|json|key|log|m4[av]|md|mkv|mov|"
    "mp[34]|mpe?g|numbers|od[pst]|og[agv]|opus|pages|pdf|png|pptx?|rar|rtf|tar|tiff?|txt|vcf|wav|web[amp]|xlsx?|xz|zip"
)


def base36(number: int) -> str:
    """Return an id in base 36."""
    encoded = ""
    while number:
        number, digit = divmod(number, len(DIGITS))
        encoded = DIGITS[digit] + encoded
    return encoded or "0"


def truncate(name: str) -> str:
    """Truncate a name to the maximum length, at a character boundary."""
    return name.encode()[:MAX_BYTES].decode(errors="ignore").strip(" .")


def chat_name(name: str, number: int) -> str:
    """Return the name of the file or folder of a chat.

    It always includes the id, so that it is unique, also on file systems that ignore case, and does not depend on
    other chats.
    """
    return f"{truncate(safe_name(name).replace(':', '_')) or 'Chat'}-{base36(number)}"


def file_name(name: str | None, extension: str) -> str:
    """Return the file name of an attachment; an extension that could be executed is replaced."""
    safe = safe_name(name or "")
    stem, dot, ending = safe.rpartition(".")
    if not dot or not stem:
        stem, ending = safe, ""
    if SAFE_EXTENSIONS.fullmatch(ending.lower()):
        extension = f".{ending.lower()}"
    elif ending:
        stem = safe
    return f"{truncate(stem) or 'file'}{extension or '.bin'}"
