"""The search field of issue lists: qualifiers such as `is:open label:bug author:ada`, and words.

A text with a qualifier replaces the defaults of the list: without `is:open` or `is:closed` it matches both,
without `is:issue` or `is:pr` both issues and pull requests. Plain words keep the defaults: open ones of the kind
of the list.
"""

import re
from collections.abc import Iterable
from typing import Final

import msgspec

__all__ = ["LONGEST", "IssueSearchText", "parse_search", "write_search"]

LONGEST: Final = 1000
# A qualifier with a value that may be quoted, a quoted text, or a word.
TOKEN: Final = re.compile(r'(?P<key>[a-z-]+):(?P<value>"(?:\\.|[^"\\])*"|[^\s"]\S*)|"(?:\\.|[^"\\])*"|\S+')
PLAIN_VALUE: Final = re.compile(r'[^\s"\\]+')
ESCAPED: Final = re.compile(r"\\(.)")
STATES: Final = {"open": "open", "closed": "closed", "all": "all"}
KINDS: Final = {"issue": "issues", "pr": "pulls", "pull": "pulls"}
YES_NO: Final = {"yes": True, "true": True, "no": False, "false": False}
# GitHub's names of the sort orders, and the names that the lists use.
SORTS: Final = {
    "newest": "newest",
    "created": "newest",
    "created-desc": "newest",
    "oldest": "oldest",
    "created-asc": "oldest",
    "updated": "recentupdate",
    "updated-desc": "recentupdate",
    "updated-asc": "leastupdate",
    "comments": "mostcomment",
    "comments-desc": "mostcomment",
    "due": "nearduedate",
}
SORT_NAMES: Final = {
    "newest": "newest",
    "oldest": "oldest",
    "recentupdate": "updated",
    "leastupdate": "updated-asc",
    "mostcomment": "comments",
    "nearduedate": "due",
}


class IssueSearchText(msgspec.Struct, frozen=True, kw_only=True):
    """A parsed search text; an empty value means that it has no such qualifier."""

    state: str = ""
    kind: str = ""
    """`issues`, `pulls`, or `all`."""
    labels: tuple[str, ...] = ()
    milestone: str = ""
    """A title, `none` or `*`."""
    assignee: str = ""
    """A user name, `none`, `*` or `@me`."""
    author: str = ""
    review_requested: str = ""
    """A user name or `@me`."""
    reviewed_by: str = ""
    is_blocked: bool | None = None
    sort: str = ""
    words: str = ""


def unquoted(value: str) -> str:
    """Return a value without its quotes."""
    return ESCAPED.sub(r"\1", value[1:-1]) if len(value) > 1 and value[0] == value[-1] == '"' else value


def quoted(value: str) -> str:
    """Return a value for a qualifier, quoted if necessary."""
    if PLAIN_VALUE.fullmatch(value):
        return value
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def parse_search(text: str) -> IssueSearchText:
    """Parse a search text into qualifiers and words."""
    fields: dict[str, str | bool] = {}
    labels: list[str] = []
    words: list[str] = []
    for token in TOKEN.finditer(text[:LONGEST]):
        key, value = token["key"], unquoted(token["value"] or "").strip()
        match key:
            case "is" | "state" | "type" if value in STATES:
                fields["state"] = STATES[value]
            case "is" | "type" if value in KINDS:
                fields["kind"] = KINDS[value]
            case "label" if value:
                labels.append(value)
            case "milestone" | "assignee" | "author" if value:
                fields[key] = value
            case "review-requested" | "reviewed-by" if value:
                fields[key.replace("-", "_")] = value
            case "no" if value in {"milestone", "assignee"}:
                fields[value] = "none"
            case "blocked" if value in YES_NO:
                fields["is_blocked"] = YES_NO[value]
            case "is" if value == "blocked":
                fields["is_blocked"] = True
            case "sort" if value in SORTS:
                fields["sort"] = SORTS[value]
            case _:
                words.append(token[0])
    if fields or labels:
        fields = {"state": "all", "kind": "all", **fields}
    parsed = {**fields, "labels": tuple(dict.fromkeys(labels)), "words": " ".join(words)}
    return msgspec.convert(parsed, IssueSearchText)


def write_search(search: IssueSearchText) -> str:
    """Return a search as text, with the qualifiers in a fixed order."""
    parts: list[str] = []
    if search.kind in {"issues", "pulls"}:
        parts.append("is:issue" if search.kind == "issues" else "is:pr")
    if search.state:
        parts.append("state:all" if search.state == "all" else f"is:{search.state}")
    parts += [f"label:{quoted(name)}" for name in search.labels]
    parts += person_or_title("milestone", search.milestone)
    parts += person_or_title("assignee", search.assignee)
    parts += person_or_title("author", search.author)
    parts += person_or_title("review-requested", search.review_requested)
    parts += person_or_title("reviewed-by", search.reviewed_by)
    if search.is_blocked is not None:
        parts.append(f"blocked:{'yes' if search.is_blocked else 'no'}")
    if search.sort and search.sort != "newest":
        parts.append(f"sort:{SORT_NAMES[search.sort]}")
    return " ".join([*parts, search.words] if search.words else parts)


def person_or_title(key: str, value: str) -> Iterable[str]:
    """Yield the qualifier of a value; the value `none` is written as `no:milestone`."""
    if value == "none" and key in {"milestone", "assignee"}:
        yield f"no:{key}"
    elif value:
        yield f"{key}:{quoted(value)}"
