"""Writes the page about what webhooks send, from the structs they are made of."""

import inspect
from collections.abc import Iterator
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import UnsetType

from holdfast.hosting.webhooks.chat.conversion import SERVICES
from holdfast.hosting.webhooks.payloads.render import KINDS

WORDS = {str: "text", int: "number", bool: "true or false", type(None): "null"}
INTRODUCTION = """\
The payload of an event is one JSON object, the same for every webhook. It is indented by two spaces, for
`repository` events by one; signatures are computed over this text, also where it is sent as a form.

- A key is present unless the table says *only when it applies*; keys are in the order of the tables.
- A payload describes the state at the time of the event: it is rendered in the transaction that records the event,
  and its bytes are the same for every webhook, retry and redelivery, whatever is changed or deleted later. Deleted
  objects are described as they were before. What could not be looked up is `null`.
- The `email` of a user is a noreply address such as `2+ada@noreply.localhost`, never their own. A user whose
  account was deleted is `Ghost`.
- Times are RFC 3339 with whole seconds in UTC; the `timestamp` of a commit has the offset of its author.
- URLs begin with the setting `root_url`, or with `http://localhost:` and the port when it is not set.
- `permissions` of a repository are its owner's.

There are no wikis, packages and workflows, and no events of them.
"""
PUSHES = """\
### Pushes

- `commits` has the newest commits first, five at most; `total_commits` says how many there are. A push that
  creates a branch brings the commits that are on no other branch, ten at most. A tag brings none.
- `added`, `removed` and `modified` compare with the first parent; a file that was moved is removed and added.
- `before` or `after` is all zeros where there was no ref before, or is none after. Deleting a branch is a `delete`
  and no `push`; deleting a tag is both.
- `compare_url` compares `before` and `after`. For a new branch it begins at the first parent of the oldest of its
  commits, else at the default branch; with nothing to compare it is the address of the service. A new tag, which
  brings no commits, is compared with all zeros, as `before` has them.
- If more than 50 refs are pushed together, the payloads of the others are shortened: a branch has only its newest
  commit, without the files that it changed.
- A test delivery is a push of the newest commit from itself to itself, and the only one whose commit has a
  `verification`.
"""
REPOSITORIES = """\
### Settings

`edited` has the previous value of each changed setting in `changes`, by its key in the API. `renamed` has
`changes.name`. `transferred` has `changes.owner`, and is sent to the webhooks of the new owner. `archived`,
`unarchived`, `privatized` and `publicized` have no further keys.
"""
DEPENDENCIES = """\
### Issues of other repositories

All receivers of an event get the same payload. An issue of another repository is therefore complete only if that
repository can be read without logging in. Otherwise `blocker` has its number, title, state, whether it is a pull
request, and the repository's name; all else is empty, and `blocker_repository` is `null`. This is what the API
returns for such an issue to users who may write to the other.
"""


def page() -> str:
    """Write the page."""
    made = {kind.payload: None for kind in KINDS.values()}
    lines = ["# Webhook payloads\n", INTRODUCTION, "## Events\n"]
    lines.append("| event | actions | payload |\n|---|---|---|")
    for name, kind in KINDS.items():
        actions = ", ".join(f"`{action}`" for action in kind.actions)
        lines.append(f"| `{name}` | {actions} | {link(kind.payload)} |")
    services = ", ".join(f"`{name}`" for name in SERVICES)
    lines.append(
        "\nWebhooks of type `gitea` and `gogs` receive the payload. The others receive a message in the format of"
        "\ntheir service, and nothing for a push without commits; `packagist` receives only `push`, `create` and"
        "\n`delete`. User content never becomes markup, a link or a mention there. They are"
        f"\n{services}.\n"
    )
    lines.append("## Payloads\n")
    for struct in made:
        lines.append(section(struct))
        if title_of(struct) in NOTES:
            lines.append(NOTES[title_of(struct)])
    lines.append("## Objects\n")
    lines.extend(section(struct) for struct in sorted(below(made), key=title_of))
    return "\n".join(lines)


NOTES = {"PushPayload": PUSHES, "RepositoryPayload": REPOSITORIES, "DependencyPayload": DEPENDENCIES}


def section(struct: type[msgspec.Struct]) -> str:
    """Write the keys of a struct."""
    lines = [f"### {title_of(struct)}\n", f"{inspect.getdoc(struct)}\n", "| key | what it is |\n|---|---|"]
    hints = get_type_hints(struct)
    keys = msgspec.structs.fields(struct)
    lines.extend(f"| `{key.encode_name}` | {said(hints[key.name])} |" for key in keys)
    return "\n".join(lines) + "\n"


def said(hint: Any) -> str:
    """Say in words what a key holds."""
    origin, inside = get_origin(hint), get_args(hint)
    if origin in {Union, UnionType}:
        kinds = [said(one) for one in inside if one is not UnsetType]
        whole = " or ".join(sorted(kinds, key=lambda kind: kind == "null"))
        return f"{whole}; only when it applies" if UnsetType in inside else whole
    if origin is list:
        return f"list of {said(inside[0])}"
    if origin is dict:
        return f"object of {said(inside[1])} by key"
    return WORDS[hint] if hint in WORDS else link(hint)


def title_of(struct: type) -> str:
    """Return the name of a schema as clients know it; its class has a suffix, as a stored row has the same."""
    return struct.__name__.removesuffix("Schema")


def link(struct: type) -> str:
    """Lead to a struct's keys."""
    return f"[{title_of(struct)}](#{title_of(struct).lower()})"


def below(structs: dict[type[msgspec.Struct], None]) -> set[type[msgspec.Struct]]:
    """Find every struct that others are made of."""
    found: set[type[msgspec.Struct]] = set()
    left = [hint for struct in structs for hint in get_type_hints(struct).values()]
    while left:
        for one in parts(left.pop()):
            if one not in found and one not in structs:
                found.add(one)
                left.extend(get_type_hints(one).values())
    return found


def parts(hint: Any) -> Iterator[type[msgspec.Struct]]:
    """Find the structs a type names."""
    if inspect.isclass(hint) and issubclass(hint, msgspec.Struct):
        yield hint
    for inside in get_args(hint):
        yield from parts(inside)
