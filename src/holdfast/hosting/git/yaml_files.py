"""Reads untrusted YAML files.

Only text, integers, booleans and null are recognized. Anchors, aliases and tags are refused: a few lines of
aliases expand to gigabytes, and tags construct other types. Size, depth and count are limited before a value is
built.
"""

import re
from typing import Final

import yaml  # type: ignore[import-untyped]  # it has no type hints

from holdfast.hosting.errors import InvalidYaml

__all__ = ["LARGEST", "YamlValue", "read_yaml"]

YamlValue = str | int | bool | None | list["YamlValue"] | dict[str, "YamlValue"]

LARGEST: Final = 64 * 1024
"""The maximum size of a file in bytes."""
DEEPEST: Final = 16
MOST_NODES: Final = 10_000


class PlainLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # chosen at import time
    """Builds text, numbers, booleans and null; dates and fractions remain text."""

    yaml_implicit_resolvers: Final[dict[str, list[tuple[str, re.Pattern[str]]]]] = {}


for tag, pattern, first in (
    ("bool", r"(?:true|True|TRUE|false|False|FALSE)\Z", "tTfF"),
    ("null", r"(?:~|null|Null|NULL|)\Z", ["~", "n", "N", ""]),
    ("int", r"-?(?:0|[1-9][0-9]{0,14})\Z", "-0123456789"),
):
    PlainLoader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(pattern), list(first))


def read_yaml(content: bytes) -> YamlValue:
    """Return the value of a file's only document; an empty file is None. Raise `InvalidYaml` otherwise."""
    if len(content) > LARGEST:
        raise InvalidYaml(f"it has more than {LARGEST} bytes")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidYaml("it is not text in UTF-8") from None
    try:
        require_plain(text)
        return with_text_keys(yaml.load(text, Loader=PlainLoader))  # noqa: S506  # a safe loader with fewer types
    except (yaml.YAMLError, ValueError) as error:
        raise InvalidYaml(problem_in(error)) from None


def require_plain(text: str) -> None:
    """Raise an error for content that is too deep or too large, or has anchors, aliases or tags."""
    depth = nodes = 0
    for event in yaml.parse(text, Loader=PlainLoader):
        if getattr(event, "anchor", None) is not None:
            raise InvalidYaml("it has an anchor or an alias, which are not supported")
        if getattr(event, "tag", None) is not None:
            raise InvalidYaml("it has a tag, which is not supported")
        nodes += isinstance(event, yaml.NodeEvent)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST or nodes > MOST_NODES:
            raise InvalidYaml(f"it has more than {MOST_NODES} values, or they are nested deeper than {DEEPEST}")


def with_text_keys(value: object) -> YamlValue:
    """Return a value whose keys are text, as in JSON."""
    if isinstance(value, dict):
        return {key if isinstance(key, str) else str(key): with_text_keys(below) for key, below in value.items()}
    if isinstance(value, list):
        return [with_text_keys(below) for below in value]
    if value is None or isinstance(value, str | int):
        return value
    raise InvalidYaml("it has a value that is neither text, a number, a boolean, a list nor a mapping")


def problem_in(error: Exception) -> str:
    """Return the message of a parser error in one line, with the line number."""
    problem = getattr(error, "problem", None)
    mark = getattr(error, "problem_mark", None)
    if problem is None:
        return "it is not valid YAML"
    return str(problem) if mark is None else f"line {mark.line + 1}: {problem}"
