"""Tells Packagist to read a repository again; it wants to know of nothing but new code."""

from typing import Final

from holdfast.hosting.webhooks.chat.message import ChatMessage, MessageContext

__all__ = ["message"]

OF_CODE: Final = frozenset({"create", "delete"})


def message(wanted: MessageContext) -> ChatMessage | None:
    """Ask Packagist to look at a package again, by its page there or else by where its code is."""
    is_code = bool(wanted.seen.commits) if wanted.kind == "push" else wanted.kind in OF_CODE
    place = wanted.seen.repository
    url = wanted.meta.get("package_url") or ("" if place is None else place.clone_url)
    if not is_code or not url:
        return None
    name, token = wanted.meta.get("username", ""), wanted.meta.get("api_token", "")
    headers = {"Authorization": f"Bearer {name}:{token}"} if name and token else {}
    return ChatMessage(wanted.url, {"repository": {"url": url}}, headers=headers)
