"""Sample payloads with hostile text, and webhooks of every chat service."""

import json
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from typing import Any

import msgspec
from hypothesis import strategies as st

from holdfast.hosting.store.hooks import Hook
from holdfast.hosting.webhooks.chat import message_of
from holdfast.hosting.webhooks.payloads.render import KINDS

__all__ = ["EVERY", "ROOT", "MessageParser", "addresses", "hook", "hostile", "sample", "sent", "wire"]

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
    """Write a payload with a text in all fields that users can write."""
    payload: dict[str, object] = {"action": action, "number": 1, "repository": PLACE, "sender": PERSON}
    if kind == "push":
        payload |= {
            "ref": f"refs/heads/{text}",
            "compare_url": f"{ROOT}/ada/ship/compare/1...2",
            "total_commits": 7,
        }
        payload["commits"] = [
            {
                "id": f"{number}" * 40,
                "message": f"{text}\n\nmore",
                "url": f"{ROOT}/ada/ship/commit/{number}",
                "author": {"name": text, "email": "ada@example.org"},
            }
            for number in range(5)
        ]
    elif kind in {"create", "delete"}:
        payload |= {"ref": text, "ref_type": "branch"}
    elif kind == "repository":
        payload["changes"] = {"name": {"from": text}, "description": {"from": True}, "topics": {"from": ["a"]}}
    elif kind == "fork":
        payload |= {"forkee": PLACE, "repository": {"full_name": "bob/ship", "html_url": f"{ROOT}/bob/ship"}}
    elif kind.endswith("_comment"):
        page = f"{ROOT}/ada/ship/issues/1#issuecomment-2"
        payload |= {"issue": item(text), "comment": {"body": text, "html_url": page}, "is_pull": "pull" in kind}
    elif kind in {"issue_dependency", "issue_unblocked"}:
        payload |= {"issue": item(text), "blocker": item(text, 2, repository={"full_name": "bob/boat"})}
    else:
        labels = [{"name": text}]
        more = {"milestone": {"title": text}, "assignees": [{"login": "bob"}]}
        payload["pull_request" if kind.startswith("pull") else "issue"] = item(text, 1, **more)
        if "label" in action:
            payload["changes"] = {"added_labels": labels, "removed_labels": labels}
        elif action == "edited":
            payload["changes"] = {"title": {"from": text}, "body": {"from": text}}
    return json.dumps(payload)


def hook(kind: str, url: str = "https://chat.example/hook", meta: str = "{}", **columns: str) -> Hook:
    """Make a webhook of a chat service."""
    values = dict.fromkeys(Hook.__dataclass_fields__, "")
    return msgspec.convert({**values, **NUMBERS, "type": kind, "url": url, "meta": meta, **columns}, Hook)


NUMBERS: dict[str, object] = {
    **dict.fromkeys(("id", "paused_at", "held_until", "created_at", "updated_at"), 0),
    **dict.fromkeys(("repository_id", "owner_id"), None),
    "is_active": True,
    "inherits_header": False,
}


def opener(sealed: str) -> str:
    """Return the secret of a text that looks encrypted in these tests."""
    return sealed.removeprefix("sealed:")


def wire(service: Hook, kind: str, payload: str) -> Any:
    """Return the request to a service, or None."""
    return message_of(service, kind, payload, UUID, opener, now=1_700_000_000.0)


def sent(service: str, kind: str = "issues", action: str = "opened", text: str = "It leaks") -> dict[str, Any]:
    """Return the content of a message."""
    request = wire(hook(service), kind, sample(kind, action, text))
    assert request is not None, (service, kind)
    content: dict[str, Any] = json.loads(request.body)
    return content


def addresses(content: object, is_one: Callable[[str], bool]) -> Iterator[str]:
    """Return all values of keys that a function selects."""
    if isinstance(content, dict):
        for key, value in content.items():
            if isinstance(value, str) and is_one(key):
                yield value
            else:
                yield from addresses(value, is_one)
    elif isinstance(content, list):
        for value in content:
            yield from addresses(value, is_one)


class MessageParser(HTMLParser):
    """Parses the HTML of a message: the links, all text, and the text outside of elements."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.text, self.bare = "", ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open an element."""
        self.open.append(tag)
        self.links += [value or "" for name, value in attrs if name == "href"]

    def handle_endtag(self, tag: str) -> None:
        """Close the innermost element, which must be this one."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Add text."""
        self.text += data
        if not self.open:
            self.bare += data
