"""Names of files and folders, made of what people called their chats and files."""

import re
from typing import Final

from holdfast.backup.media import safe_name

__all__ = ["base36", "chat_name", "file_name"]

DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
# Of a name in bytes; with the number and an extension it stays far below what any disk allows.
MAX_BYTES: Final = 60
# What a program may open without running anything that is in it; all else is a file of no kind.
SAFE_EXTENSIONS: Final = re.compile(
    "7z|aac|amr|avi|avif|bmp|bz2|csv|docx?|epub|flac|gif|gpx|gz|hei[cf]|ics|jpe?g|json|key|log|m4[av]|md|mkv|mov|"
    "mp[34]|mpe?g|numbers|od[pst]|og[agv]|opus|pages|pdf|png|pptx?|rar|rtf|tar|tiff?|txt|vcf|wav|web[amp]|xlsx?|xz|zip"
)


def base36(number: int) -> str:
    """Write an id in few signs."""
    encoded = ""
    while number:
        number, digit = divmod(number, len(DIGITS))
        encoded = DIGITS[digit] + encoded
    return encoded or "0"


def truncate(name: str) -> str:
    """Cut a name to its longest, between two signs."""
    return name.encode()[:MAX_BYTES].decode(errors="ignore").strip(" .")


def chat_name(name: str, number: int) -> str:
    """Name the file or folder of a chat.

    The id is always part of it: two chats of one name, or of names that some disks take for one, stay apart, and
    which other chats there are changes nothing.
    """
    return f"{truncate(safe_name(name).replace(':', '_')) or 'Chat'}-{base36(number)}"


def file_name(name: str | None, extension: str) -> str:
    """Name a file that somebody sent; one that a program might run gets an ending that no program does."""
    safe = safe_name(name or "")
    stem, dot, ending = safe.rpartition(".")
    if not dot or not stem:
        stem, ending = safe, ""
    if SAFE_EXTENSIONS.fullmatch(ending.lower()):
        extension = f".{ending.lower()}"
    elif ending:
        stem = safe
    return f"{truncate(stem) or 'file'}{extension or '.bin'}"
