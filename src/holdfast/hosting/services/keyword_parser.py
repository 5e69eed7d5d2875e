"""What a commit's message says of issues: `fixes #12`, `Resolves: a/b#3, #4`, `reopens #5`, or only a name."""

import re
from dataclasses import dataclass
from typing import Final

__all__ = ["Ask", "asks_in", "names_in"]

# A message is somebody else's text, of whatever length: this much of it is read, and so many issues are heard of.
READ: Final = 64 * 1024
MOST: Final = 100

GAP: Final = r"[ \t]{0,8}(?:\r?\n[ \t]{0,8})?"
NAME: Final = r"[A-Za-z0-9_.-]{1,100}"
# What goes on after a number is another number, a name or a path: `#1.5`, `#1st`, `#1/2`.
ISSUE: Final = rf"(?:({NAME})/({NAME}))?#([0-9]{{1,9}})(?![\w#]|[-./@]\w)"
UNNAMED: Final = rf"(?:{NAME}/{NAME})?#[0-9]{{1,9}}(?![\w#]|[-./@]\w)"
BETWEEN: Final = rf"{GAP}(?:,{GAP}(?:and(?=\s){GAP})?|&{GAP}|and(?=\s){GAP})"
WORDS: Final = r"close[sd]?|fix(?:e[sd])?|resolve[sd]?|reopen(?:s|ed)?"
ASKING: Final = re.compile(
    rf"(?<![\w\-./@#])({WORDS})(?::|(?=\s)){GAP}({UNNAMED}(?:{BETWEEN}{UNNAMED}){{0,{MOST - 1}}})", re.IGNORECASE
)
ISSUES: Final = re.compile(ISSUE)
# `&` begins what HTML calls an entity: `&#39;`.
NAMING: Final = re.compile(rf"(?<![\w\-./@#&]){ISSUE}")


@dataclass(frozen=True, slots=True)
class Ask:
    """That an issue be closed, or opened again; without a name it is one of the commit's own repository.

    Neither is asked for of one that is only named.
    """

    number: int
    closes: bool | None
    owner: str = ""
    name: str = ""


def asks_in(message: str) -> list[Ask]:
    """Return what a message asks for, each once and in its order."""
    # Nearly every message is done with here.
    if "#" not in message:
        return []
    asks: dict[Ask, None] = {}
    for found in ASKING.finditer(message, 0, READ):
        closes = not found[1].lower().startswith("reopen")
        for owner, name, number in ISSUES.findall(found[2]):
            if int(number):
                asks[Ask(int(number), closes, owner, name)] = None
        if len(asks) >= MOST:
            break
    return list(asks)[:MOST]


def names_in(message: str) -> list[Ask]:
    """Return which issues a message names, whatever it says of them, each once and in its order."""
    if "#" not in message:
        return []
    names: dict[Ask, None] = {}
    for found in NAMING.finditer(message, 0, READ):
        if int(found[3]):
            names[Ask(int(found[3]), None, found[1] or "", found[2] or "")] = None
        if len(names) >= MOST:
            break
    return list(names)
