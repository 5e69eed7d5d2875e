"""Events as their payloads tell them, with whatever people may write in them, and hooks of every service."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
from hypothesis import strategies as st

from holdfast.hosting.store.hooks import Hook
from holdfast.hosting.webhooks.chat import message_of
from holdfast.hosting.webhooks.payloads.render import KINDS

__all__ = ["EVERY", "ROOT", "addresses", "hook", "hostile", "sample", "sent", "wire"]

ROOT = "https://git.example.org"
UUID = "7d3c5b6e-8f5a-4d53-9d5e-3f1f3f2c1a00"
# Every kind with every action it has.
EVERY = [(kind, action) for kind, how in KINDS.items() for action in how.actions or ("",)]
PERSON = {"login": "ada", "html_url": f"{ROOT}/ada", "avatar_url": f"{ROOT}/avatars/2"}
PLACE = {"full_name": "ada/ship", "html_url": f"{ROOT}/ada/ship", "clone_url": f"{ROOT}/ada/ship.git"}

TRICKS = (
    *("@everyone", "@here", "@room", "<!channel>", "<@U123>", "<!here|x>", "<@&42>", "<#C1>", "@ada:example.org"),
    *("[click](https://evil.example)", "<https://evil.example|ok>", "https://evil.example/x", "evil.example"),
    *("*bold*", "_slant_", "~gone~", "`code`", "```", "# head", "> quote", "||spoiler||", "- item", "1. item"),
    *("</a>", "<b>", "<script>", "</pre>", '"', "'", "&amp;", "&", "\\", "\\*", '<at user_id="all">all</at>'),
    *("\u202eevil", "\u2028", "\r\n", "\n", "\x00", "\u200b", "x" * 1500, "好" * 1200, ")", "](", "|", "{{", "!["),
)
hostile = st.lists(st.one_of(st.sampled_from(TRICKS), st.text(max_size=20)), max_size=6).map("".join)


def item(text: str, number: int = 1, **more: object) -> dict[str, object]:
    """Make an issue."""
    created = {"number": number, "title": text, "body": text, "html_url": f"{ROOT}/ada/ship/issues/{number}"}
    return {**created, "repository": {"full_name": "ada/ship"}, **more}


def sample(kind: str, action: str, text: str = "It leaks") -> str:
    """Write a payload in which people have written a text wherever they can."""
    told: dict[str, object] = {"action": action, "number": 1, "repository": PLACE, "sender": PERSON}
    if kind == "push":
        told |= {"ref": f"refs/heads/{text}", "compare_url": f"{ROOT}/ada/ship/compare/1...2", "total_commits": 7}
        told["commits"] = [
            {
                "id": f"{number}" * 40,
                "message": f"{text}\n\nmore",
                "url": f"{ROOT}/ada/ship/commit/{number}",
                "author": {"name": text, "email": "ada@example.org"},
            }
            for number in range(5)
        ]
    elif kind in {"create", "delete"}:
        told |= {"ref": text, "ref_type": "branch"}
    elif kind == "repository":
        told["changes"] = {"name": {"from": text}, "description": {"from": True}, "topics": {"from": ["a"]}}
    elif kind.endswith("_comment"):
        page = f"{ROOT}/ada/ship/issues/1#issuecomment-2"
        told |= {"issue": item(text), "comment": {"body": text, "html_url": page}, "is_pull": "pull" in kind}
    elif kind in {"issue_dependency", "issue_unblocked"}:
        told |= {"issue": item(text), "blocker": item(text, 2, repository={"full_name": "bob/boat"})}
    else:
        labels = [{"name": text}]
        more = {"milestone": {"title": text}, "assignees": [{"login": "bob"}]}
        told["pull_request" if kind.startswith("pull") else "issue"] = item(text, 1, **more)
        if "label" in action:
            told["changes"] = {"added_labels": labels, "removed_labels": labels}
        elif action == "edited":
            told["changes"] = {"title": {"from": text}, "body": {"from": text}}
    return json.dumps(told)


def hook(kind: str, url: str = "https://chat.example/hook", meta: str = "{}", **columns: str) -> Hook:
    """Make a hook of a service."""
    values = dict.fromkeys(Hook.__dataclass_fields__, "")
    return msgspec.convert({**values, **NUMBERS, "type": kind, "url": url, "meta": meta, **columns}, Hook)


NUMBERS: dict[str, object] = {
    **dict.fromkeys(("id", "paused_at", "held_until", "created_at", "updated_at"), 0),
    **dict.fromkeys(("repository_id", "owner_id"), None),
    "is_active": True,
}


def opener(sealed: str) -> str:
    """Open what stands for a sealed secret in these tests."""
    return sealed.removeprefix("sealed:")


def wire(service: Hook, kind: str, payload: str) -> Any:
    """Return what a service is sent, or nothing."""
    return message_of(service, kind, payload, UUID, opener, now=1_700_000_000.0)


def sent(service: str, kind: str = "issues", action: str = "opened", text: str = "It leaks") -> dict[str, Any]:
    """Return the content of a message."""
    request = wire(hook(service), kind, sample(kind, action, text))
    assert request is not None, (service, kind)
    content: dict[str, Any] = json.loads(request.body)
    return content


def addresses(content: object, is_one: Callable[[str], bool]) -> Iterator[str]:
    """Find every value below keys that hold addresses."""
    if isinstance(content, dict):
        for key, value in content.items():
            if isinstance(value, str) and is_one(key):
                yield value
            else:
                yield from addresses(value, is_one)
    elif isinstance(content, list):
        for value in content:
            yield from addresses(value, is_one)
