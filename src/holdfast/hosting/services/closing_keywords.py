"""Closing keywords and issue references: `fixes #12`, `Resolves: a/b#3, #4`, `reopens #5`.

Commit messages are plain text. The body of a pull request is Markdown, where keywords in code do not count.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from holdfast.hosting.renderer.outside_code import outside_code

__all__ = ["MessageReference", "parse_keywords", "parse_message", "parse_pull_keywords", "parse_references"]

# Maximum characters of a message that are parsed, and maximum references returned.
LONGEST_READ: Final = 64 * 1024
MOST_REFERENCES: Final = 100

GAP: Final = r"[ \t]{0,8}(?:\r?\n[ \t]{0,8})?"
NAME: Final = r"[A-Za-z0-9_.-]{1,100}"
# Not followed by characters of a longer number, a name or a path: `#1.5`, `#1st`, `#1/2`.
ISSUE: Final = rf"(?:({NAME})/({NAME}))?#([0-9]{{1,9}})(?![\w#]|[-./@]\w)"
UNGROUPED: Final = rf"(?:{NAME}/{NAME})?#[0-9]{{1,9}}(?![\w#]|[-./@]\w)"
BETWEEN: Final = rf"{GAP}(?:,{GAP}(?:and(?=\s){GAP})?|&{GAP}|and(?=\s){GAP})"
KEYWORDS: Final = r"close[sd]?|fix(?:e[sd])?|resolve[sd]?|reopen(?:s|ed)?"
LIST: Final = rf"{UNGROUPED}(?:{BETWEEN}{UNGROUPED}){{0,{MOST_REFERENCES - 1}}}"
KEYWORD_LIST: Final = re.compile(rf"(?<![\w\-./@#])({KEYWORDS})(?::|(?=\s)){GAP}({LIST})", re.IGNORECASE)
LISTED: Final = re.compile(ISSUE)
# `&` begins an HTML entity: `&#39;`.
REFERENCE: Final = re.compile(rf"(?<![\w\-./@#&]){ISSUE}")


@dataclass(frozen=True, slots=True)
class MessageReference:
    """A reference to an issue in a commit message; without a name, to one of the commit's own repository.

    `closes` is True after a closing keyword, False after a reopening keyword, and None without a keyword.
    """

    number: int
    closes: bool | None
    owner: str = ""
    name: str = ""


def parse_keywords(message: str) -> list[MessageReference]:
    """Return the issues that a message closes or reopens, in order and without duplicates."""
    # Fast path: most messages have no keyword.
    if "#" not in message:
        return []
    references: dict[MessageReference, None] = {}
    for match in KEYWORD_LIST.finditer(message, 0, LONGEST_READ):
        closes = not match[1].lower().startswith("reopen")
        for owner, name, number in LISTED.findall(match[2]):
            if int(number):
                references[MessageReference(int(number), closes, owner, name)] = None
        if len(references) >= MOST_REFERENCES:
            break
    return list(references)[:MOST_REFERENCES]


def parse_pull_keywords(title: str, body: str) -> list[MessageReference]:
    """Return the issues that a pull request closes or reopens when it is merged."""
    return parse_keywords(f"{title}\n{outside_code(body[:LONGEST_READ])}")


def parse_references(message: str) -> list[MessageReference]:
    """Return all issues that a message refers to, with or without a keyword, in order and without duplicates."""
    if "#" not in message:
        return []
    references: dict[MessageReference, None] = {}
    for match in REFERENCE.finditer(message, 0, LONGEST_READ):
        if int(match[3]):
            references[MessageReference(int(match[3]), None, match[1] or "", match[2] or "")] = None
        if len(references) >= MOST_REFERENCES:
            break
    return list(references)


def parse_message(message: str) -> Sequence[MessageReference]:
    """Return the issues that a message closes or reopens, then all issues that it refers to."""
    return [*parse_keywords(message), *parse_references(message)] if "#" in message else ()
